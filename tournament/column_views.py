"""The columns of a table without an end as a record sees them: the mappings and lists that any record has.

Nothing is kept here: each of them reads and writes the same `Columns`.
"""

from array import array
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from itertools import chain
from typing import Any, TypeVar, overload

from tournament.columns import COUNTS, DECIDED, Columns, M
from tournament.format import Pairing, Result

T = TypeVar("T")


class DrawnPairings(MutableMapping[int, Pairing]):
    """What was drawn, by number."""

    def __init__(self, columns: Columns[Any]) -> None:
        self._columns = columns

    def __getitem__(self, number: int) -> Pairing:
        if not 0 < number <= len(self):
            raise KeyError(number)
        return self._columns.pairing(number)

    def __setitem__(self, number: int, pairing: Pairing) -> None:
        self._columns.draw(pairing)

    def __delitem__(self, number: int) -> None:
        raise TypeError("what was drawn stays drawn")

    def __iter__(self) -> Iterator[int]:
        return iter(range(1, len(self) + 1))

    def __len__(self) -> int:
        return len(self._columns.flags)


class Matches(MutableMapping[str, M]):
    """Matches that are over, by name, in the order of their ends."""

    def __init__(self, columns: Columns[M]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> M:
        if (number := self._columns.number(name)) is None:
            raise KeyError(name)
        return self._columns.match(number)

    def __setitem__(self, name: str, match: M) -> None:
        self._columns.end(match)

    def __delitem__(self, name: str) -> None:
        raise TypeError("a match that is over stays over")

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._columns.number(name) is not None

    def __iter__(self) -> Iterator[str]:
        return map(self._columns.named, self._columns.ended)

    def __len__(self) -> int:
        return len(self._columns.ended)


class CountingMatches(MutableMapping[int, str]):
    """The matches that count, by the numbers of their pairings."""

    def __init__(self, columns: Columns[Any]) -> None:
        self._columns = columns

    def __getitem__(self, number: int) -> str:
        if not self._columns.has(number, COUNTS):
            raise KeyError(number)
        return self._columns.named(number)

    def __setitem__(self, number: int, match: str) -> None:
        self._columns.counted += not self._columns.has(number, COUNTS)
        self._columns.flags[number - 1] |= COUNTS

    def __delitem__(self, number: int) -> None:
        self._columns.counted -= self._columns.has(number, COUNTS)
        self._columns.flags[number - 1] &= ~COUNTS

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._columns.ended if self._columns.has(number, COUNTS))

    def __len__(self) -> int:
        return self._columns.counted


class CameTo(MutableMapping[int, Result]):
    """What came of each pairing that is over: in the order of the ends, with byes after them."""

    def __init__(self, columns: Columns[Any]) -> None:
        self._columns = columns

    def __getitem__(self, number: int) -> Result:
        if not self._columns.has(number, DECIDED):
            raise KeyError(number)
        return self._columns.came_to(number)

    def __setitem__(self, number: int, result: Result) -> None:
        self._columns.decide(result)

    def __delitem__(self, number: int) -> None:
        self._columns.flags[number - 1] &= ~DECIDED

    def __iter__(self) -> Iterator[int]:
        numbers = chain(self._columns.ended, self._columns.byes)
        return (number for number in numbers if self._columns.has(number, DECIDED))

    def __len__(self) -> int:
        return len(self._columns.ended) + len(self._columns.byes)


class Listed(Sequence[T]):
    """A column as a list of what its numbers stand for."""

    def __init__(self, numbers: "array[int]", meaning: Callable[[int], T]) -> None:
        self._numbers = numbers
        self._meaning = meaning

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [*map(self._meaning, self._numbers[index])]
        return self._meaning(self._numbers[index])

    def __len__(self) -> int:
        return len(self._numbers)


class Endings(Listed[str]):
    """The matches that are over, in the order of their ends."""

    def __init__(self, columns: Columns[Any]) -> None:
        super().__init__(columns.ended, columns.named)


class Decisions(Listed[Result | int]):
    """What counts, in the order of the decisions; a number takes back what its pairing came to."""

    def __init__(self, columns: Columns[Any]) -> None:
        super().__init__(columns.decided, lambda number: columns.decision(number) if number > 0 else -number)

    def append(self, each: Result | int) -> None:
        self._numbers.append(-each if isinstance(each, int) else each.pairing.number)
