"""How likely results are if one entrant were weaker than another by just so much: for many pairs at once.

For each pair this is the top of the density among the points that are so. It differs from the top of all
mostly in these two. So it is sought by conjugate gradients, in units of what is known at the top of all:
some ten steps are enough, none of them solves a system of equations, and they are taken for many pairs
together.
"""

from typing import TYPE_CHECKING

from tournament.posterior import Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

STEPS = 500  # at the most: only results that are absurd take so many
CLOSE = 1e-10  # a logarithm: when another step would gain no more, that was the last
LEAST = 1e-30  # what is divided by is never zero
CELLS = 100_000  # pairs times rows of games that are looked at together: they stay in a processor's cache


class Constrained:
    def __init__(self, model: Model, top: "Floats", covariance: "Floats", spread: float) -> None:
        """The top is the likeliest point of all; the covariance, the inverse of the information there."""
        self._model = model
        self._top = top
        self._covariance = covariance
        self._spread = spread

    def densities(self, one: int, others: "Numbers", behind: float) -> "Floats":
        """The greatest density at which one is weaker by just so much, for each of the others."""
        import numpy as np

        together = max(1, CELLS // max(1, self._model.rows))
        pieces = (others[start : start + together] for start in range(0, len(others), together))
        tops = [self._model.density(self._tops(one, each, behind), self._spread) for each in pieces]
        return np.concatenate(tops) if tops else np.zeros(0)

    def _tops(self, one: int, others: "Numbers", behind: float) -> "Floats":
        """For each of the others a column: the likeliest point of those at which it is so."""
        import numpy as np

        model, column = self._model, np.arange(len(others))
        # How much each moves where the two move apart, and how far these do
        moved = self._covariance[:, [one]] - self._covariance[:, others]
        apart = moved[one] - moved[others, column]
        points = self._top[:, None] - moved * ((self._top[one] - self._top[others] + behind) / apart)
        slope = direction = np.zeros_like(points)
        gain = np.ones(len(others))
        for _ in range(STEPS):
            before, last = slope, gain
            slope, expected = model.slope_and_expected(points, self._spread)
            uphill = self._covariance @ slope
            uphill -= moved * ((uphill[one] - uphill[others, column]) / apart)  # the two stay as far apart
            gain = _products(slope, uphill)
            if not (rising := gain > CLOSE).any():
                break
            kept = np.maximum((gain - _products(before, uphill)) / np.maximum(last, CLOSE), 0)
            direction = rising * (uphill + direction * kept)
            curve = np.maximum(model.curve(expected, direction, self._spread), LEAST)
            length = _products(slope, direction) / curve
            reach = np.maximum(3 * np.abs(direction).max(axis=0) * np.abs(length), LEAST)
            # `fit_exact.py` says why that goes uphill.
            points += direction * (length * np.log1p(reach) / reach)
        return points


def _products(some: "Floats", others: "Floats") -> "Floats":
    """The product of each column with the other of the same number."""
    import numpy as np

    return np.einsum("ij,ij->j", some, others)
