"""Santorini as a dict of floors and four lists of where the workers stand.

Every placement, every move and every build is a ply of its own.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product

from tests.oracles import OPEN

FIELDS = list(product(range(6), range(6)))  # (x, y)


@cache
def neighbours(field: tuple[int, int]) -> list[tuple[int, int]]:
    x, y = field
    around = [(x + right, y + down) for right in (-1, 0, 1) for down in (-1, 0, 1) if (right, down) != (0, 0)]
    return [beside for beside in around if beside in FIELDS]


class Santorini:
    def __init__(self, stuck: str = "loses") -> None:
        self.stuck = stuck
        self.floors = dict.fromkeys(FIELDS, 0)
        self.workers: list[list[tuple[int, int]]] = [[], []]  # of seat 0 and of seat 1, each in order
        self.status = "placeWorker"
        self.builder = 0  # which worker moved and must build, while the status is "build"
        self.turn = 0
        self.winner: int | str | None = OPEN

    def moves(self) -> set[str]:
        match self.status:
            case "placeWorker":
                return {f"{x} {y}" for x, y in FIELDS if self.is_free((x, y))}
            case "moveWorker":
                return {f"{worker + 1} {x} {y}" for worker in (0, 1) for x, y in self.steps(worker)}
            case "build":
                around = neighbours(self.workers[self.turn][self.builder])
                return {f"{x} {y}" for x, y in around if self.is_free((x, y)) and self.floors[x, y] < 4}
            case _:
                return set()

    def is_free(self, field: tuple[int, int]) -> bool:
        return field not in self.workers[0] + self.workers[1]

    def steps(self, worker: int) -> list[tuple[int, int]]:
        here = self.workers[self.turn][worker]
        return [
            there
            for there in neighbours(here)
            if self.is_free(there) and self.floors[there] < 4 and self.floors[there] <= self.floors[here] + 1
        ]

    def play(self, short: str) -> "Santorini":
        after = Santorini(self.stuck)
        after.floors = dict(self.floors)
        after.workers = [list(workers) for workers in self.workers]
        after.turn = self.turn
        *which, x, y = map(int, short.split())
        match self.status:
            case "placeWorker":
                after.workers[self.turn].append((x, y))
                after.turn = 1 - self.turn
                placed = len(after.workers[0]) + len(after.workers[1])
                after.status = "moveWorker" if placed == 4 else "placeWorker"
            case "moveWorker":
                after.builder = which[0] - 1
                after.workers[self.turn][after.builder] = (x, y)
                after.status = "build"
                if after.floors[x, y] == 3:
                    after.end(self.turn)
            case "build":
                after.floors[x, y] += 1
                after.turn = 1 - self.turn
                after.status = "moveWorker"
        if after.status == "moveWorker" and not after.moves():
            after.end(1 - after.turn if self.stuck == "loses" else None)
        return after

    def end(self, winner: int | None) -> None:
        self.status = "gameOver"
        self.winner = winner

    def show(self, names: Sequence[str]) -> object:
        turn = names[self.turn]
        if self.status == "gameOver":
            turn = "Draw" if self.winner is None else names[int(self.winner)]
        board = [[self.floors[x, y] for x in range(6)] for y in range(6)]
        one, two = ([number for field in workers for number in field] for workers in self.workers)
        return [self.status, turn, board, [names[0], one], [names[1], two]]
