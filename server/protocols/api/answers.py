"""What the routes of the API answer with, as types: the OpenAPI document gets its schemas from here.

Which route answers with which is in `table.py`. Answers are put together where they are given
(`reading.py`, `server/export/json_views.py`); nothing is encoded by these types. A test asks a
real host and holds every answer to them, field by field, so they cannot differ. More fields may be added
over time; a program passes over those that it does not know.
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from games.estimate import Slip
from games.game import Pace
from games.perfect import Mistake
from tournament.across import Across
from tournament.events import Ending, Fault
from tournament.facts import State
from tournament.kinds import Kind
from tournament.notes import Noted

Sides = tuple[float | None, float | None]  # in the order of the seats


class Game(Struct, frozen=True):
    name: str
    title: str
    seats: tuple[str, str]
    pace: Pace
    faults: Literal["retry", "forfeit"]  # what an illegal move costs: another try, or the match
    ply_limit: int | None
    options: dict[str, Any]  # each with its default
    formats: list[str]


class Games(Struct, frozen=True):
    games: list[Game]


class GameSchema(Struct, frozen=True):
    """The JSON Schemas of a game's states and moves."""

    game: str
    state: dict[str, Any]
    move: dict[str, Any]


class Missing(Struct, frozen=True):
    """An entrant that the tournament is waiting for."""

    name: str
    since: str


class NextRound(Struct, frozen=True):
    """The next round that has a time. It begins later if the round before it is still being played then."""

    round: int
    at: str


class CheckingIn(Struct, frozen=True, rename={"opens": "from"}):
    """From when entrants can check in, by being here, and which of them have not."""

    opens: str
    missing: list[str]


class Lots(Struct, frozen=True, omit_defaults=True):
    """What the drawing of lots depends on. A seed that the host chose is null until the draw."""

    by: Literal["host", "organiser"]
    seed: int | None
    commitment: str = ""
    salt: str | None = None


class Head(Struct, frozen=True):
    """What every answer about a tournament begins with."""

    tournament: str
    game: str
    format: str
    state: State
    frozen: bool
    ended_early: bool = False  # an organiser ended it before all was played


class Course(Head, frozen=True, kw_only=True):
    """How a tournament is held, and how far it has come."""

    wanted: int | None
    rounds: int | None
    lots: Lots
    options: dict[str, Any]
    pace: Pace
    absent: Literal["wait", "settle"] | None
    start_at: str | None
    group: str | None
    by_invitation: bool  # only bots that an organiser invites or enters take part
    rounds_at: list[str] | None
    round_every: float | None
    check_in: float | None
    round: int | None  # the latest that has begun, of rounds by the clock
    next_round: NextRound | None
    checking_in: CheckingIn | None
    played: int
    playing: list[str]
    open: int
    eta: float | None
    missing: list[Missing]  # in lists and in answers to orders, those that have been awaited longest
    missing_count: int  # how many there are


class Summary(Course, frozen=True, kw_only=True):
    """A tournament as it is in lists, and in the answers to orders about it."""

    entrants: int


class Tournaments(Struct, frozen=True):
    tournaments: list[Summary]
    next: int | None


class Entrant(Struct, frozen=True, omit_defaults=True):
    name: str
    rating: float | None
    gone: bool
    no_show: bool = False  # it had not checked in
    affiliation: str = ""
    contact: str = ""  # for the organiser alone
    accuracy: float | None = None
    estimate: float | None = None


class Graded(Struct, frozen=True):
    """The share of good moves of all its bots together, in the matches that have been counted."""

    matches: int
    accuracy: float | None


class Estimated(Struct, frozen=True):
    """The same where no solver knows the game, as a house brain sees it."""

    matches: int
    estimate: float | None


class Undecided(Struct, frozen=True):
    """Two of whom it is open who is better, and how much of the necessary evidence there is, from 0 to 1."""

    better: str
    worse: str
    certainty: float


class Deciding(Struct, frozen=True):
    """How far a tournament has come that ends when it is decided."""

    decided: bool
    confidence: float
    within: float
    places: int
    settled: list[str]
    undecided: list[Undecided]
    undecided_pairs: int
    most: int
    more: int | None
    said: list[str]


class Whole(Course, frozen=True, omit_defaults=True, kw_only=True):
    """One tournament, with its entrants."""

    entrants: list[Entrant]
    next: int | None
    holder: str | None  # the address of the host that holds it, where several share a database
    graded: Graded | None = None  # where a solver knows the game …
    estimated: Estimated | None = None  # … and where none does
    deciding: Deciding | None = None  # of a tournament that ends when it is decided


