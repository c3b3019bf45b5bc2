"""Quoridor as a graph of squares: a wall takes two of its edges away.

Squares are (column, row), both counted from 1. Whether a wall leaves both
players a path is found by putting it there and walking.
"""

from collections.abc import Sequence

from tests.oracles import OPEN

Square = tuple[int, int]
Graph = dict[Square, set[Square]]

DIRECTIONS = [(1, 0), (-1, 0), (0, 1), (0, -1)]
SQUARES = {(column, row) for column in range(1, 10) for row in range(1, 10)}
GOALS = [9, 1]  # the row that each seat must reach
WALLS = [f"{column}{row}{lie}" for column in "abcdefgh" for row in range(1, 9) for lie in "hv"]


def named(square: Square) -> str:
    return "?abcdefghi"[square[0]] + str(square[1])


def square_of(name: str) -> Square:
    return "?abcdefghi".index(name[0]), int(name[1])


def edges(wall: str) -> list[tuple[Square, Square]]:
    """The two pairs of squares that a wall parts. Its name is the square at its lower left."""
    column, row = square_of(wall)
    if wall[2] == "h":
        return [((column, row), (column, row + 1)), ((column + 1, row), (column + 1, row + 1))]
    return [((column, row), (column + 1, row)), ((column, row + 1), (column + 1, row + 1))]


class Quoridor:
    def __init__(self) -> None:
        self.pawns: list[Square] = [(5, 1), (5, 9)]
        self.left = [10, 10]
        self.walls: list[str] = []
        self.graph: Graph = {
            (column, row): {(column + right, row + up) for right, up in DIRECTIONS} & SQUARES
            for column, row in SQUARES
        }
        self.turn = 0
        self.winner: int | str | None = OPEN
        self.legal_walls: set[str] | None = None  # once somebody has asked: to find them takes long

    def moves(self) -> set[str]:
        if self.winner != OPEN:
            return set()
        return self.pawn_moves() | self.wall_moves()

    def pawn_moves(self) -> set[str]:
        me, other = self.pawns[self.turn], self.pawns[1 - self.turn]
        found = self.graph[me] - {other}
        if other in self.graph[me]:
            behind = (2 * other[0] - me[0], 2 * other[1] - me[1])
            found |= {behind} if behind in self.graph[other] else self.graph[other] - {me}
        return {named(square) for square in found}

    def wall_moves(self) -> set[str]:
        if self.left[self.turn] == 0:
            return set()
        if self.legal_walls is None:
            self.legal_walls = {wall for wall in WALLS if self.has_room(wall) and self.leaves_paths(wall)}
        return self.legal_walls

    def has_room(self, wall: str) -> bool:
        """Neither crosses a wall nor overlaps one: not even by half its length."""
        crossing = {wall[:2] + "h", wall[:2] + "v"} & set(self.walls)
        return not crossing and all(there in self.graph[here] for here, there in edges(wall))

    def leaves_paths(self, wall: str) -> bool:
        for here, there in edges(wall):
            self.graph[here].remove(there)
            self.graph[there].remove(here)
        both = all(self.can_arrive(seat) for seat in (0, 1))
        for here, there in edges(wall):
            self.graph[here].add(there)
            self.graph[there].add(here)
        return both

    def can_arrive(self, seat: int) -> bool:
        """Walk in all directions at once. Pawns are no obstacle."""
        seen = {self.pawns[seat]}
        queue = [self.pawns[seat]]
        for square in queue:
            if square[1] == GOALS[seat]:
                return True
            fresh = self.graph[square] - seen
            seen |= fresh
            queue += fresh
        return False

    def play(self, short: str) -> "Quoridor":
        after = Quoridor()
        after.pawns, after.left, after.walls = list(self.pawns), list(self.left), list(self.walls)
        after.graph = {square: set(beside) for square, beside in self.graph.items()}
        after.turn = 1 - self.turn
        if len(short) == 2:
            after.pawns[self.turn] = square_of(short)
            if after.pawns[self.turn][1] == GOALS[self.turn]:
                after.winner = self.turn
        else:
            after.walls.append(short)
            after.left[self.turn] -= 1
            for here, there in edges(short):
                after.graph[here].remove(there)
                after.graph[there].remove(here)
        return after

    def show(self, names: Sequence[str]) -> object:
        return {"pawns": [named(pawn) for pawn in self.pawns], "walls": self.walls, "left": self.left}
