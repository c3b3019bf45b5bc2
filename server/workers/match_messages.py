"""What two workers say to each other about matches that one of them has lent to the other.

Every two workers have a conduit of their own, over which each may lend. Times are those of the clock that
all of them share.
"""

from typing import Any, Literal

from msgspec import Struct

from server.host.wire_log import TapeSnapshot
from server.net.limits import BudgetLeft
from server.net.wire import Piece
from tournament.asides import Aside
from tournament.lent import Beginning, Course, Report

# What the holder of a tournament says.


class Sit(Struct, tag="sit", frozen=True, array_like=True):
    """A connection, with its descriptor. Its bot is about to play at yours."""

    number: int  # the connection's name for both; never used twice
    door: Literal["tcp", "websocket"]
    dialect: str  # over TCP
    path: str  # of a websocket
    peer: str
    secure: bool
    words: str  # the dialect's own
    budget: BudgetLeft | None  # of what the bot may say


class Play(Struct, tag="play", frozen=True, array_like=True):
    """Play a match, which begins now, between the bots of these connections."""

    beginning: Beginning
    seats: tuple[int, int]


class Fetch(Struct, tag="fetch", frozen=True, array_like=True):
    """Have a match come home, unless it is decided."""

    match: str


class Announce(Struct, tag="announce", frozen=True, array_like=True):
    """The result is safe: tell the bots."""

    match: str
    receipt: str


# What the other worker says.


class Heard(Struct, tag="heard", frozen=True, array_like=True):
    """Moves that were played next, match by match, and what there is beside them."""

    matches: tuple[tuple[str, tuple[Any, ...], tuple[float, ...], tuple[Aside, ...]], ...]


class Decided(Struct, tag="decided", frozen=True, array_like=True):
    match: str
    report: Report


class Home(Struct, tag="home", frozen=True, array_like=True):
    """A match comes home as it stands; its connections follow."""

    match: str
    course: Course
    told: int  # the bots have been told of this many of its events


class Acknowledged(Struct, tag="acknowledged", frozen=True, array_like=True):
    """A bot has said something, so it has the token that it was told."""

    number: int


class Returned(Struct, tag="returned", frozen=True, array_like=True):
    """A connection is yours again, from these bytes on."""

    number: int
    pieces: tuple[Piece, ...]
    tape: TapeSnapshot
    budget: BudgetLeft | None


class Left(Struct, tag="left", frozen=True, array_like=True):
    """A bot has hung up, or was hung up on, and is being told goodbye."""

    number: int
    tape: TapeSnapshot
    for_good: bool
    cut: bool = False  # it was hung up on, and the log has said so


class Closed(Struct, tag="closed", frozen=True, array_like=True):
    """The connection has ended."""

    number: int


FromHolder = Sit | Play | Fetch | Announce
FromPlace = Heard | Decided | Home | Acknowledged | Returned | Left | Closed
Between = FromHolder | FromPlace


class Together(Struct, frozen=True, array_like=True):
    """Messages of about the same time in one packet, for which the other end wakes once.

    A descriptor that comes with it is that of the only `Sit` among them.
    """

    messages: tuple[Between, ...]
