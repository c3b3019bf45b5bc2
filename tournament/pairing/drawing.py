"""What the formats share: lots, seeds, numbers, and how often everybody has been first.

Nothing here decides who meets whom: each format does that itself.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import sha256

from tournament.format import Entrant, Pairing, Result

Meeting = tuple[str, str | None]  # first and second, or one with a bye: a pairing that has no number yet


class Sides:
    """How often everybody has been first, in all that was drawn; a bye has no sides."""

    def __init__(self, drawn: Iterable[Pairing] = ()) -> None:
        self.balance = Counter[str]()  # times first minus times second
        self.running = Counter[str]()  # 2: first the last two times; −1: second the last time, not before
        self.times = Counter[tuple[str, str]]()  # how often one was first against another
        for pairing in drawn:
            if pairing.second is not None:
                self.add(pairing.first, pairing.second)

    def add(self, first: str, second: str) -> None:
        self.times[first, second] += 1
        for name, side in ((first, 1), (second, -1)):
            self.balance[name] += side
            self.running[name] = side + (self.running[name] if self.running[name] * side > 0 else 0)

    def fair(self, one: str, other: str) -> tuple[str, str]:
        """The two, beginning with the smaller balance: in all, else against the other, else lately."""
        mine = (self.balance[one], self.times[one, other], self.running[one])
        theirs = (self.balance[other], self.times[other, one], self.running[other])
        return (one, other) if mine <= theirs else (other, one)


def here(entrants: Iterable[Entrant]) -> list[str]:
    """The names of those who may still be drawn, in the order of entry."""
    return [entrant.name for entrant in entrants if not entrant.gone]


def lots(names: Iterable[str], seed: object) -> list[str]:
    """The names in an order that only they and the seed decide, the same in every process."""
    return sorted(names, key=lambda name: sha256(f"{seed} {name}".encode()).digest())


def seeded(names: Iterable[str], entrants: Iterable[Entrant]) -> list[str]:
    """The names, best rating first and the unrated last; equals in the order of entry."""
    ratings = {entrant.name: entrant.rating for entrant in entrants}
    return sorted(names, key=lambda name: (ratings[name] is None, -(ratings[name] or 0.0)))


def unfinished(drawn: Iterable[Pairing], results: Iterable[Result]) -> list[Pairing]:
    """The pairings that were drawn and have no result."""
    done = {result.pairing.number for result in results}
    return [pairing for pairing in drawn if pairing.number not in done]


def last_round(drawn: Sequence[Pairing]) -> int:
    return drawn[-1].round if drawn else 0


def numbered(drawn: Sequence[Pairing], rounds: Iterable[Iterable[Meeting]], start: int) -> list[Pairing]:
    """The meetings of `rounds` as pairings, numbered on from those drawn; the first round is `start`."""
    number = drawn[-1].number if drawn else 0
    added: list[Pairing] = []
    for round, meetings in enumerate(rounds, start):
        for first, second in meetings:
            added.append(Pairing(number + len(added) + 1, round, first, second))
    return added
