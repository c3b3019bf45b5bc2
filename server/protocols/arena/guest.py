"""Bots that have joined the Arena: who waits for a match, who is called to it, and who is away.

A bot that gave its address is present until its tournament is over, and called
to each match. Any other is present while its request to join is unanswered and
while it plays: the answer is its match, and for the next it joins again.
"""

import hmac
from collections import OrderedDict
from collections.abc import Callable
from functools import partial

import trio
from msgspec import Struct

from server.host.host import OPEN, Host
from server.host.names import BadName, checked, key
from server.host.reception import REPLACED, Key, Unwelcome, Visit
from server.http.exchange import Exchange
from server.http.head import Refusal
from server.http.wire import json_response, refused
from server.net.addresses import Url
from server.protocols.arena.battle import PRIVATE, Battle
from server.protocols.arena.invitations import Calling
from server.protocols.common.tournament_end import when_over
from tournament.player import GRACE, Player, Seat
from tournament.record import AnyFact, State
from tournament.tournament import Tournament

FAREWELLS = 1000  # bots that are away and have yet to hear that their tournament is over

Enrol = Callable[[Seat], Battle]


class Join(Struct, frozen=True):
    """What a bot says to come in, or back."""

    name: str
    teamUrl: str | None = None  # where it is called
    token: str | None = None  # of an earlier answer, or one's own choice of 16 characters or more
    tournament: str | None = None  # None: the host finds a place


class Guests:
    """All of them, by game and name."""

    def __init__(self, host: Host, calling: Calling, enrol: Enrol) -> None:
        self.host = host
        self.calling = calling
        self.enrol = enrol
        self._guests: dict[Key, Guest] = {}
        self._farewells: OrderedDict[Key, tuple[str, str]] = OrderedDict()  # the token, and what is over

    async def join(self, exchange: Exchange, game: str, asked: Join) -> None:
        """Let a bot in, or back; raises `Refusal`. The exchange is answered now or with a match."""
        try:
            where = (game, key(checked(asked.name)))
        except BadName as error:
            raise Refusal(400, str(error)) from None
        self._say_farewell(where, asked)
        url = None if asked.teamUrl is None else await self.calling.checked(asked.teamUrl, game)
        if url is not None:
            self._expect_one_name(where, url)
        guest = self._guests.get(where)
        if guest is None or not guest.knows(asked.token):
            guest = Guest(self, where)
        visit = await guest.arrive(exchange.request.peer, asked)
        self._expect_not_over(where, visit)
        self._guests[where] = guest
        guest.enter(visit, exchange, url)

    def forget(self, guest: "Guest") -> None:
        guest.stop_waiting()
        if self._guests.get(guest.where) is guest:
            del self._guests[guest.where]

    def remember(self, where: Key, token: str, tournament: str) -> None:
        """Somebody is away and has not heard that its tournament is over."""
        self._farewells[where] = token, tournament
        while len(self._farewells) > FAREWELLS:
            self._farewells.popitem(last=False)

    def _expect_one_name(self, where: Key, url: Url) -> None:
        called = [guest for guest in self._guests.values() if guest.url is not None and guest.where != where]
        if any(guest.url == url for guest in called):
            raise Refusal(409, "a bot plays under one name, and somebody has joined with this teamUrl")
        if len(called) >= self.host.limits.called_bots:
            raise Refusal(
                429, f"{len(called)} bots are here to be called, which is the most: come again later"
            )

    def _expect_not_over(self, where: Key, visit: Visit) -> None:
        """It takes a moment to arrive, and much may happen meanwhile."""
        if not visit.current:
            raise Refusal(409, REPLACED)
        place = visit.player.place or ""
        if self.host.tournaments[place].record.state is State.FINISHED:
            self._farewells.pop(where, None)
            visit.leave(for_good=True)
            raise Refusal(410, f"{place} is over")

    def _say_farewell(self, where: Key, asked: Join) -> None:
        wanted = self.host.tournaments.get(asked.tournament or "")
        if wanted is not None and wanted.record.state is State.FINISHED:
            raise Refusal(410, f"{wanted.record.name} is over")
        token, tournament = self._farewells.get(where, ("", ""))
        if token and _same(token, asked.token):
            del self._farewells[where]
            raise Refusal(410, f"{tournament} is over")


