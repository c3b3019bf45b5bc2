"""What play asks show: to make draws that take long, and how a tournament without an end stands.

A Swiss round of a thousand is seconds of work. A draw is a pure function of the record, which show has
too. So play asks with the name of the tournament and how far the journal went, and goes on with its
matches. If there is no show, or it fails or hangs, play draws in a thread of its own, which slows it down
but never stops it. A show that has begun to draw may take as long as it likes: play would be no quicker,
and a process that hangs is killed (`process.py`). It may hang without that: where it waits for the journal.

A round robin of a thousand is half a million pairings. They come in pieces, between which matches go on.

Only show remembers all results of a tournament without an end, from which ratings are made.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import count

import structlog
import trio

from server.exits import Unusable
from server.show.feed import (
    Alive,
    Answer,
    Begun,
    Draw,
    Drawn,
    Look,
    Question,
    Rank,
    Ranked,
    Teller,
    Watched,
    hear,
    say,
)
from server.show.mirror import Mirror
from tournament.format import Pairing
from tournament.record import PIECE, Record, sharing_names
from tournament.standings import Row

ROWS = 1000  # of a table that show sends: play reads them on the loop that plays
TIMEOUT = 30.0  # seconds until a draw has begun, and for a table: the largest takes half as long
ALIVE = 1.0  # seconds between two signs of life
WATCH = 0.1  # seconds between two looks at which matches are watched

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def in_a_thread(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
    return await trio.to_thread.run_sync(draw)


class OpenQuestion:
    """A question, until there is an answer, or nobody who could give one."""

    def __init__(self) -> None:
        self.begun = trio.Event()
        self.done = trio.Event()
        self.answer: Drawn | Ranked | None = None
        self.drawn: list[Pairing] = []  # as far as it has come

    def take(self, answer: Drawn | Ranked) -> None:
        """Take in an answer, or the next piece of one."""
        if isinstance(answer, Drawn):
            self.drawn += map(sharing_names, answer.pairings or ())
        if not (isinstance(answer, Drawn) and answer.more):
            self.end(answer)

    def end(self, answer: Drawn | Ranked | None) -> None:
        self.answer = answer
        self.begun.set()
        self.done.set()


class DrawsInShow:
    """Play's side."""

    def __init__(self, teller: Teller, timeout: float = TIMEOUT) -> None:
        self._teller = teller
        self._timeout = timeout
        self._numbers = count()
        self._asked: dict[int, OpenQuestion] = {}
        self._there = False  # whether there is a show that answers
        self.heard = 0  # how many messages came from shows
        # Called with the matches that show watches
        self.watched: Callable[[Sequence[str]], None] = lambda matches: None
        self.damaged: Callable[[str], None] = lambda why: None  # called with what is wrong with the journal

    async def draw(self, record: Record, here: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        """The pairings that the format of a record adds; `here` draws them in this process."""
        asked = await self._ask(lambda number: Draw(number, record.name, self._teller.last()))
        failed = not isinstance(asked.answer, Drawn) or asked.answer.pairings is None
        return await in_a_thread(record, here) if failed else asked.drawn

    async def rank(self, record: Record) -> Sequence[Row] | None:
        """The first rows of a record's table, with ratings; None if nobody can say."""
        answer = (await self._ask(lambda number: Rank(number, record.name))).answer
        return answer.rows if isinstance(answer, Ranked) else None

    async def _ask(self, question: Callable[[int], Question]) -> OpenQuestion:
        """Ask; there is no answer if nobody could give one."""
        number, asked = next(self._numbers), OpenQuestion()
        if not self._there:
            return asked
        self._asked[number] = asked
        self._teller.tell_too(question(number))
        try:
            with trio.move_on_after(self._timeout):
                await asked.begun.wait()
            if asked.begun.is_set():
                await asked.done.wait()
        finally:
            self._asked.pop(number, None)
        if not asked.done.is_set() and self._there:
            log.error("the process for pages does not answer", seconds=self._timeout)
            self._there = False  # until it says something: not every round has to wait for it
        return asked

    async def hear(self, stream: trio.abc.ReceiveStream) -> None:
        """Take in what one show answers, until it is gone."""
        self._there = True
        try:
            await hear(stream, Answer, self._take)  # the code that watches the process notices its end, too
        finally:
            self._there = False
            self.watched(())
            for asked in self._asked.values():
                asked.end(None)

    def _take(self, answer: Answer) -> None:
        self.heard += 1
        if isinstance(answer, Alive):
            if answer.damage:
                self.damaged(answer.damage)
            return  # which does not mean that it can draw
        self._there = True
        if isinstance(answer, Watched):
            self.watched(answer.matches)
        elif isinstance(answer, Look):
            self._teller.heed(answer)
        elif (asked := self._asked.get(answer.number)) is None:
            return
        elif isinstance(answer, Begun):
            asked.begun.set()
        else:
            asked.take(answer)


class Drawing:
    """Show's side."""

    def __init__(self, mirror: Mirror, stream: trio.abc.SendStream) -> None:
        self._mirror = mirror
        self._stream = stream
        self._saying = trio.Lock()

    def take(self, question: Question) -> None:
        if isinstance(question, Draw):
            self._mirror.guard.start_soon(self._draw, question)
        else:
            self._mirror.guard.start_soon(self._rank, question)

    async def _draw(self, question: Draw) -> None:
        pairings: tuple[Pairing, ...] | None = None
        try:
            await self._mirror.read_up_to(question.journal)
            await self.say(Begun(question.number))
            pairings = tuple(await self._mirror.draw(question.tournament))
        except Unusable as error:
            self._mirror.guard.report(error)
        except Exception:
            log.exception("a draw failed and is left to play", tournament=question.tournament)
        for piece in pieces(question.number, pairings):
            await self.say(piece)

    async def _rank(self, question: Rank) -> None:
        rows: tuple[Row, ...] | None = None
        try:
            rows = (await self._mirror.board(question.tournament)).rows[:ROWS]
        except Exception:
            log.exception(
                "a table failed, and play makes one without ratings", tournament=question.tournament
            )
        await self.say(Ranked(question.number, rows))

    async def tell_alive(self) -> None:
        """Give a sign of life again and again, until cancelled."""
        while True:
            await self.say(Alive(self._mirror.guard.damage))
            await trio.sleep(ALIVE)

    async def tell_watched(self) -> None:
        """Say which matches of other hosts are watched, whenever that changes, until cancelled."""
        told: tuple[str, ...] = ()
        while True:
            if (watched := self._mirror.watched()) != told:
                told = watched
                await self.say(Watched(told))
            await trio.sleep(WATCH)

    async def say(self, answer: Answer) -> None:
        async with self._saying:
            with suppress(trio.BrokenResourceError):  # play has ended, and this process is about to
                await say(self._stream, [answer])


def pieces(number: int, pairings: tuple[Pairing, ...] | None) -> Iterator[Drawn]:
    """The answer to the question of that number: one piece, if it is short."""
    if pairings is None or len(pairings) <= PIECE:
        yield Drawn(number, pairings)
        return
    for start in range(0, len(pairings), PIECE):
        yield Drawn(number, pairings[start : start + PIECE], more=start + PIECE < len(pairings))
