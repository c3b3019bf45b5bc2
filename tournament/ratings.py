"""Ratings: one Bradley–Terry fit of all that was played, with 95 % intervals.

The model: against b, a is expected to score 1 / (1 + 10 ** ((b − a) / 400)), and a
draw is half a win. Every entrant is also given a drawn game against somebody of
average strength, or less than one if most games are drawn. So an entrant that has
won everything, or has met only part of the field, has a finite rating too.
Ratings are in Elo and the mean of the field is 0: only differences mean
something. `docs/standings.md` says what the figures are worth.

Not here: points and tie-breaks (`standings.py`), the ladder's ratings that
change match by match (`skill.py`).
"""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.format import Result

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Shared out over threads, matrices as small as these gain nothing, and on a busy machine the threads wait
# for each other for up to seconds, with the host standing still. numpy reads this when it is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ELO = 173.71779276130073  # 400 / ln 10: Elo points to a unit of the logistic curve
PRIOR = 1.0  # drawn games against somebody average, given to each: chosen by the coverage of intervals
NORMAL = 1.959963984540054  # standard deviations either side of the mean that hold 95 %
ROUNDS = 200  # of Newton's method; some ten are enough unless the results are absurd
CLOSE = 1e-9  # units of the logistic curve: a step as small as this is the last
SAMPLES = 10_000  # of the joint distribution: P(first) is right to within one percentage point


class Rating(Struct, frozen=True):
    """How strong, in Elo above the mean of the field; `interval` holds the truth 95 times in 100."""

    name: str
    rating: float
    interval: tuple[float, float]
    games: int  # different ones: this is what the interval rests on
    duplicates: int  # games that repeat an earlier one move by move


class Fit(Struct, frozen=True):
    """Everybody who has played, in the order of their first game, and how the errors hang together."""

    prior: float = PRIOR  # drawn games against somebody average that each was given
    ratings: tuple[Rating, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()  # Elo²; rows and columns in the order of the ratings


def duplicates(results: Iterable[Result]) -> list[tuple[Result, Result]]:
    """Every game that repeats an earlier one move by move, with that one: same seats, at least one move."""
    found: list[tuple[Result, Result]] = []
    for games in _games(results).values():
        first: dict[bytes, Result] = {}
        again = ((game, first.setdefault(game.digest, game)) for game in games if game.digest)
        found += (pair for pair in again if pair[0] is not pair[1])
    return found


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
    """From games, different games, points and draws of the row in seat 0 against the column in seat 1."""
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


def probability_first(fit: Fit, seed: int = 0) -> dict[str, float]:
    """How likely each of the rated is the strongest of them, by sampling: the same fit gives the same."""
    import numpy as np

    if not fit.ratings:
        return {}
    covariance = np.array(fit.covariance)
    # The mean is known, so the covariance is singular. An error that all share changes nobody's place.
    root = np.linalg.cholesky(covariance + float(covariance.diagonal().max()))
    sampled = np.random.default_rng(seed).standard_normal((SAMPLES, len(root))) @ root.T
    best = (sampled + [rating.rating for rating in fit.ratings]).argmax(axis=1)
    shares = np.bincount(best, minlength=len(root)) / SAMPLES
    return {rating.name: share for rating, share in zip(fit.ratings, shares.tolist(), strict=True)}


def _games(results: Iterable[Result]) -> dict[tuple[str, str], list[Result]]:
    """What says something of strength, by the two seats: only these can be equal."""
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
    """Of the strengths less their mean.

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
    """Of the scores of each pair, and of each entrant in one game of the prior, were nothing drawn."""
    import numpy as np

    expected = _expected(strength)
    return count * expected * (1 - expected), 0.25 / np.cosh(strength / 2) ** 2


def _information(between: "Floats", prior: "Floats") -> "Floats":
    """The variance of everybody's score, jointly: what one gains from another the other loses."""
    import numpy as np

    return np.eye(len(between)) * (between.sum(axis=1) + prior) - between
