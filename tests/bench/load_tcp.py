"""Bots that play Santorini as the memo has it: a name, and then moves for states."""

from functools import cache
from time import perf_counter
from zlib import crc32

from games.santorini import short
from tests.bench.crowd import Crowd, scripts

ASKING = ("placeWorker", "moveWorker", "build")


@cache
def lines() -> list[list[bytes]]:
    """The moves of 256 matches, which are drawn only if they are needed."""
    return [[short(move).encode() + b"\n" for move in match] for match in scripts("santorini", 256)]


class Bot:
    """Counts the states of a match; to those that name it the answer is what the script has there.

    Both bots of a match find the same script by the first state. A relay is the same to them, but
    that its matches do not end.
    """

    def __init__(self, crowd: Crowd, name: str) -> None:
        self._crowd = crowd
        self._questions = tuple(f'["{status}","{name}",'.encode() for status in ASKING)
        self._rest = b""
        self._script = lines()[0]
        self._ply = 0
        self._asked: float | None = None  # when it sent the move that it waits to hear of
        self._send = crowd.connect(self._take)
        self._send(name.encode() + b"\n")

    def _take(self, received: bytes) -> None:
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        if self._asked is not None:
            self._crowd.made(self._asked)
            self._asked = None
        if self._ply == 0:
            self._script = lines()[crc32(line) % len(lines())]
        if line.startswith(self._questions):
            self._asked = perf_counter()
            self._send(self._script[self._ply % len(self._script)])
        elif line.startswith(b'["gameOver"'):
            if self._ply != len(self._script):
                raise RuntimeError(f"a match of {len(self._script)} plies ended after {self._ply}: {line!r}")
            self._ply = 0
            return
        self._ply += 1
