"""A database that counts what is asked of it."""

from collections.abc import Iterable

from server.store.journal import Jot
from server.store.sqlite import Sqlite


class Read(Sqlite):
    """It counts how often all moves that are jotted down are read."""

    times = 0

    def jotted(self) -> Iterable[Jot]:
        self.times += 1
        return super().jotted()
