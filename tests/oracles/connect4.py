"""Connect-4 as seven lists of discs that grow upwards."""

from collections.abc import Sequence

from tests.oracles import OPEN

COLUMNS, ROWS = 7, 6


class Connect4:
    def __init__(self) -> None:
        self.columns: list[list[int]] = [[] for _ in range(COLUMNS)]
        self.turn = 0
        self.winner: int | str | None = OPEN

    def moves(self) -> set[str]:
        if self.winner != OPEN:
            return set()
        return {str(column) for column in range(COLUMNS) if len(self.columns[column]) < ROWS}

    def play(self, short: str) -> "Connect4":
        after = Connect4()
        after.columns = [list(column) for column in self.columns]
        after.columns[int(short)].append(self.turn)
        after.turn = 1 - self.turn
        if after.has_four(self.turn):
            after.winner = self.turn
        elif all(len(column) == ROWS for column in after.columns):
            after.winner = None
        return after

    def has_four(self, seat: int) -> bool:
        discs = {
            (column, row)
            for column, pile in enumerate(self.columns)
            for row, owner in enumerate(pile)
            if owner == seat
        }
        directions = [(1, 0), (0, 1), (1, 1), (1, -1)]
        return any(
            all((column + step * right, row + step * up) in discs for step in range(4))
            for column, row in discs
            for right, up in directions
        )

    def show(self, names: Sequence[str]) -> object:
        return [owner + 1 for column in self.columns for owner in column + [-1] * (ROWS - len(column))]
