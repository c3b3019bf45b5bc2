"""What throw-away names cost the players: strangers who come under a new name each, and leave at once.

Bots play Santorini over TCP as fast as they can. Calm and attacked turns alternate, all of them short: a
machine that others use as well is slow for seconds at a time, and so for both. The ratio is of each
attacked turn to the calm ones before and after it; that of each calm turn to the one before it, printed
beside, is what the machine alone does. First strangers come at the rate of 100,000 names an hour; then
the rest of 100,000 as fast as the host takes them, and the host's memory is looked at before and after.
Every name comes from another address, through a proxy that the host believes, so no limit on an address
keeps them away. `python -m tests.bench.names HOST PORT RATE COUNT FIRST` is these strangers, in a process
of their own.
"""

import os
import select
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from ipaddress import IPv4Address
from itertools import pairwise
from math import inf
from pathlib import Path
from statistics import fmean, median, quantiles
from tempfile import TemporaryDirectory

from msgspec import Struct

from tests.bench.compiled_crowd import CompiledCrowd
from tests.bench.crowd import Address
from tests.bench.doors import WARM, p99
from tests.bench.server import quintain

NAMES = 100_000
TURN, TURNS = 1.0, 40  # seconds of a turn, and how many of them are attacked at the rate of an hour
SETTLE = 0.1  # seconds that bots play after the last stranger has gone
RATE = NAMES / 3600  # a second
TOGETHER = 50  # strangers who are here at once, when they come as fast as they can
COME, REST = b"+", b"-"  # said to them; to the second they say how many have come
FIRST = int(IPv4Address("10.0.0.1"))
MIB = 1 << 20


class Turns(Struct):
    """The p99 of calm turns, and of the attacked ones, each of which lies between two calm ones."""

    calm: list[float]
    attacked: list[float]

    def ratios(self) -> list[float]:
        around = zip(self.calm, self.calm[1:], strict=False)
        return [attacked / fmean(calm) for attacked, calm in zip(self.attacked, around, strict=True)]

    def alone(self) -> list[float]:
        """What the ratio would be without strangers."""
        return [after / before for before, after in pairwise(self.calm)]


class Strangers:
    """Come and go while they are let, until so many have come."""

    def __init__(self, address: Address, rate: float, most: int, first: int) -> None:
        """`rate` is how many come a second; 0: as many as can. `first` is the number of the first one."""
        host, port = address
        numbers = (str(each) for each in (port, rate, most, first))
        command = [sys.executable, "-m", "tests.bench.names", host, *numbers]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.rest()  # when it can say so, it has started

    def come(self) -> None:
        self._say(COME)

    def rest(self) -> None:
        """Have no more come; `came` says how many have come and gone."""
        self._say(REST)
        assert self._process.stdout is not None
        self.came = int(self._process.stdout.readline())

    def stop(self) -> None:
        self._process.communicate()

    def _say(self, what: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(what)
        self._process.stdin.flush()


def bench(matches: int) -> None:
    print(f"throw-away names, while {matches} matches are played: what they cost the players")
    print(f"{'':24}{'without':>10}{'with':>10}{'ratio':>8}{'middle half':>15}{'without them':>22}")
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory())
        config = Path(folder, "quintain.toml")
        config.write_text('proxies = ["127.0.0.1"]\n')
        server = stack.enter_context(quintain(folder, "--config", str(config)))
        crowd, door = CompiledCrowd("memo", matches, server.address("tcp")), server.address("tcp")
        stack.callback(crowd.leave)
        crowd.play(WARM)
        strangers = Strangers(door, RATE, NAMES, 0)
        found = in_turns(crowd, strangers, TURNS)
        strangers.stop()
        _tell(f"p99 ms, {RATE:.0f} names/s", found)
        came, before = strangers.came, server.memory()
        strangers = Strangers(door, 0, NAMES - came, came)
        found = in_turns(crowd, strangers)
        strangers.stop()
        _tell(f"p99 ms, {strangers.came / (TURN * len(found.attacked)):.0f} names/s", found)
        came, grown = came + strangers.came, (server.memory() - before) / MIB
        print(f"{came:,} names: memory of play {before / MIB:.0f} MiB before, {grown:+.0f} MiB after")


def in_turns(crowd: CompiledCrowd, strangers: Strangers, most: float = inf) -> Turns:
    """At most so many attacked turns: until one in which nobody came, as all have."""

    def turn() -> float:
        crowd.play(TURN)
        return p99(crowd.took)

    found, before = Turns([turn()], []), -1
    while len(found.attacked) < most and strangers.came != before:
        before = strangers.came
        strangers.come()
        found.attacked.append(turn())
        strangers.rest()
        crowd.play(SETTLE)
        found.calm.append(turn())
    return found


def _tell(name: str, found: Turns) -> None:
    calm, attacked = (1000 * median(each) for each in (found.calm, found.attacked))
    low, middle, high = quantiles(found.ratios(), n=4)
    print(f"{name:24}{calm:10,.1f}{attacked:10,.1f}{middle:7.2f}x{f'{low:.2f}-{high:.2f}':>15}", end="")
    low, middle, high = quantiles(found.alone(), n=4)
    print(f"{f'{middle:.2f}x  {low:.2f}-{high:.2f}':>22}", flush=True)


def come(address: Address, rate: float, most: int, first: int) -> None:
    """Name after name while somebody says so, until nobody says anything any more."""
    came, together, coming, due = 0, 1 if rate else TOGETHER, False, 0.0
    while True:
        wait = max(0.0, due - time.monotonic()) if coming and came < most else None
        if select.select([sys.stdin], [], [], wait)[0]:
            if not (said := os.read(sys.stdin.fileno(), 1)):
                return
            coming, due = said == COME, time.monotonic()
            if not coming:
                print(came, flush=True)
            continue
        due += 1 / rate if rate else 0.0
        with ExitStack() as stack:
            numbers = range(first + came, first + min(came + together, most))
            here = [stack.enter_context(_stranger(address, number)) for number in numbers]
            for stranger in here:
                if not (told := stranger.recv(4096)).startswith(b'{"type":"welcome"'):
                    raise RuntimeError(f"a stranger was told {told!r}")
        came += len(here)


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
    come((host, int(port)), float(rate), int(most), int(first))
