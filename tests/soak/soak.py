"""Lets visitors come and go and measures the memory of both processes meanwhile.

What is measured is the memory that is a process's own (`RssAnon`): the others are files
that the system has in memory as long as nobody else needs it. The slope is of the second
half: in the first, whatever has a limit fills up. The wire log is smaller than usual, so
that it is full by then.

Both processes keep something of every finished match for good: `KEPT` says how many bytes, and
tests hold them to it. Whatever grows beside that is a leak, and has a bound.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import linear_regression
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from msgspec import Struct
from msgspec.json import decode

from tests.bench.server import Server, quintain
from tests.soak.visitors import STAY, Waves, dialects
from tournament.record import WHOLE

BOUND = 1.0  # MiB an hour, beside what finished matches take
TURN = 0.1  # seconds that the bots of one dialect play before those of the next …
REST = 0.5  # … and that nobody does after the last, so that others can use the machine
SAMPLE = 5.0  # seconds between two looks at the memory
LINE = 60.0  # seconds between two lines
WIRE_LOG = 4 << 20  # bytes
PROCESSES = ("play", "show")
# Bytes of each finished match: `tests/tournament/test_history.py` and `tests/server/show/test_memory.py`.
KEPT = (8.5, 120.0)
MIB = 1 << 20

Say = Callable[[str], None]


class Sample(Struct, frozen=True):
    at: float  # seconds since the beginning
    sizes: tuple[float, ...]  # MiB, of each process
    matches: tuple[int, ...] = ()  # that are over, at each table


class Soak(Struct, frozen=True):
    """What was measured."""

    seconds: float
    samples: Sequence[Sample]
    moves: dict[str, int]  # by dialect

    @property
    def half(self) -> list[Sample]:
        """The second, in which it is measured."""
        return [sample for sample in self.samples if sample.at >= self.seconds / 2]

    @property
    def filled(self) -> bool:
        """Whether every table had as many matches before the second half as a record remembers in full."""
        return all(matches > WHOLE for matches in self.half[0].matches)

    def slopes(self) -> tuple[float, ...]:
        """MiB an hour over the second half, of each process."""
        return tuple(_an_hour(self.half, sizes) for sizes in zip(*(s.sizes for s in self.half), strict=True))

    def matches(self) -> tuple[float, ...]:
        """MiB an hour of that which each process keeps of finished matches."""
        rate = _an_hour(self.half, [sum(sample.matches) for sample in self.half])
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


def soak(seconds: float, say: Say = print, sample: float = SAMPLE, stay: float = STAY) -> Soak:
    samples: list[Sample] = []
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
        while (now := time.monotonic() - begun) < seconds:
            if not samples or now >= samples[-1].at + sample:
                samples.append(Sample(now, tuple(map(memory, processes)), finished(server)))
            if now >= said + LINE:
                said = now
                say(line(samples[-1], waves))
            for each in waves.values():
                each.play(TURN)
            time.sleep(REST)
    return Soak(seconds, samples, {name: each.moves for name, each in waves.items()})


def line(sample: Sample, waves: dict[str, Waves]) -> str:
    sizes = ", ".join(f"{name} {size:6.1f} MiB" for name, size in zip(PROCESSES, sample.sizes, strict=True))
    moves, gone = sum(each.moves for each in waves.values()), sum(each.waves for each in waves.values())
    played = sum(sample.matches)
    return f"{sample.at / 60:4.0f} min: {sizes}; {moves:,} moves, {played:,} matches, {gone} waves"


def finished(server: Server) -> tuple[int, ...]:
    """How many matches are over, at each table."""
    host, port = server.address("http")
    with urlopen(f"http://{host}:{port}/api/tournaments") as response:
        return tuple(each["played"] for each in decode(response.read())["tournaments"])


def show_of(server: Server) -> int:
    """The process that shows: a child of the one that plays."""
    pid = server.process.pid
    for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        if b"server.show" in Path(f"/proc/{child}/cmdline").read_bytes():
            return int(child)
    raise RuntimeError("there is no process that shows: it has ended")


def memory(pid: int) -> float:
    """MiB that are the process's own."""
    for said in Path(f"/proc/{pid}/status").read_text().splitlines():
        if said.startswith("RssAnon:"):
            return int(said.split()[1]) / 1024
    raise RuntimeError(f"process {pid} has no memory: it has ended")
