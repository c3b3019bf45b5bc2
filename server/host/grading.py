"""How well matches were played: graded after they are over, or estimated where nobody knows perfect play.

A child process that gives way to everything else does it, one match at a time, when somebody
asks about the match; and for all latest matches of a tournament when somebody asks how well
its bots play. The page of a bot asks that of all its tournaments, which may be thousands: they are added
up one match after the other, and the tournament that was asked about last goes first. Grades are
remembered, within limits.
"""

from collections.abc import Awaitable, Callable, Iterator
from itertools import takewhile
from math import inf
from weakref import WeakKeyDictionary

import structlog
import trio
from msgspec import Struct

from games.catalogue import catalogue
from games.estimate import Estimate
from games.perfect import Grades, share
from server.host.aging import Aging
from server.host.thinker import COMMAND, Busy, Failed, Thinker
from server.net.guard import Guard
from tournament.facts import Concluded
from tournament.record import Record

LAST = "19"  # the niceness of the child: nobody waits for it
WAIT = 2.0  # seconds that somebody waits for the grades of a match
LONGEST = 60.0  # seconds for one match: six times what it takes on a slow machine without a book
KNOWN = 1_000  # matches whose grades are remembered: less than a MiB; others are graded again
LATEST = 1_000  # matches of a tournament, the latest, that its bots' accuracy is taken from
ESTIMATED = 200  # the same where it is an estimate, which takes longer
TRIES = 10  # failed gradings of a match: for a while no child may start, or each may die of that very match …
SOON, LATER = 10.0, 3600.0  # … and seconds until the next one, which is twice as long each time, at the most
QUIET = 60.0  # seconds after a line of the log about a match that is not graded, until there may be another

Key = tuple[str, str]  # a tournament as it is kept, and a match
Judgement = Grades | Estimate
Fetch = Callable[[str], Awaitable[Concluded]]  # a match that is over, with all its moves

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class GradedMoves(Struct):
    """A bot's graded moves so far."""

    kept: int = 0  # moves that kept what there was to lose …
    had: int = 0  # … out of so many
    estimate: bool = False  # in a game that nobody plays perfectly

    @property
    def accuracy(self) -> float | None:
        return share(self.kept, self.had)

    def add(self, more: "GradedMoves") -> None:
        self.kept += more.kept
        self.had += more.had

    def take_back(self, less: "GradedMoves") -> None:
        self.kept -= less.kept
        self.had -= less.had


class CountedMatch(Struct, frozen=True):
    """A match that is in a summary."""

    number: int  # of its end, in the record
    players: tuple[str, str]
    of: tuple[GradedMoves, GradedMoves]


class Failing(Struct):
    """A match whose grading failed."""

    at: float  # when it is graded again, on the event loop's clock, for whoever asks then
    times: int = 0

    def failed(self, now: float) -> None:
        """It has failed once more."""
        self.at, self.times = now + min(SOON * 2**self.times, LATER), self.times + 1


class PendingGrading(Struct):
    """A grading in the making."""

    done: trio.Event
    logged: bool  # on its own, if it fails; False: a summary asked, and logs all of its own in one line
    failed: str = ""  # why


