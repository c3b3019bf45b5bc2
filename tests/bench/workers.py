"""What several processes that play are good for: `make bench ARGS="workers"`.

Two crowds, each in a process of its own, play at two open tables: Santorini over TCP and Connect-4 over
websockets. With two workers each table is held by another one. Then each crowd plays alone, at one table that
is spread over all workers. All rows are of one run. A second of the
processor is one of all processes that play together, without the one that shows; what the crowds took
themselves is in the last column, for on a machine with few cores they take it from the host.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from tempfile import TemporaryDirectory

from tests.bench import load_tcp, load_websocket
from tests.bench.crowd import Address
from tests.bench.doors import Gather
from tests.bench.server import Server, quintain, seconds_of

WORKERS = (1, 2, 4)
WARM, TURN = 2.0, 8.0  # seconds
SPREAD = 2  # bots: a table with more of them is spread
CROWDS = (("tcp", load_tcp.crowd), ("websocket", load_websocket.crowd))
Gathers = Sequence[tuple[str, Gather]]


def bench(matches: int) -> None:
    for about, crowds in (
        (f"{matches} matches at each of two tables", CROWDS),
        (f"{matches} matches at one table, over TCP", CROWDS[:1]),
        (f"{matches} matches at one table, over websockets", CROWDS[1:]),
    ):
        print(about)
        print(f"{'workers':>8}{'moves/s of CPU':>16}{'moves/s':>10}{'CPU of play':>13}{'of the crowds':>15}")
        for workers in WORKERS:
            print(f"{workers:8}{_row(workers, matches, crowds)}", flush=True)


def _row(workers: int, matches: int, gathers: Gathers) -> str:
    spread = SPREAD if len(gathers) == 1 else 4 * matches  # two tables are one for each of two workers
    with (
        TemporaryDirectory() as folder,
        quintain(folder, "--workers", str(workers), "--spread", str(spread)) as server,
        _playing(server, matches, gathers) as crowds,
    ):
        before, begun = _seconds(server), time.perf_counter()
        for each in crowds:
            each.send(TURN)
        found: list[tuple[int, float]] = [each.recv() for each in crowds]
        cpu, wall = _seconds(server) - before, time.perf_counter() - begun
    moves, load = sum(moves for moves, _ in found), sum(seconds for _, seconds in found)
    return f"{moves / cpu:16.0f}{moves / wall:10.0f}{cpu / wall:13.2f}{load / wall:15.2f}"


@contextmanager
def _playing(server: Server, matches: int, gathers: Gathers) -> Iterator[list[Connection]]:
    """The crowds, when they are warm: each plays for as many seconds as it is sent."""
    fork = get_context("fork")
    crowds: list[Connection] = []
    children = []
    for door, gather in gathers:
        ours, theirs = fork.Pipe()
        child = fork.Process(target=_crowd, args=(gather, server.address(door), matches, theirs), daemon=True)
        child.start()
        crowds.append(ours)
        children.append(child)
    try:
        for each in crowds:
            each.send(WARM)
        for each in crowds:
            each.recv()
        yield crowds
    finally:
        for child in children:
            child.kill()
            child.join()


def _crowd(gather: Gather, address: Address, matches: int, asked: Connection) -> None:
    crowd = gather(address, matches)
    while True:
        seconds, before = asked.recv(), time.process_time()
        asked.send((crowd.play(seconds), time.process_time() - before))


def _seconds(server: Server) -> float:
    """That all processes were on a processor that play."""
    play = server.children(b"server.workers")
    return server.seconds() + sum(map(seconds_of, play))
