"""What a thousand spectators cost the players, and ten thousand where there are processors for both.

Bots play Santorini over TCP as fast as they can. By turns nobody looks, and so many
have the first page open, with its boards, each on a stream of its own that is read to
the end. How long moves take with them and without is compared.
`python -m tests.bench.spectators HOST PORT COUNT` are the spectators; they run in a
process of their own, and only the bytes that they get are counted.
"""

import os
import select
import socket
import subprocess
import sys
from contextlib import ExitStack
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.crowd import Address
from tests.bench.doors import ROUNDS, TURN, WARM, p99, speed
from tests.bench.server import quintain

SPECTATORS = 1_000
CROWD = 10_000  # on a machine with a processor for each: whoever plays, shows, is the load, and looks
PROCESSORS = 4
SETTLE = 1.0  # seconds after they have come: the first thing that each is sent is the whole page
REQUEST = b"GET /live?page=/ HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"


class Audience:
    """Spectators, for as long as the block lasts."""

    def __init__(self, address: Address, count: int) -> None:
        host, port = address
        command = [sys.executable, "-m", "tests.bench.spectators", host, str(port), str(count)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n", "the spectators did not all come"

    def leave(self) -> int:
        """Returns how many bytes they were sent."""
        out, _ = self._process.communicate()
        return int(out)


def bench(matches: int) -> None:
    enough = (os.cpu_count() or 1) >= PROCESSORS
    for spectators in (SPECTATORS, CROWD) if enough else (SPECTATORS,):
        _compare(spectators, matches)
    if not enough:
        print(f"{CROWD:,} need {PROCESSORS} processors: with fewer, those who look would take the players'")


def _compare(spectators: int, matches: int) -> None:
    print(f"{spectators:,} spectators of {matches} matches: what they cost the players")
    print(f"{'':12}{'without':>10}{'with':>10}{'ratio':>8}{'spread':>15}")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        server = stack.enter_context(quintain(folder))
        crowd = CompiledCrowd("memo", matches, server.address("tcp"))
        stack.callback(crowd.leave)
        crowd.play(WARM)
        turns: list[tuple[tuple[float, float], tuple[float, float]]] = []
        sent = 0
        for _ in range(ROUNDS):
            alone = speed(server.seconds, crowd), p99(crowd.took)
            audience = Audience(server.address("http"), spectators)
            crowd.play(SETTLE)
            turns.append((alone, (speed(server.seconds, crowd), p99(crowd.took))))
            sent += audience.leave()
            crowd.play(WARM / 2)
    for name, which, unit in (("moves/CPU-s", 0, 1.0), ("p99 ms", 1, 1000.0)):
        pairs = [(without[which] * unit, watched[which] * unit) for without, watched in turns]
        ratios = sorted(watched / without for without, watched in pairs)
        without, watched = (median(column) for column in zip(*pairs, strict=True))
        spread = f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
        print(f"{name:12}{without:10,.1f}{watched:10,.1f}{median(ratios):7.2f}x{spread:>15}")
    print(f"{sent / ROUNDS / spectators / (SETTLE + TURN) / 1000:.1f} kB a second for each spectator")


def watch(address: Address, count: int) -> int:
    """Read whatever comes, until there is something on standard input, or its end."""
    epoll, here, received = select.epoll(), dict[int, socket.socket](), 0
    for _ in range(count):
        connected = socket.create_connection(address)
        connected.sendall(REQUEST)
        connected.setblocking(False)
        here[connected.fileno()] = connected
        epoll.register(connected, select.EPOLLIN)
    print("ready", flush=True)
    epoll.register(sys.stdin, select.EPOLLIN)
    while True:
        for number, _ in epoll.poll():
            if number == sys.stdin.fileno():
                return received
            got = len(here[number].recv(1 << 18))
            if not got:
                raise RuntimeError("a spectator was hung up on")
            received += got


if __name__ == "__main__":
    print(watch((sys.argv[1], int(sys.argv[2])), int(sys.argv[3])))
