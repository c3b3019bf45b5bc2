"""Holding whole tournaments in tests: entrants come and go, matches end in any order.

Knows no format, and nothing of real matches: lists in, lists out.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import pairwise
from random import Random

from msgspec import structs

from tournament.format import Entrant, Format, Pairing, Result, Score, Terms

STEPS = 20_000  # results: more than any tournament here can have
LATE = 0.1  # how likely after a result, while somebody is to come
FORFEITS: dict[tuple[bool, ...], Score] = {
    (True, False): (0.0, 1.0),
    (False, True): (1.0, 0.0),
    (True, True): (0.0, 0.0),
}

# Of whom, with so much drawn and so many results: the answer.
Asked = tuple[list[Entrant], int, int, list[Pairing]]
Scorer = Callable[[Pairing], Score]


def field(count: int, prefix: str = "p") -> list[Entrant]:
    return [Entrant(f"{prefix}{index}") for index in range(count)]


class Held:
    """A tournament so far. What comes of its matches is decided by whoever calls `conclude`."""

    def __init__(self, format: Format, entrants: Iterable[Entrant], terms: Terms | None = None) -> None:
        self.format = format
        self.entrants = list(entrants)
        self.terms = terms or Terms()
        self.drawn: list[Pairing] = []
        self.results: list[Result] = []
        self.open: list[Pairing] = []
        self.asked: list[Asked] = []

    def advance(self) -> list[Pairing]:
        """Draw what may be drawn, and see that it may."""
        added = self._ask()
        self.asked.append((self.entrants[:], len(self.drawn), len(self.results), added))
        here = {entrant.name for entrant in self.entrants if not entrant.gone}
        for number, pairing in enumerate(added, len(self.drawn) + 1):
            assert pairing.number == number, "numbers go on without a gap"
            assert here.issuperset(pairing.names), f"{pairing} is of somebody who has gone"
            assert pairing.first != pairing.second
            assert pairing.round >= 1
        self.drawn += added
        if added:
            self.open += [pairing for pairing in added if pairing.second is not None]
            assert not self._ask(), "what was drawn is not drawn again"
            byes = (pairing for pairing in added if pairing.second is None)
            self.results += (Result(pairing, (1.0, 0.0), played=False) for pairing in byes)
        return added

    def _ask(self) -> list[Pairing]:
        playing = {name for pairing in self.open for name in pairing.names}
        self.entrants = [
            structs.replace(entrant, free=entrant.name not in playing) for entrant in self.entrants
        ]
        return list(self.format.draw(self.entrants, self.drawn, self.results, self.terms))

    def conclude(self, pairing: Pairing, score: Score) -> None:
        """A match is over; what somebody who has gone was to play is forfeit."""
        self.open.remove(pairing)
        gone = {entrant.name for entrant in self.entrants if entrant.gone}
        forfeit = FORFEITS.get(tuple(name in gone for name in pairing.names))
        self.results.append(Result(pairing, forfeit or score, played=forfeit is None))

    def withdraw(self, name: str) -> None:
        self.entrants = [
            structs.replace(entrant, gone=True) if entrant.name == name else entrant
            for entrant in self.entrants
        ]

    def hold(
        self, random: Random, scorer: Scorer, leave: float = 0.0, late: int = 0, steps: int | None = None
    ) -> "Held":
        """Go on to the end, matches ending in any order; after each somebody may leave, or one come late."""
        for _ in range(STEPS if steps is None else steps):
            added = self.advance()
            if self.open:
                pairing = random.choice(self.open)
                self.conclude(pairing, scorer(pairing))
            elif not added:
                return self
            if random.random() < leave:
                self.withdraw(random.choice(self.entrants).name)
            if late and random.random() < LATE:
                self.entrants.append(Entrant(f"late{late}"))
                late -= 1
        assert steps is not None, f"a {self.format.name} of {len(self.entrants)} does not end"
        return self


def toss(random: Random) -> Scorer:
    """Wins, losses and draws without any reason."""
    return lambda pairing: random.choice(((1.0, 0.0), (0.5, 0.5), (0.0, 1.0)))


def better(pairing: Pairing) -> Score:
    """The lower number in a name always wins."""
    first, second = (int(name.strip("p")) for name in pairing.names)
    return (1.0, 0.0) if first < second else (0.0, 1.0)


def meetings(drawn: Iterable[Pairing]) -> Counter[frozenset[str]]:
    """How often each pair was drawn."""
    return Counter(frozenset(pairing.names) for pairing in drawn if pairing.second is not None)


def sides(drawn: Iterable[Pairing]) -> dict[str, list[int]]:
    """Of each its sides in the order of drawing: 1 for first and −1 for second."""
    found: dict[str, list[int]] = defaultdict(list)
    for pairing in drawn:
        if pairing.second is not None:
            found[pairing.first].append(1)
            found[pairing.second].append(-1)
    return found


def imbalance(drawn: Iterable[Pairing]) -> int:
    """By how much anybody's firsts and seconds differ, at the most."""
    return max((abs(sum(row)) for row in sides(drawn).values()), default=0)


def repetitions(row: list[int]) -> int:
    """How often a side comes twice running."""
    return sum(one == other for one, other in pairwise(row))


def longest(row: list[int]) -> int:
    """The most times running that a side comes."""
    most = length = 0
    last = 0
    for side in row:
        length = length + 1 if side == last else 1
        last = side
        most = max(most, length)
    return most


def by_round(drawn: Iterable[Pairing]) -> dict[int, list[Pairing]]:
    found: dict[int, list[Pairing]] = defaultdict(list)
    for pairing in drawn:
        found[pairing.round].append(pairing)
    return found


def nobody_twice(drawn: Iterable[Pairing]) -> bool:
    """Whether everybody has one pairing a round at the most."""
    return all(
        max(Counter(name for pairing in pairings for name in pairing.names).values()) == 1
        for pairings in by_round(drawn).values()
    )