class GradeSummary:
    """The latest matches of one tournament, added up."""

    def __init__(self, *, estimate: bool) -> None:
        self.estimate = estimate  # rather than grades from perfect play
        self.latest = ESTIMATED if estimate else LATEST
        self.of: dict[str, GradedMoves] = {}
        self.whole = GradedMoves()  # of all its bots together
        self.read = 0  # how many of the record's endings
        self.reading = False
        self._counted: dict[str, CountedMatch] = {}  # in the order of their ends
        self.settled: int | None = None  # so many are in the sums, not told apart; None: all are
        self._failing: dict[int, Failing] = {}  # by the numbers of their ends, those that are not in the sums

    @property
    def matches(self) -> int:
        return len(self._counted) if self.settled is None else self.settled

    @property
    def is_settled(self) -> bool:
        return self.settled is not None

    def settle(self, record: Record) -> None:
        """Remember the sums alone, if all that is over is in them: each match takes some 300 bytes.

        Then none can be taken back. So this is for records that are archived, and what is known of one that
        has left the archive is added up again.
        """
        if self.read == record.ended and not (self.reading or self._failing):
            self.settled, self._counted = self.matches, {}

    def add(self, number: int, over: Concluded, grades: Judgement) -> None:
        if over.score is None or len(over.moves) <= grades.ungraded:
            return  # it counts for nothing, or has no move that is graded
        last = next(reversed(self._counted.values()), None)
        of = (GradedMoves(grades.kept[0], grades.had[0]), GradedMoves(grades.kept[1], grades.had[1]))
        self._counted[over.match] = CountedMatch(number, over.players, of)
        for name, kept in zip(over.players, of, strict=True):
            self.of.setdefault(name, GradedMoves()).add(kept)
            self.whole.add(kept)
        if last is not None and last.number > number:  # its grading failed at first, and then did not
            self._counted = dict(sorted(self._counted.items(), key=lambda item: item[1].number))

    def failed(self, number: int, now: float) -> None:
        """The grading of a match has failed, and is tried again later: for whoever asks then."""
        failing = self._failing.setdefault(number, Failing(now))
        failing.failed(now)
        if failing.times == TRIES:
            del self._failing[number]

    def succeeded(self, number: int) -> None:
        self._failing.pop(number, None)

    def due(self, now: float) -> list[int]:
        """The matches that are to be graded again by now."""
        return [number for number, failing in self._failing.items() if failing.at <= now]

    def clear(self, record: Record) -> None:
        """Take out matches that have been voided since, or are no longer among the latest.

        So the summary is the same as if everything were added up again, as after a restart.
        """
        if not (self._counted or self._failing):
            return  # and a record that is archived stays there
        oldest = len(record.endings) - self.latest
        for number in [number for number in self._failing if number < oldest]:
            del self._failing[number]
        old = takewhile(lambda item: item[1].number < oldest, self._counted.items())
        for match in [*(match for match, _ in old), *(self._counted.keys() & record.voided)]:
            if (counted := self._counted.pop(match, None)) is not None:
                for name, kept in zip(counted.players, counted.of, strict=True):
                    self.of[name].take_back(kept)
                    self.whole.take_back(kept)

    def unread(self, record: Record) -> Iterator[int]:
        """What is over by now and not read yet, then what had failed, one number after the other."""
        end = len(record.endings)
        for number in range(max(self.read, end - self.latest), end):
            yield number
            self.read = number + 1
        yield from self.due(trio.current_time())

    def bot(self, name: str) -> GradedMoves:
        return self.of.get(name) or GradedMoves()


class Reading(Struct):
    """A tournament of which not all that was over is in its summary yet."""

    record: Record
    fetch: Fetch
    left: Iterator[int]  # the numbers of its matches that are to be counted
    failed: list[str] = []  # why some could not be graded


