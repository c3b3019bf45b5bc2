"""Joint draws from the posterior of `posterior.py`.

At each spread the posterior is nearly normal, and which normal distribution that is can be worked out.
A draw is therefore kept as a spread and a point in the units of its normal distribution. Walks start
from draws of the approximation. By turns each goes a stride at its spread (Hamiltonian Monte Carlo) and
takes a new spread for the same point: as spread and point have little to do with each other, a dozen
strides lead anywhere. Where there are so many games that the approximation is as good, it is all.

Chance is seeded by the results, so the same results have the same draws.
"""

from hashlib import blake2b
from math import exp, log, sqrt
from typing import TYPE_CHECKING

from tournament.fit_exact import ELO
from tournament.posterior import Approximation, Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

STRIDES, FIRST = 12, 2  # strides of each walk, of which the first are not kept
STEPS, STEP = 4, 0.45  # in a stride; in deviations
FEW, WALKS = 50, 1_000  # at the least and at the most
LOOKS = 3_000  # walks, divided by the root of the number of pairs: each step has to look at all pairs
PLENTY = 100  # games for each on average: the approximation is as good as walks
USUAL = (170.0, 0.5)  # Elo, and the deviation of its logarithm: by these the spread is likely for draws
CALMING = 3  # times; more change nothing to speak of
SELDOM = 1e-4  # how unlikely a spread is that is not looked at
LEVEL = 0.02  # how likely each other one is at the least where walks start


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
    if 2 * games.weight.sum() >= PLENTY * model.size:
        spread = random.choice(len(share), count, p=share / share.sum())
        points = placed(approximations, spread, noise(model, count, random))
    else:
        share = np.maximum(share, LEVEL)
        spread = random.choice(len(share), walks, p=share / share.sum())
        points = walked(model, approximations, spread, noise(model, walks, random), random)
    strengths = points[: model.size]
    return (ELO * (strengths - strengths.mean(axis=0))).T


def likely_spread(approximations: list[Approximation]) -> float:
    """The spread by which it is found how much of the variance draws leave: the mean, drawn to the usual one.

    Otherwise, in a field that says little of its spread, a low one and results that are mostly chance would
    confirm each other: the closer everybody is, the more of what happens is chance.
    """
    usual, apart = USUAL
    weight = [
        each.share * exp(-((log(each.spread * ELO / usual) / apart) ** 2) / 2) for each in approximations
    ]
    logarithms = (log(each.spread) for each in approximations)
    return exp(sum(one * each for one, each in zip(weight, logarithms, strict=True)) / sum(weight))


def likeliest(approximations: list[Approximation]) -> list[Approximation]:
    """Those of spreads that are not out of the question, and their neighbours."""
    shares = [each.share for each in approximations]
    near = [max(shares[max(0, at - 1) : at + 2]) for at in range(len(shares))]
    return [each for each, share in zip(approximations, near, strict=True) if share > SELDOM]


def noise(model: Model, count: int, random: "np.random.Generator") -> "Floats":
    return random.standard_normal((model.size + 1, count))


def placed(approximations: list[Approximation], spread: "Numbers", at: "Floats") -> "Floats":
    """The points that are meant."""
    import numpy as np

    points = np.empty_like(at)
    for number, each in enumerate(approximations):
        mine = spread == number
        points[:, mine] = each.top[:, None] + each.root @ at[:, mine]
    return points


def walked(
    model: Model,
    approximations: list[Approximation],
    spread: "Numbers",
    at: "Floats",
    random: "np.random.Generator",
) -> "Floats":
    """Where walks from there come to."""
    import numpy as np

    kept: list[Floats] = []
    for stride in range(STRIDES):
        likely = np.stack(
            [
                model.density(each.top[:, None] + each.root @ at, each.spread) + each.scale
                for each in approximations
            ]
        )
        if stride == 1:  # from now on only those that somebody may well take
            chance = np.exp(likely - likely.max(axis=0))
            often = (chance / chance.sum(axis=0)).mean(axis=1) > SELDOM
            approximations = [each for each, so in zip(approximations, often, strict=True) if so]
            likely = likely[often]
        # The largest of these sums is each with the probability that belongs to it.
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
    """A stride of each walk, whose spread stays as it is."""
    import numpy as np

    own = np.array([each.spread for each in approximations])[spread]
    scale = np.array([each.scale for each in approximations])[spread]

    def slope(there: "Floats") -> "Floats":
        of_points = model.slope(placed(approximations, spread, there), own)
        found = np.empty_like(there)
        for number, each in enumerate(approximations):
            mine = spread == number
            found[:, mine] = each.root.T @ of_points[:, mine]
        return found

    step = STEP * random.uniform(0.7, 1.3)
    speed = random.standard_normal(at.shape)
    before = likely - (speed**2).sum(axis=0) / 2
    ahead, speed = at, speed + step / 2 * slope(at)
    for last in (*[False] * (STEPS - 1), True):
        ahead = ahead + step * speed
        speed = speed + (step / 2 if last else step) * slope(ahead)
    after = model.density(placed(approximations, spread, ahead), own) + scale - (speed**2).sum(axis=0) / 2
    return np.where(np.log(random.random(len(own))) < after - before, ahead, at)
