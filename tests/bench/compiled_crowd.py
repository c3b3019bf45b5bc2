"""The load for the doors: the bots of `tests/bench/load`, which are in C, in a process of their own.

A crowd in Python takes as much of the machine as the server does, and makes it wait: how long a move takes
would be the crowd's doing. These bots say and hear the same, and what they play is drawn here, with the
rules of the games. The crowd in Python (`crowd.py`) is for tests and for soaks, where bots do more than play.
"""

import os
import shutil
import subprocess
from array import array
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from games import connect4, hexagondots, quoridor, santorini, tictactoe
from games.game import Game
from tests.bench.crowd import TIMEOUT, Address, scripts

SOURCES = Path(__file__).parent / "load"
PROGRAM = Path(__file__).parents[2] / ".cache" / "bench" / "load"
COMPILER = "cc"
COMMAND = (COMPILER, "-O2", "-std=c11", "-Wall", "-Wextra")


class LoadFailed(RuntimeError):
    """The bots met with what no bot expects, or with nothing at all."""


class Kind(Struct, frozen=True):
    """Bots, what they play, and how a move is told to them and said by them."""

    bots: str  # as `load.c` has them
    game: Game[Any, Any]
    matches: int  # that are drawn
    told: Callable[[Any], str]
    said: Callable[[Any], str]


def _json(value: object) -> str:
    return encode(value).decode()


def _hexagons(line: Any) -> str:
    return _json(hexagondots.write(line))


def _noughts(move: Any) -> str:
    return _json(tictactoe.write(move))


KINDS: Mapping[str, Kind] = {
    "memo": Kind("memo", santorini.GAME, 256, santorini.short, santorini.short),
    "house": Kind("house", connect4.GAME, 256, str, str),
    "c4-arena": Kind("c4-arena", connect4.GAME, 256, str, lambda move: f'{{"type":"move","move":{move}}}'),
    "tic-tac-toe": Kind("arena", tictactoe.GAME, 256, tictactoe.short, _noughts),
    "quoridor": Kind("arena", quoridor.GAME, 32, str, lambda move: _json(quoridor.write(move))),
    "hexagon-dots": Kind("hexagons", hexagondots.GAME, 64, lambda line: _hexagons(line)[1:-1], _hexagons),
    "posters": Kind("posters", tictactoe.GAME, 1, tictactoe.short, _noughts),
}


class CompiledCrowd:
    """So many matches of bots of a kind. Between two calls of `play` nobody moves, and clocks run on."""

    def __init__(self, kind: str, matches: int, *addresses: Address, timeout: float = TIMEOUT) -> None:
        """They come to each address in turn. `timeout`: seconds without a word that `play` allows."""
        self.took: list[float] = []  # seconds from each move of the last `play` to its answer
        self.cpu = 0.0  # seconds of the processor that the last `play` took
        self._process = subprocess.Popen([compiled()], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            to = "".join(f"address {host} {port}\n" for host, port in addresses)
            self._order(f"{_drawn(kind)}{to}timeout {timeout}\ncome {KINDS[kind].bots} {matches}\n")
            self._reply("here")
        except BaseException:
            self.leave()
            raise

    def play(self, seconds: float) -> int:
        """Let them play for a while; returns how many moves that were."""
        self.begin(seconds)
        return self.done()

    def begin(self, seconds: float) -> None:
        """Let them play for a while, beside others; `done` waits for that."""
        self._order(f"play {seconds}\n")

    def done(self) -> int:
        """Wait until what was begun is over; returns how many moves that were."""
        moves, times, cpu = self._reply("played")
        self.took = array("f", self._read(4 * int(times))).tolist()
        self.cpu = float(cpu)
        return int(moves)

    def leave(self) -> None:
        self._process.kill()
        self._process.communicate()

    def _order(self, orders: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(orders.encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and has said why

    def _reply(self, expected: str) -> list[str]:
        """The words after the one that is expected."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline().decode(errors="replace")
        first, *words = line.split() or [""]
        if first != expected:
            text = (line + self._process.stdout.read().decode(errors="replace")).removeprefix("error ")
            raise LoadFailed(text or f"the bots' process ended: {self._process.wait()}")
        return words

    def _read(self, count: int) -> bytes:
        assert self._process.stdout is not None
        return self._process.stdout.read(count)


def compiled() -> Path:
    """The program, compiled anew where a source is newer."""
    sources = sorted(SOURCES.iterdir())
    if PROGRAM.exists() and PROGRAM.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return PROGRAM
    if shutil.which(COMPILER) is None:
        raise SystemExit(
            f"the bots of the bench are in C: a C compiler is needed, and there is no `{COMPILER}`"
        )
    PROGRAM.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=PROGRAM.parent) as folder:  # whoever compiles it as well is not in the way
        fresh = Path(folder, PROGRAM.name)
        subprocess.run([*COMMAND, "-o", fresh, *SOURCES.glob("*.c")], check=True)
        os.replace(fresh, PROGRAM)
    return PROGRAM


@cache
def _drawn(name: str) -> str:
    """What a kind of bots plays, as orders."""
    kind = KINDS[name]
    matches = [
        "\t".join(f"{kind.told(move)}\t{kind.said(move)}" for move in match)
        for match in scripts(kind.game.name, kind.matches)
    ]
    return "\n".join(
        (f"game {kind.game.name} {kind.game.seats[0]}", *(f"script {each}" for each in matches), "")
    )
