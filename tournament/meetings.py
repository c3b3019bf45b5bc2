"""Who met whom, how often and how it went: the games of a field, added up by pair.

Ratings rest on these. A game costs the same however many came before it, and a pair takes the same
room however often it meets: only a fingerprint of each game is kept, to know it when it is played
again.
"""

from array import array
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.format import Result
from tournament.skill import says_something

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PIECE = 4096  # fingerprints that are kept together, at the most
LEAST = -(2**63)  # the least value of a fingerprint, which is a hash


class Game(Struct, frozen=True, gc=False):
    """What a game adds to what is known of a pair."""

    first: int
    second: int
    count: float  # by how much more the pair weighs
    won: float  # what the first won of that


class Meetings:
    """Entrants by number, in the order of their first games, and pairs of them by number."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}  # by name
        # For each entrant: opponents, each with the number of the pair
        self.against: list[dict[int, int]] = []
        self.lower, self.higher = array("i"), array("i")  # for each pair: its entrants
        # For each pair two places, the first for games with the lower in seat 0. Points are counted in
        # halves.
        self.played, self.different = array("i"), array("i")
        self.scored, self.drawn = array("i"), array("i")
        # For each pair: its weight, and what the lower won of that. Where k games have been played in the
        # same seats and m of them differ, each weighs m / k: all of them count towards the score, and
        # together they are worth m games.
        self.count, self.won = array("d"), array("d")
        self.games = 0
        self._seen = Fingerprints()

    def add(self, result: Result) -> Game | None:
        """Add a game; returns None if it says nothing about strength.

        Byes, matches that were not played, and those that both sides lost say nothing.
        """
        if not says_something(result):
            return None
        first, second = map(self._number, result.pairing.names)
        turned = first > second
        pair = self.against[first].get(second)
        if pair is None:
            pair = self._pair(first, second)
        slot, score = 2 * pair + turned, result.score[0]
        self.played[slot] += 1
        if not result.digest or self._seen.is_new(hash((slot, score, result.digest))):
            self.different[slot] += 1
        self.scored[slot] += int(2 * score)
        if score == 0.5:
            self.drawn[slot] += 1
        self.games += 1
        count, won = self.count[pair], self.won[pair]
        self._weigh(pair)
        count, won = self.count[pair] - count, self.won[pair] - won
        return Game(first, second, count, count - won if turned else won)

    def counts(self) -> tuple["Floats", "Floats"]:
        """For each entrant: how many different games it has played, and how many that repeat one of these."""
        import numpy as np

        size, different = len(self.against), np.array(self.count)
        repeated = np.array(self.played).reshape(-1, 2).sum(axis=1) - different
        lower, higher = np.array(self.lower), np.array(self.higher)
        games, repeats = (
            (np.bincount(lower, each, size) + np.bincount(higher, each, size)).astype(np.float64)
            for each in (different, repeated)
        )
        return games, repeats

    def _number(self, name: str) -> int:
        number = self.numbers.get(name)
        if number is None:
            number = self.numbers[name] = len(self.against)
            self.against.append({})
        return number

    def _pair(self, first: int, second: int) -> int:
        pair = len(self.count)
        self.against[first][second] = self.against[second][first] = pair
        self.lower.append(min(first, second))
        self.higher.append(max(first, second))
        for of_slots in (self.played, self.different, self.scored, self.drawn):
            of_slots.extend((0, 0))
        self.count.append(0.0)
        self.won.append(0.0)
        return pair

    def _weigh(self, pair: int) -> None:
        there, back = 2 * pair, 2 * pair + 1
        self.count[pair] = self.different[there] + self.different[back]
        won = 0.0
        if self.played[there]:
            won = self.different[there] / self.played[there] * self.scored[there] / 2
        if played := self.played[back]:
            won += self.different[back] / played * (played - self.scored[back] / 2)
        self.won[pair] = won


class Fingerprints:
    """Which fingerprints have been seen, of a great many; eight bytes each.

    They are kept in sorted pieces that follow each other: adding one moves what is behind it in its
    piece and nothing else, and there are never two copies of them all.
    """

    def __init__(self) -> None:
        self._pieces = [array("q")]
        self._lowest = array("q", [LEAST])  # the lowest that may be in each piece

    def is_new(self, fingerprint: int) -> bool:
        """Whether a fingerprint has not been seen before; from now on it has."""
        which = bisect_right(self._lowest, fingerprint) - 1
        piece = self._pieces[which]
        at = bisect_left(piece, fingerprint)
        if at < len(piece) and piece[at] == fingerprint:
            return False
        piece.insert(at, fingerprint)
        if len(piece) > PIECE:
            self._split(which)
        return True

    def _split(self, which: int) -> None:
        """Make two pieces of one that is full."""
        piece = self._pieces[which]
        half = len(piece) // 2
        self._pieces[which : which + 1] = piece[:half], piece[half:]
        self._lowest.insert(which + 1, piece[half])
