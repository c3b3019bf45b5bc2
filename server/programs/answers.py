"""What commands read of a host's answers, as types: whatever answers otherwise is no host.

Only what is read is here, and fields that a host of another version may lack have defaults. All that a
host answers with is in `server/protocols/api/answers.py`; fields that are not here are passed over.
"""

from typing import Any, Literal

from msgspec import Struct


class Wrong(Struct):
    """Why something was not done."""

    error: str


class Head(Struct, kw_only=True):
    tournament: str
    game: str
    format: str
    state: str
    ended_early: bool = False


class Course(Head, kw_only=True):
    wanted: int | None
    played: int
    open: int
    frozen: bool = False


class Summary(Course, kw_only=True):
    """A tournament in a list, or after an order."""

    entrants: int


class Tournaments(Struct):
    tournaments: list[Summary]
    next: int | None = None


class Entrant(Struct, kw_only=True):
    name: str
    gone: bool
    no_show: bool = False
    affiliation: str = ""
    contact: str = ""


class Missing(Struct):
    name: str
    since: str


class NextRound(Struct):
    round: int
    at: str


class CheckingIn(Struct, rename={"opens": "from"}):
    opens: str
    missing: list[str]


class Deciding(Struct):
    said: list[str] = []


class Whole(Course, kw_only=True):
    """One tournament, with its entrants."""

    entrants: list[Entrant]
    playing: list[str]
    eta: float | None
    group: str | None
    by_invitation: bool
    start_at: str | None
    rounds_at: list[str] | None
    next_round: NextRound | None
    checking_in: CheckingIn | None
    missing: list[Missing]
    deciding: Deciding | None = None
    next: int | None = None


class Place(Struct, kw_only=True):
    """A row of a table before or after an order."""

    rank: int
    name: str
    points: float
    annulled: bool = False


class Preview(Struct):
    before: list[Place]
    after: list[Place]
    to_play: int = 0


class Row(Place, kw_only=True):
    played: int
    wins: int
    draws: int
    losses: int
    rating: float | None
    interval: tuple[float, float] | None
    out: str = ""
    affiliation: str = ""


class Standings(Head, kw_only=True):
    frozen: bool
    rows: list[Row]
    said: list[str] = []
    next: int | None = None


class Cause(Struct, kw_only=True):
    kind: str
    at: str
    ply: int | None = None
    seat: Literal[0, 1] | None = None
    seconds: float = 0.0
    deadline: float = 0.0


class Match(Struct, kw_only=True):
    match: str
    game: str
    players: tuple[str, str]
    options: dict[str, Any]
    moves: list[Any]
    times: list[float]
    winner: Literal[0, 1] | None
    ending: str | None
    why: str | None
    ended: str | None = None
    fault: str | None = None
    cause: list[Cause] = []

    def __post_init__(self) -> None:
        if len(self.times) != len(self.moves):
            raise ValueError(f"it has {len(self.moves)} moves, and {len(self.times)} times")


class Invited(Struct):
    token: str


class Link(Struct):
    path: str
