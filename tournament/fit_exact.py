"""The fit of a small field, by matrices with a cell for each pair: exact, and with all covariances.

`ratings.py` says what the model is. `fit_sparse.py` does the same for large fields.
"""

from typing import TYPE_CHECKING

from tournament.meetings import Meetings

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ELO = 173.71779276130073  # 400 / ln 10: Elo points to a unit of the logistic curve
PRIOR = 1.0  # drawn games against an average opponent, given to each: chosen by the coverage of intervals
ROUNDS = 200  # of Newton's method; some ten are enough unless the results are absurd
CLOSE = 1e-9  # units of the logistic curve: a step as small as this is the last


def fitted(meetings: Meetings) -> tuple["Floats", "Floats", float]:
    """The strengths, the covariance of the strengths minus their mean, and the prior."""
    import numpy as np

    size = len(meetings.against)
    lower, higher = np.array(meetings.lower), np.array(meetings.higher)
    games, points, drawn = figures(meetings)
    won, count, draws = (np.zeros((size, size)) for _ in range(3))
    won[lower, higher], won[higher, lower] = points, games - points
    count[lower, higher] = count[higher, lower] = games
    draws[lower, higher] = draws[higher, lower] = drawn
    strength = _strengths(np.zeros(size), won, count, PRIOR)
    calm = float(_calm(strength, count, draws, None))
    strength = _strengths(strength, won, count, PRIOR * calm)
    return strength, _covariance(strength, count, draws, calm), PRIOR * calm


def figures(meetings: Meetings) -> tuple["Floats", "Floats", "Floats"]:
    """For each pair: its weight, what the lower won of that, and what was drawn."""
    import numpy as np

    played, different, drawn = (
        np.array(each, dtype=np.float64).reshape(-1, 2)
        for each in (meetings.played, meetings.different, meetings.drawn)
    )
    draws = (different / np.maximum(played, 1) * drawn).sum(axis=1)
    return np.array(meetings.count), np.array(meetings.won), draws


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
    """How much less scores vary than if nothing were drawn: for each (axis 1), or for all together (None).

    A game's score varies by p (1 − p), less a quarter of the chance of a draw.
    A game of the prior counts as one that was not drawn: nothing is certain.
    """
    import numpy as np

    between, against = _variances(strength, count)
    decisive, prior = between.sum(axis=axis), np.sum(PRIOR * against[:, None], axis=axis)
    return (np.maximum(decisive - draws.sum(axis=axis) / 4, 0) + prior) / (decisive + prior)


def _covariance(strength: "Floats", count: "Floats", draws: "Floats", calm: float) -> "Floats":
    """The covariance of the strengths minus their mean.

    It is the inverse of the information, corrected for draws: they are worth half a win in the
    estimate, and vary less. How much less is taken from each entrant's own draws, because some
    entrants may be drawish and some not.
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
    """Variances of each pair's scores, and of each entrant's in one game of the prior, ignoring draws."""
    import numpy as np

    expected = _expected(strength)
    return count * expected * (1 - expected), 0.25 / np.cosh(strength / 2) ** 2


def _information(between: "Floats", prior: "Floats") -> "Floats":
    """The variance of everybody's score, jointly: what one gains from another the other loses."""
    import numpy as np

    return np.eye(len(between)) * (between.sum(axis=1) + prior) - between
