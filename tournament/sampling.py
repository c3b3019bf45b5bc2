"""Joint draws from the posterior of `posterior.py`.

At each spread the posterior is nearly normal, and which normal distribution that is can be worked out.
A draw is therefore kept as a spread and a point in the units of its normal distribution. Walks start
from draws of the approximation. Each walk alternately goes a stride at its spread (Hamiltonian Monte
Carlo) and takes a new spread for the same point. As spread and point have little to do with each other,
a dozen strides lead anywhere. Where the games tell so much of everybody that the approximation is as good,
there are no walks.

Chance is seeded by the results, so the same results have the same draws.
"""

from hashlib import blake2b
from itertools import pairwise
from math import exp, log, sqrt
from typing import TYPE_CHECKING

from tournament.fit_exact import ELO
from tournament.posterior import Approximation, Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

STRIDES, FIRST = 12, 2  # strides of each walk, and how many of the first are dropped
STEPS, STEP = 4, 0.45  # steps in a stride, and their length in deviations
FEW, WALKS = 50, 1_000  # walks, at the least and at the most
LOOKS = 3_000  # walks, times the root of the number of pairs: each step has to look at all pairs
PLENTY = 50  # games between equals: of whoever is known as well as by so many, the approximation is as good
MANY = 15_000  # pairs, by who moves first: with more, walks would take up to ten seconds, and nobody walks
USUAL = (170.0, 0.5)  # Elo, and the deviation of its logarithm: the prior of the spread, for draws only
CALMING = 3  # times; more change hardly anything
SELDOM = 1e-4  # spreads less likely than this are not looked at
LEVEL = 0.02  # the least probability of each other spread where walks start


def drawn(model: Model) -> "Floats":
    """Draws from the posterior, a row each: all strengths less their mean, in Elo."""
    import numpy as np

    games = model.games
    seed = blake2b(b"".join(each.tobytes() for each in (games.first, games.second, games.won, games.weight)))
    random = np.random.default_rng([*seed.digest()])
    if games.drawn.any():  # how much less results vary depends a little on how far apart the field is
        for _ in range(CALMING):
            model.calm_down(likely_spread(model.approximations()))
    approximations = likeliest(model.approximations())
    share = np.array([each.share for each in approximations])
    walks = int(max(FEW, min(WALKS, LOOKS / sqrt(model.rows))))
    count = walks * (STRIDES - FIRST)
    if model.told.min() >= PLENTY / 4 or model.rows > MANY:
        spread = random.choice(len(share), count, p=share / share.sum())
        points = placed(approximations, spread, noise(model, count, random))
    else:
        share = np.maximum(share, LEVEL)
        spread = random.choice(len(share), walks, p=share / share.sum())
        points = walked(model, approximations, spread, noise(model, walks, random), random)
    strengths = points[: model.size]
    return (ELO * (strengths - strengths.mean(axis=0))).T


def likely_spread(approximations: list[Approximation]) -> float:
    """The spread for working out how much of the variance draws leave: the mean, pulled to the usual one.

    Otherwise, in a field that says little of its spread, a low one and results that are mostly chance would
    confirm each other: the closer everybody is, the more of what happens is chance.
    """
    weight = [each.share * how_usual(each.spread) for each in approximations]
    logarithms = (log(each.spread) for each in approximations)
    return exp(sum(one * each for one, each in zip(weight, logarithms, strict=True)) / sum(weight))


def how_usual(spread: float) -> float:
    """How likely a spread is by the prior that pulls to the usual one, up to a factor."""
    usual, apart = USUAL
    return exp(-((log(spread * ELO / usual) / apart) ** 2) / 2)


def likeliest(approximations: list[Approximation]) -> list[Approximation]:
    """The approximations at spreads that are not out of the question, and at their neighbours."""
    shares = [each.share for each in approximations]
    near = [max(shares[max(0, at - 1) : at + 2]) for at in range(len(shares))]
    return [each for each, share in zip(approximations, near, strict=True) if share > SELDOM]


def noise(model: Model, count: int, random: "np.random.Generator") -> "Floats":
    return random.standard_normal((model.size + 1, count))


