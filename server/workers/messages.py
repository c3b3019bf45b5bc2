"""What worker 0 and another worker say to each other, over one conduit in each direction.

A conduit (`server/show/conduit.py`) keeps messages in order. So a worker that is told to hold a
tournament, and then is passed a connection, knows the tournament when the connection comes.
"""

from typing import Any, Literal

from msgspec import Struct

from server.config import Settings
from server.host.claims import Replaced
from server.host.visits import Key as Name
from server.host.visits import Present
from server.net.wire import Piece
from server.pages.addresses import Addresses
from server.pages.desk.sessions import Session
from server.show.conduit import Back, Gone, Known, NoRoom
from tournament.asides import Aside
from tournament.facts import AnyFact
from tournament.facts import Kept as KeptFact
from tournament.format import Pairing

# What worker 0 says.


class Begin(Struct, tag="begin", frozen=True, array_like=True):
    """The first message."""

    settings: Settings
    addresses: Addresses
    token: str  # the organiser's
    held: tuple[str, ...]  # tournaments to go on with, by their names in the store
    trouble: str
    alone: frozenset[str]
    sitting: tuple[tuple[bytes, Session | None], ...] | None  # at the desk; None: there is no desk


class Sitting(Struct, tag="sitting", frozen=True, array_like=True):
    """A session at the desk was opened or closed."""

    digest: bytes  # of the secret in a cookie
    session: Session | None


class Hold(Struct, tag="hold", frozen=True, array_like=True):
    """Hold this new tournament."""

    name: str
    kept_as: str
    facts: tuple[AnyFact, ...]  # all that there are so far
    orders: tuple[KeptFact, ...]  # what organisers ordered to have it


class TableHeld(Struct, tag="table-held", frozen=True, array_like=True):
    """The open table that you need exists. Unless you were told to hold it, another worker does."""

    game: str


class Hand(Struct, tag="hand", frozen=True, array_like=True):
    """A connection, with its descriptor: its bot plays with you. Serve it from these bytes on."""

    number: int  # by which both call it; none is used twice
    door: Literal["tcp", "websocket"]
    path: str  # of a websocket
    peer: str
    secure: bool
    pieces: tuple[Piece, ...]


class Kept(Struct, tag="kept", frozen=True, array_like=True):
    """The facts are safe; or they contradict what is kept, and this says how."""

    call: int
    receipts: tuple[str, ...]
    conflict: str = ""


class Trouble(Struct, tag="trouble", frozen=True, array_like=True):
    """Nothing can be kept, for this reason; "" while all is well."""

    why: str


class Alone(Struct, tag="alone", frozen=True, array_like=True):
    """Nobody but you holds tournaments of these games that are not over."""

    games: frozenset[str]


class Tell(Struct, tag="tell", frozen=True, array_like=True):
    """A socket comes with this, at which show hears what happens in your process."""


class Meet(Struct, tag="meet", frozen=True, array_like=True):
    """A socket comes with this, with another worker at its other end: play matches for each other."""

    number: int  # the other worker's


class Alive(Struct, tag="alive", frozen=True, array_like=True):
    """I have not come to a standstill."""


class GiveWay(Struct, tag="give-way", frozen=True, array_like=True):
    """Whoever has the token of the bot that is with you under this name goes to another process."""

    where: Name


class Drain(Struct, tag="drain", frozen=True, array_like=True):
    """The host is about to stop: begin nothing, and let matches end that cannot be resumed."""


class Stop(Struct, tag="stop", frozen=True, array_like=True):
    """Let go of all tournaments, and say goodbye to everybody."""


# What either says.


class ToldEnd(Struct, tag="told-end", frozen=True, array_like=True):
    """A bot has heard that its tournament is over: it need not hear that again."""

    tournament: str  # by its name in the store
    name: str


class TokenReplaced(Struct, tag="token-replaced", frozen=True, array_like=True):
    """A name belongs to another token, by an order about a tournament that the receiver does not hold."""

    replaced: Replaced


class StoodStill(Struct, tag="stood-still", frozen=True, array_like=True):
    """I stood still for so long, and have passed on nothing meanwhile."""

    seconds: float


class Listened(Struct, tag="listened", frozen=True, array_like=True):
    """All requests that had come to me when you asked have been passed on."""


# What the other worker says.


class Listen(Struct, tag="listen", frozen=True, array_like=True):
    """Tell me when all requests that have come to you by now have been passed on: somebody may be late."""


class Ready(Struct, tag="ready", frozen=True, array_like=True):
    """The worker can be passed connections."""


class NeedTable(Struct, tag="need-table", frozen=True, array_like=True):
    """A bot has come for the open table of a game, which has to be opened."""

    game: str


class Pairings(Struct, tag="pairings", frozen=True, array_like=True):
    """Some pairings of a long draw. The facts of that call leave them out, and come after all of them."""

    call: int
    pairings: tuple[Pairing, ...]


class Keep(Struct, tag="keep", frozen=True, array_like=True):
    call: int
    tournament: str  # by its name in the store
    when: float
    facts: tuple[AnyFact, ...]


class Jotted(Struct, frozen=True, array_like=True):
    """Moves of one match in play, and what there is beside them."""

    match: str
    ply: int  # of the first move
    moves: tuple[Any, ...]  # as the game writes them
    times: tuple[float, ...]
    number: int  # of the first aside, counted from 1
    asides: tuple[Aside, ...]


class Jots(Struct, tag="jots", frozen=True, array_like=True):
    """The moves played since the last such message."""

    matches: tuple[Jotted, ...]


class Counted(Struct, frozen=True, array_like=True):
    """A histogram, or a number."""

    labels: dict[str, str]
    value: int | float
    bounds: tuple[float, ...] = ()
    counts: tuple[int, ...] = ()


class Figures(Struct, frozen=True, array_like=True):
    """The figures of one name (`server/host/exposition.py`)."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    help: str
    samples: tuple[Counted, ...]


class Status(Struct, tag="status", frozen=True, array_like=True):
    """How things are, once in a while."""

    moves: int  # how many were played in all
    figures: tuple[Figures, ...]


class Key(Struct, tag="key", frozen=True, array_like=True):
    """A secret by which requests find what the worker has."""

    key: str


class KeyGone(Struct, tag="key-gone", frozen=True, array_like=True):
    """Such a secret leads to nothing any more."""

    key: str


class Moved(Struct, tag="moved", frozen=True, array_like=True):
    """Somebody has a place here under a name, or has gone."""

    where: Name
    present: Present | None


class Drained(Struct, tag="drained", frozen=True, array_like=True):
    """Nothing is in play that could not be resumed."""


class Stopped(Struct, tag="stopped", frozen=True, array_like=True):
    """Everybody has been told, and all facts to be kept have been sent."""


ToWorker = (
    Begin
    | Sitting
    | Hold
    | TableHeld
    | Hand
    | Kept
    | Trouble
    | Alone
    | Tell
    | Meet
    | Alive
    | GiveWay
    | ToldEnd
    | TokenReplaced
    | StoodStill
    | Listened
    | Drain
    | Stop
)
OfConnections = Back | Gone | NoRoom | Known
OfKeys = Key | KeyGone
OfWorker = (
    Ready
    | Listen
    | NeedTable
    | Pairings
    | Keep
    | Jots
    | OfKeys
    | Moved
    | ToldEnd
    | TokenReplaced
    | Status
    | Drained
    | Stopped
    | OfConnections
)


class Several(Struct, tag="several", frozen=True, array_like=True):
    """Messages of the same moment, for which worker 0 wakes once."""

    messages: tuple[OfWorker, ...]


FromWorker = OfWorker | Several
