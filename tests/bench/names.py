"""What throw-away names cost the players: strangers who come under a new name each, and leave at once.

Bots play Santorini over TCP as fast as they can. By turns nobody comes, and strangers do, at the rate of
100,000 names an hour. Then the rest of 100,000 come as fast as the host takes them, and the host's memory
is looked at before and after. Every name comes from another address, through a proxy that the host
believes, so no limit on an address keeps them away. `python -m tests.bench.names HOST PORT RATE COUNT` is
these strangers, in a process of their own.
"""

import select
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from ipaddress import IPv4Address
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from tests.bench import load_tcp
from tests.bench.crowd import Address
from tests.bench.doors import ROUNDS, TURN, WARM, p99
from tests.bench.server import quintain

NAMES = 100_000
RATE = NAMES / 3600  # a second
TOGETHER = 50  # strangers who are here at once, when they come as fast as they can
FIRST = int(IPv4Address("10.0.0.1"))
MIB = 1 << 20


class Strangers:
    """Come and go, until they are told to stop or so many have come."""

    def __init__(self, address: Address, rate: float, most: int, first: int) -> None:
        """`rate` is how many come a second; 0: as many as can. `first` is the number of the first one."""
        host, port = address
        numbers = (str(each) for each in (port, rate, most, first))
        command = [sys.executable, "-m", "tests.bench.names", host, *numbers]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n", "nobody came"

    @property
    def have_come(self) -> bool:
        return self._process.poll() is not None

    def stop(self) -> int:
        """Returns how many came."""
        out, _ = self._process.communicate()
        return int(out)


def bench(matches: int) -> None:
    print(f"throw-away names, while {matches} matches are played: what they cost the players")
    print(f"{'':24}{'without':>10}{'with':>10}{'ratio':>8}{'spread':>15}")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        config = Path(folder, "quintain.toml")
        config.write_text('proxies = ["127.0.0.1"]\n')
        server = stack.enter_context(quintain(folder, "--config", str(config)))
        crowd, door = load_tcp.crowd(server.address("tcp"), matches), server.address("tcp")
        stack.callback(crowd.leave)
        crowd.play(WARM)
        turns: list[tuple[float, float]] = []
        came = 0
        for _ in range(ROUNDS):
            crowd.play(TURN)
            alone = p99(crowd.took)
            strangers = Strangers(door, RATE, NAMES, came)
            crowd.play(TURN)
            turns.append((alone, p99(crowd.took)))
            came += strangers.stop()
        _tell(f"p99 ms, {RATE:.0f} names/s", turns)
        before, begun = server.memory(), time.monotonic()
        crowd.play(TURN)
        alone = p99(crowd.took)
        strangers, during = Strangers(door, 0, NAMES - came, came), list[tuple[float, float]]()
        while not strangers.have_come:
            crowd.play(TURN)
            during.append((alone, p99(crowd.took)))
        more = strangers.stop()
        _tell(f"p99 ms, {more / (time.monotonic() - begun):.0f} names/s", during)
        grown = (server.memory() - before) / MIB
        print(f"{came + more:,} names: memory of play {before / MIB:.0f} MiB before, {grown:+.0f} MiB after")


def _tell(name: str, turns: list[tuple[float, float]]) -> None:
    ratios = sorted(beset / alone for alone, beset in turns)
    alone, beset = (1000 * median(column) for column in zip(*turns, strict=True))
    spread = f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
    print(f"{name:24}{alone:10,.1f}{beset:10,.1f}{median(ratios):7.2f}x{spread:>15}", flush=True)


def come(address: Address, rate: float, most: int, first: int) -> int:
    """Name after name, until somebody says to stop; returns how many."""
    begun, came, together = time.monotonic(), 0, 1 if rate else TOGETHER
    while came < most:
        due = begun + came / rate if rate else 0.0
        if select.select([sys.stdin], [], [], max(0.0, due - time.monotonic()))[0]:
            break
        with ExitStack() as stack:
            numbers = range(first + came, first + min(came + together, most))
            here = [stack.enter_context(_stranger(address, number)) for number in numbers]
            for stranger in here:
                if not (told := stranger.recv(4096)).startswith(b'{"type":"welcome"'):
                    raise RuntimeError(f"a stranger was told {told!r}")
        if not came:
            print("ready", flush=True)
        came += len(here)
    return came


def _stranger(address: Address, number: int) -> socket.socket:
    """Somebody who has said hello, and has not been answered yet."""
    hello = f'{{"type":"hello","name":"stranger{number}","game":"tic-tac-toe"}}\n'
    stranger = socket.create_connection(address)
    stranger.sendall(
        f"PROXY TCP4 {IPv4Address(FIRST + number)} 127.0.0.1 5000 {address[1]}\r\n{hello}".encode()
    )
    return stranger


if __name__ == "__main__":
    host, port, rate, most, first = sys.argv[1:]
    print(come((host, int(port)), float(rate), int(most), int(first)))
