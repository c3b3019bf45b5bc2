"""How late the event loop of the matches is, with a long past and everybody looking.

`make bench ARGS="lag 1000"`: a host that has been there for years (two million matches, twenty thousand
names), a thousand matches in play over TCP, a thousand spectators on streams of the first page, one
who follows all events, and one who asks for standings, a crosstable, a list of matches and a page in
turn. What is told is the host's own histogram, `quintain_loop_lag_seconds` of `/metrics`: how late the
loop runs a task that is due, with and without those who look. By turns, because the machine has its own
moods; `make bench ARGS="lag 100"` is a tenth of all of it.

The process that plays has a processor to itself, and show, bots and spectators share the others. Otherwise
this would measure how long the loop waits until it is given one.
"""

import http.client
import os
import re
import socket
import threading
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tests.bench import long_past
from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.crowd import Address
from tests.bench.server import Server, quintain
from tests.bench.spectators import Audience

MATCHES, PAST, NAMES = 1_000, 2_000_000, 20_000
ROUNDS, TURN, WARM = 3, 10.0, 5.0
GOAL_P99, GOAL_MOST = 0.020, 0.050
BUCKET = re.compile(rb'quintain_loop_lag_seconds_bucket\{le="([^"]+)"\} (\d+)')
LOOKS = (
    "/api/tournaments/open-connect-4/standings",
    "/api/tournaments/open-santorini/matches",
    "/tournaments/open-connect-4",
    "/api/tournaments",
    "/tournaments/open-santorini/standings",
    "/bots/connect-4-1",
)

Counts = dict[float, int]  # by the upper bound of a bucket: so many and no later


def bench(matches: int = MATCHES) -> None:
    share = matches / MATCHES
    print(f"{matches:,} matches in play after {int(PAST * share):,} others, {matches:,} spectators")
    print(f"{'':16}{'lag, p99':>12}{'at the most':>14}{'moves/CPU-s':>14}{'move, p99':>12}")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        long_past.copied(folder, int(PAST * share), int(NAMES * share))
        before = perf_counter()
        server = stack.enter_context(quintain(str(folder)))
        started, shown = perf_counter() - before, long_past.seconds_until_shown(server, before)
        stack.enter_context(alone(server))
        crowd = CompiledCrowd("memo", matches, server.address("tcp"))
        stack.callback(crowd.leave)
        crowd.play(WARM)
        for _ in range(ROUNDS):
            measure("nobody looks", server, crowd)
            audience = Audience(server.address("http"), matches)
            with looking(server.address("http")) as looks:
                crowd.play(WARM)
                measure("everybody looks", server, crowd)
                print(f"looks: {len(looks)}, of them {looks.count(200)} got what they asked for")
            audience.leave()
            crowd.play(WARM)
    print(f"goals: p99 below {GOAL_P99 * 1000:.0f} ms, at most {GOAL_MOST * 1000:.0f} ms on a calm machine")
    print(f"the host had started after {started:.1f} s, and showed pages after {shown:.1f} s")


@contextmanager
def alone(server: Server) -> Generator[None]:
    """Let it have a processor to itself, if there are several: its children and we keep to the others."""
    mine = os.sched_getaffinity(0)
    if len(mine) > 1:
        own, *others = sorted(mine)
        place(server.process.pid, {own})
        for child in server.children(""):
            place(child, set(others))
        place(os.getpid(), set(others))
    try:
        yield
    finally:
        place(os.getpid(), mine)


def place(process: int, processors: set[int]) -> None:
    """Have all threads of a process, and those to come, run on these processors."""
    for thread in Path(f"/proc/{process}/task").iterdir():
        os.sched_setaffinity(int(thread.name), processors)


def measure(name: str, server: Server, crowd: CompiledCrowd) -> None:
    before, busy = counts(server), server.seconds()
    moves = crowd.play(TURN)
    lag = {bound: count - before.get(bound, 0) for bound, count in counts(server).items()}
    p99 = sorted(crowd.took)[int(len(crowd.took) * 0.99)]
    rate = moves / (server.seconds() - busy)
    print(
        f"{name:16}{below(lag, 0.99):>12}{below(lag, 1.0):>14}{rate:14,.0f}{p99 * 1000:9.1f} ms", flush=True
    )


def below(lag: Counts, share: float) -> str:
    """The bound of the bucket that this share of all looks is within."""
    whole = max(lag.values())
    bound = next(bound for bound, count in sorted(lag.items()) if count >= share * whole)
    return f"< {bound * 1000:g} ms"


def counts(server: Server) -> Counts:
    host, port = server.address("http")
    connection = http.client.HTTPConnection(host, port)
    connection.request("GET", "/metrics")
    found = BUCKET.findall(connection.getresponse().read())
    connection.close()
    return {float(bound): int(count) for bound, count in found}


@contextmanager
def looking(address: Address) -> Generator[list[int]]:
    """One who follows everything, and one who asks for one thing after another, whose statuses are listed."""
    over, statuses = threading.Event(), list[int]()
    stream = socket.create_connection(address)
    stream.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")

    def follow() -> None:
        while stream.recv(1 << 18):
            pass

    def ask() -> None:
        connection = http.client.HTTPConnection(*address)
        try:
            while not over.is_set():
                for path in LOOKS:
                    connection.request("GET", path)
                    answer = connection.getresponse()
                    answer.read()
                    statuses.append(answer.status)
        except (OSError, http.client.HTTPException):
            if not over.is_set():  # else the host has ended, as all has been measured
                raise

    for each in (follow, ask):
        threading.Thread(target=each, daemon=True).start()
    try:
        yield statuses
    finally:  # nobody waits for the last answer: bots' clocks run on meanwhile
        over.set()
        stream.shutdown(socket.SHUT_RDWR)
