"""What thousands of connections cost, that wait or of which half play: `make bench ARGS="connections"`.

Bots that wait have come to a tournament that does not begin, over TCP. Those that play are at the open
table of Santorini, and think for a second before each move: in each match there is a move every second.
How late the next state comes is the delay, with what the bots' own process is late. Memory and
seconds of the processor are those of the process that plays.

What a process may have open bounds the rows: the greatest have as many connections as that allows.
"""

import socket
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time

from server.net.open_files import room_for_files
from tests.bench import load_tcp
from tests.bench.crowd import Address, Crowd, Send, Take
from tests.bench.doors import p99
from tests.bench.memory import settle, waiting
from tests.bench.server import Server, quintain

COUNTS = (10, 1_000, 10_000, 20_000)
SPARE = 400  # files of the host that are no bots' connections, and some more
THINK = 1.0  # seconds for a move
IDLE, WARM, TURN = 5.0, 5.0, 10.0  # seconds
SOON = 0.02  # seconds until a crowd looks what there is to do, at the latest
TOGETHER = 100  # bots that come before those who are here play on
PATIENCE = 60.0  # seconds: a crowd that comes at once is told nothing for long
CONFIG = "[limits]\nnew_names = { credits = 100000, seconds = 1.0 }\n"
MB = 1_000_000


class Thinking(Crowd):
    """Its bots say at once who they are, and everything else after a while."""

    def __init__(self, address: Address) -> None:
        super().__init__(address, patience=PATIENCE)
        self._thought: deque[tuple[float, Send, bytes]] = deque()

    def connect(self, take: Take) -> Send:
        send, come = super().connect(take), False

        def say(said: bytes) -> None:
            nonlocal come
            if come:
                self._thought.append((perf_counter() + THINK, send, said))
            else:
                send(said)  # its name
            come = True

        return say

    def made(self, asked: float) -> None:
        super().made(asked + THINK)

    def due(self) -> float | None:
        while self._thought:
            at, send, said = self._thought[0]
            if (left := at - perf_counter()) > 0:
                return min(left, SOON)
            self._thought.popleft()
            send(said)
        return None


def bench() -> None:
    print(f"{'':28}{'all wait':24}half of them play, a move a second in each match")
    print(
        f"{'connections':>12}{'MB':>8}{'KB each':>9}{'CPU':>8}"
        f"{'MB':>12}{'CPU':>8}{'moves/s':>10}{'p50 ms':>9}{'p99 ms':>9}{'CPU of the bots':>17}"
    )
    most = int(room_for_files()) - SPARE
    for count in COUNTS:
        print(_row(min(count, most)), flush=True)


def _row(count: int) -> str:
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        config = Path(folder, "quintain.toml")
        config.write_text(CONFIG)
        later = ("--tournament", "later", "--game", "connect-4", "--entrants", str(count + 1))
        server = stack.enter_context(quintain(folder, "--config", str(config), *later))
        settle(server)
        empty = server.memory()
        half = stack.enter_context(_wait(server, range(count // 2)))
        with _wait(server, range(count // 2, count)):
            settle(server)
            memory, cpu = server.memory(), _share(server, IDLE)
        line = f"{count:12,}{memory / MB:8.0f}{(memory - empty) / count / 1000:9.1f}{cpu:8.3f}"
        if count < 4 or not half:
            return line
        settle(server)  # those who have left are gone: there is no room for more
        with _playing(server.address("tcp"), count // 4) as crowd:
            crowd.send(TURN)
            before, begun = server.seconds(), perf_counter()
            moves, took, load = crowd.recv()
            wall = perf_counter() - begun
            cpu = (server.seconds() - before) / wall
        took.sort()
        delays = f"{1000 * took[len(took) // 2]:9.1f}{1000 * p99(took):9.1f}"
        return line + f"{server.memory() / MB:12.0f}{cpu:8.2f}{moves / wall:10.0f}{delays}{load / wall:17.2f}"


def _share(server: Server, seconds: float) -> float:
    """Of a processor that it takes."""
    before = server.seconds()
    time.sleep(seconds)
    return (server.seconds() - before) / seconds


@contextmanager
def _wait(server: Server, numbers: range) -> Iterator[list[socket.socket]]:
    """Bots that are in, and wait."""
    with ExitStack() as stack:
        bots: list[socket.socket] = []
        for number in numbers:
            name = f'"name":"waits{number}","game":"connect-4","tournament":"later"'
            hello = f'{{"type":"hello",{name}}}\n'.encode()
            bots.append(stack.enter_context(waiting(server.address("tcp"), hello)))
        for bot in bots:
            if not (told := bot.recv(4096)).startswith(b'{"type":"welcome"'):
                raise RuntimeError(f"a bot that came was told {told!r}")
        yield bots


@contextmanager
def _playing(address: Address, matches: int) -> Iterator[Connection]:
    """A crowd that has warmed up, in a process of its own: it plays for as many seconds as it is sent."""
    fork = get_context("fork")
    ours, theirs = fork.Pipe()
    child = fork.Process(target=_play, args=(address, matches, theirs), daemon=True)
    child.start()
    theirs.close()  # so that its end is heard
    try:
        ours.recv()
        yield ours
    finally:
        child.kill()
        child.join()


def _play(address: Address, matches: int, asked: Connection) -> None:
    crowd = Thinking(address)
    for number in range(2 * matches):
        load_tcp.Bot(crowd, f"plays{number:05}")
        if number % TOGETHER == TOGETHER - 1:
            crowd.play(SOON)  # the first have a clock already
    crowd.play(WARM)
    asked.send(None)
    while True:
        seconds, before = asked.recv(), process_time()
        asked.send((crowd.play(seconds), crowd.took, process_time() - before))
