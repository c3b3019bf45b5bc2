"""Ratings by matrices: the same model as `tournament/ratings.py`, fitted to all entrants at once.

Each pair has its cell, so it takes time with the cube of the field, and is obvious: the fit of the
host has to find the same.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.format import Result
from tournament.ratings import ELO, NORMAL, PRIOR, Rating

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ROUNDS = 200
CLOSE = 1e-9


class Fit(Struct, frozen=True):
    """Everybody who has played, in the order of their first game, and how their errors are correlated."""

    prior: float = PRIOR  # drawn games against somebody average that each was given
    ratings: tuple[Rating, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()  # Elo²; rows and columns in the order of the ratings


def bradley_terry(results: Iterable[Result]) -> Fit:
    """The ratings of all who have played.

    What was not played, byes, and matches that both sides lost say nothing of
    strength and are passed over. Where a pair has played k games in the same
    seats and m of them differ, each weighs m / k: all of them speak for the
    score, and together they are worth m games.
    """
    import numpy as np

    groups = _games(results)
    index: dict[str, int] = {}
    for first, second in groups:
        index.setdefault(first, len(index))
        index.setdefault(second, len(index))
    if not index:
        return Fit()
    size = len(index)
    played, different, scored, drawn = ([0.0] * size**2 for _ in range(4))
    for (first, second), games in groups.items():
        cell = index[first] * size + index[second]
        played[cell] += len(games)
        digests = [game.digest for game in games if game.digest]
        different[cell] += len(games) - len(digests) + len(set(digests))
        for game in games:
            score = game.score[0]
            scored[cell] += score
            drawn[cell] += score == 0.5
    return _fit(tuple(index), np.array((played, different, scored, drawn)).reshape(4, size, size))


def _fit(names: tuple[str, ...], seats: "Floats") -> Fit:
    """Fit `seats`: games, different games, points and draws of the row (seat 0) against the column."""
    import numpy as np

    played, different, scored, drawn = seats
    weight = different / np.maximum(played, 1)
    won = weight * scored + (weight * (played - scored)).T
    count = different + different.T
    draws = weight * drawn + (weight * drawn).T
    strength = _strengths(np.zeros(len(names)), won, count, PRIOR)
    calm = float(_calm(strength, count, draws, None))
    strength = _strengths(strength, won, count, PRIOR * calm)
    covariance = ELO**2 * _covariance(strength, count, draws, calm)
    rating = ELO * (strength - strength.mean())
    reach = NORMAL * np.sqrt(covariance.diagonal())
    repeated = played - different + (played - different).T
    columns = (rating, rating - reach, rating + reach, count.sum(axis=1), repeated.sum(axis=1))
    ratings = (
        Rating(name, middle, (low, high), int(games), int(repeats))
        for name, middle, low, high, games, repeats in zip(names, *(c.tolist() for c in columns), strict=True)
    )
    return Fit(PRIOR * calm, tuple(ratings), tuple(map(tuple, covariance.tolist())))


def _games(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """The games that say something about strength, by who was in which seat: only such can be equal."""
    games: dict[tuple[str, str], list[Result]] = {}
    for result in results:
        first, second = result.pairing.first, result.pairing.second
        if second is not None and result.played and result.score != (0, 0):
            games.setdefault((first, second), []).append(result)
    return games


def _strengths(start: "Floats", won: "Floats", count: "Floats", prior: float) -> "Floats":
    """Maximise the likelihood with the prior: Newton's method, its steps shortened so that it cannot fail.

    The curvature of a logistic likelihood grows by at most e**d where a
    difference of strengths changes by d. So a step that changes none by more
    than `reach` still goes uphill all the way after log(1 + reach) / reach of it.
    """
    import numpy as np

    strength = start
    for _ in range(ROUNDS):
        between, against = _variances(strength, count)
        surprise = (won - count * _expected(strength)).sum(axis=1)
        slope: Floats = surprise - prior * np.tanh(strength / 2) / 2
        step = np.linalg.solve(_information(between, prior * against), slope)
        reach = max(step.max(), 0.0) - min(step.min(), 0.0)
        if reach < CLOSE:
            break
        strength = strength + step * np.log1p(reach) / reach
    return strength


def _calm(strength: "Floats", count: "Floats", draws: "Floats", axis: int | None) -> "Floats":
    """How much less scores vary than if nothing were drawn: of each (axis 1), or of all together (None).

    A game's score varies by p (1 − p), less a quarter of the chance of a draw.
    A game of the prior counts as one that was not drawn: nothing is certain.
    """
    import numpy as np

    between, against = _variances(strength, count)
    decisive, prior = between.sum(axis=axis), np.sum(PRIOR * against[:, None], axis=axis)
    return (np.maximum(decisive - draws.sum(axis=axis) / 4, 0) + prior) / (decisive + prior)


def _covariance(strength: "Floats", count: "Floats", draws: "Floats", calm: float) -> "Floats":
    """The covariance of the strengths minus their mean.

    It is the inverse of the information, corrected for draws: they are worth
    half a win in the estimate, and vary less. How much less is taken from each
    entrant's own draws, for some may be drawish and some not.
    """
    import numpy as np

    between, against = _variances(strength, count)
    prior = PRIOR * calm * against
    each = _calm(strength, count, draws, 1)
    inverse = np.linalg.inv(_information(between, prior))
    inverse -= inverse.mean(axis=0)
    return inverse @ _information(between * np.sqrt(np.outer(each, each)), prior * each) @ inverse.T


def _expected(strength: "Floats") -> "Floats":
    """The score that the row is expected to make against the column in one game."""
    import numpy as np

    return 0.5 + np.tanh((strength[:, None] - strength) / 2) / 2


def _variances(strength: "Floats", count: "Floats") -> tuple["Floats", "Floats"]:
    """Of each pair's scores, and of each entrant's in one game of the prior, as if there were no draws."""
    import numpy as np

    expected = _expected(strength)
    return count * expected * (1 - expected), 0.25 / np.cosh(strength / 2) ** 2


def _information(between: "Floats", prior: "Floats") -> "Floats":
    """The variance of everybody's score, jointly: what one gains from another the other loses."""
    import numpy as np

    return np.eye(len(between)) * (between.sum(axis=1) + prior) - between