class Unrated(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A row of the standings, with only what decides the order."""

    rank: int
    name: str
    points: float
    played: int
    wins: int
    draws: int
    losses: int
    tie_breaks: dict[str, float]
    out: str = ""
    annulled: bool = False


class Row(Unrated, frozen=True, omit_defaults=True, kw_only=True):
    rating: float | None
    interval: tuple[float, float] | None
    strength: float | None
    strength_interval: tuple[float, float] | None
    first: float | None
    ranks: list[float] | None
    affiliation: str = ""


class Standings(Head, frozen=True, omit_defaults=True, kw_only=True):
    as_of: str
    rows: list[Row]
    next: int | None
    circles: list[tuple[str, str, str]] = []  # each beats the next, and the last the first
    decided: bool = False
    said: list[str] = []


class Group(Struct, frozen=True):
    """Tournaments that belong together."""

    group: str
    tournaments: list[str]


class Groups(Struct, frozen=True):
    groups: list[Group]
    next: int | None


class TableOver(Group, frozen=True):
    """One table over all tournaments of a group."""

    frozen: bool  # whether the standings of any of them are
    rows: list[Across]
    next: int | None


class Listed(Struct, frozen=True, omit_defaults=True, kw_only=True):
    """A match without its moves. One before the latest thousand lacks what led to its end."""

    match: str
    game: str
    tournament: str
    round: int
    players: tuple[str, str]
    winner: Literal[0, 1] | None
    ending: Ending | None
    why: str | None
    score: tuple[float, float] | None
    plies: int
    options: dict[str, Any]
    began: str | None
    ended: str | None
    fault: Fault | None
    cause: list[dict[str, Any]] = []
    thought: Sides = (None, None)
    network: Sides = (None, None)
    versions: tuple[str | None, str | None] = (None, None)
    kinds: tuple[Kind, Kind] | None = None


class Matches(Struct, frozen=True):
    frozen: bool  # whether the standings are, which these matches may no longer add up to
    matches: list[Listed]
    next: int | None


class Estimate(Struct, frozen=True):
    """How well a match was played, as far as a house brain sees."""

    depth: int
    share: Sides
    slips: list[Slip]
    ungraded: int


class Match(Listed, frozen=True, omit_defaults=True, kw_only=True):
    moves: list[Any]  # as the game writes them
    times: list[float]
    notes: list[Noted]
    receipt: str | None
    mistakes: list[Mistake] | None
    accuracy: Sides | None
    ungraded: int | None
    estimate: Estimate | None  # where no solver knows the game


class BotVersion(Struct, frozen=True):
    """What one version of a bot has done."""

    version: str | None
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    latest: str | None
    rating: float | None
    interval: tuple[float, float] | None


class Career(Struct, frozen=True):
    """What a bot has done in one game. Its rating is that of its latest version."""

    game: str
    tournaments: list[str]
    frozen: bool
    affiliation: str | None
    version: str | None
    rating: float | None
    interval: tuple[float, float] | None
    versions: list[BotVersion]  # the latest first


class Bot(Struct, frozen=True):
    name: str
    games: list[Career]


class Said(Struct, frozen=True, rename={"by": "from"}):
    at: float
    by: Literal["bot", "host"]
    text: str


class Wire(Struct, frozen=True):
    match: str
    seat: Literal[0, 1]
    name: str
    messages: list[Said]
    omitted: int


class Key(Struct, frozen=True, omit_defaults=True):
    algorithm: str | None
    key: str | None
    why: str = ""


class Status(Struct, frozen=True):
    trouble: str
    draining: bool


class Peer(Struct, frozen=True):
    """A host that shares the database."""

    host: int
    address: str
    version: str
    alive: bool
    draining: bool
    starting: bool
    heartbeat: str
    tournaments: int
    this: bool


class Hosts(Struct, frozen=True):
    hosts: list[Peer]


class Organiser(Struct, frozen=True):
    organiser: bool


class Alive(Struct, frozen=True):
    alive: bool


class Problem(Struct, frozen=True):
    said: str
    advice: str


class Health(Struct, frozen=True):
    """The hosts that share the database and were heard from within the hour."""

    registered: int
    alive: int
    problems: list[Problem]


class Ready(Struct, frozen=True, omit_defaults=True):
    ready: bool
    why: str = ""
    damaged: str = ""  # which part of the journal cannot be read
    peers: Health | UnsetType = UNSET


class Invited(Struct, frozen=True):
    name: str
    token: str


class Preview(Struct, frozen=True):
    """The standings as they are, and as they would be at once after the order."""

    before: list[Unrated]
    after: list[Unrated]
    to_play: int  # pairings of whoever would be out that go to its opponents as well, one after the other


class Link(Struct, frozen=True):
    path: str
