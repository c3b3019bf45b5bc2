"""A child of the thinker: `python -m server.host.thinker_child NICENESS`.

It reads tasks from its standard input and answers on its standard output, a line of JSON for each. It
ends when its input does, and so never outlives the host.

`games/brains.py` defines the brains; `games/perfect.py` and `games/estimate.py` grade whole matches.
Only what that needs is imported here: a child is ready in a third of the time that the host's own
modules take, and in half of their memory.
"""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from msgspec import Struct
from msgspec.json import decode, encode

from games.brains import BRAINS, alphabeta
from games.catalogue import catalogue
from games.estimate import Estimate, estimate
from games.perfect import Grades, grades

NICENESS = 5  # the host goes first


class Task(Struct, frozen=True, tag="think"):
    game: str
    options: dict[str, Any]
    moves: list[Any]  # from the first, as the game writes them
    brain: str
    seconds: float
    depth: int | None  # for brains that look ahead: so many plies, if there is time for them
    seed: int


class GradingTask(Struct, frozen=True, tag="grade"):
    """A match to be graded."""

    game: str
    options: Mapping[str, Any]
    moves: Sequence[Any]


class ThinkerAnswer(Struct, frozen=True):
    move: Any = None  # as the game writes it
    grades: Grades | None = None
    estimate: Estimate | None = None
    wrong: str | None = None  # why there is no answer


def serve(tasks: BinaryIO, thoughts: BinaryIO) -> None:
    """Answer tasks, one a line, until there are no more."""
    for line in tasks:
        thoughts.write(encode(thought(line)) + b"\n")
        thoughts.flush()


def thought(line: bytes) -> ThinkerAnswer:
    try:
        task = decode(line, type=Task | GradingTask)
        if isinstance(task, GradingTask):
            match_of = catalogue()[task.game], task.options, task.moves
            return ThinkerAnswer(grades=grades(*match_of), estimate=estimate(*match_of))
        return ThinkerAnswer(_chosen(task))
    except Exception as error:  # the host is told, and the child lives on
        return ThinkerAnswer(wrong=f"{type(error).__name__}: {error}")


def _chosen(task: Task) -> Any:
    game = catalogue()[task.game]
    position = game.opening(task.options)
    for move in task.moves:
        position = position.play(game.read(move, position))
    if task.depth is not None and task.brain == "alphabeta":
        brain = alphabeta(game, task.seed, task.depth)
    else:
        brain = BRAINS[task.brain](game, task.seed)
    end = time.perf_counter() + task.seconds
    return game.write(brain(position, lambda: time.perf_counter() >= end))


if __name__ == "__main__":
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[1]) if len(sys.argv) > 1 else NICENESS)
    try:
        serve(sys.stdin.buffer, sys.stdout.buffer)
    except BrokenPipeError:  # the host was killed: what is left to write goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
