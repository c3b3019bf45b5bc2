"""Boards: the standings of each tournament, with ratings, as everybody sees them.

A board is computed away from the loop, when somebody asks and the record has changed, at most once a
second for each tournament and with as much rest as work. It is shared: a hundred who ask wait for one
computation, and those who ask after it get the same board. Nobody waits long: after some seconds, or at
once where those would not do, they get the latest board, which says when it was made. Only of a tournament
that is over nobody is given a board that lacks a result: it would be taken for the final one. Where there
is none to be given, they wait longer.
"""

import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

import trio

from server.host.aging import Aging
from server.host.remaking import Remaking
from server.net.guard import Guard
from tournament.facts import State
from tournament.record import Record
from tournament.score_sheet import Board, ScoreSheet
from tournament.standings import Row

EVERY = 1.0  # seconds between the starts of two computations of a board, at the least
WAIT = 2.0  # seconds to wait for the current board …
LONGEST = 10.0  # … and for any, where there is none: a program that is told to ask again may give up instead
AT_ONCE = 4  # boards of different tournaments that are computed at once
KEPT = 500  # boards of tournaments that are archived: some 30 KB each, three times what the archive takes

T = TypeVar("T")
Work = Callable[[], Any]
Run = Callable[[Work], Awaitable[Any]]
Rank = Callable[[Record], Awaitable[Sequence[Row] | None]]
Words = Callable[[Record, Board], bytes]


class NoBoard(Exception):
    """There is no board yet, and it takes longer than anybody should wait."""

    def __init__(self) -> None:
        super().__init__("the standings are being computed, and it takes a while: ask again in a second")


async def in_a_thread(work: Work) -> Any:
    return await trio.to_thread.run_sync(work, abandon_on_cancel=True)


async def to_the_end(run: Run, work: Work) -> Any:
    """Do work under a lock that stays held until it is done, though whoever asked may have gone meanwhile.

    A thread goes on in any case, and nothing else is to be begun beside it.
    """
    with trio.CancelScope(shield=True):
        return await run(work)


async def nobody_ranks(record: Record) -> Sequence[Row] | None:
    """No other process can compute the rows."""
    return None


def lacks_the_end(record: Record, board: Board) -> bool:
    """Whether a tournament is over, and this is a board of before."""
    return record.state is State.FINISHED and board.version < record.version


class LatestBoard:
    """The latest board of a record, and the sheet that the next one is made from."""

    def __init__(self) -> None:
        self.board: Board | None = None
        self.earlier: Board | None = None  # of before this start, until there is one
        self.sheet: ScoreSheet | None = None
        self.remaking = Remaking(EVERY)


