"""Session after session, in batches, and what came of it."""

import gc
import resource
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from msgspec import Struct

from tests.fuzz import http, line, websocket
from tests.fuzz.ground import Door, Ground
from tests.server.windowed import on_virtual_time

DOORS = {door.name: door for door in (line.DOOR, websocket.DOOR, http.DOOR)}

BATCH = 100  # sessions that meet on one host
SPINNING = (
    120.0  # seconds of real time for a batch, which takes less than one: something goes round in circles
)
FIRST = 5  # batches before memory is measured for the first time


class Batch(Struct, frozen=True):
    numbers: range  # of its sessions
    complaints: list[str]
    events: int  # in matches


class Report(Struct):
    door: str
    seed: int
    sessions: int = 0
    events: int = 0  # in matches
    failures: list[Batch] = []  # the smallest that fail again
    seconds: float = 0.0  # of CPU
    peak: int = 0  # MiB, of the whole process
    objects: int = 0  # that there are more than after the first batches

    @property
    def lines(self) -> Iterator[str]:
        rate = self.sessions / max(self.seconds, 0.001)
        yield (
            f"{self.door}: {self.sessions} sessions, {self.events} events in matches, "
            f"{len(self.failures)} batches that failed, {self.seconds:.1f} CPU s ({rate:.0f}/s), "
            f"peak memory {self.peak} MiB, {self.objects:+d} objects"
        )
        for failure in self.failures:
            yield from failure.complaints
            yield (
                f"again: python -m tests.fuzz --door {self.door} --seed {self.seed} "
                f"--from {failure.numbers.start} --sessions {len(failure.numbers)}"
            )


class Spinning(BaseException):
    """A batch does not come to its end, on a clock that takes no time."""


def run(door: Door, seed: int, numbers: range) -> Report:
    """Play these sessions, in batches that begin at round numbers: so they meet the same others again."""
    report = Report(door.name, seed)
    begun = time.process_time()
    objects: int | None = None
    for start in range(numbers.start - numbers.start % BATCH, numbers.stop, BATCH):
        batch = play(door, seed, range(max(start, numbers.start), min(start + BATCH, numbers.stop)))
        if batch.complaints:
            report.failures.append(_narrowed(door, seed, batch))
        report.sessions += len(batch.numbers)
        report.events += batch.events
        if objects is None and report.sessions >= FIRST * BATCH:
            objects = _objects()
    report.seconds = time.process_time() - begun
    report.peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    report.objects = 0 if objects is None else _objects() - objects
    return report


def play(door: Door, seed: int, numbers: range) -> Batch:
    """Let these sessions meet, and see what there is to complain of."""
    foreign = [tongue for other in DOORS.values() if other.name != door.name for tongue in other.tongues]
    ground = Ground(door, foreign, seed)
    try:
        with _an_end_to_it():
            on_virtual_time(partial(ground.hold, numbers))
    except Exception as error:
        ground.complaints.append(f"the host ended: {error!r}")
    except BaseException as error:
        if not isinstance(error, Spinning) and not isinstance(error.__context__, Spinning):
            raise
        ground.complaints.append(f"hang: {error!r}")
    return Batch(numbers, ground.complaints, ground.events)


def _narrowed(door: Door, seed: int, failed: Batch) -> Batch:
    """One session that fails by itself, if one does."""
    for number in failed.numbers:
        if any(each.startswith(f"session {number}:") for each in failed.complaints):
            alone = play(door, seed, range(number, number + 1))
            if alone.complaints:
                return alone
    return failed


@contextmanager
def _an_end_to_it() -> Iterator[None]:
    """Real time for what takes none on a virtual clock. Elsewhere than in the main thread, all there is."""
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
