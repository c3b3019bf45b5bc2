"""Lets visitors come and go and measures the memory of both processes meanwhile.

What is measured is the memory that is a process's own (`RssAnon`): the others are files
that the system has in memory as long as nobody else needs it. The slope is of the second
half: in the first, whatever has a limit fills up. The wire log is smaller than usual, so
that it is full by then.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import linear_regression
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench.server import Server, quintain
from tests.soak.visitors import Waves, dialects

BOUND = 1.0  # MiB an hour
TURN = 0.1  # seconds that the bots of one dialect play before those of the next …
REST = 0.5  # … and that nobody does after the last, so that others can use the machine
SAMPLE = 5.0  # seconds between two looks at the memory
LINE = 60.0  # seconds between two lines
WIRE_LOG = 4 << 20  # bytes
PROCESSES = ("play", "show")

Say = Callable[[str], None]


class Sample(Struct, frozen=True):
    at: float  # seconds since the beginning
    sizes: tuple[float, ...]  # MiB, of each process


class Soak(Struct, frozen=True):
    """What was measured."""

    seconds: float
    samples: Sequence[Sample]
    moves: dict[str, int]  # by dialect

    def slopes(self) -> tuple[float, ...]:
        """MiB an hour over the second half, of each process."""
        half = [sample for sample in self.samples if sample.at >= self.seconds / 2]
        hours = [sample.at / 3600 for sample in half]
        return tuple(
            linear_regression(hours, sizes).slope for sizes in zip(*(s.sizes for s in half), strict=True)
        )

    def growing(self) -> list[str]:
        """The processes whose memory grows, with how fast it does."""
        slopes = zip(PROCESSES, self.slopes(), strict=True)
        return [f"{name}: {slope:+.2f} MiB an hour" for name, slope in slopes if slope > BOUND]


def soak(seconds: float, say: Say = print) -> Soak:
    samples: list[Sample] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        settings = folder / "quintain.toml"
        settings.write_text(f"[limits]\nwire_log_bytes = {WIRE_LOG}\n")
        flags = ("--show", "1", "--config", str(settings))
        server = stack.enter_context(quintain(str(folder / "data"), *flags))
        processes = (server.process.pid, show_of(server))
        waves = {name: Waves(server, dialect) for name, dialect in dialects().items()}
        for each in waves.values():
            stack.callback(each.leave)
        begun, said = time.monotonic(), 0.0
        while (now := time.monotonic() - begun) < seconds:
            if not samples or now >= samples[-1].at + SAMPLE:
                samples.append(Sample(now, tuple(map(memory, processes))))
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
    return f"{sample.at / 60:4.0f} min: {sizes}; {moves:,} moves in {gone} waves"


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
