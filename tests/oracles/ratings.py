"""Ratings by logistic regression: the model of `tournament/ratings.py`, computed in another way.

A row for all games of two entrants in the same seats, with 1 for seat 0 and −1 for seat 1; and a row
for each entrant's drawn games against somebody average, with 1 for the entrant. Strengths are fitted to
the rows in hundreds of small steps, by a bound on the curvature that is the same everywhere, and errors
are followed from each row to all strengths. It takes time with the square of the field for each row,
and shares nothing with the host but the shape of what it returns.
"""

from collections.abc import Iterable
from math import log
from statistics import NormalDist
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.format import Result
from tournament.ratings import Rating

if TYPE_CHECKING:  # numpy has to wait until `tournament/ratings.py` has told it to start no threads
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

PRIOR = 1.0  # drawn games against somebody average, before it is known how many games are drawn
ELO = 400 / log(10)
NORMAL = NormalDist().inv_cdf(0.975)
STEPS, CLOSE = 100_000, 1e-13  # units of the logistic curve: a step as small as this is the last


class Fit(Struct, frozen=True):
    """Everybody who has played, in the order of their first game, and how their errors are correlated."""

    prior: float = PRIOR
    ratings: tuple[Rating, ...] = ()
    covariance: tuple[tuple[float, ...], ...] = ()  # Elo²; rows and columns in the order of the ratings


def bradley_terry(results: Iterable[Result]) -> Fit:
    import numpy as np

    seatings = dict[tuple[str, str], list[Result]]()
    for result in results:
        if result.played and result.score != (0, 0) and result.pairing.second is not None:
            seatings.setdefault((result.pairing.first, result.pairing.second), []).append(result)
    names = [*dict.fromkeys(name for pair in seatings for name in pair)]
    if not names:
        return Fit()
    games = np.array([_added_up(each) for each in seatings.values()])
    repeated, count = games[:, 0] - games[:, 1], games[:, 1]
    design = np.array([[(name == pair[0]) - (name == pair[1]) for name in names] for pair in seatings], float)
    field = Regression(design, count, *(games[:, 1] / games[:, 0] * games[:, 2:].T))

    prior = PRIOR * field.calm(field.strengths(PRIOR))
    strengths = field.strengths(prior)
    ratings = ELO * (strengths - strengths.mean())
    errors = ELO * field.errors(strengths, prior)
    covariance = errors @ errors.T
    reach = NORMAL * np.sqrt(covariance.diagonal())
    taking_part = abs(design).T
    columns = (ratings, ratings - reach, ratings + reach, taking_part @ count, taking_part @ repeated)
    return Fit(
        float(prior),
        tuple(
            Rating(name, rating, (low, high), round(different), round(repeats))
            for name, rating, low, high, different, repeats in zip(
                names, *(column.tolist() for column in columns), strict=True
            )
        ),
        tuple(map(tuple, covariance.tolist())),
    )


def _added_up(games: list[Result]) -> tuple[int, int, float, int]:
    """Of games in the same seats: how many, how many that differ, the points of seat 0, and the draws."""
    known = [(game.digest, game.score) for game in games if game.digest]
    scores = [game.score[0] for game in games]
    return len(games), len(games) - len(known) + len({*known}), sum(scores), scores.count(0.5)


class Regression:
    """Of each row of the design: how many games it is worth, what its seat 0 won, and what was drawn."""

    def __init__(self, design: "Floats", count: "Floats", won: "Floats", drawn: "Floats") -> None:
        import numpy as np

        self._design, self._count, self._won, self._drawn = design, count, won, drawn
        self._rows = np.vstack((design, np.eye(design.shape[1])))  # those of the prior last

    def strengths(self, prior: float) -> "Floats":
        """Climb the likelihood with the prior to its top.

        A game's curvature is p (1 − p), nowhere more than a quarter: a step that takes it for a quarter
        everywhere cannot go too far.
        """
        import numpy as np

        rows, count = self._rows, self._with_prior(self._count, prior)
        won = self._with_prior(self._won, prior / 2)
        step_for = np.linalg.inv(rows.T @ (rows * count[:, None]) / 4)
        found = np.zeros(rows.shape[1])
        for _ in range(STEPS):
            step = step_for @ (rows.T @ (won - count * _expected(rows @ found)))
            found += step
            if abs(step).max() < CLOSE:
                return found
        raise RuntimeError(f"expected to be at the top of the likelihood after {STEPS} steps, and was not")

    def calm(self, strengths: "Floats") -> float:
        """The variance of all scores, as a share of what it would be if nothing were drawn."""
        varied, drawn, sure = self._of_each(strengths)
        return (max(varied.sum() - drawn.sum() / 4, 0) + sure.sum()) / (varied.sum() + sure.sum())

    def errors(self, strengths: "Floats", prior: float) -> "Floats":
        """How far chance in each row moves everybody's strength relative to the mean: a standard deviation.

        Scores vary less where games are drawn. How much less is taken from all games of those who play in
        a row, because one row has few.
        """
        import numpy as np

        rows, count = self._rows, self._with_prior(self._count, prior)
        expected = _expected(rows @ strengths)
        variance = count * expected * (1 - expected)
        varied, drawn, sure = self._of_each(strengths)
        calm = (np.maximum(varied - drawn / 4, 0) + sure) / (varied + sure)
        part = abs(rows) / abs(rows).sum(axis=1, keepdims=True)  # two have half of a row each
        moved = np.linalg.solve(rows.T @ (rows * variance[:, None]), rows.T)
        return (moved - moved.mean(axis=0)) * np.sqrt(variance * np.exp(part @ np.log(calm)))

    def _with_prior(self, of_games: "Floats", of_prior: float) -> "Floats":
        """Of all rows: what there is of each row of games, and of each of the prior."""
        import numpy as np

        return np.append(of_games, np.full(self._rows.shape[1], of_prior))

    def _of_each(self, strengths: "Floats") -> tuple["Floats", "Floats", "Floats"]:
        """By how much everybody's score varies if nothing is drawn; what was drawn; what the prior adds."""
        expected, taking_part = _expected(self._design @ strengths), abs(self._design).T
        average = _expected(strengths)
        varied = taking_part @ (self._count * expected * (1 - expected))
        return varied, taking_part @ self._drawn, PRIOR * average * (1 - average)


def _expected(ahead: "Floats") -> "Floats":
    """The score, in one game, of whoever is ahead by so much."""
    import numpy as np

    return 1 / (1 + np.exp(-ahead))
