"""A slow, obvious second implementation of each game, to compare the fast ones with.

Written from the rules alone, with sets, dicts and lists, and never from the
files in `games/`: a mistake would have to be made twice to go unnoticed. Not
for playing with: an oracle trusts that what it is asked to play is legal.
Moves are the short strings that people write, the same as `GAME.short` gives.
"""

from collections.abc import Sequence
from typing import Final, Protocol, Self

OPEN: Final = "open"  # the `winner` of a position in which play goes on


class Oracle(Protocol):
    """A position, as an oracle sees it."""

    turn: int  # the seat to move, while play goes on
    winner: int | str | None  # OPEN, None for a draw, or the seat that won

    def moves(self) -> set[str]:
        """Every legal move; none when play is over."""
        ...

    def play(self, short: str) -> Self:
        """A new position: the one after a legal move."""
        ...

    def show(self, names: Sequence[str]) -> object:
        """The position as JSON, as the wire has it."""
        ...
