"""A mapping of numbers in pages: however much is in it, no change takes long, and a copy is made in pieces.

A dictionary gets more room when it is full. For a million entries that takes a tenth of a second, as does
a copy of it, and all matches of the host wait meanwhile. Here each thousand of numbers that follow one
another has a dictionary of its own. Numbers that come in rising order stay in it.
"""

from collections.abc import Iterable, Iterator, MutableMapping, ValuesView
from itertools import chain
from typing import TypeVar

V = TypeVar("V")

PAGE = 1024  # numbers
PIECE = 32  # pages that are copied before others get their turn: about a millisecond


class Paged(MutableMapping[int, V]):
    __slots__ = ("_count", "pages")

    def __init__(self, entries: Iterable[tuple[int, V]] = ()) -> None:
        self.pages: dict[int, dict[int, V]] = {}  # by the quotient of their numbers; none is empty
        self._count = 0
        for number, value in entries:
            self[number] = value

    def copying(self, other: "Paged[V]") -> Iterator[None]:
        """Copy the other here, which must not be changed meanwhile, in pieces."""
        for copied, (place, page) in enumerate(other.pages.items(), 1):
            self.pages[place] = page.copy()
            if copied % PIECE == 0:
                yield
        self._count = other._count

    def __getitem__(self, number: int) -> V:
        if (page := self.pages.get(number // PAGE)) is None:
            raise KeyError(number)
        return page[number]

    def __setitem__(self, number: int, value: V) -> None:
        if (page := self.pages.get(number // PAGE)) is None:
            page = self.pages[number // PAGE] = {}
        before = len(page)
        page[number] = value
        self._count += len(page) - before

    def __delitem__(self, number: int) -> None:
        page = self.pages.get(number // PAGE, {})
        del page[number]
        self._count -= 1
        if not page:
            del self.pages[number // PAGE]

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and number in self.pages.get(number // PAGE, ())

    def __iter__(self) -> Iterator[int]:
        return chain.from_iterable(self.pages.values())

    def __len__(self) -> int:
        return self._count

    def values(self) -> ValuesView[V]:
        return Values(self)


class Values(ValuesView[V]):
    """Page by page: there may be a million."""

    _mapping: Paged[V]

    def __iter__(self) -> Iterator[V]:
        return chain.from_iterable(page.values() for page in self._mapping.pages.values())
