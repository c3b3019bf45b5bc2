"""Deciding who is the best, or who stands where; and which games would decide it soonest.

A claim is that one entrant is at most so many points of Elo (`within`) weaker than another. The
evidence for it is that of a sequential test: how much likelier the results are if the difference is
drawn from a normal distribution above that than if it is exactly there. Such evidence may be looked at
after every game, for a false claim reaches a factor of f only once in f events. All claims that could be
false share the risk that the `confidence` leaves.

That holds for a test of one difference with known variance. Here the difference comes from a fit of all
games, nearly without a prior, and the variance from the same fit. How often the whole is wrong was
therefore simulated (`docs/standings.md`).
"""

from collections.abc import Collection, Sequence
from math import erfc, log, sqrt
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.fit_exact import ELO
from tournament.format import Aim
from tournament.posterior import Games, Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file decides nothing
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FLAT = 1000.0  # Elo: a spread of strengths that pulls hardly anybody towards the mean
LIKELY = 70.0  # Elo: how far beyond `within` a difference is expected to be
APART = 200.0  # Elo: so far ahead, a normal distribution is no good approximation
STEPS, CLOSE = 50, 1e-4  # of Newton's method; units of the logistic curve
FAR = 1e6  # times as many games as there were: nobody looks further ahead
DIGITS = 6  # of figures that are compared: machines differ in the last ones, and all have to draw the same
EACH = 200  # matches for each entrant, where no number is given: no event goes on for ever


class Claim(Struct, frozen=True):
    """The claim that one is better than the other, or weaker by no more than the terms say."""

    better: str
    worse: str
    evidence: float  # a logarithm
    needed: float
    ahead: float  # Elo, including those that count as equal
    variance: float  # of `ahead`

    @property
    def times(self) -> float:
        """How many times as many games the claim takes, if they go on as they went."""
        low, high = 1.0, FAR
        while high / low > 1.01:
            middle = sqrt(low * high)
            enough = evidence(self.ahead, self.variance / middle) >= self.needed
            low, high = (low, middle) if enough else (middle, high)
        return high


class Decision(Struct, frozen=True):
    """What is known after some games."""

    order: tuple[str, ...]  # the best first, of those who can still have a place
    places: int  # to be settled
    settled: int  # places settled, from the first on
    open: tuple[Claim, ...]  # claims that cannot be made yet, the one with the least evidence first

    @property
    def decided(self) -> bool:
        return bool(self.order) and self.settled == self.places


