"""What pages, readers of the API and streams need of a host: to look, and to change nothing.

Two classes fit. `Host` is where the matches are played. `Mirror`, in another process,
follows what a host keeps and tells (`server/show/mirror.py`). So code that only looks is
written once, and the loop that plays need not do the work.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct

from games.game import Game
from server.host.boards import Boards
from server.host.grading import Grader
from server.host.versions import Versions
from server.net.guard import Guard
from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded
from tournament.match import Match
from tournament.presence import Missing
from tournament.record import Record


class PresentBots(Struct, frozen=True):
    """The bots that are present in a tournament."""

    count: int = 0
    names: tuple[str, ...] = ()  # some of them, in alphabetical order


class HeldTournament(Protocol):
    """A tournament, as others see it."""

    @property
    def record(self) -> Record: ...
    @property
    def game(self) -> Game[Any, Any]: ...
    @property
    def matches(self) -> Mapping[str, Match]:
        """The matches in play, by name."""
        ...

    def eta(self) -> float | None:
        """Seconds until the end; None while nothing is known."""
        ...

    def missing(self) -> Sequence[Missing]:
        """The entrants that are awaited and not here."""
        ...

    async def concluded(self, match: str) -> Concluded:
        """A match that is over, with all its moves."""
        ...

    async def receipt(self, match: str) -> str:
        """The receipt for a match that is over: the head of the tournament's chain that ends with it."""
        ...

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        """A page of its facts as they are kept: those with numbers greater than `after`."""
        ...


Told = Callable[[HeldTournament, AnyFact], None]
Begun = Callable[[HeldTournament, Match], None]


class View(Protocol):
    @property
    def tournaments(self) -> Mapping[str, HeldTournament]: ...
    @property
    def shown(self) -> Mapping[str, HeldTournament]:
        """The tournaments, with the open tables to which nobody has come yet."""
        ...

    @property
    def holders(self) -> Mapping[str, str]:
        """The addresses of the hosts that hold tournaments, by their names; empty where there is one host."""
        ...

    @property
    def on_fact(self) -> list[Told]:
        """The functions that are called with every fact, once it is safe."""
        ...

    @property
    def on_begun(self) -> list[Begun]:
        """The functions that are called with every match that begins."""
        ...

    @property
    def boards(self) -> Boards:
        """The standings of all tournaments, with ratings."""
        ...

    @property
    def versions(self) -> Versions:
        """What each version of a bot has done."""
        ...

    @property
    def grader(self) -> Grader:
        """How well matches were played, where that is known."""
        ...

    @property
    def guard(self) -> Guard:
        """Where the tasks that strangers cause are started."""
        ...

    @property
    def trouble(self) -> str:
        """Why nothing can be kept just now, and all clocks stand still; empty if all is well."""
        ...

    def here(self, tournament: str) -> PresentBots:
        """The bots that are present in a tournament."""
        ...
