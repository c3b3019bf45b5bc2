"""One game address of Hexagon Dots: what is shown there, and to whom.

A `Gate` is an address at which bots may join a game. Before the match it says
what is waited for, then it shows the match, and afterwards how that ended.

`messages.py` has what a Game looks like, and `observers.py` who watches it;
`door.py` decides who may do what at a gate, and `bot.py` what a bot is told.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from math import inf
from typing import Any, Protocol

from msgspec.json import encode

from server.host.host import Host
from server.http.exchange import Exchange
from server.http.wire import typed
from server.protocols.hexagon_dots.idle import IdleGates
from server.protocols.hexagon_dots.messages import (
    Standing,
    initiating,
    offer,
    outline,
    standing,
    whole,
)
from server.protocols.hexagon_dots.observers import NOTHING, Observers
from tournament.events import AnyEvent, Ended, Moved
from tournament.log import Follower
from tournament.match import Match
from tournament.player import Player

COMING = 5.0  # seconds for which whoever was sent to a game may be on the way, and its place is kept …
LATE = 60.0  # … and after which it is not let in any more, where the host deals the matches: it may be slow

LINES = typed("application/x-ndjson")


class EnteredBot(Protocol):
    """A bot that has come through a gate and is not done."""

    @property
    def waits(self) -> bool:
        """Whether it has a place in the game of this address, which has not begun."""
        ...

    def is_awaited_with(self, token: str) -> bool:
        """Whether it has not been heard since the host's restart, and was given this token before."""
        ...

    def return_with(self, exchange: Exchange, token: str) -> None:
        """Take its first request after a restart."""
        ...

    def failed(self, exchange: Exchange, error: Exception) -> None:
        """Serving a request of it has raised `error`."""
        ...


