"""What bots of the Arena know of their games: a search that never varies, and a pawn in a hurry.

The search takes the fields row by row and of equals the first, as everybody
writes it for the first time.
"""

from functools import cache

from games import quoridor
from games.game import Illegal
from tests.veterans.arena import FLIP, Fields

COMPASS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
ROWS = ("012", "345", "678", "036", "147", "258", "048", "246")


class Symbols:
    """Tic-Tac-Toe."""

    def __init__(self) -> None:
        self.board = " " * 9

    @property
    def turn(self) -> str:
        return "OX"[self.board.count("O") - self.board.count("X")]

    def expects(self, event: Fields) -> bool:
        if event["action"] == FLIP or event["position"] not in COMPASS or event["player"] != self.turn:
            return False
        field = COMPASS.index(event["position"])
        if self.board[field] != " ":
            return False
        self.board = put(self.board, field, self.turn)
        return True

    def choice(self, me: str) -> Fields | None:
        if over(self.board) or self.turn != me:
            return None
        return {"action": "putSymbol", "position": COMPASS[best(self.board, me)]}


def put(board: str, field: int, symbol: str) -> str:
    return board[:field] + symbol + board[field + 1 :]


def free(board: str) -> list[int]:
    return [field for field in range(9) if board[field] == " "]


def won(board: str, symbol: str) -> bool:
    return any(all(board[int(field)] == symbol for field in row) for row in ROWS)


def over(board: str) -> bool:
    return won(board, "O") or won(board, "X") or not free(board)


@cache
def worth(board: str, me: str) -> int:
    """What a board is worth to whoever is to move."""
    other = "OX"[me == "O"]
    if won(board, other):
        return -1
    return max((-worth(put(board, field, me), other) for field in free(board)), default=0)


def best(board: str, me: str) -> int:
    other = "OX"[me == "O"]
    return max(free(board), key=lambda field: -worth(put(board, field, me), other))


class Pawn:
    """Quoridor: always on its shortest way. The referee of the games knows what may be played."""

    def __init__(self) -> None:
        self.position = quoridor.GAME.opening({})

    def expects(self, event: Fields) -> bool:
        try:
            if event["player"] != quoridor.SEATS[self.position.turn]:
                return False
            self.position = self.position.play(quoridor.GAME.read(event, self.position))
        except Illegal:
            return False
        return True

    def choice(self, me: str) -> Fields | None:
        position, seat = self.position, self.position.turn
        if position.outcome is not None or me != quoridor.SEATS[seat]:
            return None
        steps = [move for move in position.moves() if move in quoridor.SQUARE]
        chosen = min(steps, key=lambda step: quoridor.distance(position.play(step), seat))
        return {"action": "move", "position": chosen}
