"""What the page of a tournament shows and keeps up to date."""

from collections.abc import Callable, Iterator, Mapping

import trio
from markupsafe import Markup

from server.host.host import Host
from server.pages import home, tables
from server.pages.board_grid import Wall
from server.pages.fair_share import Turns, Work
from server.pages.rendering import part
from tournament.record import Record
from tournament.tournament import Tournament

PLACES = 4  # boards: with the tables they are all that a page should hold
REFRESH = 0.25  # seconds between two results that the tables are made for anew, at the least

Parts = dict[str, Markup]


class TournamentLook:
    """Its boards as they are, its tables as of the latest results that there was time for."""

    def __init__(self, host: Host, tournament: Tournament, turns: Turns) -> None:
        self._host = host
        self._tournament = tournament
        self._turns = turns
        self._wall = Wall(PLACES)
        self._hung: list[object] = [()] * PLACES
        self._made: Parts = {}
        self._given: Parts | None = None
        self._stamp: object = None  # what was known when the tables were made
        self._busy = False
        self._due = 0.0

    async def prepare(self) -> None:
        await self._make()

    def items(self) -> Mapping[str, list[Markup]]:
        return {}

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        self._wall.arrange([self._tournament], now)
        yield from home.hung(self._wall, self._hung)
        if not self._busy and now >= self._due and stamp(self._tournament.record) != self._stamp:
            self._busy = True
            self._host.guard.start_soon(self._make)
        if (made := self._made) is not self._given:
            yield from made.items()
            self._given = made

    async def _make(self) -> None:
        self._busy = True
        try:
            self._made = await self._turns.aside(self._begin)
        finally:
            self._busy, self._due = False, trio.current_time() + REFRESH

    def _begin(self) -> Work:
        self._stamp = stamp(self._tournament.record)
        return parts_of(self._tournament)


def stamp(record: Record) -> object:
    """Differs whenever the tables do."""
    gone = sum(entrant.gone for entrant in record.entrants.values())
    what = (record.entrants, record.drawn, record.matches, record.dealt, record.open, record.voided)
    out = gone, len(record.annulled), len(record.disqualified)
    return record.state, record.frozen is None, out, *map(len, what)


def parts_of(tournament: Tournament) -> Callable[[], Parts]:
    """The tables as things are now, to be made in a while."""
    record, public = tournament.record.after(), tournament.record.public.after()
    playing, eta = len(tournament.matches), tournament.eta()

    def make() -> Parts:
        table = tables.standings(public, tables.ROWS)
        first = [line.name for line in table["lines"][: tables.CROSSED]]
        return {
            "progress": part("progress", tables.progress(record, playing, eta)),
            "standings": part("standings", table | {"whole": False}),
            "crosstable": part("crosstable", tables.crossed(public, first)),
            "schedule": part("schedule", tables.around_now(record) | {"whole": False}),
        }

    return make