class Units:
    """Points in the units of the normal distribution of each one's spread, and back.

    Those of one spread are side by side, in `order`: slices are several times as fast as picking columns.
    """

    def __init__(self, approximations: list[Approximation], spread: "Numbers") -> None:
        import numpy as np

        self.order = spread.argsort(kind="stable")
        self.spread = spread[self.order]
        ends = np.searchsorted(self.spread, range(len(approximations)), "right").tolist()
        runs = zip(approximations, pairwise((0, *ends)), strict=True)
        self._runs = [(each, slice(first, end)) for each, (first, end) in runs if first < end]
        self._top = np.stack([each.top for each in approximations], axis=1)[:, self.spread]

    def placed(self, at: "Floats") -> "Floats":
        """The points for `at`, which is in these units."""
        import numpy as np

        points = np.empty_like(at)
        for each, mine in self._runs:
            np.matmul(each.root, at[:, mine], out=points[:, mine])
        points += self._top
        return points

    def turned(self, slope: "Floats") -> "Floats":
        """The slope along these units, for the one along the points."""
        import numpy as np

        found = np.empty_like(slope)
        for each, mine in self._runs:
            np.matmul(each.root.T, slope[:, mine], out=found[:, mine])
        return found

    def back(self, columns: "Floats") -> "Floats":
        """These columns as they were before they were put in `order`."""
        import numpy as np

        found = np.empty_like(columns)
        found[:, self.order] = columns
        return found


def placed(approximations: list[Approximation], spread: "Numbers", at: "Floats") -> "Floats":
    """The points for `at`, which is in the units of each spread's normal distribution."""
    units = Units(approximations, spread)
    return units.back(units.placed(at[:, units.order]))


def walked(
    model: Model,
    approximations: list[Approximation],
    spread: "Numbers",
    at: "Floats",
    random: "np.random.Generator",
) -> "Floats":
    """The points to which walks lead that start there."""
    import numpy as np

    kept: list[Floats] = []
    for stride in range(STRIDES):
        likely = np.stack(
            [
                model.density(each.top[:, None] + each.root @ at, each.spread) + each.scale
                for each in approximations
            ]
        )
        if stride == 1:  # from now on, only spreads that a walk may well take
            chance = np.exp(likely - likely.max(axis=0))
            often = (chance / chance.sum(axis=0)).mean(axis=1) > SELDOM
            approximations = [each for each, so in zip(approximations, often, strict=True) if so]
            likely = likely[often]
        # Each sum is the largest with just the probability of its spread.
        spread = (likely + random.gumbel(size=likely.shape)).argmax(axis=0)
        at = strode(model, approximations, spread, at, likely[spread, np.arange(len(spread))], random)
        if stride >= FIRST:
            kept.append(placed(approximations, spread, at))
    return np.concatenate(kept, axis=1)


def strode(
    model: Model,
    approximations: list[Approximation],
    spread: "Numbers",
    at: "Floats",
    likely: "Floats",
    random: "np.random.Generator",
) -> "Floats":
    """A stride of each walk, with its spread unchanged."""
    import numpy as np

    units = Units(approximations, spread)
    at, likely = at[:, units.order], likely[units.order]
    own = np.array([each.spread for each in approximations])[units.spread]
    scale = np.array([each.scale for each in approximations])[units.spread]

    def slope(there: "Floats") -> "Floats":
        return units.turned(model.slope(units.placed(there), own))

    step = STEP * random.uniform(0.7, 1.3)
    speed = random.standard_normal(at.shape)[:, units.order]
    before = likely - (speed**2).sum(axis=0) / 2
    ahead, speed = at, speed + step / 2 * slope(at)
    for last in (*[False] * (STEPS - 1), True):
        ahead = ahead + step * speed
        speed = speed + (step / 2 if last else step) * slope(ahead)
    after = model.density(units.placed(ahead), own) + scale - (speed**2).sum(axis=0) / 2
    goes = np.log(random.random(len(own))[units.order]) < after - before
    return units.back(np.where(goes, ahead, at))
