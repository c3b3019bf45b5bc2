"""A bot written from the memo alone: every line is a state, and the same state again means "try again".

It says its name and nothing else, never reads a word that is not JSON, speaks
only when `turn` is its name, and is careless: now and then it sends what may
not be played, and something else when it is asked again.
"""

import json
import random
import socket
from typing import Any

from tests.hang import HANG

CARELESS = 7  # one answer in so many is wrong at first …
MOST = 12  # … but for the rest of a match that has had so many: the host gives up at twenty
NONSENSE = ("6 6", "-1 0", "0", "1 1 1 1", "A1")
FIELDS = [(x, y) for x in range(6) for y in range(6)]


class Memo:
    def __init__(self, port: int, name: str) -> None:
        self.name = name
        self.lots = random.Random(name)
        self.socket = socket.create_connection(("127.0.0.1", port), HANG)
        self.results: list[str] = []
        self.again = self.wrong = 0  # how often it was asked to try again, and had reason to be
        self.answers = self.slips = 0
        self.state: Any = None
        self.worker = 0  # that moved last

    def play(self) -> None:
        """Until the host hangs up."""
        self.socket.sendall(self.name.encode() + b"\n")
        with self.socket, self.socket.makefile("r") as lines:
            for line in lines:
                state = json.loads(line)
                status, turn, board, (_, one), (_, other) = state
                if status == "gameOver":
                    self.results.append(turn)
                    self.slips = 0
                    continue
                repeated = state == self.state
                self.again += repeated
                if turn == self.name:
                    mine, theirs = (one, other) if state[3][0] == self.name else (other, one)
                    self.answer(status, board, mine, theirs, careful=repeated)
                self.state = state

    def answer(self, status: str, board: Any, mine: list[int], theirs: list[int], *, careful: bool) -> None:
        self.answers += 1
        if not careful and self.slips < MOST and self.answers % CARELESS == 0:
            self.slips += 1
            self.wrong += 1
            self.say(self.lots.choice(NONSENSE))
            return
        taken = {*zip(mine[::2], mine[1::2], strict=True), *zip(theirs[::2], theirs[1::2], strict=True)}
        if status == "placeWorker":
            x, y = self.lots.choice([field for field in FIELDS if field not in taken])
            self.say(f"{x} {y}")
        elif status == "moveWorker":
            climbs = [
                (worker, x, y)
                for worker in (0, 1)
                for x, y in around(mine[2 * worker], mine[2 * worker + 1], taken)
                if board[y][x] <= min(board[mine[2 * worker + 1]][mine[2 * worker]] + 1, 3)
            ]
            self.worker, x, y = max(climbs, key=lambda climb: (board[climb[2]][climb[1]], self.lots.random()))
            self.say(f"{self.worker + 1} {x} {y}")
        else:
            places = around(mine[2 * self.worker], mine[2 * self.worker + 1], taken)
            x, y = self.lots.choice([(x, y) for x, y in places if board[y][x] < 4])
            self.say(f"{x} {y}")

    def say(self, numbers: str) -> None:
        self.socket.sendall(numbers.encode() + b"\n")


def around(x: int, y: int, taken: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """The free fields beside one."""
    near = [field for field in FIELDS if max(abs(field[0] - x), abs(field[1] - y)) == 1]
    return [field for field in near if field not in taken]
