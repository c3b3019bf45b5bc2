"""A crowd of bots on plain sockets in Python, for tests and soaks, whose bots do more than play.

Bots know their wire and no more. What they play was drawn beforehand, so that
choosing a move costs nothing. The crowd runs in another process than what it
loads. The doors are measured under the same bots in C: `compiled_crowd.py`.
"""

import select
import socket
from collections.abc import Callable, Sequence
from random import Random
from time import perf_counter, process_time
from typing import Any

from games.catalogue import catalogue

READ = 65536
TIMEOUT = 10.0  # seconds without a word for anybody: then something is wrong

Address = tuple[str, int]
Send = Callable[[bytes], object]
Take = Callable[[bytes], None]


class Silence(RuntimeError):
    """Nobody was told anything for too long."""


class Crowd:
    """Everybody at an address. Between two calls of `play` nobody moves, and clocks run on."""

    def __init__(self, address: Address, timeout: float = TIMEOUT) -> None:
        """`timeout`: seconds without a word that `play` allows."""
        self.moves = 0
        self.took: list[float] = []  # seconds from each move of the last `play` to its answer
        self.cpu = 0.0  # seconds of the processor that the last `play` took
        self._address = address
        self._timeout = timeout
        self._begun = 0.0
        self._epoll = select.epoll()
        self._here: dict[int, tuple[socket.socket, Take]] = {}

    def connect(self, take: Take) -> Send:
        """A new connection: `take` is called with what comes, and what sends is returned."""
        connected = socket.create_connection(self._address)
        connected.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connected.setblocking(False)
        self._here[connected.fileno()] = connected, take
        self._epoll.register(connected, select.EPOLLIN)
        return connected.send

    def play(self, seconds: float) -> int:
        """Let them play for a while; returns how many moves that were."""
        before, self.took, idle = self.moves, [], process_time()
        self._begun = perf_counter()
        until = self._begun + seconds
        while perf_counter() < until:
            soon = self.due()
            ready = self._epoll.poll(self._timeout if soon is None else soon)
            if not ready and soon is None:
                raise Silence(f"nobody was told anything for {self._timeout:g} s")
            for number, _ in ready:
                connected, take = self._here[number]
                received = connected.recv(READ)
                if not received:
                    raise RuntimeError("a bot was hung up on")
                take(received)
        self.cpu = process_time() - idle
        return self.moves - before

    def due(self) -> float | None:
        """Seconds until one of them says something by itself; None: they all wait to hear something."""
        return None

    def made(self, asked: float) -> None:
        """A move was sent at that time, and its mover has just been told what came of it."""
        self.moves += 1
        if asked > self._begun:
            self.took.append(perf_counter() - asked)

    def leave(self) -> None:
        for connected, _ in self._here.values():
            connected.close()
        self._epoll.close()


def scripts(name: str, count: int) -> Sequence[Sequence[Any]]:
    """Whole matches of uniformly random moves."""
    game, random = catalogue()[name], Random(1)
    drawn: list[list[Any]] = []
    for _ in range(count):
        position, moves = game.start(), list[Any]()
        while position.outcome is None and len(moves) != game.ply_limit:
            moves.append(random.choice(list(position.moves())))
            position = position.play(moves[-1])
        drawn.append(moves)
    return drawn
