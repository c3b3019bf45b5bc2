"""Skill: ratings for a ladder, which change match by match.

Weng and Lin's Bayesian approximation of the Plackett–Luce model, for two
players ("A Bayesian Approximation Method for Online Ranking", 2011). An
entrant's strength is believed to be normally distributed around `mu` with standard
deviation `sigma`. A match changes both, and less so the more is known. The order of
the matches matters, and old matches fade: that suits an endless ladder, whose bots
improve.
For a tournament that ends, see `ratings.py`.
"""

from collections.abc import Iterable
from math import exp, log, sqrt

from msgspec import Struct

from tournament.format import Entrant, Result

MU = 25.0  # of a newcomer, as is usual for this model
SIGMA = MU / 3  # of a newcomer: almost everybody is believed to be above 0
BETA = SIGMA / 2  # how much luck there is in one match
TAU = SIGMA / 100  # what `sigma` gains before each match: bots change
ELO = 400 / log(10) / (sqrt(2) * BETA)  # the Elo that 1 of `mu` is worth between two who are well known
LEAST = 0.0001  # the least share of the variance that a match leaves


class Skill(Struct, frozen=True):
    """What is believed of an entrant."""

    mu: float = MU
    sigma: float = SIGMA

    @property
    def conservative(self) -> float:
        """The least strength that it almost certainly has, by which a ladder ranks. A newcomer has 0."""
        return self.mu - 3 * self.sigma


def in_elo(figure: float) -> float:
    """A figure of this scale as Elo above a newcomer."""
    return (figure - MU) * ELO


NEW = Skill()  # what is believed of a newcomer


def says_something(result: Result) -> bool:
    """Whether a result says anything about strength."""
    return result.pairing.second is not None and result.played and result.score != (0, 0)


def skills(entrants: Iterable[Entrant], results: Iterable[Result]) -> dict[str, Skill]:
    """What is believed of each entrant after these results, in their order.

    Byes, matches that were not played, and those that both sides lost change nothing.
    """
    believed = {entrant.name: Skill() for entrant in entrants}
    for result in results:
        if says_something(result):
            first, second = result.pairing.names
            believed[first], believed[second] = after(believed[first], believed[second], result.score[0])
    return believed


def after(first: Skill, second: Skill, score: float) -> tuple[Skill, Skill]:
    """What is believed of two after a match in which the first scored 1, ½ or 0."""
    variances = first.sigma**2 + TAU**2, second.sigma**2 + TAU**2
    spread = sqrt(sum(variances) + 2 * BETA**2)
    expected = 1 / (1 + exp((second.mu - first.mu) / spread))
    surprise = score - expected
    return (
        _moved(first.mu, variances[0], spread, surprise, expected),
        _moved(second.mu, variances[1], spread, -surprise, expected),
    )


def _moved(mu: float, variance: float, spread: float, surprise: float, expected: float) -> Skill:
    learnt = (sqrt(variance) / spread) ** 3 * expected * (1 - expected)
    return Skill(mu + variance / spread * surprise, sqrt(variance * max(1 - learnt, LEAST)))
