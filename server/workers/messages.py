"""What worker 0 and another worker say to each other, over one conduit in each direction.

A conduit (`server/show/conduit.py`) keeps the order of what is said. So whoever is told that a tournament
is its own, and then is passed a connection, knows the tournament when the connection comes.
"""

from typing import Any, Literal

from msgspec import Struct

from server.config import Settings
from server.pages.addresses import Addresses
from server.pages.desk.sessions import Session
from server.show.conduit import Back, Gone, Known, NoRoom
from server.show.feed import Seen
from tournament.facts import AnyFact

Piece = tuple[bytes, float]


# What worker 0 says.


class Begin(Struct, tag="begin", frozen=True, array_like=True):
    """Said first."""

    settings: Settings
    addresses: Addresses
    token: str  # the organiser's
    held: tuple[str, ...]  # tournaments to go on with, as they are kept
    trouble: str
    alone: frozenset[str]
    sitting: tuple[tuple[bytes, Session], ...] | None  # at the desk; None: there is none


class Sitting(Struct, tag="sitting", frozen=True, array_like=True):
    """Somebody sits at the desk, or no longer does."""

    digest: bytes  # of the secret in a cookie
    session: Session | None


class Hold(Struct, tag="hold", frozen=True, array_like=True):
    """A tournament that is new is yours."""

    name: str
    kept_as: str
    facts: tuple[AnyFact, ...]  # all that there are


class TableHeld(Struct, tag="table-held", frozen=True, array_like=True):
    """The open table that you need is there. Was it not said to be yours, it is somebody else's."""

    game: str


class Hand(Struct, tag="hand", frozen=True, array_like=True):
    """A connection, with its descriptor: its bot plays at yours. Serve it from these bytes on."""

    number: int  # by which both call it; none is used twice
    door: Literal["tcp", "websocket"]
    path: str  # of a websocket
    peer: str
    secure: bool
    pieces: tuple[Piece, ...]


class Kept(Struct, tag="kept", frozen=True, array_like=True):
    """What was to be kept is safe; or it contradicts what is kept, and this is how."""

    call: int
    receipts: tuple[str, ...]
    conflict: str = ""


class Trouble(Struct, tag="trouble", frozen=True, array_like=True):
    """Nothing can be kept, for this reason; "" while all is well."""

    why: str


class Alone(Struct, tag="alone", frozen=True, array_like=True):
    """Of these games nobody but you holds a tournament that is not over."""

    games: frozenset[str]


class Tell(Struct, tag="tell", frozen=True, array_like=True):
    """A socket comes with this, at which show hears what happens at yours."""


class Meet(Struct, tag="meet", frozen=True, array_like=True):
    """A socket comes with this, at whose other end another worker is: play matches for each other."""

    number: int  # of that worker


class Drain(Struct, tag="drain", frozen=True, array_like=True):
    """The host is about to stop: begin nothing, and let end what cannot be resumed."""


class Stop(Struct, tag="stop", frozen=True, array_like=True):
    """Let go of all tournaments, and say goodbye to everybody."""


# What the other worker says.


class Ready(Struct, tag="ready", frozen=True, array_like=True):
    """It can be passed connections."""


class NeedTable(Struct, tag="need-table", frozen=True, array_like=True):
    """Somebody has come for the open table of a game, which is to be opened."""

    game: str


class Keep(Struct, tag="keep", frozen=True, array_like=True):
    call: int
    tournament: str  # as it is kept
    when: float
    facts: tuple[AnyFact, ...]


class Jotted(Struct, frozen=True, array_like=True):
    """Moves of one match in play."""

    match: str
    ply: int  # of the first of them
    moves: tuple[Any, ...]  # as the game writes them
    times: tuple[float, ...]


class Jots(Struct, tag="jots", frozen=True, array_like=True):
    """What has been played since it was said last."""

    matches: tuple[Jotted, ...]


class Counted(Struct, frozen=True, array_like=True):
    """A histogram, or a number."""

    labels: dict[str, str]
    value: int | float
    bounds: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


class Figures(Struct, frozen=True, array_like=True):
    """Of one name (`server/host/exposition.py`)."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: tuple[Counted, ...]


class Status(Struct, tag="status", frozen=True, array_like=True):
    """How things are, once in a while."""

    seen: Seen
    moves: int  # that were played in all
    figures: tuple[Figures, ...]


class Key(Struct, tag="key", frozen=True, array_like=True):
    """A secret by which requests find what it has."""

    key: str


class Drained(Struct, tag="drained", frozen=True, array_like=True):
    """Nothing is in play that could not be resumed."""


class Stopped(Struct, tag="stopped", frozen=True, array_like=True):
    """Everybody has been told, and all that is to be kept has been said."""


ToWorker = Begin | Sitting | Hold | TableHeld | Hand | Kept | Trouble | Alone | Tell | Meet | Drain | Stop
FromWorker = (
    Ready | NeedTable | Keep | Jots | Key | Status | Drained | Stopped | Back | Gone | NoRoom | Known
)  # the last four of connections
