"""The contestants in a match without a host: a program, or a house brain.

Either is given what the client gives a bot's `choose`: the house protocol's `turn`,
with the seat, the players, the moves and the options.
"""

import time
from collections.abc import Callable
from threading import Lock
from typing import Any, Protocol
from zlib import crc32

from games.brains import BRAINS, Brain
from games.game import Game
from server.exits import Misuse
from server.net.escaping import in_quotes
from server.programs.program import Gone, Mute, Program
from server.programs.running_time import Now

BRAIN = "brain:"  # the prefix that tells house brains from programs
SHARE = 20.0  # a brain uses at most one part in so many of the time left on its clock


class Contestant(Protocol):
    endings: list[str]  # how it ended without being asked to, or that it wrote nothing

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        """A move; raises `TimeoutError` or `Gone`."""
        ...

    def stop(self) -> None:
        """Stop, from another thread: every `ask` raises `Gone`, now and from now on."""
        ...

    def end(self) -> object: ...


class Hired:
    """A program that is started again when it has ended, or did not answer: the next match is a new one."""

    def __init__(self, command: str, now: Now = time.monotonic) -> None:
        self.endings: list[str] = []
        self._command, self._now = command, now
        self._stopped = False
        self._changing = Lock()  # so that no program is started after a stop
        self._program = Program(command, quiet=True, now=now)

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        try:
            return self._program.ask(question, seconds)
        except (TimeoutError, Gone) as failure:
            if isinstance(failure, Gone | Mute):
                self.endings.append(str(failure))
            self._program.kill()
            self._program.end()
            with self._changing:
                if not self._stopped:
                    self._program = Program(self._command, quiet=True, now=self._now)
            raise

    def stop(self) -> None:
        with self._changing:
            self._stopped = True
            self._program.kill()

    def end(self) -> object:
        return self._program.end()


class House:
    """A house brain, in this process: it keeps to its time by itself.

    Its lots are drawn anew for each match, from the seed and the match's name. So a match does not
    depend on what was played before it, or beside it.
    """

    def __init__(self, game: Game[Any, Any], brain: str, think: float, seed: int) -> None:
        self.endings: list[str] = []
        self._game, self._brain, self._think, self._seed = game, BRAINS[brain], think, seed
        self._match = ""
        self._choose: Callable[[dict[str, Any]], Any] | None = None
        self._stopped = False

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        if self._stopped:
            self.endings.append("it was stopped")
            raise Gone(self.endings[-1])
        if self._choose is None or question["match"] != self._match:
            self._match = question["match"]
            seed = crc32(f"{self._seed} {self._match}".encode())
            brain = self._brain(self._game, seed)
            self._choose = thinking(self._game, brain, self._think, lambda: self._stopped)
        return self._choose(question)

    def stop(self) -> None:
        self._stopped = True

    def end(self) -> None:
        pass


def contestant(command: str, game: Game[Any, Any], think: float, seed: int, now: Now) -> Contestant:
    if not command.startswith(BRAIN):
        return Hired(command, now)
    brain = command.removeprefix(BRAIN)
    if brain not in BRAINS:
        raise Misuse(f"there is no brain {in_quotes(brain)}; there are: {', '.join(BRAINS)}")
    return House(game, brain, think, seed)


def thinking(
    game: Game[Any, Any], brain: Brain, seconds: float, stopped: Callable[[], bool] = lambda: False
) -> Callable[[dict[str, Any]], Any]:
    """A `choose` that asks a brain: the position comes from the moves in the protocol's question.

    Once it is `stopped`, which may be in another thread, the brain thinks no further.
    """
    match, position, played = "", game.opening({}), list[Any]()

    def choose(question: dict[str, Any]) -> Any:
        nonlocal match, position, played
        moves = question["moves"]
        if question["match"] != match or moves[: len(played)] != played:  # a restart may take moves back
            match, position, played = question["match"], game.opening(question["options"]), []
        for move in moves[len(played) :]:
            position = position.play(game.read(move, position))
            played.append(move)
        left = question["clock"][game.seats.index(question["you"])]
        until = time.perf_counter() + (seconds if left is None else min(seconds, left / SHARE))
        return game.write(brain(position, lambda: stopped() or time.perf_counter() >= until))

    return choose
