"""What the page of a tournament shows and keeps up to date."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from math import inf
from typing import Any

import trio
from markupsafe import Markup

from server.host.boards import NoBoard
from server.host.view import HeldTournament, View
from server.pages import tables
from server.pages.board_grid import BoardGrid
from server.pages.fair_share import FairShare
from server.pages.rendering import part
from server.pages.usage import latest, usage
from tournament.facts import State
from tournament.record import Record
from tournament.score_sheet import Board

PLACES = 4  # boards: with the tables, as much as a page should hold
REFRESH = 0.25  # seconds at least before the tables are made again
FORECAST = 1.0  # seconds after which the forecast is another, though nothing has ended

Parts = dict[str, Markup]


class TournamentLook:
    """Boards as they are now, and tables of the latest results for which there was time."""

    def __init__(self, host: View, tournament: HeldTournament, turns: FairShare) -> None:
        self._host = host
        self.tournament = tournament.record.kept_as
        self._tournament = tournament
        self._turns = turns
        self._grid = BoardGrid(PLACES, host.guard)
        self._revealed: object = ()  # the basis of the lots at the last look
        self._accuracy: object = None  # what was summed up by then
        self._made: Parts = {}
        self._given: Parts | None = None
        self._stamp: object = None  # the stamp when the tables were made
        self._busy = False
        self._due = 0.0
        self._foreseen = -inf  # when the forecast was shown last

    async def prepare(self) -> None:
        if not self._made:
            await self._make()
        elif stamp(self._tournament.record) != self._stamp:
            await self._make_again()

    def items(self) -> Mapping[str, list[Markup]]:
        return {}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        yield from self._grid.changed([self._tournament], now)
        record = self._tournament.record
        if record.revealed != self._revealed:
            self._revealed = record.revealed
            yield "lots", part("lots", {"record": record})
        summary = self._host.grader.summed_up(record.public)
        accuracy = summary and (summary.matches, summary.whole.kept, summary.whole.had)
        if accuracy != self._accuracy:
            self._accuracy = accuracy
            yield "accuracy", Markup() if summary is None else part("accuracy", {"summary": summary})
        if not self._busy and now >= self._due and stamp(record) != self._stamp:
            self._busy = True
            self._host.guard.start_soon(self._make_again)
        if (made := self._made) is not self._given:
            yield from made.items()
            self._given, self._foreseen = made, -inf  # of which more may have been said meanwhile
        due = now >= self._foreseen + FORECAST if record.state is State.RUNNING else self._foreseen == -inf
        if due and (board := self._host.boards.latest(record.public)) is not None:
            self._foreseen = now
            yield "progress", part("progress", progress(self._tournament, board))

    async def _make(self) -> None:
        self._busy = True
        try:
            record = self._tournament.record
            known, version = stamp(record), record.public.version
            _, board = await self._host.boards.public(record)
            self._made = await self._turns.aside(lambda: parts_of(self._tournament, board))
            self._stamp = known if board.version >= version else None
        finally:
            self._busy, self._due = False, trio.current_time() + REFRESH

    async def _make_again(self) -> None:
        with suppress(NoBoard):
            await self._make()


def stamp(record: Record) -> object:
    """A value that differs whenever the tables do."""
    drawn, over = record.last_drawn, record.ended
    what = (record.dealt, record.open, record.voided, record.checked_in)
    return record.state, record.round, record.frozen is None, record.version, drawn, over, *map(len, what)


def parts_of(tournament: HeldTournament, board: Board) -> Callable[[], Parts]:
    """A function that makes the tables from what is looked up now."""
    record, public = tournament.record, tournament.record.public
    matches = latest(public)
    seen: dict[str, dict[str, Any]] = {
        "progress": progress(tournament, board),
        "standings": tables.standings(public, board) | {"whole": False},
        "crosstable": tables.crossed(public, board),
        "schedule": tables.around_now(record) | {"whole": False},
    }

    def made() -> Parts:
        seen["standings"]["usage"] = usage(public, matches)
        return {name: part(name, each) for name, each in seen.items()}

    return made


def progress(tournament: HeldTournament, board: Board) -> dict[str, Any]:
    """How far it has come, and what is foreseen."""
    return tables.progress(tournament.record, board, len(tournament.matches), tournament.eta())
