"""What several processes that play are good for: `make bench ARGS="workers"`.

A crowd plays at one open table: Santorini over TCP, or Connect-4 over websockets. The table is spread over
several workers, and three have turns: one process; as many hosts as there are workers, each with a part
of the bots and none knowing of another; and the workers. What the hosts lose beside one process
the machine takes: what is played at once, is played in smaller portions. What the workers lose beside
the hosts is what it costs to lend.

Ratios are medians of the rounds. A second of the processor is one of all processes that play together,
without those that show; what the crowd took itself is in the last column, for on a machine with few cores
it takes it from the host. Then the same for two tables, each of which is held by a worker.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from statistics import median
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench import load_tcp, load_websocket
from tests.bench.crowd import Address, Crowd
from tests.bench.server import Server, quintain, seconds_of

WORKERS = (2, 4)
ROUNDS = 7
WARM, TURN = 2.0, 1.5  # seconds; while others have their turn no clock of a match may run out
SPREAD = 2  # bots: a table with more of them is spread
DOORS = {"tcp": load_tcp.crowd, "websocket": load_websocket.crowd}


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
        self._crowds: list[Connection] = []

    def gather(self, stack: ExitStack, doors: Sequence[str], matches: int) -> None:
        self._crowds = [stack.enter_context(_playing(self._servers, door, matches)) for door in doors]

    def play(self, seconds: float) -> Turn:
        before, begun = self._seconds(), time.perf_counter()
        for each in self._crowds:
            each.send(seconds)
        found: list[tuple[int, float]] = [each.recv() for each in self._crowds]
        wall, cpu = time.perf_counter() - begun, self._seconds() - before
        return Turn(sum(moves for moves, _ in found), cpu, sum(load for _, load in found), wall)

    def _seconds(self) -> float:
        """That all processes were on a processor that play."""
        play = [each for server in self._servers for each in server.children(b"server.workers")]
        return sum(server.seconds() for server in self._servers) + sum(map(seconds_of, play))


def bench(matches: int) -> None:
    for about, doors in (
        (f"{matches} matches at one table, over TCP", ("tcp",)),
        (f"{matches} matches at one table, over websockets", ("websocket",)),
        (f"{matches} matches at each of two tables", ("tcp", "websocket")),
    ):
        print(f"{about}: moves for each second of the processor, moves/s, and processors in use")
        print(f"{'':12}{'':>9}{'ratio':>8}{'spread':>13}{'moves/s':>10}{'played':>9}{'loaded':>9}")
        for workers in WORKERS if len(doors) == 1 else WORKERS[:1]:
            _compare(workers, doors, matches)


def _compare(workers: int, doors: Sequence[str], matches: int) -> None:
    spread = SPREAD if len(doors) == 1 else 4 * matches
    with ExitStack() as stack:
        sides = {
            "1 process": Side(stack, 1),
            f"{workers} hosts": Side(stack, workers),
            f"{workers} workers": Side(stack, 1, "--workers", str(workers), "--spread", str(spread)),
        }
        for each in sides.values():
            each.gather(stack, doors, matches)
            each.play(WARM)
        rounds = [{name: each.play(TURN) for name, each in sides.items()} for _ in range(ROUNDS)]
    for name in sides:
        turns = [each[name] for each in rounds]
        ratios = [each[name].speed / each["1 process"].speed for each in rounds]
        speed, moves = median(each.speed for each in turns), median(each.moves / each.wall for each in turns)
        cpu, load = (
            median(each.cpu / each.wall for each in turns),
            median(each.load / each.wall for each in turns),
        )
        line = f"{name:12}{speed:9.0f}{median(ratios):8.2f}{f'{min(ratios):.2f}-{max(ratios):.2f}':>13}"
        print(f"{line}{moves:10.0f}{cpu:9.2f}{load:9.2f}", flush=True)


@contextmanager
def _playing(servers: Sequence[Server], door: str, matches: int) -> Iterator[Connection]:
    """A crowd in a process of its own: it plays for as many seconds as it is sent."""
    fork = get_context("fork")
    ours, theirs = fork.Pipe()
    addresses = [server.address(door) for server in servers]
    child = fork.Process(target=_crowd, args=(door, addresses, matches, theirs), daemon=True)
    child.start()
    theirs.close()  # so that its end is heard
    try:
        yield ours
    finally:
        child.kill()
        child.join()


def _crowd(door: str, addresses: Sequence[Address], matches: int, asked: Connection) -> None:
    crowd: Crowd = DOORS[door](addresses[0], matches, *addresses[1:])
    while True:
        seconds, before = asked.recv(), time.process_time()
        asked.send((crowd.play(seconds), time.process_time() - before))
