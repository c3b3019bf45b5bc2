"""The tally of a series of matches between two programs: points, pairs, and repetitions.

Matches are numbered from 1. Matches 2k−1 and 2k are a pair: the same opening, with
the first program in seat 0 and then in seat 1. They may be added in any order.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated, Any

from msgspec import Meta, Struct, msgpack

from tournament.events import Ending

DRAWN = 0.5


class Played(Struct, frozen=True, kw_only=True, tag="match", forbid_unknown_fields=True):
    """A match that is over."""

    match: Annotated[int, Meta(ge=1)]
    players: tuple[str, str]
    winner: Annotated[int, Meta(ge=0, le=1)] | None
    ending: Ending
    why: str
    opening: int  # how many moves belong to the opening, which nobody chose
    moves: Sequence[Any]
    times: Sequence[float]

    @property
    def points(self) -> float:
        """The first program's points; it has seat 0 in the first match of each pair."""
        if self.winner is None:
            return DRAWN
        return float(self.winner == first_seat(self.match))


def first_seat(match: int) -> int:
    """The seat of the first program."""
    return (match - 1) % 2


def pair_of(match: int) -> int:
    """The pair to which a match belongs, counted from 0."""
    return (match - 1) // 2


class Tally:
    def __init__(self) -> None:
        self.matches: dict[int, Played] = {}
        self.wins = self.draws = self.losses = 0  # of the first program
        self.pairs = [0] * 5  # how many by the first program's points: 0, 0.5, 1, 1.5, 2
        self.distinct = [0] * 5  # the same without pairs that repeat another
        self.repeats = 0
        self._digests: set[bytes] = set()

    def add(self, played: Played) -> bool:
        """Add a match; returns whether that changed what is known of the programs' strength."""
        self.matches[played.match] = played
        self.wins += played.points == 1
        self.draws += played.points == DRAWN
        self.losses += played.points == 0
        first = 2 * pair_of(played.match) + 1
        pair = self.matches.get(first), self.matches.get(first + 1)
        match pair:
            case Played() as one, Played() as other:
                return self._add_pair(one, other)
            case _:
                return False

    def in_order(self) -> list[Played]:
        return [self.matches[number] for number in sorted(self.matches)]

    def _add_pair(self, one: Played, other: Played) -> bool:
        kind = round(2 * (one.points + other.points))
        self.pairs[kind] += 1
        digest = blake2b(
            msgpack.encode([(each.moves, each.winner) for each in (one, other)]), digest_size=16
        ).digest()
        if digest in self._digests:
            self.repeats += 1
            return False
        self._digests.add(digest)
        self.distinct[kind] += 1
        return True
