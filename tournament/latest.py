"""The latest pairings of a tournament without an end, and their results.

A format reads them as it reads any pairings, in the order of drawing. Before every
match an open table needs to know how often two entrants have met and whether they
are playing now, so both are counted as pairings come and go.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar, overload

from tournament.format import Pairing, Result

T = TypeVar("T")

MEMORY = 1000  # pairings: with a bound, a match costs the same however many came before it

Times = Counter[tuple[str, str | None]]  # how often one was first against another

NOBODY: Mapping[str, int] = MappingProxyType({})


class Latest(Sequence[Pairing]):
    """The last `MEMORY` pairings drawn, and their results."""

    def __init__(self, drawn: Iterable[Pairing] = (), results: Iterable[Result] = ()) -> None:
        self.results: list[Result] = []  # in the order of drawing
        self.times = Times()
        self.playing = Times()  # the same for pairings that have no result yet
        self.balance = Counter[str]()  # of each, how often it was first minus how often it was second
        self._met = defaultdict[str, Counter[str]](Counter)  # of each, how often it has met whom
        self._last: dict[tuple[str, str | None], int] = {}  # when one was last first against another
        self._drawn: list[Pairing] = []
        for pairing in drawn:
            self.draw(pairing)
        for result in results:
            self.decide(result)

    def __len__(self) -> int:
        return len(self._drawn)

    @overload
    def __getitem__(self, index: int) -> Pairing: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Pairing]: ...
    def __getitem__(self, index: int | slice) -> Pairing | Sequence[Pairing]:
        return self._drawn[index]

    def __iter__(self) -> Iterator[Pairing]:
        return iter(self._drawn)

    def __reversed__(self) -> Iterator[Pairing]:
        return reversed(self._drawn)

    def __copy__(self) -> "Latest":
        return Latest(self._drawn, self.results)

    def met_by(self, name: str) -> Mapping[str, int]:
        """How often it has met whom, whoever was first: for many opponents quicker than `met`."""
        return self._met.get(name, NOBODY)

    def last_met(self, first: str, second: str) -> int:
        """The number of the last pairing with these sides; 0: they have not met so."""
        return self._last.get((first, second), 0)

    def draw(self, pairing: Pairing) -> None:
        self._drawn.append(pairing)
        sides = pairing.first, pairing.second
        self.times[sides] += 1
        self.playing[sides] += 1
        self._last[sides] = pairing.number
        for one, other, side in _both_ways(pairing):
            self._met[one][other] += 1
            self.balance[one] += side
        if len(self._drawn) > MEMORY:
            self._forget(self._drawn.pop(0))

    def decide(self, result: Result) -> None:
        """Add the result of a pairing, in place of an earlier one."""
        pairing = result.pairing
        if not self._drawn or pairing.number < self._drawn[0].number:
            return  # forgotten
        later = self.results and _number(self.results[-1]) >= pairing.number
        index = bisect_left(self.results, pairing.number, key=_number) if later else len(self.results)
        if index < len(self.results) and _number(self.results[index]) == pairing.number:
            self.results[index] = result
        else:
            self.results.insert(index, result)
            _take(self.playing, (pairing.first, pairing.second))

    def _forget(self, pairing: Pairing) -> None:
        sides = pairing.first, pairing.second
        _take(self.times, sides)
        if self._last[sides] == pairing.number:
            del self._last[sides]
        for one, other, side in _both_ways(pairing):
            _take(self._met[one], other)
            self.balance[one] -= side
            if not self._met[one]:
                del self._met[one], self.balance[one]
        if self.results and _number(self.results[0]) == pairing.number:
            del self.results[0]
        else:
            _take(self.playing, sides)


def met(times: Times, one: str, other: str) -> int:
    """How often the two have met, whoever was first."""
    return times.get((one, other), 0) + times.get((other, one), 0)


def _number(result: Result) -> int:
    return result.pairing.number


def _both_ways(pairing: Pairing) -> Iterable[tuple[str, str, int]]:
    """Each of the two, whom it meets, and 1 if it is first, else −1; a bye is not a meeting."""
    first, second = pairing.first, pairing.second
    return () if second is None else ((first, second, 1), (second, first, -1))


def _take(times: Counter[T], whose: T) -> None:
    """Subtract one, and remove a count that has come to zero."""
    times[whose] -= 1
    if not times[whose]:
        del times[whose]
