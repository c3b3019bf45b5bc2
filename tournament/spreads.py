"""How far apart a large field is, and how strong everybody in it is where that is not known.

The model is that of `posterior.py`. At each of several spreads there is a normal distribution that is close
to the posterior: its middle is where each score is as expected, on average over that distribution. To take
what is expected in the middle alone would make fields with few games look much closer together than they
are. How likely a spread is follows from the strengths at all of them: its logarithm rises with the spread for
as long as strengths are further apart than the spread says. What a normal distribution leaves out is added.

Everything is worked out anew from the games alone, so it does not matter what was fitted before.
"""

from math import exp, log
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.equations import Equations, System
from tournament.fit_exact import ELO
from tournament.posterior import SPREADS, WIDE, calmed
from tournament.priors import Normal
from tournament.sampling import CALMING, USUAL, how_usual

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FEW, ENOUGH = (2, 64), 32_000  # samples of the variances at a spread: as many as look at so many pairs
LOOKS, CLOSE = 8, 0.5 / ELO  # at one spread: the most, and the step that is the last
SETTLED = 0.003  # the share by which the effect of draws still changes when it is settled
UNLIKELY = 8.0  # how much less the logarithm of a probability is than the greatest, where the search ends
FINE = 20  # steps from one spread to the next in which probabilities are added up


class Field(Struct, frozen=True):
    """What is inferred of a large field."""

    point: "Floats"  # with a mean strength of 0
    variance: "Floats"  # of each strength
    curve: "Floats"  # by how much what each scored beyond the expected falls with its strength
    spread: float


class Fitted(Struct, frozen=True):
    """The normal distribution at one spread."""

    point: "Floats"
    unsure: "Floats"  # as in the system
    here: Equations
    # The logarithm of the spread's probability is the sum of two parts:
    rise: float  # how fast one grows with the logarithm of the spread
    left_out: float  # the other: what the normal distribution does not say of the games


def inferred(system: System) -> Field:
    """The strengths of everybody and the advantage of moving first, averaged over all spreads."""
    import numpy as np

    spreads = np.geomspace(SPREADS[0] / ELO, SPREADS[1] / ELO, SPREADS[2]).tolist()
    known, shares = _settled(system, spreads)
    likeliest = max(shares, key=shares.__getitem__)
    here, curve = known[likeliest].here, known[likeliest].here.curve[:-1]
    added = system.calm * curve * system.variances(here, system.calm / spreads[likeliest] ** 2)
    points = {at: _centred(known[at].point) for at in shares}
    point = sum((share * points[at] for at, share in shares.items()), np.zeros(system.size + 1))
    variance = sum(
        (
            share * (added / known[at].here.curve[:-1] + (points[at] - point)[:-1] ** 2)
            for at, share in shares.items()
        ),
        np.zeros(system.size),
    )
    return Field(point, variance, curve, exp(sum(share * log(spreads[at]) for at, share in shares.items())))


def _settled(system: System, spreads: list[float]) -> tuple[dict[int, Fitted], dict[int, float]]:
    """The field at each spread that is not out of the question, by its number; and how likely each is.

    How much less scores vary because of draws depends a little on how far apart the field is, and the other
    way round.
    """
    drawn = float(system.draws.sum())
    system.calm = calmed(system.games / 4, drawn)
    known: dict[int, Fitted] = {}
    start = min(range(len(spreads)), key=lambda at: abs(log(spreads[at] * ELO / USUAL[0])))
    left = CALMING
    while True:
        known = _searched(system, spreads, start, known)
        shares = _shares(spreads, known)
        calm = calmed(_varied(spreads, known, shares), drawn)
        if not left or abs(calm - system.calm) < SETTLED * calm:
            return known, shares
        left, system.calm = left - 1, calm
        start = max(shares, key=shares.__getitem__)


def _searched(
    system: System, spreads: list[float], start: int, known: dict[int, Fitted]
) -> dict[int, Fitted]:
    """The field at each spread that may be likely, found from what was known of it before."""
    found = {start: _at(system, spreads[start], known.get(start))}
    likely = {start: 0.0}
    for way in (-1, 1):
        before, at = start, start + way
        while 0 <= at < len(spreads) and likely[before] > max(likely.values()) - UNLIKELY:
            found[at] = _at(system, spreads[at], known.get(at) or found[before])
            rise = (found[before].rise + found[at].rise) / 2
            more = found[at].left_out - found[before].left_out
            likely[at] = likely[before] + rise * log(spreads[at] / spreads[before]) + more
            before, at = at, at + way
    return found


def _at(system: System, spread: float, near: Fitted | None) -> Fitted:
    """The field at one spread, found from what is near it."""
    import numpy as np

    normal = Normal(system.calm / spread**2)
    point = np.zeros(system.size + 1) if near is None else near.point
    system.unsure = None if near is None else near.unsure
    samples = max(FEW[0], min(ENOUGH // len(system.lower), FEW[1]))
    left = LOOKS
    while True:
        left -= 1
        before, point = point, system.likeliest(point, normal)
        here = system.equations(point, normal)
        variance = system.variances(here, normal.sure, most=samples)
        unsure = system.look_around(here, normal.sure, float((variance * here.curve[:-1]).mean()))
        if not left or np.abs(point - before).max() < CLOSE:
            break
    strengths = point[:-1] - point[:-1].mean()
    apart = float((strengths**2).sum() + system.calm * variance.sum())
    # Without the mean there is one strength less, and one less again, because steps are of the logarithm.
    rise = apart / spread**2 - (system.size - 2) - (spread * ELO / WIDE) ** 2
    return Fitted(point, unsure, here, rise, system.left_out(point, unsure))


def _shares(spreads: list[float], known: dict[int, Fitted]) -> dict[int, float]:
    """How likely each spread is. What lies between two is divided between these, by how near it is."""
    import numpy as np

    places = sorted(known)
    fine = np.linspace(0, len(places) - 1, FINE * (len(places) - 1) + 1)
    along = np.interp(fine, range(len(places)), [log(spreads[at]) for at in places])
    rise = np.interp(fine, range(len(places)), [known[at].rise for at in places])
    likely = np.append(0.0, np.cumsum((rise[1:] + rise[:-1]) / 2 * np.diff(along)))
    likely += np.interp(fine, range(len(places)), [known[at].left_out for at in places])
    chance = np.exp(likely - likely.max())
    chance /= chance.sum()
    near = (np.maximum(1 - np.abs(fine - number), 0) for number in range(len(places)))
    return {at: float(chance @ each) for at, each in zip(places, near, strict=True)}


def _varied(spreads: list[float], known: dict[int, Fitted], shares: dict[int, float]) -> float:
    """How much scores would vary if nothing were drawn, at spreads that are pulled to the usual one.

    `likely_spread` in `sampling.py` says why they are.
    """
    weight = {at: share * how_usual(spreads[at]) for at, share in shares.items()}
    varied = sum(weight[at] * float(known[at].here.between.sum()) for at in weight)
    return varied / sum(weight.values())


def _centred(point: "Floats") -> "Floats":
    """The point with a mean strength of 0."""
    import numpy as np

    return point - np.append(np.full(len(point) - 1, point[:-1].mean()), 0.0)
