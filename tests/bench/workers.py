"""What several processes that play are good for: `make bench ARGS="workers"`.

A crowd plays at one open table: Santorini over TCP, or Connect-4 over websockets. The table is spread over
several workers, and three have turns: one process; as many hosts as there are workers, each with a part
of the bots and none knowing of another; and the workers. What the hosts lose beside one process
the machine takes: what is played at once, is played in smaller portions. What the workers lose beside
the hosts is what it costs to lend. Then the table grows with the processes, so that each has as many
matches as the one process.

Ratios are medians of the rounds. A second of the processor is one of all processes that play together,
without those that show; what the crowd took itself is in the last column, for on a machine with few cores
it takes it from the host. Then the same for two tables, each of which is held by a worker.
"""

import time
from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.server import quintain, seconds_of

WORKERS = (2, 4)
ROUNDS = 7
WARM, TURN = 2.0, 1.5  # seconds; while others have their turn no clock of a match may run out
SPREAD = 2  # bots: a table with more of them is spread
ALONE = "1 process"
BOTS = {"tcp": "memo", "websocket": "c4-arena"}  # by the door that they come to


class Turn(Struct, frozen=True):
    moves: int
    cpu: float  # seconds of the processor, of whoever plays
    load: float  # seconds of the processor, of the crowds
    wall: float

    @property
    def speed(self) -> float:
        return self.moves / self.cpu


class Side:
    """Some servers, and who plays there."""

    def __init__(self, stack: ExitStack, hosts: int, *flags: str) -> None:
        folders = [stack.enter_context(TemporaryDirectory()) for _ in range(hosts)]
        self._servers = [stack.enter_context(quintain(folder, *flags)) for folder in folders]
        self._crowds: list[CompiledCrowd] = []

    def gather(self, stack: ExitStack, doors: Sequence[str], matches: int) -> None:
        for door in doors:
            addresses = [server.address(door) for server in self._servers]
            self._crowds.append(CompiledCrowd(BOTS[door], matches, *addresses))
            stack.callback(self._crowds[-1].leave)

    def play(self, seconds: float) -> Turn:
        before, begun = self._seconds(), time.perf_counter()
        for each in self._crowds:
            each.begin(seconds)
        moves = sum(each.done() for each in self._crowds)
        wall, cpu = time.perf_counter() - begun, self._seconds() - before
        return Turn(moves, cpu, sum(each.cpu for each in self._crowds), wall)

    def _seconds(self) -> float:
        """That all processes were on a processor that play."""
        play = [each for server in self._servers for each in server.children("quintain-worker")]
        return sum(server.seconds() for server in self._servers) + sum(map(seconds_of, play))


def bench(matches: int) -> None:
    for about, doors, grows in (
        (f"{matches} matches at one table, over TCP", ("tcp",), False),
        (f"{matches} matches at one table, over websockets", ("websocket",), False),
        (f"{matches} matches for each process at one table, over TCP", ("tcp",), True),
        (f"{matches} matches for each process at one table, over websockets", ("websocket",), True),
        (f"{matches} matches at each of two tables", ("tcp", "websocket"), False),
    ):
        print(f"{about}: moves for each second of the processor, moves/s, and processors in use")
        print(f"{'':12}{'':>9}{'ratio':>8}{'spread':>13}{'moves/s':>10}{'played':>9}{'loaded':>9}")
        for workers in WORKERS if len(doors) == 1 else WORKERS[:1]:
            _compare(workers, doors, matches, matches * workers if grows else matches)


def _compare(workers: int, doors: Sequence[str], one: int, several: int) -> None:
    """`one` and `several`: how many matches one process plays at once, and several together."""
    spread = SPREAD if len(doors) == 1 else 4 * several
    with ExitStack() as stack:
        sides = {
            ALONE: Side(stack, 1),
            f"{workers} hosts": Side(stack, workers),
            f"{workers} workers": Side(stack, 1, "--workers", str(workers), "--spread", str(spread)),
        }
        for name, each in sides.items():
            each.gather(stack, doors, one if name == ALONE else several)
            each.play(WARM)
        rounds = [{name: each.play(TURN) for name, each in sides.items()} for _ in range(ROUNDS)]
    for name in sides:
        turns = [each[name] for each in rounds]
        ratios = [each[name].speed / each[ALONE].speed for each in rounds]
        speed, moves = median(each.speed for each in turns), median(each.moves / each.wall for each in turns)
        cpu, load = (
            median(each.cpu / each.wall for each in turns),
            median(each.load / each.wall for each in turns),
        )
        line = f"{name:12}{speed:9.0f}{median(ratios):8.2f}{f'{min(ratios):.2f}-{max(ratios):.2f}':>13}"
        print(f"{line}{moves:10.0f}{cpu:9.2f}{load:9.2f}", flush=True)
