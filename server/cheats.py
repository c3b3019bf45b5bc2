"""What the Arena does wrong on purpose, to see whether a bot notices.

A game that is `rigged` has the rules of the game, but that the house may show
any move it likes; after that nothing is right but to flip the table, which wins.
A cheater plays legally until it can cheat in its own way.
"""

from collections.abc import Callable, Iterable, Mapping
from random import Random
from typing import Any

from msgspec import Struct, structs

from games.game import Game, Illegal, Outcome
from games.quoridor import SQUARE, SQUARES, STEPS, WALLS, Quoridor, distance
from games.quoridor import walls as walls_on
from games.tictactoe import FIELDS, TicTacToe
from server.doors.battle import FLIP

Move = Any  # as a game has it, not as it is written
Cheater = Callable[[Any, Random], "Cheat | Move"]  # of a position and a source of lots

RIGHT = "{} flipped the table, and rightly so"
EXPECTED = "expected the table to be flipped, because {} had cheated"


class Cheat(Struct, frozen=True):
    """A move that the house shows and nobody checks."""

    shown: Mapping[str, str]
    last: bool = True  # False: the house shows another one at once


class Rigged(Struct, frozen=True):
    """A position of a rigged game; `position` is that of the game itself, up to the cheat."""

    position: Any
    house: int
    turn: int
    outcome: Outcome | None = None
    cheated: bool = False

    def moves(self) -> Iterable[Move]:
        if self.outcome is not None:
            return ()
        return (FLIP,) if self.cheated else self.position.moves()

    def play(self, move: Move) -> "Rigged":
        ...
