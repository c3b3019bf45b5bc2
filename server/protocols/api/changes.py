"""What has changed in the standings, for the stream of everything: rows, never whole tables.

There is one account of what has been told, for all who listen. It begins with the board that is
there when the first of them comes. So a client listens first and then reads the standings: all
later changes are told. They are told at most once a second for each tournament, and only so many
rows at once: the rest come with the next event.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import trio

from server.export.json_views import moment, out_shown, row_on_board
from server.host.boards import EVERY, NoBoard
from server.host.view import HeldTournament, View
from tournament.facts import State
from tournament.record import Record
from tournament.score_sheet import Board
from tournament.standings import Row

ROWS = 100  # in one event

Shown = dict[str, Any]


class FirstBoard:
    """What is told from: the board that is there when somebody begins to listen, or the next one."""

    def __init__(self, record: Record, board: Board | None) -> None:
        self.record = record
        self.board = board
        self.noted = trio.Event()


class Changes:
    def __init__(self, view: View, say: Callable[[Shown], None]) -> None:
        self._view = view
        self._say = say
        self._told: dict[str, dict[str, Shown]] = {}  # by tournament, as it is kept: rows, as told, by name
        self._begun: dict[str, FirstBoard] = {}  # by tournament …
        self._noting: set[str] = set()  # … and those of which a task notes one
        self._marked: set[str] = set()  # tournaments in which something has changed since …
        self._telling: set[str] = set()  # … and those for which a task tells of it
        self._on = False

    def begin(self) -> None:
        """Somebody listens: tell changes from what is known now."""
        if self._on:
            return
        self._on = True
        for held in self._view.tournaments.values():
            record = held.record.public
            if record.version and record.state is not State.FINISHED:
                name = held.record.kept_as
                self._begun[name] = FirstBoard(record, self._view.boards.latest(record))
                if name not in self._noting:
                    self._noting.add(name)
                    self._view.guard.start_soon(self._note_first, held)

    def end(self) -> None:
        """Nobody listens any more."""
        self._on = False
        for begun in self._begun.values():
            begun.noted.set()
        self._told.clear()
        self._begun.clear()
        self._marked.clear()

    def mark(self, held: HeldTournament) -> None:
        """Something has changed in a tournament."""
        name = held.record.kept_as
        if self._on:
            self._marked.add(name)
            if name not in self._telling:
                self._telling.add(name)
                self._view.guard.start_soon(self._tell, held)

    async def _note_first(self, held: HeldTournament) -> None:
        """Note a first board, and another one for whoever has come after all others had left meanwhile.

        Somebody may come and go hundreds of times a second.
        """
        name = held.record.kept_as
        try:
            while (first := self._awaited(name)) is not None:
                await self._note(held, first)
                await trio.sleep(EVERY)
        finally:
            self._noting.discard(name)

    def _awaited(self, name: str) -> FirstBoard | None:
        """The first board of a tournament, if it has to be noted."""
        first = self._begun.get(name)
        return None if first is None or first.noted.is_set() else first

    async def _note(self, held: HeldTournament, first: FirstBoard) -> None:
        record, board, boards = first.record, first.board, self._view.boards
        try:
            if board is None:
                record, board = await boards.public(held.record)
            told = await boards.run(lambda: {row.name: _shown(row, record) for row in board.rows})
            if self._begun.get(held.record.kept_as) is first:
                self._told[held.record.kept_as] = told
        except NoBoard:
            pass  # then the first board counts as news
        finally:
            first.noted.set()

    async def _tell(self, held: HeldTournament) -> None:
        name = held.record.kept_as
        try:
            while name in self._marked and self._on:
                while (first := self._awaited(name)) is not None:
                    await first.noted.wait()
                self._marked.discard(name)
                await self._tell_once(held)
                await trio.sleep(EVERY)
            if held.record.state in (State.FINISHED, State.DELETED) and name not in self._marked:
                self._told.pop(name, None)  # somebody may listen for years
                self._begun.pop(name, None)
        finally:
            self._telling.discard(name)

    async def _tell_once(self, held: HeldTournament) -> None:
        name, boards = held.record.kept_as, self._view.boards
        try:
            record, board = await boards.public(held.record)
        except NoBoard:
            self._marked.add(name)
            return
        told = self._told.setdefault(name, {})
        rows, left = await boards.run(partial(changed, board, record, told, ROWS))
        if record is not held.record.public:  # frozen meanwhile, or no longer
            self._marked.add(name)
            return
        if rows and self._on and held.record.state is not State.DELETED:
            self._say(
                {
                    "type": "standings",
                    "tournament": record.name,
                    "frozen": record.frozen is not None,
                    "as_of": moment(board.as_of),
                    "entrants": len(board.rows),
                    "rows": rows,
                }
            )
            told.update((row["name"], row) for row in rows)
        if left or board.version < record.version:
            self._marked.add(name)


def changed(board: Board, record: Record, told: Mapping[str, Shown], most: int) -> tuple[list[Shown], int]:
    """The rows that differ from what was told, at most `most` of them, and how many more there are.

    Entrants who have played or come since are before those whose rows other matches have changed.
    """
    found: list[tuple[bool, int, Shown]] = []
    for row in board.rows:
        shown, known = _shown(row, record), told.get(row.name)
        if shown != known:
            moved = known is not None and (known["played"], known["points"]) == (row.played, row.points)
            found.append((moved, row.rank, shown))
    found.sort(key=lambda each: each[:2])
    return [shown for _, _, shown in found[:most]], max(0, len(found) - most)


def _shown(row: Row, record: Record) -> Shown:
    return row_on_board(row, record.format.order) | out_shown(record, row.name)
