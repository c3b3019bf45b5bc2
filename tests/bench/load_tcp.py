"""Bots that play Santorini as the memo has it: a name, and then moves for states."""

from time import perf_counter
from zlib import crc32

from tests.bench.crowd import Crowd, scripts

SCRIPTS = scripts("santorini", lambda game, move: game.short(move).encode() + b"\n")
ASKING = ("placeWorker", "moveWorker", "build")


class Bot:
    """Counts the states of a match, and in those that name it plays what the script has there."""

    def __init__(self, crowd: Crowd, name: str) -> None:
        self._crowd = crowd
        self._asks = tuple(f'["{status}","{name}",'.encode() for status in ASKING)
        self._rest = b""
        self._script = SCRIPTS[0]
        self._ply = 0
        self._asked: float | None = None  # when it sent the move that it waits to hear of
        self._send = crowd.connect(self.take)
        self._send(name.encode() + b"\n")

    def take(self, received: bytes) -> None:
        *lines, self._rest = (self._rest + received).split(b"\n")
        for line in lines:
            self._hear(line)

    def _hear(self, line: bytes) -> None:
        if self._asked is not None:
            self._crowd.made(self._asked)
            self._asked = None
        if self._ply == 0:
            self._script = SCRIPTS[crc32(line) % len(SCRIPTS)]
        if line.startswith(self._asks):
            self._asked = perf_counter()
            self._send(self._script[self._ply % len(self._script)])  # a relay's matches have no end
            self._ply += 1
        elif not line.startswith(b'["gameOver"'):
            self._ply += 1
        elif self._ply == len(self._script):
            self._ply = 0
        else:
            raise RuntimeError(f"a match of {len(self._script)} plies ended after {self._ply}: {line!r}")


def crowd(address: tuple[str, int], bots: int) -> Crowd:
    found = Crowd(address)
    for number in range(bots):
        Bot(found, f"bot{number:04}")
    return found
