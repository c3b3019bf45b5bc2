"""Connect-4 played perfectly: what a position is worth, for certain.

Alpha-beta over the two bitboards of `games/connect4.py`: it tells a win, a draw and a loss
apart, but not how far off they are. What keeps it small: a move that leaves the other seat
a four is never tried, moves that make the most places for a four come first, and positions
are remembered. Where the seat that is not to move may always reply in the same column,
what it gets by that is worked out without a search.

It stops after a number of positions and not after a time, so it knows the same about the
same match on every machine. That number is too small for the first seven to eleven plies
of most matches. Where the package `bitbully` is installed (the extra `analysis`), it is
asked instead: it has a book and knows every position.
"""

from functools import cache
from importlib import import_module
from typing import Any

from games.connect4 import BOARD, BOTTOM, COLUMN, COLUMNS, ROWS, Connect4, fours, show
from games.game import Worth

MOST = 1_000_000  # positions looked at for one match: some five seconds
TABLE = 300_000  # positions that are remembered, beside as many older ones: some 80 MB
ORDER = tuple(COLUMN[column] for column in (3, 2, 4, 1, 5, 0, 6))  # the middle is in more fours
LOWER, UPPER = 0b010101 * BOTTOM, 0b101010 * BOTTOM  # of each two places of a column, counted from the bottom
WAYS = (1, 6, 7, 8)
UNKNOWN = (-1 + 2) << 2 | 1 + 2  # worth −1 at the least and 1 at the most
BOOK = "12-ply"  # of bitbully's books: 7 MB, read once in a process


def solver() -> Worth[Connect4]:
    """Perfect play for one match. Ask about its last position first: what is found helps with the others."""
    return _bitbully() or Solver().worth


class Solver:
    def __init__(self, most: int = MOST) -> None:
        self.left = most
        self._recent: dict[int, int] = {}  # by position, what it is worth at the least and at the most
        self._older: dict[int, int] = {}

    def worth(self, position: Connect4, at_least: int = -1) -> int | None:
        if position.outcome is not None or at_least == 1:
            return _known(position, at_least)
        if fours(position.mine) & position.next & BOARD:
            return 1
        try:
            return self._search(position.mine, position.theirs, at_least, 1)
        except _Spent:
            return None

    def _search(self, mine: int, theirs: int, low: int, high: int) -> int:
        """The worth to `mine`, to move and without a four in one; exact between `low` and `high`."""
        self.left -= 1
        if self.left < 0:
            raise _Spent
        taken = mine | theirs
        empty, free = BOARD ^ taken, taken + BOTTOM & BOARD
        threats = fours(theirs) & empty
        forced = threats & free
        if forced & forced - 1:
            return -1  # two fours to prevent at once
        moves = (forced or free) & ~(threats >> 1)  # never right below a four of theirs
        if not moves:
            return -1 if free else 0
        count = empty.bit_count()
        if count <= 2:
            return 0
        known = self._recent.get(mine + taken) or self._older.get(mine + taken) or UNKNOWN
        least, most = (known >> 2) - 2, (known & 3) - 2
        low, high = max(low, least), min(high, most)
        if low < high and not free & UPPER and not count & 1 and not _four(mine | empty & LOWER):
            # The other seat replies in the same column to the end, and `mine` gets no four.
            high = most = -1 if _four(theirs | empty & UPPER) else min(most, 0)
        if low >= high:
            return low if least >= high else high
        best, above = -1, low
        for disc in _promising(mine, moves, empty):
            found = -self._search(theirs, mine | disc, -high, -above)
            if found > best:
                best, above = found, max(above, found)
                if found >= high:
                    break
        if best > low:
            least = max(least, best)
        if best < high:
            most = min(most, best)
        self._remember(mine + taken, (least + 2) << 2 | most + 2)
        return best

    def _remember(self, key: int, known: int) -> None:
        if len(self._recent) >= TABLE:
            self._recent, self._older = {}, self._recent
        self._recent[key] = known


class _Spent(Exception):
    """As many positions as allowed have been looked at."""


def _promising(mine: int, moves: int, empty: int) -> list[int]:
    """The moves, those that make the most places for a four first."""
    if not moves & moves - 1:
        return [moves]
    discs = [disc for column in ORDER if (disc := moves & column)]
    discs.sort(key=lambda disc: -(fours(mine | disc) & empty).bit_count())
    return discs


def _four(discs: int) -> bool:
    for way in WAYS:
        pair = discs & discs >> way
        if pair & pair >> 2 * way:
            return True
    return False


def _known(position: Connect4, at_least: int) -> int:
    """A worth that needs no search: the game is over, or the position is known to be a win."""
    outcome = position.outcome
    if outcome is None:
        return at_least
    return 0 if outcome.winner is None else 1 if outcome.winner == position.turn else -1


@cache
def _bitbully() -> Worth[Connect4] | None:
    """What the package knows, if it is installed."""
    try:
        core: Any = import_module("bitbully.bitbully_core")
        books: Any = import_module("bitbully_databases")
    except ImportError:
        return None
    engine = core.BitBullyCore(books.BitBullyDatabases.get_database_path(BOOK))

    def worth(position: Connect4, at_least: int) -> int:
        if position.outcome is not None or at_least == 1:
            return _known(position, at_least)
        shown: Any = show(position, ("", ""))
        board = core.BoardCore()
        if not board.setBoard([shown[ROWS * column : ROWS * (column + 1)] for column in range(COLUMNS)]):
            raise ValueError(f"bitbully does not take the position {shown}")
        score: int = engine.mtdf(board, first_guess=0)
        return (score > 0) - (score < 0)

    return worth
