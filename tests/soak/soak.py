"""Lets visitors come and go and measures the memory of both processes meanwhile.

What is measured is the memory that is a process's own (`RssAnon`): the others are files
that the system has in memory as long as nobody else needs it. The slope is of the second
half: in the first, whatever has a limit fills up. The wire log is smaller than usual, so
that it is full by then, and where a table takes longer to fill, its bots play more, and the second half
begins later.

Both processes keep something of every finished match for good: `KEPT` says how many bytes, and tests hold
them to it. Of the 120 of show some 102 are in columns, on accounts and among ratings, with the room that
these keep for the next; eight are for the index of bots' pages, at which nobody looks here. Whatever
grows beside that is a leak, and has a bound.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import linear_regression
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from urllib.request import urlopen

from msgspec import Struct
from msgspec.json import decode

from tests.bench.server import Server, quintain
from tournament.record import LATEST

if TYPE_CHECKING:
    from tests.soak.visitors import Waves

BOUND = 1.0  # MiB an hour, beside what finished matches take
TURN = 0.1  # seconds that the bots of one dialect play before those of the next …
FILLING = 1.0  # … or so many, while their table remembers fewer matches than it could
REST = 0.5  # seconds after the last in which nobody plays, so that others can use the machine
SAMPLE = 5.0  # seconds between two looks at the memory
LINE = 60.0  # seconds between two lines
WIRE_LOG = 4 << 20  # bytes
PROCESSES = ("play", "show")
# Bytes of each finished match: `tests/tournament/test_history.py` and `tests/server/show/test_memory.py`.
KEPT = (8.5, 120.0)
MIB = 1 << 20

STAY = 10.0  # seconds that a wave of bots stays; its matches are left in the middle

Say = Callable[[str], None]


class Sample(Struct, frozen=True):
    at: float  # seconds since the beginning
    sizes: tuple[float, ...]  # MiB, of each process
    matches: tuple[int, ...] = ()  # that are over, at each table


class Soak(Struct, frozen=True):
    """What was measured."""

    since: float  # seconds from the beginning: before that, whatever has a limit fills up
    samples: Sequence[Sample]
    moves: dict[str, int]  # by dialect

    @property
    def measured(self) -> list[Sample]:
        return [sample for sample in self.samples if sample.at >= self.since]

    @property
    def filled(self) -> bool:
        """Whether every table had as many matches by then as it remembers more of than of others."""
        return full(self.measured[0].matches)

    def slopes(self) -> tuple[float, ...]:
        """MiB an hour, of each process."""
        return tuple(
            _an_hour(self.measured, sizes) for sizes in zip(*(s.sizes for s in self.measured), strict=True)
        )

    def matches(self) -> tuple[float, ...]:
        """MiB an hour of that which each process keeps of finished matches."""
        rate = _an_hour(self.measured, [sum(sample.matches) for sample in self.measured])
        return tuple(rate * size / MIB for size in KEPT)

    def leaks(self) -> tuple[float, ...]:
        """MiB an hour of anything else."""
        return tuple(slope - kept for slope, kept in zip(self.slopes(), self.matches(), strict=True))

    def growing(self) -> list[str]:
        """The processes whose memory grows by more than what they keep, with how fast it does."""
        leaks = zip(PROCESSES, self.leaks(), strict=True)
        return [f"{name}: {leak:+.2f} MiB an hour" for name, leak in leaks if leak > BOUND]


def _an_hour(samples: Sequence[Sample], figures: Sequence[float]) -> float:
    return linear_regression([sample.at / 3600 for sample in samples], figures).slope


def full(matches: Iterable[int], enough: int = LATEST) -> bool:
    return all(each > enough for each in matches)


def soak(
    seconds: float,
    say: Say = print,
    *,
    most: float = 0.0,
    sample: float = SAMPLE,
    stay: float = STAY,
    filling: float = FILLING,
    enough: int = LATEST,
) -> Soak:
    """Measure in the second half of that time; at `most` so many seconds later, if tables fill up later.

    A table is full when more than `enough` matches are over there.
    """
    from tests.soak.visitors import Waves, dialects  # who think out their matches when they are imported

    samples, played = list[Sample](), dict[str, int]()
    since = seconds / 2
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        settings = folder / "quintain.toml"
        settings.write_text(f"[limits]\nwire_log_bytes = {WIRE_LOG}\n")
        flags = ("--show", "1", "--config", str(settings))
        server = stack.enter_context(quintain(str(folder / "data"), *flags))
        processes = (server.process.pid, show_of(server))
        waves = {name: Waves(server, dialect, stay) for name, dialect in dialects().items()}
        for each in waves.values():
            stack.callback(each.leave)
        begun, said = time.monotonic(), 0.0
        while True:
            now = time.monotonic() - begun
            if not samples or now >= samples[-1].at + sample:
                played = finished(server)
                samples.append(Sample(now, tuple(map(memory, processes)), tuple(played.values())))
                if not full(played.values(), enough) and since < seconds / 2 + most:
                    since = max(since, now)
            if now >= since + seconds / 2:
                break  # only now: a turn may have lasted longer than all that
            if now >= said + LINE:
                said = now
                say(line(samples[-1], waves))
            for each in waves.values():
                each.play(TURN if played.get(each.game, 0) > enough else filling)
            time.sleep(REST)
    return Soak(since, samples, {name: each.moves for name, each in waves.items()})


def line(sample: Sample, waves: "dict[str, Waves]") -> str:
    sizes = ", ".join(f"{name} {size:6.1f} MiB" for name, size in zip(PROCESSES, sample.sizes, strict=True))
    moves, gone = sum(each.moves for each in waves.values()), sum(each.waves for each in waves.values())
    played = sum(sample.matches)
    return f"{sample.at / 60:4.0f} min: {sizes}; {moves:,} moves, {played:,} matches, {gone} waves"


def finished(server: Server) -> dict[str, int]:
    """How many matches are over at the table of each game."""
    host, port = server.address("http")
    with urlopen(f"http://{host}:{port}/api/tournaments") as response:
        return {each["game"]: each["played"] for each in decode(response.read())["tournaments"]}


def show_of(server: Server) -> int:
    """The process for pages: a child of the one that plays."""
    pid = server.process.pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if Path(f"/proc/{child}/comm").read_text() == "quintain-show\n":
            return int(child)
    raise RuntimeError("there is no process for pages: it has ended")


def memory(pid: int) -> float:
    """MiB that are the process's own."""
    for said in Path(f"/proc/{pid}/status").read_text().splitlines():
        if said.startswith("RssAnon:"):
            return int(said.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no memory: it has ended")
