"""The Arena's advanced opponent in Tic-Tac-Toe: the moves of the old system, including its quirks.

Bots were written to draw against exactly these moves, so they are copied, not
improved. It searches every field to the end and takes the first of equals. Two
oddities are part of its search: three empty fields in a row count as a line, and a
line ends the game only when the side that has it is to move, so the reply to a
winning move is searched, too.

Every position that it ever looked at is remembered; `prepare` looks at all of them
ahead of time, which takes a tenth of a second.
"""

from collections.abc import Iterator
from functools import cache
from math import inf

from games.tictactoe import FULL, LINES, TicTacToe

WORTH = 100.0  # of a line of one's own


def advanced(position: TicTacToe) -> int:
    """The field that the old opponent takes."""
    mine, theirs = position.mine, position.theirs
    best, choice = -inf, None
    for field in _free(mine, theirs):
        value = _value(mine | 1 << field, theirs, searching=False)
        if value > best:
            best, choice = value, field
    return next(_free(mine, theirs)) if choice is None else choice


def prepare() -> None:
    """Search from the empty board and from every reply to a first move, so that nothing is left to search."""
    opening = TicTacToe()
    for position in (opening, *(opening.play(field) for field in opening.moves())):
        advanced(position)


@cache
def _value(mine: int, theirs: int, *, searching: bool) -> float:
    """What a position is worth to the side whose symbols are `mine`; `searching` if that side is to move."""
    line = _line(mine, theirs)
    if line is not None and line & (mine if searching else theirs):
        return WORTH if searching else -WORTH
    if mine | theirs == FULL:
        if line is None:
            return 0.0
        return -inf if searching else inf
    if searching:
        return max(_value(mine | 1 << field, theirs, searching=False) for field in _free(mine, theirs))
    return min(_value(mine, theirs | 1 << field, searching=True) for field in _free(mine, theirs))


def _line(mine: int, theirs: int) -> int | None:
    """The first row, column or diagonal of three equal fields, which may be empty."""
    empty = FULL & ~(mine | theirs)
    return next((line for line in _ORDER if line in (line & mine, line & theirs, line & empty)), None)


def _free(mine: int, theirs: int) -> Iterator[int]:
    """The empty fields, row by row."""
    return (field for field in range(9) if not (mine | theirs) >> field & 1)


_ROWS, _COLUMNS, _DIAGONALS = LINES[:3], LINES[3:6], LINES[6:]
_ORDER = (*(line for pair in zip(_ROWS, _COLUMNS, strict=True) for line in pair), *_DIAGONALS)
