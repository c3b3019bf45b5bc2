"""The Arena's advanced opponent in Tic-Tac-Toe, word for word as its wire is described, quirks included.

A board is nine fields, each "O", "X" or None, row by row; sides are "O" and
"X". Nothing is cut off. Values are kept in a dict, since most boards are met by many ways.
"""

from math import inf

Board = tuple[str | None, ...]

LINES = [
    *((0, 1, 2), (0, 3, 6)),  # row 1, column 1
    *((3, 4, 5), (1, 4, 7)),  # row 2, column 2
    *((6, 7, 8), (2, 5, 8)),  # row 3, column 3
    *((0, 4, 8), (2, 4, 6)),  # from NW to SE, from NE to SW
]
OTHER = {"O": "X", "X": "O"}


class Advanced:
    """The one who searches, from one side."""

    def __init__(self, side: str) -> None:
        self.side = side
        self.known: dict[tuple[Board, str], float] = {}

    def choice(self, board: Board) -> int:
        """The field it takes when it is to move."""
        best, chosen = -inf, None
        for field in free(board):
            worth = self.worth(after(board, field, self.side), OTHER[self.side])
            if worth > best:
                best, chosen = worth, field
        return free(board)[0] if chosen is None else chosen

    def worth(self, board: Board, to_move: str) -> float:
        if (board, to_move) not in self.known:
            self.known[board, to_move] = self._worth(board, to_move)
        return self.known[board, to_move]

    def _worth(self, board: Board, to_move: str) -> float:
        line = first_line(board)
        if line is None and not free(board):
            return 0
        if line is not None and board[line[0]] == to_move:
            return 100 if to_move == self.side else -100
        worths = [self.worth(after(board, field, to_move), OTHER[to_move]) for field in free(board)]
        if to_move == self.side:
            return max(worths, default=-inf)
        return min(worths, default=inf)


def first_line(board: Board) -> tuple[int, int, int] | None:
    """The first line with three equal fields, which may be three empty ones."""
    for line in LINES:
        one, two, three = line
        if board[one] == board[two] == board[three]:
            return line
    return None


def free(board: Board) -> list[int]:
    return [field for field in range(9) if board[field] is None]


def after(board: Board, field: int, side: str) -> Board:
    return (*board[:field], side, *board[field + 1 :])
