"""Databases that fail, at any write and as often as one likes."""

from collections.abc import Sequence
from typing import Any

from server.store.journal import Engine, Entry, Jot, Unavailable


class Faulty:
    """An engine whose writes number `first`, `first + 1` … fail, `times` of them.

    With `after` the rows have been written all the same, as by a database that was
    lost between its commit and the answer.
    """

    def __init__(self, engine: Engine, first: int = 0, times: int = 0, *, after: bool = False) -> None:
        self.engine = engine
        self.first = first
        self.times = times
        self.after = after
        self.error: Exception = Unavailable("the disk is full")
        self.batches: list[Sequence[Entry | Jot]] = []  # all that was tried to be written

    def write(self, rows: Sequence[Entry | Jot]) -> None:
        number = len(self.batches)
        self.batches.append(rows)
        fails = self.first <= number < self.first + self.times
        if not fails or self.after:
            self.engine.write(rows)
        if fails:
            raise self.error

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)
