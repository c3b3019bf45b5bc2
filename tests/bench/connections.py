"""What thousands of connections cost, that wait or of which half play: `make bench ARGS="connections"`.

Bots that wait have come to a tournament that does not begin, over TCP. Those that play are at the open
table of Santorini, and think for a second before each move: in each match there is a move every second.
How late the next state comes is the delay, with what the bots' own process is late. Memory and
seconds of the processor are those of the process that plays.

What a process may have open bounds the rows: the greatest have as many connections as that allows. Several
workers would not help, as worker 0 keeps a descriptor of each connection.
"""

import socket
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter, process_time
from urllib.request import Request, urlopen

from msgspec.json import encode

from server.net.open_files import room_for_files
from tests.bench import load_tcp
from tests.bench.crowd import Address, Crowd, Send, Take
from tests.bench.doors import p99
from tests.bench.memory import waiting
from tests.bench.server import Server, quintain

COUNTS = (10, 1_000, 10_000, 20_000)
SPARE = 400  # files of the host that are no bots' connections, and some more
THINK = 1.0  # seconds for a move
IDLE, WARM, TURN = 5.0, 5.0, 10.0  # seconds
SOON = 0.02  # seconds until a crowd looks what there is to do, at the latest
TOGETHER = 100  # bots that come before those who are here play on
TIMEOUT = 60.0  # seconds: a crowd that comes at once is told nothing for long
CONFIG = "[limits]\nnew_names = { credits = 100000, seconds = 1.0 }\n"
MB = 1_000_000
LATER = "later"  # tournaments in which bots wait …
EACH = 2_000  # … so many in each: a Swiss has room for no more
LOOK, IDLE_SHARE = 0.3, 0.03  # seconds between two looks, and the share that an idle host takes


class Thinking(Crowd):
    """Its bots say at once who they are, and everything else after a while."""

    def __init__(self, address: Address) -> None:
        super().__init__(address, timeout=TIMEOUT)
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
        host = Host(stack.enter_context(quintain(folder, "--config", str(config))), folder)
        for tournament in range(count // EACH + 1):
            host.open(f"{LATER}-{tournament}")
        host.settle()
        empty = host.memory()
        stack.enter_context(_waiting(host, range(count // 2)))
        with _waiting(host, range(count // 2, count)):
            host.settle()
            memory, cpu = host.memory(), host.share(IDLE)
        line = f"{count:12,}{memory / MB:8.0f}{(memory - empty) / count / 1000:9.1f}{cpu:8.3f}"
        if count < 4:
            return line
        host.settle()  # those who have left are gone: there is no room for more
        with _playing(host.address("tcp"), count // 4) as crowd:
            crowd.send(TURN)
            before, begun = host.seconds(), perf_counter()
            moves, took, load = crowd.recv()
            wall = perf_counter() - begun
            cpu = (host.seconds() - before) / wall
        took.sort()
        delays = f"{1000 * took[len(took) // 2]:9.1f}{1000 * p99(took):9.1f}"
        return line + f"{host.memory() / MB:12.0f}{cpu:8.2f}{moves / wall:10.0f}{delays}{load / wall:17.2f}"


class Host:
    """The process of a host that plays."""

    def __init__(self, server: Server, folder: str) -> None:
        self.address, self.memory, self.seconds = server.address, server.memory, server.seconds
        self._token = Path(folder, "organiser-token").read_text().strip()

    def open(self, name: str) -> None:
        """A tournament that begins when it is told to."""
        body = encode({"name": name, "game": "connect-4", "format": "swiss"})
        host, port = self.address("http")
        authorization = {"Authorization": f"Bearer {self._token}"}
        urlopen(Request(f"http://{host}:{port}/api/tournaments", body, authorization)).close()

    def share(self, seconds: float) -> float:
        """Of a processor that it takes."""
        before = self.seconds()
        time.sleep(seconds)
        return (self.seconds() - before) / seconds

    def settle(self) -> None:
        """Until it has nothing to do."""
        while self.share(LOOK) > IDLE_SHARE:
            pass


@contextmanager
def _waiting(host: Host, numbers: range) -> Iterator[None]:
    """Bots that are in, and wait, in a process of their own."""
    with _forked(_wait, host.address("tcp"), numbers) as crowd:
        crowd.recv()
        yield


def _wait(address: Address, numbers: range, asked: Connection) -> None:
    bots: list[socket.socket] = []
    for number in numbers:
        name = f'"name":"waits{number}","game":"connect-4","tournament":"{LATER}-{number // EACH}"'
        bots.append(waiting(address, f'{{"type":"hello",{name}}}\n'.encode()))
    for bot in bots:
        if not (told := bot.recv(4096)).startswith(b'{"type":"welcome"'):
            raise RuntimeError(f"a bot that came was told {told!r}")
    asked.send(None)
    asked.recv()  # until this process is killed


@contextmanager
def _playing(address: Address, matches: int) -> Iterator[Connection]:
    """A crowd that has warmed up, in a process of its own: it plays for as many seconds as it is sent."""
    with _forked(_play, address, matches) as crowd:
        crowd.recv()
        yield crowd


@contextmanager
def _forked(run: Callable[..., None], *arguments: object) -> Iterator[Connection]:
    """A process that runs that, with the other end of what is returned."""
    fork = get_context("fork")
    ours, theirs = fork.Pipe()
    child = fork.Process(target=run, args=(*arguments, theirs), daemon=True)
    child.start()
    theirs.close()  # so that its end is heard
    try:
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
