"""Tic-Tac-Toe as a dict from compass names to seats."""

from collections.abc import Sequence

from tests.oracles import OPEN

FIELDS = ["NW", "N", "NE", "W", "C", "E", "SW", "S", "SE"]
LINES = [
    *(["NW", "N", "NE"], ["W", "C", "E"], ["SW", "S", "SE"]),
    *(["NW", "W", "SW"], ["N", "C", "S"], ["NE", "E", "SE"]),
    *(["NW", "C", "SE"], ["NE", "C", "SW"]),
]


class TicTacToe:
    def __init__(self) -> None:
        self.fields: dict[str, int] = {}
        self.turn = 0
        self.winner: int | str | None = OPEN

    def moves(self) -> set[str]:
        if self.winner != OPEN:
            return set()
        return {field for field in FIELDS if field not in self.fields}

    def play(self, short: str) -> "TicTacToe":
        after = TicTacToe()
        after.fields = {**self.fields, short: self.turn}
        after.turn = 1 - self.turn
        if any(all(after.fields.get(field) == self.turn for field in line) for line in LINES):
            after.winner = self.turn
        elif len(after.fields) == 9:
            after.winner = None
        return after

    def show(self, names: Sequence[str]) -> object:
        symbols = {0: "O", 1: "X", None: None}
        return {"board": [symbols[self.fields.get(field)] for field in FIELDS]}