class Grader:
    def __init__(self, guard: Callable[[], Guard], *, grading: bool) -> None:
        """`guard` is where gradings are started. Without `grading` there are none."""
        self._guard = guard
        self._on = grading
        self._thinker = Thinker(children=1, command=(*COMMAND, LAST))
        self.grade = self._thinker.grade  # where it holds up nobody
        self._known: dict[Key, Judgement] = {}  # the latest that was asked for last
        self._asked: dict[Key, PendingGrading] = {}
        self._failing: dict[Key, Failing] = {}  # the latest that failed last
        self._summaries: WeakKeyDictionary[Record, GradeSummary] = WeakKeyDictionary()
        self._unsettled = Aging()
        self._readings: dict[GradeSummary, Reading] = {}  # the one that was asked for last comes last
        self._adding_up = False
        self._said = -inf  # when the log last had a line about a match that is not graded …
        self._unsaid = 0  # … and how many there were since

    async def run(self) -> None:
        """Run until cancelled, then end the child."""
        await self._thinker.run()

    async def of(self, record: Record, over: Concluded, wait: float = WAIT) -> Judgement | None:
        """The grades of a match that is over, or an estimate; None if there are none, or none yet."""
        if not self.grades(record):
            return None
        key = (record.kept_as, over.match)
        if key not in self._known and (key in self._asked or self._is_due(key)):
            asked = self._ask(key, record, over, logged=True)
            with trio.move_on_after(wait):
                await asked.done.wait()
        return self._latest(key)

    def grades(self, record: Record) -> bool:
        """Whether whoever asks is told how well the tournament's game is played."""
        return self._on and graded(record)

    def knows(self, record: Record, match: str) -> bool:
        """Whether the grades of a match are known; starts nothing."""
        return (record.kept_as, match) in self._known

    def summary(self, record: Record, fetch: Fetch) -> GradeSummary | None:
        """What is known by now about the bots of a tournament; grading the rest is begun."""
        if not self.grades(record):
            return None
        summary = self._summaries.get(record)
        if summary is not None and record.archived is not None and (summary.reading or summary.is_settled):
            self._put_first(summary)
            return summary
        if summary is None or summary.is_settled:
            summary = self._summaries[record] = GradeSummary(estimate=estimated(record))
            self._settle_old()
            self._unsettled.add(record)
        summary.clear(record)
        over = len(record.endings) if record.archived is None else record.ended  # not to take it out for that
        behind = summary.read < over or summary.due(trio.current_time())
        if behind and not summary.reading:
            summary.reading = True
            self._readings[summary] = Reading(record, fetch, summary.unread(record))
            if not self._adding_up:
                self._adding_up = True
                self._guard().start_soon(self._add_up)
        self._put_first(summary)
        return summary

    def summed_up(self, record: Record) -> GradeSummary | None:
        """What is known by now about the bots of a tournament, if somebody has asked; starts nothing."""
        summary = self._summaries.get(record)
        if summary is None or (summary.is_settled and record.archived is None):
            return None
        summary.clear(record)
        return summary

    def _settle_old(self) -> None:
        """Settle summaries of tournaments that are archived by now, a few at a time."""
        for old in self._unsettled.archived():
            self._summaries[old].settle(old)
            if not self._summaries[old].is_settled:
                self._unsettled.add(old)

    def _latest(self, key: Key) -> Judgement | None:
        grades = self._known.pop(key, None)
        if grades is not None:
            self._known[key] = grades
        return grades

    def _is_due(self, key: Key) -> bool:
        """Whether a match may be graded for whoever asks: a try that fails may keep the child for minutes."""
        failing = self._failing.get(key)
        return failing is None or (failing.times < TRIES and failing.at <= trio.current_time())

    def _note_failure(self, key: Key) -> None:
        failing = self._failing[key] = self._failing.pop(key, None) or Failing(trio.current_time())
        failing.failed(trio.current_time())
        if len(self._failing) > KNOWN:
            del self._failing[next(iter(self._failing))]

    def _ask(self, key: Key, record: Record, over: Concluded, *, logged: bool) -> PendingGrading:
        if key not in self._asked:
            self._asked[key] = PendingGrading(trio.Event(), logged)
            self._guard().start_soon(self._grade, key, record, over)
        return self._asked[key]

    async def _grade(self, key: Key, record: Record, over: Concluded) -> None:
        try:
            options = record.options(over)
            found = await self.grade(record.opened.game, options, over.moves, LONGEST)
            self._failing.pop(key, None)
            if found is not None:
                self._known[key] = found
                if len(self._known) > KNOWN:
                    del self._known[next(iter(self._known))]
        except (Busy, Failed) as error:
            if isinstance(error, Failed):
                self._note_failure(key)
            asked = self._asked[key]
            asked.failed = str(error)
            if asked.logged:
                self._say(over.match, asked.failed)
        finally:
            self._asked.pop(key).done.set()

    def _say(self, match: str, why: str) -> None:
        """Log that a match is not graded, but not each time: anybody may ask about any number of matches."""
        if trio.current_time() < self._said + QUIET:
            self._unsaid += 1
            return
        more = {"more": self._unsaid} if self._unsaid else {}
        self._said, self._unsaid = trio.current_time(), 0
        log.warning("a match is not graded", match=match, why=why, **more)

    def _put_first(self, summary: GradeSummary) -> None:
        """Go on with this one next, if it is read."""
        if (reading := self._readings.pop(summary, None)) is not None:
            self._readings[summary] = reading

    async def _add_up(self) -> None:
        """Add up what was over when it was asked for; what is over later is left to whoever asks next."""
        try:
            while self._readings:
                summary, reading = next(reversed(self._readings.items()))
                try:
                    if (number := next(reading.left, None)) is not None:
                        reading.failed += await self._count(reading.record, reading.fetch, summary, number)
                        continue
                except Exception as error:
                    self._guard().report(error)
                self._have_read(summary)
        finally:
            self._adding_up = False

    def _have_read(self, summary: GradeSummary) -> None:
        reading = self._readings.pop(summary)
        summary.reading = False
        if failed := reading.failed:
            log.warning(
                "matches are not graded", tournament=reading.record.name, matches=len(failed), why=failed[-1]
            )
        if reading.record.archived is not None:
            summary.settle(reading.record)

    async def _count(
        self, record: Record, fetch: Fetch, summary: GradeSummary, number: int
    ) -> tuple[str, ...]:
        """Count a match; returns why that failed, if it did and nobody has logged it."""
        name = record.endings[number]
        key = (record.kept_as, name)
        if name not in record.voided:
            over = await fetch(name)
            if key not in self._known:
                asked = self._ask(key, record, over, logged=False)
                await asked.done.wait()
                if asked.failed:
                    summary.failed(number, trio.current_time())
                    return () if asked.logged else (asked.failed,)
            if (grades := self._latest(key)) is not None:
                summary.add(number, over, grades)
        summary.succeeded(number)
        return ()


def graded(record: Record) -> bool:
    """Whether it can be told how well the tournament's game is played."""
    game = catalogue()[record.opened.game]
    return game.solver is not None or game.evaluate is not None


def estimated(record: Record) -> bool:
    """Whether that is an estimate, because nobody plays the game perfectly."""
    return catalogue()[record.opened.game].solver is None and graded(record)
