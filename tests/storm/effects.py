"""What orders have come to, as far as their answers say, and what may therefore be so now.

What an order changes is the value of something: the state of a tournament, an affiliation. Organisers do not
wait for each other, so of orders that were on their way at once either may have come last, and one without
an answer may have been carried out or not. Whatever else is found is wrong.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from itertools import count
from math import inf
from typing import Any

from msgspec import Struct

Key = tuple[str, ...]  # ("frozen", "cup-3"), ("affiliation", "cup-3", "ann")


class Write(Struct):
    value: Hashable
    sent: int
    answered: float = inf  # when, or when it was certain that nothing would come of it any more
    done: bool | None = None  # None: nobody has said


class Effects:
    def __init__(self) -> None:
        self._writes: dict[Key, list[Write]] = defaultdict(list)
        self._times = count()

    def now(self) -> int:
        return next(self._times)

    def sent(self, values: Mapping[Key, Hashable]) -> list[Write]:
        """An order is on its way that would have that effect."""
        at, writes = self.now(), list[Write]()
        for key, value in values.items():
            writes.append(Write(value, at))
            self._writes[key].append(writes[-1])
        return writes

    def answered(self, writes: Iterable[Write], done: bool) -> None:
        at = self.now()
        for write in writes:
            write.answered, write.done = at, done

    def possible(self, key: Key, before: float = inf) -> set[Any] | None:
        """What it may be, by what was answered before then; None: anything."""
        writes = [write for write in self._writes.get(key, ()) if write.done is not False]
        certain = [write for write in writes if write.done and write.answered < before]
        if not certain:
            return None
        latest = max(write.sent for write in certain)
        return {write.value for write in writes if write.answered >= latest}

    def keys(self, kind: str, tournament: str) -> list[Key]:
        return [key for key in self._writes if key[:2] == (kind, tournament)]

    def tried(self, key: Key) -> set[Any]:
        """What it was ever asked to be, whatever came of that."""
        return {write.value for write in self._writes.get(key, ()) if write.done is not False}
