"""Who plays in a match of our own: a program, or a house brain.

Either is given what the client gives a bot's `choose`: the house protocol's `turn`,
with the seat, the players, the moves and the options.
"""

import time
from collections.abc import Callable
from typing import Any, Protocol

from games.brains import BRAINS, Brain
from games.game import Game
from server.exits import Misuse
from server.programs.program import Gone, Program

BRAIN = "brain:"  # tells house brains from programs
SHARE = 20.0  # a brain uses no more than one part in so many of what is left on its clock


class Contestant(Protocol):
    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        """A move; raises `TimeoutError` or `Gone`."""
        ...

    def end(self) -> object: ...


class Hired:
    """A program that is started again when it has ended, or did not answer: the next match is a new one."""

    def __init__(self, command: str) -> None:
        self.endings: list[str] = []  # how it ended when nobody had asked it to
        self._command = command
        self._program = Program(command, quiet=True)

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        try:
            return self._program.ask(question, seconds)
        except (TimeoutError, Gone) as failure:
            if isinstance(failure, Gone):
                self.endings.append(str(failure))
            self._program.end()
            self._program = Program(self._command, quiet=True)
            raise

    def end(self) -> object:
        return self._program.end()


class House:
    """A house brain, in this process: it keeps to its time by itself."""

    def __init__(self, game: Game[Any, Any], brain: str, think: float, seed: int) -> None:
        self._choose = thinking(game, BRAINS[brain](game, seed), think)

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        return self._choose(question)

    def end(self) -> None:
        pass


def contestant(command: str, game: Game[Any, Any], think: float, seed: int) -> Contestant:
    if not command.startswith(BRAIN):
        return Hired(command)
    brain = command.removeprefix(BRAIN)
    if brain not in BRAINS:
        raise Misuse(f"there is no brain {brain!r}; there are: {', '.join(BRAINS)}")
    return House(game, brain, think, seed)


def thinking(game: Game[Any, Any], brain: Brain, seconds: float) -> Callable[[dict[str, Any]], Any]:
    """A brain that is asked in the words of the protocol: its positions come from the moves."""
    match, position, played = "", game.opening({}), 0

    def choose(question: dict[str, Any]) -> Any:
        nonlocal match, position, played
        if question["match"] != match or played > question["ply"]:
            match, position, played = question["match"], game.opening(question["options"]), 0
        for move in question["moves"][played:]:
            position = position.play(game.read(move, position))
            played += 1
        left = question["clock"][game.seats.index(question["you"])]
        until = time.perf_counter() + (seconds if left is None else min(seconds, left / SHARE))
        return game.write(brain(position, lambda: time.perf_counter() >= until))

    return choose