class Gate:
    def __init__(
        self,
        host: Host,
        path: str,
        options: Mapping[str, Any],
        fixed: bool,
        at: float,
        idle: IdleGates,
        untaken: dict["Gate", None],
        maker: str = "",
    ) -> None:
        """`fixed`: bots that join play each other on this very board; otherwise the host deals the match.

        All gates share two collections: one is in `idle` while nobody plays, waits or comes here, and in
        `untaken` until its game begins. `maker` is the address of whoever asked for it.
        """
        self._host = host
        self.path = path
        self.options = options
        self.fixed = fixed
        self.at = at  # when it was made
        self.maker = maker
        self._guests: dict[EnteredBot, Player] = {}  # in the order of coming
        self._arriving = 0  # bots that are being let in
        self.taken = False  # whether its game has begun
        self._sent: list[float] = []  # when the latest two were sent here that may be on the way
        self._sent_last = -inf  # when the last one was
        self._match: Match | None = None  # the one that is shown, while it goes on
        self._follower: Follower | None = None  # of that match
        self._game = b""  # the Game as it was shown last …
        self._plies: int | None = None  # … after this many plies; None: it has changed in another way
        self._last: Standing | None = None  # the final standing, until it has been shown
        self._end: str | None = None  # how the last match ended, in words, if no other followed it
        self._observers = Observers(host)
        self._idle = idle
        self._untaken = untaken
        untaken[self] = None
        self._settle()

    @property
    def waiting(self) -> list[Player]:
        """The players with a place in the game of this address, which has not begun."""
        return [player for guest, player in self._guests.items() if guest.waits]

    def take(self) -> None:
        """Its game begins: nobody else can join it."""
        self.taken = True
        self._untaken.pop(self, None)

    @property
    def open(self) -> bool:
        """Whether a bot can still join the game."""
        return not self.taken and len(self.waiting) < 2

    def has_place_at(self, now: float) -> bool:
        """Whether a bot that is sent here now will find a place, if all come who have just been sent."""
        return not self.taken and len(self.waiting) + sum(now - at < COMING for at in self._sent) < 2

    def send_at(self, now: float) -> None:
        """Somebody is sent here: it has looked for a game, or made this one."""
        coming = [at for at in self._sent if now - at < COMING]
        self._sent = [*coming[-1:], now]  # there are two places, so whoever came earlier makes no difference
        self._sent_last = now

    def takes_in_at(self, now: float) -> bool:
        """Whether a bot may join now.

        Where the host deals the matches, the first who come here may play with others, who came elsewhere.
        Whoever else was sent here then plays another match.
        """
        return self.open or (not self.fixed and now - self._sent_last < LATE)

    @property
    def unused(self) -> bool:
        """Whether nobody has played here yet."""
        return self._match is None and self._end is None

    @property
    def why_not(self) -> str:
        """Why nothing can be done here, in words for the bot's author."""
        if self._end is not None:
            return f"the game is over: {self._end}"
        if self._match is None:
            return "two have joined this game already"
        return "{} and {} play this game".format(*self._match.names)

    @property
    def over(self) -> bool:
        return self._end is not None

    @property
    def _names(self) -> list[str]:
        return [player.name for player in self.waiting]

    @property
    def awaits_somebody(self) -> bool:
        """Whether somebody is being let in, which may take long."""
        return self._arriving > 0

    def letting_in(self) -> ExitStack:
        """Have the gate stay while a bot is let in: from this call to the end of the context."""
        self._arriving += 1
        self._settle()
        held = ExitStack()
        held.callback(self._let_in)
        return held

    def _let_in(self) -> None:
        self._arriving -= 1
        self._settle()

    def enter(self, guest: EnteredBot, player: Player) -> None:
        self._guests[guest] = player
        if self.fixed:
            del self._sent[:1]  # the others are still on the way
        else:
            self._sent.clear()  # it may have looked several times, and all of them can come
        self._settle()

    def awaited(self, token: str) -> EnteredBot | None:
        """The guest that comes back after a restart with this token from before."""
        return next((guest for guest in self._guests if guest.is_awaited_with(token)), None)

    def leave(self, guest: EnteredBot) -> Player:
        """Let a guest go; returns its player."""
        player = self._guests.pop(guest)
        self._settle()
        return player

    def game(self) -> bytes:
        """The Game as it stands."""
        if self._match is not None and self._plies != self._match.ply:
            self._game, self._plies = encode(whole(*standing(self._match))), self._match.ply
        elif self._last is not None:
            self._game, self._last = encode(whole(*self._last)), None
        elif self._match is None and self._end is None:
            return encode(initiating(self.options, self._names))
        return self._game

    def offer(self) -> object:
        """What is shown of the game to those who look for one to join."""
        return offer(self.path, self.options, self._names)

    def outline(self) -> object:
        """The Game without what was drawn in it."""
        return outline(self.path, self.options, self._names, self._match)

    def begin(self, match: Match) -> None:
        """A match has begun for a bot that joined here. It is shown, unless another one still is.

        The host deals matches as it likes, so the two bots that were sent here may play one each.
        """
        if self._match is None:
            self._match, self._plies, self._last, self._end = match, None, None, None
            self._settle()
            self._observers.tell(match)
            self._follower = match.log.follow(partial(self._tell, match), len(match.log.events))

    def observe(self, exchange: Exchange) -> None:
        exchange.authenticated()  # nobody in particular, but allowed to hold a connection
        chunks = exchange.stream(200, LINES)
        chunks.put(self.game() + b"\n")
        if self.over:
            chunks.close()
        else:
            self._observers.add(chunks, NOTHING if self._match is None else self._match.ply)

    def close(self) -> None:
        """Nothing more will happen here."""
        self._observers.close()

    def _tell(self, match: Match, event: AnyEvent) -> None:
        if isinstance(event, Moved):
            if match.verdict is None:  # otherwise it is the last move, which is told with the end
                self._observers.tell(match)
        elif isinstance(event, Ended):
            told, self._observers = self._observers, Observers(self._host)
            told.tell(match)
            self._last, self._end, self._match = standing(match), event.decided_by, None
            self._forget()
            self._settle()

    def _forget(self) -> None:
        """Stop following the match: a follower and its log keep each other alive, with all positions."""
        if self._follower is not None:
            self._follower.stop()
            self._follower = None

    def _settle(self) -> None:
        if self._guests or self._arriving or self._match is not None:
            self._idle.discard(self)
        else:
            self._idle.add(self)
