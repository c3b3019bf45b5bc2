"""Databases that fail, at any write and as often as one likes; and disks that are full."""

import resource
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from server.exits import Unavailable
from server.store.journal import Engine, Jot
from tournament.entries import Entry


@contextmanager
def little_room(size: int) -> Generator[None]:
    """As on a full disk: a limit of so many bytes a file, so a write fails in the middle."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def no_more_files() -> Generator[None]:
    """As where strangers have taken all: no file can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


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

    def write(self, rows: Sequence[Entry | Jot]) -> Sequence[bytes]:
        number = len(self.batches)
        self.batches.append(rows)
        fails = self.first <= number < self.first + self.times
        heads = self.engine.write(rows) if not fails or self.after else ()
        if fails:
            raise self.error
        return heads

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)