class Outlook:
    """Estimates of everybody's strength, and how sure they are; games to come can be taken into account."""

    def __init__(self, games: Games) -> None:
        import numpy as np

        model = Model(games)
        self.names = games.names
        self.place = {name: place for place, name in enumerate(games.names)}
        point = model.likeliest(model.start, FLAT / ELO)
        self._model, self._point = model, point
        self.strength: Floats = ELO * (point[: model.size] - point[: model.size].sum() / max(1, model.size))
        inverse = np.linalg.inv(model.information(point, FLAT / ELO))
        self._covariance: Floats = (ELO**2 * inverse).astype(np.float64)
        self._narrower: dict[tuple[str, str, float], float] = {}

    def order(self, names: Collection[str]) -> list[str]:
        """The best first."""
        strength: list[float] = self.strength.tolist()
        return sorted(names, key=lambda name: (-round(strength[self.place[name]], DIGITS), name))

    def ahead(self, one: str, other: str) -> float:
        return float(self.strength[self.place[one]] - self.strength[self.place[other]])

    def variance(self, one: str, other: str) -> float:
        """The variance of the estimated difference between two."""
        of, i, j = self._covariance, self.place[one], self.place[other]
        return float(of[i, i] + of[j, j] - 2 * of[i, j])

    def variance_beyond(self, one: str, other: str, within: float) -> float:
        """The variance for judging whether one is weaker than the other by no more than `within`.

        An entrant that wins every game is far ahead, nobody knows how far, and each further win says
        less about that. It says as much as ever against the two being equal: so there the variance is
        taken from how much likelier the results are than if the two were equal.
        """
        key = one, other, within
        if key not in self._narrower:
            ahead, variance = self.ahead(one, other) + within, self.variance(one, other)
            ratio = self._likelier(self.place[one], self.place[other], within / ELO)
            self._narrower[key] = min(1.0, ahead**2 / max(2 * ratio, 1e-9) / variance)
        return self.variance(one, other) * self._narrower[key]

    def _likelier(self, i: int, j: int, within: float) -> float:
        """How much likelier the results are (a logarithm) than if i were weaker than j by just `within`."""
        import numpy as np

        model, spread = self._model, FLAT / ELO
        between = np.zeros(model.size + 1)
        between[i], between[j] = 1.0, -1.0
        reach = self._covariance @ between
        point = self._point - reach / (between @ reach) * (self._point[i] - self._point[j] + within)
        for _ in range(STEPS):
            slope, information = model.newton(point, spread)
            solved = np.linalg.solve(information, np.stack((slope, between), axis=1))
            step = solved[:, 0] - solved[:, 1] * (between @ solved[:, 0]) / (between @ solved[:, 1])
            most = float(np.abs(step).max())
            if most < CLOSE:
                break
            point = point + step * np.log1p(3 * most) / (3 * most)
        there, here = model.density(np.stack((point, self._point), axis=1), spread).tolist()
        return here - there

    def play(self, one: str, other: str) -> None:
        """Become as sure as after two more games between these, with sides swapped."""
        import numpy as np

        i, j, advantage = self.place[one], self.place[other], self._point[-1]
        ahead = self._point[i] - self._point[j]
        for lead in (ahead + advantage, ahead - advantage):
            expected = 1 / (1 + np.exp(-lead))
            certain = expected * (1 - expected) / self._model.calm / ELO**2
            between = self._covariance[i] - self._covariance[j]
            self._covariance = self._covariance - np.outer(between, between) * (
                certain / (1 + certain * (between[i] - between[j]))
            )

    def draws(self, names: Sequence[str], count: int, random: "np.random.Generator") -> "Floats":
        """Strengths that these may have: random draws, a row each."""
        import numpy as np

        chosen = [self.place[name] for name in names]
        root = np.linalg.cholesky(self._covariance[np.ix_(chosen, chosen)])
        return self.strength[chosen] + random.standard_normal((count, len(chosen))) @ root.T


def decision(outlook: Outlook, names: Collection[str], aim: Aim) -> Decision:
    """Who stands where among these, and what of that is still open."""
    order = outlook.order(names)
    places = wanted(len(order), aim)
    needed = log(made / (1 - aim.confidence)) if (made := claims(len(order), places)) else 0.0
    still: list[Claim] = []
    settled = places
    for place, better in enumerate(order[:places]):
        for worse in order[place + 1 :]:
            ahead = outlook.ahead(better, worse) + aim.within
            variance = outlook.variance(better, worse)
            found = evidence(ahead, variance)
            if found < needed and ahead > APART:
                variance = outlook.variance_beyond(better, worse, aim.within)
                found = evidence(ahead, variance)
            if found < needed:
                settled = min(settled, place)
                still.append(Claim(better, worse, found, needed, ahead, variance))
    return Decision(
        tuple(order), places, settled, tuple(sorted(still, key=lambda claim: round(claim.evidence, DIGITS)))
    )


def wanted(entrants: int, aim: Aim) -> int:
    """How many places have to be settled: the last follows from the others, unless there is nobody else."""
    return min(aim.places or entrants, max(entrants - 1, min(entrants, 1)))


def claims(entrants: int, places: int) -> int:
    """How many claims could be false and be made.

    An entrant wrongly put first is put before the best, too: so there are as many claims as others.
    The second place may go wrong before the best of those that are left, and so on.
    """
    return sum(entrants - place for place in range(1, places + 1))


def evidence(ahead: float, variance: float) -> float:
    """How much likelier such an estimate is if one really is ahead: a logarithm."""
    z = ahead * LIKELY / sqrt(variance * (variance + LIKELY**2))
    above = log(max(erfc(-z / sqrt(2)), 1e-300))  # twice the share of the normal distribution below z
    return log(variance / (variance + LIKELY**2)) / 2 + z**2 / 2 + above
