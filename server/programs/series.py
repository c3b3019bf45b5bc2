"""Matches between two contestants, several at a time, each as soon as it is over.

Every place at which matches are played is a thread with contestants of its own, because
a program reads from one pipe and a match waits for it. Only the caller's thread
decides what happens to their results. A caller that stops taking results ends the
series: matches in play are dropped, and no program is left behind. While this
process stands still, nobody's clock runs.
"""

import sys
from collections.abc import Generator, Iterable
from contextlib import suppress
from itertools import islice
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any

from msgspec import Struct

from games.game import Game, Pace
from server.programs.contestant import Contestant, contestant
from server.programs.interrupts import later
from server.programs.local_match import Two, local_match
from server.programs.openings import Opening, Openings
from server.programs.running_time import Now, RunningTime
from server.programs.tally import Played, first_seat, pair_of
from tournament.events import Ending

LOOK = 0.5  # seconds between two looks at whether a signal has come
Job = tuple[int, Opening]  # the number of a match, and how it begins


class Setting(Struct, frozen=True, kw_only=True):
    """Who plays, and under which conditions."""

    game: Game[Any, Any]
    commands: Two
    names: Two
    pace: Pace
    think: float  # seconds that a house brain may take for a move
    seed: int
    openings: Openings

    def contestants(self, now: Now) -> tuple[Contestant, Contestant]:
        first, second = self.commands
        one = contestant(first, self.game, self.think, self.seed, now)
        try:
            return one, contestant(second, self.game, self.think, self.seed + 1, now)
        except BaseException:
            one.end()
            raise


def series(setting: Setting, numbers: Iterable[int], places: int) -> Generator[Played]:
    """Play the matches of these numbers, at most `places` at a time; raises `Failure` as programs do."""
    jobs = ((number, setting.openings(pair_of(number))) for number in numbers)
    over: SimpleQueue[Played | BaseException] = SimpleQueue()
    everywhere: list[_Place] = []
    playing: dict[int, _Place] = {}
    with RunningTime() as now:
        try:
            for job in islice(jobs, min(places, sys.maxsize)):
                with later():  # or an interrupt at its very start would leave a program running
                    place = _Place(setting, over, now)
                    everywhere.append(place)
                playing[job[0]] = place
                place.give(job)
            while playing:
                came = _next(over)
                if isinstance(came, BaseException):
                    raise came
                place = playing.pop(came.match)
                for job in islice(jobs, 1):
                    playing[job[0]] = place
                    place.give(job)
                yield came
        finally:
            with later():  # or a second Ctrl-C, soon after the first, would leave programs running
                for place in everywhere:
                    place.stop()
                for place in everywhere:
                    place.join()


def _next(over: SimpleQueue[Played | BaseException]) -> Played | BaseException:
    """What comes next. A signal that comes just before a thread waits does not wake it."""
    while True:
        with suppress(Empty):
            return over.get(timeout=LOOK)


class _Place:
    """A thread and the two contestants that play there."""

    def __init__(self, setting: Setting, over: SimpleQueue[Played | BaseException], now: Now) -> None:
        self._setting, self._over, self._now = setting, over, now
        self._contestants = setting.contestants(now)
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()

    def give(self, job: Job) -> None:
        self._jobs.put(job)

    def stop(self) -> None:
        """Let go of everything, even in the middle of a match."""
        self._jobs.put(None)
        for each in self._contestants:
            each.stop()

    def join(self) -> None:
        self._thread.join()

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                self._over.put(played(self._setting, self._contestants, *job, self._now))
        except BaseException as error:  # raised again where the results are taken
            self._over.put(error)
        finally:
            for each in self._contestants:
                each.end()


def played(
    setting: Setting,
    contestants: tuple[Contestant, Contestant],
    number: int,
    opening: Opening,
    now: Now,
) -> Played:
    """Play one match of the series."""
    turned = -1 if first_seat(number) else 1
    one, two = setting.names[::turned]
    first, second = contestants[::turned]
    name, pace = f"match-{number}", setting.pace
    before = len(first.endings), len(second.endings)
    match = local_match(setting.game, name, (one, two), (first, second), pace, opening, now)
    ended = match.result
    if ended is None:
        raise RuntimeError(f"{match.name} was left in the middle")
    why = ended.why
    if ended.ending in (Ending.LEFT, Ending.TIME) and ended.winner is not None:
        loser = 1 - ended.winner
        why = (*(first, second)[loser].endings[before[loser] :], why)[0]
    moves, times = match.moves_and_times()
    return Played(
        match=number,
        players=match.names,
        winner=ended.winner,
        ending=ended.ending,
        why=why,
        opening=len(opening),
        moves=moves,
        times=[round(spent, 4) for spent in times],
    )
