"""What the likelihoods of a win, a draw and a loss add up to, where draws make them powers.

A game's likelihood is raised to the power 1 / φ (`posterior.py`). Such powers do not add up to one, and to
more between equals than where one is far ahead. Taken as they are, they make a field with few games for
each seem closer than it is.
"""

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NODES = 7  # places at which a normal distribution is looked at
TWICE = 2.0  # with this power, a game says as much as two that cannot be drawn


def added_up(lead: "Floats", unsure: "Floats", calm: float) -> "Floats":
    """The logarithm of what the outcomes of one game add up to, up to a constant, where `calm` is φ.

    Each lead is averaged over a normal distribution with the variance `unsure`. A draw counts for as much as
    leaves the share φ of the variance between equals. From the power 2 on, a game is taken for pairs of
    games that cannot be drawn, whose outcomes add up to the same for all leads.
    """
    import numpy as np

    power, found = 1 / calm, np.zeros(len(lead))
    if not 1 < power < TWICE:
        return found
    deviation = np.sqrt(unsure)
    for place, weight in places(NODES):
        ahead = np.abs(lead + place * deviation)
        found += weight * (_sums(ahead, power) - power * _sums(ahead, 1.0))
    return found


def _sums(ahead: "Floats", power: float) -> "Floats":
    """The logarithm of what `exp(power * (score - 1/2) * ahead)` adds up to over all scores."""
    import numpy as np

    far = ahead * (power / 2)
    less = np.exp(-far)
    return far + np.log((1 + less**2) / 2 + (power - 1) * less)


@cache
def places(many: int) -> list[tuple[float, float]]:
    """Places on a normal distribution, in deviations, and how much of it each stands for."""
    import numpy as np

    found, weights = np.polynomial.hermite_e.hermegauss(many)
    return [*zip(found.tolist(), (weights / weights.sum()).tolist(), strict=True)]
