"""Session after session, in batches, and what came of it."""

import gc
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from tests.fuzz import line, websocket
from tests.fuzz.ground import Door, Ground
from tests.server.windowed import on_virtual_time

DOORS = {door.name: door for door in (line.DOOR, websocket.DOOR)}

BATCH = 100  # sessions that meet on one host
SPINNING = 120.0  # seconds of real time for a batch, which takes less than one: something goes round in circles
FIRST = 5  # batches before memory is measured for the first time


class Failure(Struct, frozen=True):
    numbers: range  # of the sessions that have to be played for it to happen again
    complaints: list[str]


class Report(Struct):
    door: str
    seed: int
    sessions: int = 0
    failures: list[Failure] = []
    seconds: float = 0.0  # of CPU
    peak: int = 0  # MiB, of the whole process
    objects: int = 0  # how many more there are than after the first batches

    @property
    def lines(self) -> Iterator[str]:
        rate = self.sessions / max(self.seconds, 0.001)
        yield (
            f"{self.door}: {self.sessions} sessions, {len(self.failures)} batches with failures, "
            f"{self.seconds:.1f} CPU s ({rate:.0f}/s), peak {self.peak} MiB, {self.objects:+d} objects"
        )
        for failure in self.failures:
            yield from failure.complaints
            yield (
                f"again: python -m tests.fuzz --door {self.door} --seed {self.seed} "
                f"--from {failure.numbers.start} --sessions {len(failure.numbers)}"
            )


class Spinning(BaseException):
    """A batch does not come to its end, on a clock that takes no time."""


def run(door: Door, seed: int, numbers: range, told: Callable[[int], None] = lambda number: None) -> Report:
    """Play these sessions. Batches begin at round numbers, whatever the first is: so they can be played again."""
    report = Report(door.name, seed)
    begun = time.process_time()
    objects: int | None = None
    for start in range(numbers.start - numbers.start % BATCH, numbers.stop, BATCH):
        batch = range(max(start, numbers.start), min(start + BATCH, numbers.stop))
        if complaints := played(door, seed, batch):
            report.failures.append(_narrowed(door, seed, Failure(batch, complaints)))
        report.sessions += len(batch)
        if objects is None and report.sessions >= FIRST * BATCH:
            objects = _objects()
        told(batch.stop)
    report.seconds = time.process_time() - begun
    report.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    report.objects = 0 if objects is None else _objects() - objects
    return report


def played(door: Door, seed: int, numbers: Sequence[int]) -> list[str]:
    """What is to be complained of when these sessions meet."""
    foreign = [tongue for other in DOORS.values() if other.name != door.name for tongue in other.tongues]
    ground = Ground(door, foreign, seed)

    async def hold() -> None:
        await ground.hold(numbers)

    try:
        with _an_end_to_it():
            on_virtual_time(hold)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        ground.complaints.append(f"it ended with {error!r}")
    return ground.complaints


def _narrowed(door: Door, seed: int, failure: Failure) -> Failure:
    """The one session that fails by itself, if one does."""
    for number in failure.numbers:
        if any(f"session {number}:" in each for each in failure.complaints):
            if complaints := played(door, seed, range(number, number + 1)):
                return Failure(range(number, number + 1), complaints)
    return failure


@contextmanager
def _an_end_to_it() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def give_up(*_: object) -> None:
        raise Spinning(f"{SPINNING:g} s of real time were not enough")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, SPINNING)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _objects() -> int:
    gc.collect()
    return len(gc.get_objects())
