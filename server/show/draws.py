"""Drawing what takes a format long, in show: a Swiss round of a thousand is seconds of work.

A draw is a pure function of the record, which show has too. So play asks with the name of the
tournament and how far the journal went, and goes on with its matches. If there is no show, or it
fails, play draws in a thread of its own, which slows it down but never stops it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import count

import structlog
import trio

from server.show.feed import Answer, Draw, Drawn, Look, Teller, Watched, hear, say
from server.show.mirror import Mirror
from tournament.format import Pairing
from tournament.record import Record

WATCH = 0.1  # seconds between two looks at what is looked at

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def in_a_thread(record: Record, draw: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
    return await trio.to_thread.run_sync(draw)


class Question:
    """What was asked, until there is an answer or nobody who could give one."""

    def __init__(self) -> None:
        self.done = trio.Event()
        self.pairings: Sequence[Pairing] | None = None


class Draws:
    """Play's side."""

    def __init__(self, teller: Teller) -> None:
        self._teller = teller
        self._numbers = count()
        self._questions: dict[int, Question] = {}
        self._there = False
        self.watched: Callable[[Sequence[str]], None] = lambda matches: None  # called with what show looks at

    async def draw(self, record: Record, here: Callable[[], Sequence[Pairing]]) -> Sequence[Pairing]:
        """What the format of a record adds; `here` does it in this process."""
        found = await self._ask(record.name) if self._there else None
        return await in_a_thread(record, here) if found is None else found

    async def _ask(self, tournament: str) -> Sequence[Pairing] | None:
        number, question = next(self._numbers), Question()
        self._questions[number] = question
        self._teller.tell_too(Draw(number, tournament, self._teller.last()))
        try:
            await question.done.wait()
        finally:
            self._questions.pop(number, None)
        return question.pairings

    async def hear(self, stream: trio.abc.ReceiveStream) -> None:
        """What one show answers, until it is gone."""
        self._there = True
        try:
            await hear(stream, Answer, self._take)
        except trio.BrokenResourceError:
            pass  # whoever watches the process learns it too
        finally:
            self._there = False
            self.watched(())
            for question in self._questions.values():
                question.done.set()

    def _take(self, answer: Answer) -> None:
        if isinstance(answer, Watched):
            self.watched(answer.matches)
        elif isinstance(answer, Look):
            self._teller.heed(answer)
        elif (question := self._questions.get(answer.number)) is not None:
            question.pairings = answer.pairings
            question.done.set()


class Drawing:
    """Show's side."""

    def __init__(self, mirror: Mirror, stream: trio.abc.SendStream) -> None:
        self._mirror = mirror
        self._stream = stream
        self._saying = trio.Lock()

    def take(self, question: Draw) -> None:
        self._mirror.guard.start_soon(self._answer, question)

    async def _answer(self, question: Draw) -> None:
        pairings: tuple[Pairing, ...] | None = None
        try:
            pairings = tuple(await self._mirror.draw(question.tournament, question.journal))
        except Exception:
            log.exception("a draw failed and is left to play", tournament=question.tournament)
        await self.say(Drawn(question.number, pairings))

    async def tell_watched(self) -> None:
        """Say which matches of other hosts are looked at, whenever these are others, until cancelled."""
        told: tuple[str, ...] = ()
        while True:
            if (watched := self._mirror.watched()) != told:
                told = watched
                await self.say(Watched(told))
            await trio.sleep(WATCH)

    async def say(self, answer: Answer) -> None:
        async with self._saying:
            with suppress(trio.BrokenResourceError):  # play has ended, and this is about to
                await say(self._stream, [answer])
