"""The places of all language models, by the token that each plays with."""

from collections import Counter

import trio

from server.host.host import Host
from server.http.exchange import Exchange
from server.net.admission import network_of
from server.net.budgets import address_of
from server.net.pauses import WithPauses
from server.protocols.mcp.place import Place
from server.protocols.mcp.sessions import Session

SWEEP = 1.0  # seconds between looks at who is silent
AT_A_TIME = 50  # places looked at before other tasks get their turn: all models may be gone at once


class Full(Exception):
    """There is no room for another place. The message is for the model that wanted one."""


class Places:
    def __init__(self, host: Host) -> None:
        self._host = host
        self._all: dict[Place, None] = {}  # the one heard last comes last
        self._by_token: dict[str, Place] = {}
        self._by_name: dict[
            tuple[str, str], dict[Place, None]
        ] = {}  # by name and game: those who were let in
        self._from = Counter[str]()  # how many there are, by origin
        self._sweeping = False

    def find(self, token: str) -> Place | None:
        return self._by_token.get(token)

    def is_played(self, session: Session) -> bool:
        """Whether a model has its place by this session: one place holds no more than one session."""
        place = None if session.token is None else self.find(session.token)
        return place is not None and place.session is session

    def make(self, exchange: Exchange, before: Place | None = None) -> Place:
        """A place for the client of a request, in place of the one `before`; raises `Full`."""
        limits, gives_up = self._host.limits, before if before in self._all else None
        origin = network_of(exchange.request.peer, limits.trust_loopback)
        others = self._from[origin] - (gives_up is not None and gives_up.origin == origin)
        if origin and others >= limits.connections_per_address:
            raise Full("too many came from your address: let some leave")
        if len(self._all) - (gives_up is not None) >= limits.sessions and not self._drop_one():
            raise Full("too many are here: come again later")
        place = Place(self._host, exchange, origin, self._heard)
        self._all[place] = None
        self._from[origin] += 1
        if not self._sweeping:
            self._sweeping = True
            self._host.guard.start_soon(self._sweep)
        return place

    def give_back(self, name: str, game: str, exchange: Exchange) -> None:
        """Free a name for a model that joins again from the same address, if its token may be lost."""
        now, address = trio.current_time(), address_of(exchange.request.peer)
        for place in tuple(self._by_name.get((name, game), ())):
            if place.address == address and place.has_lost_its_welcome(now):
                place.make_way("nothing was heard from the model, which has joined again")
                self.forget(place)

    def _drop_one(self) -> bool:
        """Forget the one silent for longest, of those nobody would miss and to which nothing is dealt."""
        now, enough = trio.current_time(), self._host.limits.ghost_seconds
        longest = next((place for place in self._all if place.silence(now) > enough), None)
        if longest is None:
            return False
        longest.make_way("nothing was heard from the model, and others had no room")
        self.forget(longest)
        return True

    def add(self, place: Place) -> None:
        """Add a place that was let in; it replaces any with the same token."""
        if (before := self._by_token.get(place.token)) is not None:
            self.forget(before)
        self._by_token[place.token] = place
        self._by_name.setdefault((place.name, place.game), {})[place] = None
        self._host.on_key(place.token)

    def forget(self, place: Place) -> None:
        if place in self._all:
            del self._all[place]
            self._from[place.origin] -= 1
            if not self._from[place.origin]:
                del self._from[place.origin]
        who = place.name, place.game
        if (named := self._by_name.get(who)) is not None:
            named.pop(place, None)
            if not named:
                del self._by_name[who]
        if place.welcome is not None and self._by_token.get(place.token) is place:
            del self._by_token[place.token]
            self._host.on_key_gone(place.token)

    def _heard(self, place: Place) -> None:
        if place in self._all:
            del self._all[place]
            self._all[place] = None

    async def _sweep(self) -> None:
        try:
            last = trio.current_time()
            while self._all:
                await trio.sleep(SWEEP)
                now = trio.current_time()
                async for place in WithPauses(self._all, AT_A_TIME):
                    if place in self._all:
                        place.sweep(now, last, self.forget)
                last = now
        finally:
            self._sweeping = False