class Boards:
    def __init__(
        self, guard: Callable[[], Guard], run: Run = in_a_thread, wall: Callable[[], float] = time.time
    ) -> None:
        """`guard` is where computations are started; `run` does their work where it holds up nobody."""
        self.run = run
        self.ranked: Rank = nobody_ranks  # by a process that remembers all results, where a record does not
        self.made = 0  # computations so far
        self._guard = guard
        self._wall = wall
        self._kept: WeakKeyDictionary[Record, LatestBoard] = WeakKeyDictionary()
        self._ending = Aging(spared=KEPT)  # those with an end
        self._room = trio.CapacityLimiter(AT_ONCE)
        self._telling = trio.Lock()  # held while somebody is told a board in words …
        self._said: tuple[Board, Words, bytes] | None = None  # … the latest of which are these
        self._making = trio.Lock()  # held while something is made of records …
        self._made: tuple[object, Any] | None = None  # … and this is the latest, after what it is
        self._previewing = trio.Lock()  # held while it is worked out what an order would change
        self._waiting = 0  # how many wait for an exact board
        self._nobody_waits = trio.Event()  # set when the last of them has it, and then replaced

    def latest(self, record: Record) -> Board | None:
        """The latest board that there is; if it is out of date, the next one is begun."""
        board = self.known(record)
        if board is None or board.version < record.version:
            self._ask(self._find(record), record)
        return board

    def remember(self, record: Record, board: Board) -> None:
        """Note a board that was made before this start and took long, to be shown until there is another."""
        self._find(record).earlier = board

    def known(self, record: Record) -> Board | None:
        """The latest board that there is, as it is."""
        kept = self._find(record)
        return kept.board or kept.earlier

    async def current(self, record: Record, longest: float = LONGEST) -> Board:
        """The current board, or the latest if that takes long; raises `NoBoard` if there is none by then.

        Whoever has something to say without a board waits `WAIT` seconds at the longest.
        """
        kept = self._find(record)
        # An earlier one is kept of what takes long.
        if kept.earlier is not None or kept.remaking.seconds > WAIT:
            latest = self.latest(record)
            if latest is not None and not lacks_the_end(record, latest):
                return latest  # to wait would be in vain
        deadline = trio.current_time() + longest
        with trio.move_on_after(WAIT):
            while lacks_the_end(record, board := await self.exact(record)):
                pass  # it ended while the board was made
            return board
        with trio.move_on_at(deadline):
            return await self._any(record)
        raise NoBoard

    async def public(self, record: Record, longest: float = LONGEST) -> tuple[Record, Board]:
        """The record as everybody is shown it, and its board; raises `NoBoard` as above.

        An organiser may freeze the standings while the board is computed. Then nobody may see that board.
        """
        while True:
            shown = record.public
            board = await self.current(shown, longest)
            if record.public is shown:
                return shown, board

    async def exact(self, record: Record) -> Board:
        """The current board, however long it takes: a tournament ends with it."""
        kept, version = self._find(record), record.version
        self._waiting += 1
        try:
            while (board := kept.board) is None or board.version < version:
                self._ask(kept, record)
                await kept.remaking.news.wait()
            return board
        finally:
            self._waits_no_more()

    async def _any(self, record: Record) -> Board:
        """The latest board that may be given, once there is one."""
        remaking = self._find(record).remaking
        while (board := self.latest(record)) is None or lacks_the_end(record, board):
            await remaking.news.wait()
        return board

    async def in_words(self, record: Record, words: Words) -> bytes:
        """Return the current board as these `words` say it to all who took part, as a tournament ends.

        There may be thousands of them, and as many rows. So the words are made once, where they hold up
        nobody, and those who wait get them one after another: others get their turns in between.
        """
        self._waiting += 1
        try:
            board = await self.exact(record)
            async with self._telling:
                if self._said is None or self._said[0] is not board or self._said[1] is not words:
                    self._said = board, words, await self.run(partial(words, record, board))
                return self._said[2]
        finally:
            self._waits_no_more()

    async def made_of(self, record: Record, make: Callable[[Record], T]) -> T:
        """What `make` makes of a record, which may take a second; the latest is remembered.

        One is made at a time: anybody may ask, as often as they like.
        """
        async with self._making:
            what = record, record.facts, make
            if self._made is None or self._made[0] != what:
                self._made = what, await to_the_end(self.run, partial(make, record.after()))
            return cast("T", self._made[1])

    async def previewed(self, begin: Callable[[], Awaitable[Callable[[], T]]]) -> T:
        """What comes of the work that `begin` returns, as for two tables of a copy of a large record.

        One is worked out at a time, and nothing is copied before that: several organisers may ask at once.
        """
        async with self._previewing:
            return await self.run(await begin())

    async def tables(self, records: Sequence[Record]) -> Sequence[Sequence[Row]]:
        """The tables of tournaments that are over, without ratings; the latest are remembered.

        A board takes 100 milliseconds, nearly all of them for ratings, and there may be a thousand records.
        """
        async with self._making:
            what = [(record.kept_as, record.facts) for record in records]
            if self._made is None or self._made[0] != what:
                self._made = what, [await self.run(record.after().standings) for record in records]
            return cast("Sequence[Sequence[Row]]", self._made[1])

    async def quiet(self) -> None:
        """Wait until nobody waits for an exact board."""
        while self._waiting:
            await self._nobody_waits.wait()

    def _waits_no_more(self) -> None:
        self._waiting -= 1
        if not self._waiting:
            self._nobody_waits.set()
            self._nobody_waits = trio.Event()

    def _find(self, record: Record) -> LatestBoard:
        kept = self._kept.get(record)
        if kept is None:
            kept = self._kept[record] = LatestBoard()
        return kept

    async def _board(self, record: Record, sheet: ScoreSheet) -> Board:
        as_of, version = self._wall(), record.version
        if not record.results.forgets:
            return await self.run(partial(sheet.board, record, as_of))
        rows = await self.ranked(record)
        if rows is None:  # the sums are known, though not who has beaten whom
            rows = await self.run(record.after().standings)
        return Board(version, as_of, tuple(rows), 0, {})

    def _ask(self, kept: LatestBoard, record: Record) -> None:
        if kept.remaking.begin():
            self._guard().start_soon(self._make, kept, record)

    async def _make(self, kept: LatestBoard, record: Record) -> None:
        begun = trio.current_time()
        sheet, kept.sheet = kept.sheet or ScoreSheet(), None
        try:
            await kept.remaking.rest()
            async with self._room:
                begun = trio.current_time()
                self.made += 1
                kept.board, kept.earlier = await self._board(record, sheet), None
            if not record.format.endless:
                self._ending.add(record)
                for old in self._ending.archived():
                    self._kept.pop(old, None)
            if record.state is not State.FINISHED:  # a finished one hardly ever needs another
                kept.sheet = sheet
        finally:
            kept.remaking.over(begun)
