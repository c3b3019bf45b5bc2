"""A sequential probability ratio test on pairs of games: when to stop, and for which of two hypotheses.

H0 says that the difference in strength is `elo0`, H1 that it is `elo1`. After each
pair the test compares how likely the counts are under either: the generalized
log-likelihood ratio of a multinomial distribution over the five results of a pair
(M. Van den Bergh, "Comments on normalized Elo" and "Comparing the approximations
for the generalized log likelihood ratio of a multinomial distribution"). The
models, the treatment of results that have not been seen, and where the iteration
stops are those of fastchess, so that both tools come to the same figures.

A pair is two games with the sides exchanged; `counts` are of pairs in which the
first program got 0, 0.5, 1, 1.5 and 2 points.
"""

from collections.abc import Callable, Sequence
from math import copysign, inf, isfinite, log, sqrt
from typing import Literal

from msgspec import Struct

Counts = Sequence[int]
Model = Literal["normalized", "logistic"]
State = Literal["H0", "H1", "open"]

SCORES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a pair, a game of two being worth one half
NELO = 800 / log(10)  # normalised Elo for each standard deviation of a game's result
UNSEEN = 1e-3  # the count of a result that has not been seen: the logarithm of zero is of no use
CLOSE = 1e-4  # a fit is at rest when no probability changes by more …
ITERATIONS = 10  # … which takes two to four rounds
NUDGE = 0.1  # times the square of the interval: how far beyond the straight line the root is looked for
WITHIN_LOGISTIC = 1e-3  # of a root: a finer one would differ from fastchess in the third digit
WITHIN_NORMALISED = 1e-7
FINE = 0.01  # times the least share: where that makes it finer still, the fit would be far off otherwise
FARTHEST = 200.0  # normalised Elo: beyond about 230 the iteration has no solution to begin with


class BadTest(ValueError):
    """Bounds or error rates that no test can have. The message is for whoever asked for the test."""


class Sprt(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A test: its hypotheses, and how often it may be wrong where H0 (`alpha`) or H1 (`beta`) is true."""

    elo0: float
    elo1: float
    alpha: float = 0.05
    beta: float = 0.05
    model: Model = "normalized"

    def __post_init__(self) -> None:
        for name, value in (("elo0", self.elo0), ("elo1", self.elo1)):
            most = FARTHEST if self.model == "normalized" else 2 * FARTHEST
            if not (isfinite(value) and abs(value) <= most):
                raise BadTest(f"{name} has to lie between {-most:g} and {most:g}, and is {value:g}")
        if self.elo0 >= self.elo1:
            raise BadTest(f"elo0 has to be less than elo1, and is {self.elo0:g} with elo1 {self.elo1:g}")
        for name, value in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0 < value < 1:
                raise BadTest(f"{name} has to lie between 0 and 1, and is {value:g}")
        if self.alpha + self.beta >= 1:
            both = self.alpha + self.beta
            raise BadTest(f"alpha and beta have to add up to less than 1, and add up to {both:g}")

    @property
    def lower(self) -> float:
        """The ratio at or below which H0 is accepted."""
        return log(self.beta / (1 - self.alpha))

    @property
    def upper(self) -> float:
        """The ratio at or above which H1 is accepted."""
        return log((1 - self.beta) / self.alpha)

    def ratio(self, counts: Counts) -> float:
        """The log-likelihood ratio; positive if the counts speak for H1. Zero without any."""
        if not any(counts):
            return 0.0
        pairs, seen = shares(counts)
        fit = at_normalised if self.model == "normalized" else at_logistic
        under0, under1 = fit(seen, self.elo0), fit(seen, self.elo1)
        return pairs * sum(p * log(q1 / q0) for p, q0, q1 in zip(seen, under0, under1, strict=True))

    def state(self, ratio: float) -> State:
        return "H1" if ratio >= self.upper else "H0" if ratio <= self.lower else "open"


def shares(counts: Counts) -> tuple[float, list[float]]:
    """How many pairs there are and the share of each result, `UNSEEN` for one that has not been seen."""
    weights = [count or UNSEEN for count in counts]
    total = sum(weights)
    return total, [weight / total for weight in weights]


def at_logistic(seen: Sequence[float], elo: float) -> list[float]:
    """The likeliest distribution whose expected score is that of `elo`."""
    return at_score(seen, 1 / (1 + 10 ** (-elo / 400)))


def at_score(seen: Sequence[float], score: float) -> list[float]:
    """The likeliest distribution with that expected score, which lies between 0 and 1."""
    return _tilted(seen, [each - score for each in SCORES], WITHIN_LOGISTIC)


def at_normalised(seen: Sequence[float], nelo: float) -> list[float]:
    """The likeliest distribution whose mean lies `nelo` from one half, in terms of its own deviation."""
    target = sqrt(2) * nelo / NELO  # of a pair: its deviation is smaller than that of a game by √2
    fitted = [1 / len(SCORES)] * len(SCORES)
    for _ in range(ITERATIONS):
        mean, deviation = moments(fitted)
        pulls = [
            score - 0.5 - target * deviation * (1 + ((score - mean) / deviation) ** 2) / 2 for score in SCORES
        ]
        before, fitted = fitted, _tilted(seen, pulls, WITHIN_NORMALISED, FINE * min(seen))
        if max(abs(new - old) for new, old in zip(fitted, before, strict=True)) < CLOSE:
            break
    return fitted


def moments(shares: Sequence[float]) -> tuple[float, float]:
    """The mean and the standard deviation of a pair's score."""
    mean = sum(share * score for share, score in zip(shares, SCORES, strict=True))
    variance = sum(share * (score - mean) ** 2 for share, score in zip(shares, SCORES, strict=True))
    return mean, sqrt(variance)


def _tilted(seen: Sequence[float], pulls: Sequence[float], within: float, fine: float = inf) -> list[float]:
    """The likeliest distribution under which the expected pull is zero; some pull either way."""

    def expected(tilt: float) -> float:
        return sum(share * pull / (1 + tilt * pull) for share, pull in zip(seen, pulls, strict=True))

    tilt = _root(expected, -1 / max(pulls), -1 / min(pulls), within, fine)
    return [share / (1 + tilt * pull) for share, pull in zip(seen, pulls, strict=True)]


def _root(falling: Callable[[float], float], low: float, high: float, within: float, fine: float) -> float:
    """The zero of a function that falls from +∞ at `low` to -∞ at `high`.

    Each step looks where the straight line between the ends crosses zero, moved somewhat towards the
    middle, so that both ends come nearer (I. Oliveira and R. Takahashi, "An enhancement of the bisection
    method average performance preserving minmax optimality"). Beyond `within` halves are taken.
    """
    above, below = inf, -inf
    while high - low > 2 * within:
        middle, line = (low + high) / 2, (above * high - below * low) / (above - below)
        nudge = NUDGE * (high - low) ** 2
        at = middle  # while an end is infinite `line` is NaN, and no comparison with it holds
        if abs(middle - line) >= nudge:
            at = line + copysign(nudge, middle - line)
        value = falling(at)
        if value > 0:
            low, above = at, value
        elif value < 0:
            high, below = at, value
        else:
            return at
    while high - low > 2 * fine and low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
