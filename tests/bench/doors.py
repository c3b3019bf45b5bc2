"""How many moves a second of the server's own time the doors are good for, beside what one would write.

Ours is the command as it is installed, with rules, clocks, limits and guards on
and bots at its open tables; so beginning and ending matches is in every figure.
Ours and the reference take turns under the same load, and the ratio is the
median of the rounds' ratios. Seconds are those that a process was on a
processor, as the kernel counts them, so that who else uses the machine matters
little. What the load itself took of a processor stands beside p99, which is the
server's only where that is little.
"""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from math import nan
from statistics import fmean, median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Protocol

from msgspec import Struct

from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.server import Server, quintain

MATCHES = 50
ROUNDS = 7
WARM, TURN = 1.0, 1.5  # seconds; while the other has its turn no clock of a match may run out


class Load(Protocol):
    """Those who play, compiled or not."""

    took: list[float]
    cpu: float

    def play(self, seconds: float) -> int: ...


Side = tuple[Server, Load]


class Row(Struct, frozen=True):
    """Bots at a door of ours, and what they are measured by."""

    door: str
    bots: str  # a kind, as `compiled_crowd.py` has it
    reference: str  # as `references.py` has it
    bots_there: str
    words: str  # for the reference

    def crowd(self, server: Server, matches: int) -> CompiledCrowd:
        """Of ours."""
        return CompiledCrowd(self.bots, matches, server.address(self.door))


def _posted(bots: str) -> Row:
    return Row("http", bots, "http", "posters", "uvicorn + Starlette")


ROWS: Mapping[str, Row] = {
    "Santorini over TCP": Row("tcp", "memo", "tcp", "memo", "relay on trio sockets"),
    "Connect-4 in the house protocol over TCP": Row(
        "tcp", "house", "house", "house", "relay on trio sockets"
    ),
    "Connect-4 over websocket": Row(
        "websocket", "c4-arena", "websocket", "c4-arena", "relay on trio-websocket"
    ),
    "Quoridor over HTTP": _posted("quoridor"),
    "Tic-Tac-Toe, with joining": _posted("tic-tac-toe"),
    "Hexagon Dots over HTTP": _posted("hexagon-dots"),
}
WIDTH = max(map(len, ROWS))


def bench(door: str, matches: int) -> None:
    print(f"{door}, {matches} matches at once: moves per second of the server's processor time")
    print(
        f"{'':{WIDTH}}{'ours':>9}{'reference':>11}{'ratio':>8}{'spread':>15}{'p99 ms':>16}{'load CPU':>14}"
        "   reference"
    )
    for name, row in ROWS.items():
        if row.door == door:
            print(f"{name:{WIDTH}}{compared(row, matches)}   {row.words}", flush=True)


def compared(row: Row, matches: int) -> str:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        ours = stack.enter_context(quintain(folder))
        theirs = stack.enter_context(Server("tests.bench.references", row.reference))
        playing = row.crowd(ours, matches)
        stack.callback(playing.leave)
        relayed = CompiledCrowd(row.bots_there, matches, theirs.address(row.door))
        stack.callback(relayed.leave)
        return in_turns((ours, playing), (theirs, relayed))


def in_turns(one: Side, other: Side) -> str:
    """A line of a table: both speeds, their ratio and its spread, both p99, and the shares of both loads."""
    for _, load in (one, other):
        load.play(WARM)
    speeds = list[list[float]]()
    took: tuple[list[float], list[float]] = [], []  # of all turns together: one alone may have few
    shares: tuple[list[float], list[float]] = [], []
    for _ in range(ROUNDS):
        speeds.append([])
        for (server, load), so_far, share in zip((one, other), took, shares, strict=True):
            begun = perf_counter()
            speeds[-1].append(speed(server.seconds_in_all, load))
            share.append(load.cpu / (perf_counter() - begun))
            so_far += load.took
    ratios = [this / that for this, that in speeds]
    this, that = (median(column) for column in zip(*speeds, strict=True))
    spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
    late = " / ".join(f"{p99(each) * 1000:.1f}" for each in took)
    loaded = " / ".join(f"{fmean(each):.2f}" for each in shares)
    return f"{this:9,.0f}{that:11,.0f}{median(ratios):7.2f}x{spread:>15}{late:>16}{loaded:>14}"


def speed(seconds: Callable[[], float], load: Load) -> float:
    """Of one turn: moves per second of the server's time, which `seconds` tells."""
    before = seconds()
    moves = load.play(TURN)
    return moves / (seconds() - before)


def p99(took: list[float]) -> float:
    """How long all but a hundredth of the moves took; nan where there was none."""
    return sorted(took)[len(took) * 99 // 100] if took else nan
