"""Matches of many tournaments, the latest first: a tournament is not looked at before its turn has come.

Most tournaments are over, and their records archived (`tournament/archive.py`). Whoever wants the latest
matches of all should take only those out of the archive in which these were played.
"""

from collections.abc import Callable, Iterable, Iterator
from heapq import heappop, heappush
from math import inf
from typing import TypeVar

from tournament.record import Record

T = TypeVar("T")
NOT_KNOWN = 0.0  # in place of the time of a match of which it is not known


def latest_first(sources: Iterable[tuple[Record, Iterator[T]]], ended: Callable[[T], float]) -> Iterator[T]:
    """Merge the sources, each of which has the latest first; what ended together stays in their order."""
    waiting = [
        (-inf if record.archived is None else -(record.latest_end or NOT_KNOWN), order, source)
        for order, (record, source) in enumerate(sources)
    ]
    waiting.sort(key=lambda each: each[:2], reverse=True)  # the next one is the last
    heads: list[tuple[float, int, T, Iterator[T]]] = []  # of those that have been looked at

    def look(order: int, source: Iterator[T]) -> None:
        for each in source:
            heappush(heads, (-ended(each), order, each, source))
            return

    while heads or waiting:
        while waiting and (not heads or waiting[-1][:2] < heads[0][:2]):
            _, order, source = waiting.pop()
            look(order, source)
        if heads:
            _, order, each, source = heappop(heads)
            yield each
            look(order, source)
