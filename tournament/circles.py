"""Circles: a beats b, b beats c and c beats a, more often than chance allows.

If strength is one number, a circle is luck. So one is shown only where each of its three results is
so unlikely among equals that it is to be expected once in twenty whole fields. What moving first is
worth is taken off.
"""

from math import erfc, sqrt
from typing import TYPE_CHECKING

from tournament.deciding import DIGITS
from tournament.posterior import Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

LUCK = 0.05  # how likely a field without circles is said to have one, at the most
SHOWN = 10  # circles, the surest first

Circle = tuple[str, str, str]


def circles(model: Model) -> list[Circle]:
    """The circles. Each begins with the name that is first in the alphabet; each name beats the next."""
    import numpy as np

    beaten = surprise(model)
    names, size = model.games.names, model.size
    sure = beaten > unlikely(LUCK / max(1, size * (size - 1)))
    found: list[tuple[float, Circle]] = []
    for one in range(size):
        for other in np.flatnonzero(sure[one, one + 1 :]) + one + 1:
            for third in np.flatnonzero(sure[other] & sure[:, one]):
                if third > one:
                    least = min(beaten[one, other], beaten[other, third], beaten[third, one])
                    unsure = round(-float(least), DIGITS)
                    found.append((unsure, (names[one], names[other], names[third])))
    return [circle for _, circle in sorted(found)[:SHOWN]]


def surprise(model: Model) -> "NDArray[np.float64]":
    """How far the row's score against the column is above that of equals, in standard deviations.

    Standard deviations mean little in few games, so one more game is counted, as a draw.
    """
    import numpy as np

    games, size = model.games, model.size
    expected = 1 / (1 + np.exp(-model.advantage))
    ahead, varied = np.zeros((size, size)), np.zeros((size, size))
    np.add.at(ahead, (games.first, games.second), games.won - games.weight * expected)
    np.add.at(varied, (games.first, games.second), games.weight * expected * (1 - expected))
    return (ahead - ahead.T) / np.sqrt((varied + varied.T) * model.calm + 0.25)


def unlikely(chance: float) -> float:
    """The number of standard deviations that is exceeded with that chance."""
    low, high = 0.0, 40.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if erfc(middle / sqrt(2)) / 2 > chance else (low, middle)
    return high
