"""What the pairings of a tournament have come to, and what that adds up to: the part of a record that counts.

Results are remembered one by one. A record that is not whole, of a tournament without an end,
forgets the oldest: these are then read from its history, and added up name by name. The
record knows who is in the tournament, and which matches there are.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence
from copy import copy
from typing import Any

from tournament.column_views import CameTo, CountingMatches, Decisions
from tournament.columns import Columns
from tournament.format import Entrant, Format, Pairing, Result, Score
from tournament.history import History
from tournament.latest import Latest
from tournament.standings import Row, adjusted, standings
from tournament.tally import Tallies, table

AGAIN = 50  # forgotten matches that are added up again, if they have to be, with each match that ends
BYE: Score = (1.0, 0.0)
NOTHING: Score = (0.0, 0.0)  # for a pairing that is closed without being decided


class Results:
    def __init__(self, format: Format, *, forgets: bool) -> None:
        self._format = format
        self.forgets = forgets
        self.counted: MutableMapping[int, str] = {}  # by pairing: the match that counts now
        self.came_to: MutableMapping[int, Result] = {}  # by pairing: its result
        # By name, in a format that ends: the numbers of its pairings. The garbage collector need not look at
        # an array.
        self.numbers: dict[str, array[int]] = {}
        self.latest = Latest() if format.endless else None  # pairings and results
        # If none is forgotten: the results that count; a number takes back the result of its pairing. It is
        # only appended to, so it can be followed by index.
        self.decisions: list[Result | int] | Decisions = []
        self.history = History()  # results that are not remembered …
        self.tallies = Tallies()  # … and what these add up to

    def remember_in(self, columns: Columns[Any]) -> None:
        """Keep results in these columns, where there are too many to keep them otherwise."""
        self.counted, self.came_to, self.decisions = (
            CountingMatches(columns),
            CameTo(columns),
            Decisions(columns),
        )

    def __copy__(self) -> "Results":
        other = Results(self._format, forgets=self.forgets)
        for _ in other.copying(self):
            pass
        return other

    def copying(self, other: "Results") -> Iterator[None]:
        """Copy the other here, which must not be changed meanwhile, in pieces that take some milliseconds."""
        self.counted = copy(other.counted)
        yield
        self.came_to = copy(other.came_to)
        yield
        self.numbers = {name: numbers[:] for name, numbers in other.numbers.items()}
        yield
        self.decisions, self.latest = copy(other.decisions), copy(other.latest)
        yield
        self.history, self.tallies = copy(other.history), copy(other.tallies)

    def draw(self, pairing: Pairing) -> None:
        if self.latest is not None:
            self.latest.draw(pairing)
        else:
            self._enlist(pairing)
        if pairing.second is None:
            self._decide(Result(pairing, BYE, played=False))

    def count(self, result: Result, match: str) -> None:
        """A pairing is decided by that match."""
        self.counted[result.pairing.number] = match
        self._decide(result)

    def close(self, pairing: Pairing) -> None:
        """A pairing is over without a match that counts, and is not played again."""
        self._decide(Result(pairing, NOTHING, played=False))

    def take_back(self, number: int) -> None:
        """The match that decided a pairing no longer counts."""
        del self.counted[number], self.came_to[number]
        if not self.forgets:
            self.decisions.append(number)

    def take_back_forgotten(self, number: int) -> None:
        if self.history.take_back(number):
            self.tallies.restart()
        if self.latest is not None:
            for result in [each for each in self.latest.results if each.pairing.number == number]:
                self.latest.decide(Result(result.pairing, NOTHING, played=False))

    def forget(self, number: int, annulled: Collection[str], disqualified: Collection[str]) -> None:
        """Forget a result, but for what it adds to the sums."""
        result = self.came_to.pop(number)
        self.history.add(result, counts=self.counted.pop(number, None) is not None)
        self.tallies.follow(self.history, annulled, disqualified, AGAIN)

    def add_up_again(self, name: str) -> None:
        """What an entrant has played counts differently now."""
        if name in self.history:
            self.tallies.restart()

    def _decide(self, result: Result) -> None:
        self.came_to[result.pairing.number] = result
        if not self.forgets and self.counts(result):
            self.decisions.append(result)
        if self.latest is not None:
            self.latest.decide(result)

    def enlist(self, drawn: Iterable[Pairing]) -> None:
        """Have pairings found by name that were drawn earlier, in a format that ends."""
        for pairing in drawn:
            self._enlist(pairing)

    def _enlist(self, pairing: Pairing) -> None:
        for name in pairing.names:
            numbers = self.numbers.get(name)
            if numbers is None:
                numbers = self.numbers[name] = array("I")
            numbers.append(pairing.number)

    # What follows from it

    def counts(self, result: Result) -> bool:
        """Whether what a pairing came to counts for the standings, before withdrawals."""
        return result.pairing.number in self.counted or result.pairing.second is None

    def remembered(self) -> Sequence[Result]:
        """The results in the order of the decisions, as far as they are remembered."""
        return list(self.came_to.values())

    def adjusted(self, annulled: Collection[str], disqualified: Collection[str]) -> list[Result]:
        """The remembered results that count for the standings, after withdrawals and disqualifications."""
        decided = [result for result in self.came_to.values() if self.counts(result)]
        return adjusted(decided, annulled, disqualified)

    def standings(
        self, entrants: Sequence[Entrant], annulled: Collection[str], disqualified: Collection[str]
    ) -> list[Row]:
        remembered = self.adjusted(annulled, disqualified)
        if not self.history:
            return standings(entrants, remembered, self._format.order)
        tallies = copy(self.tallies)
        tallies.follow(self.history, annulled, disqualified)
        tallies.count(remembered)
        return table(entrants, tallies, self._format.order)
