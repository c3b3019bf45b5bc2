"""How strong everybody is, as it is published: strengths with intervals, and who may be the best.

All figures of a field come from the same joint draws (`sampling.py`). For a field too large for
these, they come from the incremental fit (`fit_sparse.py`), with no distribution over ranks, and
chances to be the best only for the few who reach highest.
"""

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.circles import Circle, circles
from tournament.posterior import Games, Model, games_of
from tournament.ratings import Ratings, probability_first
from tournament.sampling import drawn

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RANKED = 100  # names: with more, the chances of each rank are not told
REMEMBERED = 16  # fields whose strengths are kept for the next request
WITHIN = (0.025, 0.975)  # the shares of the draws below the ends of an interval


class Strength(Struct, frozen=True):
    """A strength in Elo above the mean of the field; the interval holds the truth 95 times in 100."""

    name: str
    strength: float
    interval: tuple[float, float]
    first: float  # how likely it is the strongest
    ranks: tuple[float, ...] | None  # how likely each rank is, from the first on; None in a large field


class Strengths(Struct, frozen=True):
    """The strengths of all who have played, by name; and what one number for each cannot explain."""

    of: dict[str, Strength] = {}
    duplicates: int = 0  # games that repeat an earlier one move by move, with the same result
    circles: tuple[Circle, ...] = ()


def strengths(ratings: Ratings) -> Strengths:
    """The strengths, from the games that these ratings have taken in."""
    if not ratings.meetings.numbers:
        return Strengths()
    return _exactly(ratings) if ratings.small else _sparsely(ratings)


def _exactly(ratings: Ratings) -> Strengths:
    of, found = _said_by(_Rows(games_of(ratings.meetings)))
    return Strengths(dict(of), _duplicates(ratings), found)


class _Rows:
    """Games that compare equal to any others with the same rows."""

    def __init__(self, games: Games) -> None:
        self.games = games
        columns = games.first, games.second, games.weight, games.won, games.drawn
        self._content = games.names, *(each.tobytes() for each in columns)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Rows) and self._content == other._content

    def __hash__(self) -> int:
        return hash(self._content)


@lru_cache(REMEMBERED)
def _said_by(rows: _Rows) -> tuple[dict[str, Strength], tuple[Circle, ...]]:
    """Cached: it takes a while, and pages, exports and their checks ask about the same games."""
    import numpy as np

    model = Model(rows.games)
    draws = drawn(model)
    names = model.games.names
    low, high = np.quantile(draws, WITHIN, axis=0)
    columns = (each.tolist() for each in (draws.mean(axis=0), low, high))
    ranks = _ranks(draws) if len(names) <= RANKED else [None] * len(names)
    best = np.bincount(draws.argmax(axis=1), minlength=len(names)) / len(draws)
    of = {
        name: Strength(name, mean, (low, high), float(best[place]), ranks[place])
        for place, (name, mean, low, high) in enumerate(zip(names, *columns, strict=True))
    }
    return of, tuple(circles(model))


def _ranks(draws: "Floats") -> list[tuple[float, ...] | None]:
    """For each entrant, how likely it is to have each rank."""
    import numpy as np

    many, size = draws.shape
    rank = (-draws).argsort(axis=1).argsort(axis=1)
    of_each: list[list[float]] = [
        (np.bincount(mine, minlength=size) / many).tolist() for mine in rank.astype(np.intp).T
    ]
    return [tuple(row) for row in of_each]


def _sparsely(ratings: Ratings) -> Strengths:
    fit = ratings.fit()
    first = probability_first(fit)
    of = {
        each.name: Strength(each.name, each.rating, each.interval, first[each.name], None)
        for each in fit.ratings
    }
    return Strengths(of, _duplicates(ratings))


def _duplicates(ratings: Ratings) -> int:
    return int(ratings.meetings.counts()[1].sum()) // 2
