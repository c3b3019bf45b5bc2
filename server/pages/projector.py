"""What a projector shows: boards, the top of the tables and what is next, of one tournament or of all.

Nobody touches it and it runs for hours, so it has a fixed number of places, and what it shows is bounded
however large the event is. Nobody scrolls it either: the more tournaments there are, the fewer lines each
has, so that all fit on a screen of the usual shape.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from markupsafe import Markup
from msgspec import Struct

from games.catalogue import catalogue
from server.export.json_views import out_shown
from server.export.words import out_in_words
from server.host.boards import WAIT, NoBoard
from server.host.opening import OPEN
from server.host.view import HeldTournament, View
from server.pages import home, tables
from server.pages.board_grid import BoardGrid
from server.pages.rendering import part
from tournament import rounds
from tournament.facts import State
from tournament.standings import Row

PLACES = 6  # boards
# With one, two or three tournaments: lines of the table of each, and pairings that come next.
LINES = ((12, 5), (5, 2), (3, 1))
GROUPS = len(LINES)
REFRESH = 1.0  # seconds between two looks at the tables


class Group(Struct, frozen=True):
    """A tournament beside the boards."""

    name: str
    title: str  # of the game
    state: State
    entrants: int
    wanted: int | None
    by_invitation: bool
    start: float | None  # when it begins by itself …
    wanting: str  # … if there are enough entrants
    decided: int
    drawn: int
    rounds: str  # drawn so far
    endless: bool
    eta: float | None
    rows: Sequence[Row]
    winners: list[str]  # once it is over
    frozen: bool  # whether the rows are those of before
    next: list[tuple[str, str]]
    next_round: tuple[int, float] | None  # by the clock
    affiliations: Mapping[str, str]  # of those in the rows
    out: Mapping[str, str]  # why some of those play no more


class ProjectorLook:
    def __init__(self, host: View, only: HeldTournament | None) -> None:
        self._host = host
        self._only = only
        self.tournament = "" if only is None else only.record.kept_as
        self._grid = BoardGrid(PLACES, host.guard)
        self._looked = -REFRESH

    async def prepare(self) -> None:
        for each in self._chosen():
            with suppress(NoBoard):
                await self._host.boards.current(each.record.public, WAIT)

    def items(self) -> Mapping[str, list[Markup]]:
        return {}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        shown = self._host.tournaments.values() if self._only is None else [self._only]
        yield from self._grid.changed(shown, now)
        if now >= self._looked + REFRESH:
            self._looked = now
            chosen = self._chosen()
            groups = [self._group(each, *LINES[len(chosen) - 1]) for each in chosen]
            yield "groups", part("groups", {"groups": groups})

    def _chosen(self) -> list[HeldTournament]:
        return chosen_of(self._host) if self._only is None else [self._only]

    def _group(self, tournament: HeldTournament, lines: int, pairings: int) -> Group:
        record = tournament.record
        board = self._host.boards.latest(record.public)
        rows = () if board is None else board.rows[:lines]
        said = record.public.affiliations
        return Group(
            record.name,
            catalogue()[record.opened.game].title,
            record.state,
            record.contestants,
            record.opened.entrants,
            bool(record.opened.by_invitation),
            record.opened.start,
            tables.wanting(record),
            record.decided,
            record.pairings,
            tables.rounds_drawn(record),
            record.format.endless,
            None if record.format.decides else tournament.eta(),
            rows,
            tables.winners(record, board),
            record.frozen is not None,
            coming(tournament, pairings),
            rounds.coming(record) if record.state is State.RUNNING else None,
            {row.name: said[row.name] for row in rows if row.name in said},
            {row.name: why for row in rows if (why := out_in_words(out_shown(record.public, row.name)))},
        )


def chosen_of(host: View) -> list[HeldTournament]:
    """The tournaments to show if none is named: those that go on, else open tables, else the latest."""
    held = [*host.tournaments.values()]
    named = [each for each in held if not each.record.name.startswith(OPEN)]
    on = [each for each in named if each.record.state is not State.FINISHED]
    on.sort(key=lambda each: home.ORDER.index(each.record.state))
    return (on or [each for each in held if each.matches] or named[::-1])[:GROUPS]


def coming(tournament: HeldTournament, most: int) -> list[tuple[str, str]]:
    """The pairings that are drawn and not being played yet, the first of them."""
    record = tournament.record
    playing = set(record.dealt.values())
    waiting = (record.drawn[number] for number in record.open if number not in playing)
    return [(each.first, each.second) for each in islice(waiting, most) if each.second is not None]
