"""Bots whose place is in another process: what a door asks before it serves a bot, and what it hands over.

A tournament is held in one process. A door, wherever a connection comes in, reads just enough to know
where its bot wants to play. If that is not here, the connection goes there: a process on the same
machine is passed the descriptor, and another machine is relayed the bytes. Doors need not know which.

A host that holds every tournament has no `Abroad`, and its doors ask nothing.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from server.host.view import HeldTournament
from server.host.visits import Visit
from server.net.wire import Piece, Wire
from tournament.record import Record


class Wanted(Struct, frozen=True):
    """Where a bot wants to play, by the message that it comes with."""

    name: str
    game: str
    tournament: str | None  # None: wherever the host finds a place for that name
    token: str | None = None  # that it brings, if its dialect has tokens
    # By which door it comes, and from which address: that is what a name belongs to without a token.
    door: str = ""  # "": not known
    address: str = ""


class Handed(Struct, frozen=True, eq=False):
    """A connection that is handed over. Nobody else reads from it or writes to it meanwhile."""

    door: Literal["tcp", "websocket"]
    wire: Wire  # its `peer` is the bot's own address, also behind a proxy
    path: str  # of a websocket, whose handshake is over; "" over TCP
    pieces: Sequence[Piece]  # what was read and is still to be served, beginning with that message
    authenticated: Callable[[], None]  # to be called when the bot has shown who it is


class OutOfReach(Exception):
    """The process that holds a tournament cannot be reached just now. The message is for the bot's author."""


class Holder(Protocol):
    """The process that holds the tournament."""

    async def take(self, handed: Handed) -> Sequence[Piece]:
        """Serve a connection. Closing its wire is left to the caller.

        This returns when the connection has ended. It also returns when the bot wants something else:
        then with the bytes to serve next, and the wire may be used again. If those are the very pieces that
        were handed over, the bot plays here after all. Raises `OutOfReach` if nobody was handed the
        connection; the caller tells its bot.
        """
        ...


class HeldAbroad(HeldTournament, Protocol):
    async def finished(self) -> None:
        """Wait until the tournament is over, or deleted."""
        ...


class Abroad(Protocol):
    """What a host knows of other processes."""

    @property
    def held(self) -> Mapping[str, HeldAbroad]:
        """The tournaments that other processes hold, as far as this one knows them, by name."""
        ...

    def entered(self, name: str, game: str) -> Iterable[Record]:
        """The tournaments with an entrant of that name, over or not, that any process holds."""
        ...

    def expects(self, name: str, game: str) -> bool:
        """Whether a tournament with an end, wherever it is held, awaits such a bot or would take it."""
        ...

    def may_hold(self, tournament: str, game: str) -> bool:
        """Whether a tournament that is not held here goes on in another process, or may do so."""
        ...

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> Holder | None:
        """The process that serves a bot that wants that; None: this one.

        `leaving` is the bot's place here, if it has one over the same connection: it leaves that for another.
        """
        ...

    def place(self, record: Record) -> HeldTournament | None:
        """Have a process hold a tournament, new or kept; None: this one has to."""
        ...

    async def is_free(self, name: str) -> bool:
        """Whether a tournament of that name may be opened here, after all that any process has done with it.

        If so, no other process opens one until this one has. May raise a `Refusal`.
        """
        ...

    async def opens(self, game: str) -> bool:
        """Whether this process has to open the table of a game.

        If not, this may ask the process that has to, and return when the table is held, which may be here.
        """
        ...