class Guest:
    """One bot under a name: waiting for the answer to its request, or called, or away."""

    def __init__(self, guests: Guests, where: Key) -> None:
        self.where = where
        self.url: Url | None = None  # where it is called
        self.stop_waiting: Callable[[], None] = lambda: None  # for the end of its tournament
        self._guests = guests
        self._limits = guests.host.limits
        self._visit: Visit | None = None
        self._returning = False  # it joins again: whoever replaces its visit is itself
        self._held: Exchange | None = None  # its request, which is answered with its next battle
        self._battle: Battle | None = None  # its last
        self._until = 0.0  # when it is called no more from an open table

    def knows(self, token: str | None) -> bool:
        return self._visit is not None and _same(self._visit.token, token)

    async def arrive(self, peer: str, asked: Join) -> Visit:
        self._returning = True
        try:
            return await self._guests.host.arrive(
                asked.name,
                self.where[0],
                tournament=asked.tournament,
                token=asked.token,
                reserved=True,
                peer=peer,
            )
        except Unwelcome as refusal:
            if self._visit is not None and not self._visit.current:
                self._guests.forget(self)
            raise Refusal(503 if self._guests.host.draining else 409, str(refusal)) from None
        finally:
            self._returning = False

    def enter(self, visit: Visit, exchange: Exchange, url: Url | None) -> None:
        player, host = visit.player, self._guests.host
        self._visit, self.url = visit, url
        visit.replaced = self._replaced
        player.dealt = self._dealt
        self.stop_waiting()
        if not self._at_open_table(player):
            self.stop_waiting = when_over(host, player.place or "", self._tournament_over)
        exchange.authenticated()
        if url is None:
            self._held = exchange
            exchange.on_gone(partial(self._hung_up, exchange))
        else:
            self._until = trio.current_time() + self._limits.table_seconds
            place = None if self._at_open_table(player) else player.place
            welcome = {"name": player.name, "token": visit.token, "tournament": place}
            exchange.respond(json_response(202, welcome, *PRIVATE))
        if player.seat is None:
            player.free()
        else:
            battle = self._battle
            if battle is None or battle.seat is not player.seat:
                self._open(player.seat)
            elif battle.expected is not None and not battle.started:
                battle.expect(battle.expected)  # coming back has set its clock going
            self._invite()

    # Its matches

    def _dealt(self, seat: Seat) -> None:
        reachable = self._held is not None or self.url is not None
        self._open(seat).expect(trio.current_time() + (self._limits.start_seconds if reachable else GRACE))
        self._invite()

    def _open(self, seat: Seat) -> Battle:
        self._battle = battle = self._guests.enrol(seat)
        battle.tape = self._guests.host.wires.tape(seat, self._visit)
        battle.on_start = self._acknowledge
        battle.on_end = partial(self._ended, battle)
        return battle

    def _invite(self) -> None:
        """Let the bot know its battle."""
        battle = self._battle
        if battle is None or self._visit is None:
            return
        if self._held is not None:
            exchange, self._held = self._held, None
            answer = {"battleId": battle.name, "token": self._visit.token}
            exchange.respond(json_response(200, answer, *PRIVATE))
        elif self.url is not None and not battle.started:
            self._guests.host.guard.start_soon(self._call, self.url, battle)

    async def _call(self, url: Url, battle: Battle) -> None:
        async with self._guests.calling.turn(url):
            if battle.started or battle.over.is_set():
                return
            called = await self._guests.calling.invite(url, battle)
            if battle.expected is not None and not battle.started and not battle.over.is_set():
                if called:
                    # Its turn to be called may have come late.
                    battle.expect(trio.current_time() + self._limits.start_seconds)
                else:
                    battle.seat.leave()
            await battle.over.wait()

    def _acknowledge(self) -> None:
        """Its battle has been asked for: it must have got the answer, and its token with it."""
        if self._visit is not None and self.url is None:
            self._visit.acknowledge()

    def _ended(self, battle: Battle) -> None:
        visit = self._visit
        if visit is None or not visit.current:
            return
        if self.url is None:
            self._leave(visit)
        elif self._at_open_table(visit.player) and (not battle.started or trio.current_time() > self._until):
            visit.leave(for_good=True)
            self._guests.forget(self)

    # How it goes

    def _hung_up(self, exchange: Exchange) -> None:
        if self._held is exchange and self._visit is not None:
            self._held = None
            self._leave(self._visit)

    def _leave(self, visit: Visit) -> None:
        visit.leave()
        if self._at_open_table(visit.player):
            self._guests.forget(self)

    def _replaced(self, why: str) -> None:
        if self._held is not None:
            exchange, self._held = self._held, None
            exchange.respond(refused(409, why))
        if not self._returning:
            self._guests.forget(self)
            if self._battle is not None:
                self._battle.retire()

    def _tournament_over(self, tournament: Tournament, fact: AnyFact) -> None:
        visit, name = self._visit, tournament.record.name
        if self._held is not None:
            exchange, self._held = self._held, None
            exchange.respond(refused(410, f"{name} is over"))
        elif self.url is None and visit is not None and visit.token is not None:
            self._guests.remember(self.where, visit.token, name)
        if visit is not None:
            visit.leave(for_good=True)
        self._guests.forget(self)

    def _at_open_table(self, player: Player) -> bool:
        return (player.place or OPEN).startswith(OPEN)


def _same(token: str | None, sent: str | None) -> bool:
    return token is not None and sent is not None and hmac.compare_digest(token.encode(), sent.encode())
