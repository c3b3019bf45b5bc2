"""How far two programs are apart, by the results of pairs: Elo with its interval, LOS, normalised Elo.

A pair is two games from one opening with the sides exchanged. Its result is one
of five, and the pairs are independent of each other, which the two games of a
pair are not: whom an opening favours, it favours once each way. So intervals over
pairs are narrower than those over games, by as much as openings decide.

The figures are those of fastchess where there are enough pairs for a normal distribution.
With fewer, a normal distribution claims too much: after ten pairs against a much weaker
program its interval holds the truth six times in ten, and after one pair it has no width
at all. There the interval and the LOS are those of the likelihood ratio, which claims a little
too much of few results and is taken for less: the interval holds the truth 93 to 100 times in
100 however few pairs there are, and at least 91 times where moving first is worth more than 400 Elo.
"""

from math import copysign, erf, inf, log, log10, sqrt

from msgspec import Struct

from tournament.sprt import NELO, Counts, at_logistic, moments, shares

MOST = 1200.0  # Elo, "or more": 99.9 % of the points; hardly any match is long enough to tell more
ENOUGH = 10  # pairs that differ from the commonest result, for a normal distribution
CAUTION = 1.25  # by so much less than its logarithm says few results are taken to mean
NORMAL = 1.959963984540054  # standard deviations on both sides that hold 95 % of a normal distribution
HALVINGS = 40  # of 1200 Elo: down to where nobody sees a difference


class Strength(Struct, frozen=True):
    """The strength of the first program against the second; ±`MOST` stand for that much or more."""

    elo: float
    interval: tuple[float, float]  # holds the true difference 95 times in 100
    los: float  # the likelihood of superiority: that the first is the stronger
    nelo: float  # normalised Elo: the difference in terms of the deviation, which draws make smaller


UNKNOWN = Strength(0.0, (-MOST, MOST), 0.5, 0.0)


def strength(counts: Counts) -> Strength:
    """The strength by counts of pairs in which the first program got 0, 0.5, 1, 1.5 and 2 points."""
    pairs = sum(counts)
    if not pairs:
        return UNKNOWN
    mean, deviation = moments([count / pairs for count in counts])
    elo = elo_of(mean)
    nelo = _bounded(_ratio(mean - 0.5, sqrt(2) * deviation) * NELO)
    if pairs - max(counts) < ENOUGH:
        interval = _end(counts, elo, -MOST), _end(counts, elo, MOST)
        return Strength(elo, interval, _likelihood_los(counts), nelo)
    error = deviation / sqrt(pairs)
    interval = elo_of(mean - NORMAL * error), elo_of(mean + NORMAL * error)
    return Strength(elo, interval, _normal((mean - 0.5) / error), nelo)


def elo_of(score: float) -> float:
    """The difference in Elo at which that score, from 0 to 1, is expected."""
    if score <= 0 or score >= 1:
        return copysign(MOST, score - 0.5)
    return _bounded(-400 * log10(1 / score - 1))


def _end(counts: Counts, elo: float, far: float) -> float:
    """Where the interval ends on the side of `far`: beyond it, the counts are too unlikely."""
    near = elo
    if _deviations(counts, far) <= NORMAL:
        return far
    for _ in range(HALVINGS):
        middle = (near + far) / 2
        if _deviations(counts, middle) <= NORMAL:
            near = middle
        else:
            far = middle
    return near


def _likelihood_los(counts: Counts) -> float:
    """LOS by the signed root of the likelihood ratio, which is nearly normal however few pairs there are."""
    _, seen = shares(counts)
    return _normal(copysign(_deviations(counts, 0.0), moments(seen)[0] - 0.5))


def _deviations(counts: Counts, elo: float) -> float:
    """How surprising the counts are if `elo` is the truth, in deviations of a normal distribution.

    That is the root of twice the logarithm of how much likelier they are by themselves.
    """
    pairs, seen = shares(counts)
    under = at_logistic(seen, elo)
    likelier = pairs * sum(p * log(p / q) for p, q in zip(seen, under, strict=True))
    return sqrt(max(0.0, 2 * likelier / CAUTION))


def _normal(deviations: float) -> float:
    """The share of a normal distribution that lies below."""
    return (1 + erf(deviations / sqrt(2))) / 2


def _ratio(difference: float, deviation: float) -> float:
    if not deviation:
        return copysign(inf, difference) if difference else 0.0
    return difference / deviation


def _bounded(elo: float) -> float:
    return max(-MOST, min(MOST, elo))
