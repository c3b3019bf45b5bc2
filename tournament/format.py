"""The contract between a format and a tournament.

A format is a pure function: it takes the entrants, what has been drawn so far and
what came of it, and returns what may be drawn now. It never asks who is free, what
time it is or what it returned last time. So continuing after a crash means calling it
again with what the store holds, and starting means continuing from nothing.

What was drawn stays drawn. A late entry or a withdrawal in the middle of a
round changes only what is drawn after it: that is why a format is given its
earlier pairings as facts instead of working them out again.
"""

from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from importlib import import_module
from pkgutil import iter_modules

from msgspec import UNSET, Struct, UnsetType, msgpack

Score = tuple[float, float]  # what the first and the second of a pairing get: 1, ½ or 0 each


class Entrant(Struct, frozen=True, gc=False):
    """Somebody who takes part. The order of entry is the order in the list."""

    name: str
    rating: float | None = None  # known beforehand, for seeding; None comes after all others
    gone: bool = False  # withdrawn or disqualified: no longer drawn
    # Only formats without an end use the rest. They are given the entrants that are free, in the order of
    # arrival, and at most one that is here and busy, which shows that others may become free.
    present: bool = True  # is here, playing or not
    free: bool = True  # has nothing to play just now
    against: str | None = None  # came for this opponent and no other
    last: bool = False  # has lately wasted its opponents' time, so all others come before it


class Pairing(Struct, frozen=True, gc=False):
    """Two entrants who have to meet, `first` in seat 0; without a `second`, an entrant who has a bye."""

    number: int  # 1, 2, 3 … in the order of drawing; part of the match's name
    round: int  # 1, 2, 3 …
    first: str
    second: str | None

    @property
    def names(self) -> tuple[str, ...]:
        return (self.first,) if self.second is None else (self.first, self.second)


class Result(Struct, frozen=True, gc=False):
    """The result of a pairing. A pairing without one is still to be played."""

    pairing: Pairing
    score: Score
    played: bool = True  # a move was made, so it says something about strength; a forfeit or a bye does not
    digest: bytes = b""  # of the moves, where there are any: two equal games are one piece of evidence


class Aim(Struct, frozen=True):
    """When a tournament that stops by itself has found out enough."""

    confidence: float = 0.95  # the probability that what it says is right
    places: int = 1  # to be settled, from the first on; 0: all
    within: float = 20.0  # Elo that count as equal
    games: int | None = None  # matches at the most; None: the format's own number


class Terms(Struct, frozen=True):
    """What an organiser chose for a tournament, as far as a format cares."""

    rounds: int | None = None  # None: the format's own number
    seed: int | None = 0  # separates what is otherwise equal; None: the host chooses it, see `sealing.py`
    lots: bool = False  # sides by lot, where the format leaves that open
    aim: Aim | UnsetType = UNSET  # for one format only; where unset, it is not written


def moves_digest(moves: Sequence[object]) -> bytes:
    """A digest of moves as a game writes them: results are kept for long, and moves would fill the memory."""
    return blake2b(msgpack.encode(moves), digest_size=16).digest() if moves else b""


Draw = Callable[[Sequence[Entrant], Sequence[Pairing], Sequence[Result], Terms], Sequence[Pairing]]


class Format(Struct, frozen=True, kw_only=True):
    """A way to hold a tournament.

    `draw(entrants, drawn, results, terms)` returns the pairings to add to `drawn`.
    The tournament is over when it returns none while every pairing drawn has its
    result, unless the format is `endless`.
    """

    name: str  # as commands spell it: "round-robin"
    title: str
    draw: Draw
    rules: int = 1  # the version of these: one more when anything is drawn otherwise than it was
    order: tuple[str, ...]  # of the standings, most important first: names of `tournament.standings.CRITERIA`
    endless: bool = False  # never over by itself; pairs whoever is present, and has no match played again
    choosy: bool = False  # an entrant may have come for one opponent and no other
    latest: int | None = None  # the table has so many of those who have played: the ones who played last
    # May draw more while something is to be played, even if nobody has come or gone: after each result there
    # is more to draw, or the same.
    midway: bool = False
    late: bool = True  # takes entrants after it has begun
    decides: bool = False  # stops by itself when the places are decided: see `deciding.py`
    eliminates: bool = False  # whoever loses is out, so each round depends on the ones before
    annuls: bool = False  # the results of whoever withdraws before half of its matches are annulled
    entrants: int = 2  # the fewest that it can be held with
    prices: bool = False  # each round is the best of all possible ones: every meeting of two has a price
    # Where not all is drawn at the start: how many matches each round has for this many entrants.
    plan: Callable[[int, Terms], Sequence[int]] | None = None
    # Where all is drawn at the start: how many rounds there are for this many entrants.
    rounds: Callable[[int, Terms], int] | None = None
    # Where places are decided: how many pairs have to be settled for that, of so many entrants.
    pairs: Callable[[int, Terms], int] | None = None


OPEN = "open"  # the format of open tables


@cache
def formats() -> dict[str, Format]:
    """Every format by its name: the modules of `tournament/pairing/` that declare `FORMAT`."""
    import tournament.pairing as package

    modules = (import_module(f"{package.__name__}.{found.name}") for found in iter_modules(package.__path__))
    declared = (getattr(module, "FORMAT", None) for module in modules)
    return {found.name: found for found in declared if isinstance(found, Format)}


def offered() -> dict[str, Format]:
    """The formats that an organiser is offered: all but that of open tables, which are always there."""
    return {name: found for name, found in formats().items() if name != OPEN}
