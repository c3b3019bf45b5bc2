"""Ratings: one Bradley–Terry fit of all that was played, with 95 % intervals.

The model: against b, a is expected to score 1 / (1 + 10 ** ((b − a) / 400)), and a
draw is half a win. Every entrant is also given a drawn game against an opponent of
average strength, or less than one if most games are drawn. So even an entrant that has
won everything, or has met only part of the field, has a finite rating. Ratings are in Elo
and the mean of the field is 0: only differences mean something. `docs/standings.md` says
what the figures are worth.

Unless it is to be plain, the fit of a large field has the model of `posterior.py`: it infers how
far apart the field is and what moving first is worth, in place of that drawn game.

`Ratings` takes in game after game and is fitted when somebody asks: a small field exactly
(`fit_exact.py`), a large one from where the last fit left it (`fit_sparse.py`).

Not here: points and tie-breaks (`standings.py`), the ladder's ratings that
change match by match (`skill.py`).
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.fit_exact import ELO, PRIOR, fitted
from tournament.fit_sparse import CONTENDERS, Sparse
from tournament.format import Result
from tournament.meetings import Game, Meetings
from tournament.skill import says_something

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Matrices as small as these gain nothing from threads, and on a busy machine the threads wait for each other
# for up to seconds, while the host stands still. numpy reads this when it is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

NORMAL = 1.959963984540054  # standard deviations either side of the mean that hold 95 %
SMALL = 300  # entrants: up to so many are fitted exactly, which takes some 50 ms
SAMPLES = 10_000  # of the joint distribution: P(first) is right to within one percentage point
SEED = 0  # so that the same results have the same chances everywhere


class Rating(Struct, frozen=True):
    """A strength, in Elo above the mean of the field; `interval` holds the truth 95 times in 100."""

    name: str
    rating: float
    interval: tuple[float, float]
    games: int  # different ones: the interval rests on these
    duplicates: int  # games that repeat an earlier one move by move


class Fit(Struct, frozen=True):
    """Everybody who has played, in the order of their first game, and how errors are correlated."""

    prior: float = PRIOR  # drawn games against an average opponent that each was given
    ratings: tuple[Rating, ...] = ()
    contenders: tuple[int, ...] = ()  # those who may be the strongest: all, or some of a large field
    covariance: tuple[tuple[float, ...], ...] = ()  # Elo²; rows and columns in the order of these


class Ratings:
    """All games so far, and the fit of them."""

    def __init__(self, results: Iterable[Result] = (), *, small: int = SMALL, plain: bool = False) -> None:
        """A `plain` fit of a large field infers neither how far apart it is nor what moving first adds."""
        self._small = small
        self._plain = plain
        self.meetings = Meetings()
        self._sparse: Sparse | None = None
        self._new: list[Game] = []  # since the sparse fit, in a field that has one
        self._known = 0  # games in the latest fit
        self._fit = Fit()
        for result in results:
            self.add(result)

    def add(self, result: Result) -> None:
        """Take in a result, unless it says nothing about strength.

        Byes, matches that were not played, and those that both sides lost say nothing.
        """
        game = self.meetings.add(result)
        if game is not None and self._sparse is not None:
            self._new.append(game)

    @property
    def small(self) -> bool:
        """Whether the field can be fitted exactly."""
        return len(self.meetings.against) <= self._small

    def fit(self) -> Fit:
        """The ratings of all who have played."""
        if self._known < self.meetings.games:
            self._fit = self._exactly() if self.small else self._sparsely()
            self._known = self.meetings.games
            self._new.clear()
        return self._fit

    def _exactly(self) -> Fit:
        strength, covariance, prior = fitted(self.meetings)
        covariance = ELO**2 * covariance
        ratings = self._ratings(ELO * (strength - strength.mean()), covariance.diagonal())
        return Fit(prior, ratings, (*range(len(ratings)),), (*map(tuple, covariance.tolist()),))

    def _sparsely(self) -> Fit:
        import numpy as np

        if (sparse := self._sparse) is None:
            sparse = self._sparse = Sparse(self.meetings, plain=self._plain)
            sparse.refit()
        else:
            sparse.update(self._new)
        rating = ELO * (np.array(sparse.strength) - sparse.centre)
        variance = ELO**2 * np.array(sparse.variance)
        best = np.argsort(-(rating + NORMAL * np.sqrt(variance)), kind="stable")[:CONTENDERS]
        contenders = best.tolist()
        covariance = ELO**2 * sparse.contention(contenders)
        return Fit(
            sparse.prior,
            self._ratings(rating, variance),
            tuple(contenders),
            (*map(tuple, covariance.tolist()),),
        )

    def _ratings(self, rating: "Floats", variance: "Floats") -> tuple[Rating, ...]:
        import numpy as np

        reach = NORMAL * np.sqrt(variance)
        games, repeated = self.meetings.counts()
        columns = (rating, rating - reach, rating + reach, games, repeated)
        return tuple(
            [
                Rating(name, middle, (low, high), int(different), int(repeats))
                for name, middle, low, high, different, repeats in zip(
                    self.meetings.numbers, *(column.tolist() for column in columns), strict=True
                )
            ]
        )


def duplicates(results: Iterable[Result]) -> list[tuple[Result, Result]]:
    """Every game that repeats an earlier one, with that one: same seats, result and moves, at least one."""
    found: list[tuple[Result, Result]] = []
    for games in _games(results).values():
        first: dict[object, Result] = {}
        again = ((each, first.setdefault((each.digest, each.score), each)) for each in games if each.digest)
        found += (pair for pair in again if pair[0] is not pair[1])
    return found


def bradley_terry(results: Iterable[Result]) -> Fit:
    """The ratings of all who have played.

    Where a pair has played k games in the same seats and m of them differ, each weighs m / k: all of
    them speak for the score, and together they are worth m games.
    """
    return Ratings(results, plain=True).fit()


def probability_first(fit: Fit) -> dict[str, float]:
    """How likely each of the rated is the strongest of them, by sampling: the same each time."""
    import numpy as np

    if not fit.ratings:
        return {}
    covariance = np.array(fit.covariance)
    # The mean is known, so the covariance is singular. An error that all share changes nobody's place.
    root = np.linalg.cholesky(covariance + float(covariance.diagonal().max()))
    sampled = np.random.default_rng(SEED).standard_normal((SAMPLES, len(root))) @ root.T
    best = (sampled + [fit.ratings[each].rating for each in fit.contenders]).argmax(axis=1)
    shares = np.bincount(best, minlength=len(root)) / SAMPLES
    likely = dict.fromkeys((rating.name for rating in fit.ratings), 0.0)
    return likely | {
        fit.ratings[each].name: share for each, share in zip(fit.contenders, shares.tolist(), strict=True)
    }


def _games(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """The games that say something about strength, by who was in which seat: only such can be equal."""
    games: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        if says_something(result):
            first, second = result.pairing.names
            games.setdefault((first, second), []).append(result)
    return games
