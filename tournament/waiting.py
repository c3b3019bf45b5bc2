"""The pairings that are still to be played, found by player.

A tournament of a thousand has half a million of them. What has changed since the
last look usually concerns two players, so only their pairings are looked at, and the
result is the same as if all had been. The caller knows whether a player can play.

Pairings of rounds that have not begun are here as well, but are not found by player.
"""

from array import array
from bisect import bisect_left, insort
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from heapq import heapify, heappop, heappush, merge
from itertools import groupby, islice
from math import inf

from tournament.format import Pairing
from tournament.paged import Paged

Sought = dict[str, int]  # players, each with a pairing's number before which there is nothing for it
START = 0  # before the number of any pairing
FEW = 32  # opponents of a player that are remembered; it may meet each of them thousands of times


class Waiting(Mapping[int, Pairing]):
    """The pairings by their numbers, in the order of drawing. There are no byes among them."""

    def __init__(self, pairings: Iterable[Pairing] = (), *, begun: float = inf) -> None:
        """`begun` is the latest round that has begun; inf: rounds do not wait for one another."""
        self.begun = begun
        self._pairings = Paged[Pairing]()
        self._later: dict[int, dict[int, Pairing]] = {}  # by round: those of rounds that have not begun …
        self.due = 0  # … and how many belong to rounds that have
        self._again: list[int] = []  # of these the ones that have come back, in the order of drawing
        self._last = START  # the highest number that there has been
        # For each player, numbers in the order of drawing. The garbage collector need not look at an array.
        self._of: dict[str, array[int]] = {}
        # Of each player, those in these pairings, and perhaps others in earlier ones; None: there are many
        self._few: dict[str, set[str] | None] = {}
        for pairing in pairings:
            self.add(pairing)

    def __getitem__(self, number: int) -> Pairing:
        return self._pairings[number]

    def __len__(self) -> int:
        return len(self._pairings)

    def __iter__(self) -> Iterator[int]:
        """The numbers, in order. Half a million are not sorted for one that has come back."""
        if not self._again:
            return iter(self._pairings)
        again = frozenset(self._again)
        return merge(self._again, (number for number in self._pairings if number not in again))

    def __copy__(self) -> "Waiting":
        copied = Waiting(begun=self.begun)
        for _ in copied.copying(self):
            pass
        return copied

    def copying(self, other: "Waiting") -> Iterator[None]:
        """Copy the other here, which must not be changed meanwhile, in pieces that take some milliseconds."""
        self._again, self._last, self.due = other._again[:], other._last, other.due
        yield from self._pairings.copying(other._pairings)
        self._later = {round: dict(pairings) for round, pairings in other._later.items()}
        yield
        self._of = {name: mine[:] for name, mine in other._of.items()}
        self._few = {name: None if few is None else {*few} for name, few in other._few.items()}
        yield

    def add(self, pairing: Pairing) -> None:
        """Add a pairing that is to be played, or played again."""
        number = pairing.number
        if number in self._pairings:
            return
        self._pairings[number] = pairing
        if number > self._last:
            self._last = number
        else:
            insort(self._again, number)
        if pairing.round > self.begun:
            self._later.setdefault(pairing.round, {})[number] = pairing
        else:
            self.due += 1
            self._enlist(pairing)

    def begin(self, round: int) -> None:
        """From now on pairings up to that round are found by player."""
        self.begun = round
        for each in sorted(each for each in self._later if each <= round):
            waiting = self._later.pop(each)
            self.due += len(waiting)
            for pairing in waiting.values():
                self._enlist(pairing)

    @property
    def later(self) -> Mapping[int, int]:
        """For each round that has not begun, how many pairings it has here."""
        return {round: len(self._later[round]) for round in sorted(self._later)}

    def players_of(self, round: int) -> set[str]:
        """Those who have pairings here in a round that has not begun."""
        return {name for pairing in self._later.get(round, {}).values() for name in pairing.names}

    def discard(self, number: int) -> None:
        """Remove a pairing that is being played or decided, if it was here."""
        pairing = self._pairings.pop(number, None)
        if pairing is None:
            return
        if (place := bisect_left(self._again, number)) < len(self._again) and self._again[place] == number:
            del self._again[place]
        if pairing.round > self.begun:
            waiting = self._later[pairing.round]
            del waiting[number]
            if not waiting:
                del self._later[pairing.round]
        else:
            self.due -= 1
            for name in pairing.names:
                mine = self._of[name]
                del mine[bisect_left(mine, number)]
                if not mine:
                    del self._of[name], self._few[name]

    def of(self, names: Iterable[str], most: int) -> list[Pairing]:
        """The pairings of these players, in the order of drawing: the first ones, if there are more."""
        numbers = merge(*(self._of[name] for name in self._of.keys() & names))
        return [self._pairings[number] for number, _ in islice(groupby(numbers), most)]

    @property
    def players(self) -> Collection[str]:
        """Those who have pairings here."""
        return self._of.keys()

    def count(self, name: str) -> int:
        """How many pairings a player has here."""
        return len(self._of.get(name, ()))

    def first(self, name: str) -> int | None:
        """The number of a player's first pairing here."""
        mine = self._of.get(name)
        return mine[0] if mine else None

    def opponents(self, name: str) -> Iterator[str]:
        """The opponents in a player's pairings here."""
        for number in self._of.get(name, ()):
            pairing = self._pairings[number]
            yield pairing.first if pairing.first != name else pairing.second or ""

    def meetings(self, available: Container[str], sought: Sought) -> Iterator[Pairing]:
        """The pairings of two available players, one of them sought: in the order of drawing, nobody twice.

        `sought` is kept up to date. A player without such a pairing is taken out of it, and nothing
        is missed: a pairing that becomes possible later does so because its other player becomes
        available, and that player is then sought. So a caller that stops early goes on later with the
        same `sought`, to which it adds the players who have become available.
        """
        heads = [(number, name) for name, number in sought.items()]
        heapify(heads)
        taken = set[str]()
        while heads:
            number, name = heappop(heads)
            if name in taken:
                continue
            pairing = self._first(name, number, available, taken)
            if pairing is None:
                del sought[name]
            elif heads and heads[0][0] < pairing.number:
                sought[name] = pairing.number
                heappush(heads, (pairing.number, name))
            else:
                taken.update(pairing.names)
                for each in pairing.names:
                    sought.pop(each, None)
                yield pairing

    def _enlist(self, pairing: Pairing) -> None:
        number, names = pairing.number, pairing.names
        for name, other in zip(names, reversed(names), strict=True):
            mine = self._numbers(name)
            if (few := self._few[name]) is not None:
                few.add(other)
                if len(few) > FEW:
                    self._few[name] = None
            if not mine or mine[-1] < number:
                mine.append(number)
            else:
                mine.insert(bisect_left(mine, number), number)

    def _numbers(self, name: str) -> "array[int]":
        numbers = self._of.get(name)
        if numbers is None:
            numbers = self._of[name] = array("q")
            self._few[name] = set()
        return numbers

    def _first(
        self, name: str, start: int, available: Container[str], taken: Container[str]
    ) -> Pairing | None:
        """The first pairing that a player can play, from a number on."""
        mine, few = self._of.get(name), self._few.get(name)
        if mine is None or (few is not None and not any(o in available and o not in taken for o in few)):
            return None
        for number in mine[bisect_left(mine, start) :]:
            pairing = self._pairings[number]
            other = pairing.second if pairing.first == name else pairing.first
            if other is not None and other in available and other not in taken:
                return pairing
        return None
