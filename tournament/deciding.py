"""Deciding who is the best, or who stands where; and which games would decide it soonest.

A claim is that one entrant is at most this many points of Elo (`within`) weaker than another. The
evidence for it is that of a sequential test: how much likelier the results are if the difference is
drawn from a normal distribution above that than if it is exactly there. Such evidence may be looked at
after every game, because a false claim reaches a factor of f only once in f events. All claims that could
be false share the risk that the `confidence` leaves.

That holds for a test of one difference with known variance. Here the difference comes from a fit of all
games, nearly without a prior, and the variance from the same fit. How often the whole is wrong was
therefore simulated (`docs/standings.md`).
"""

from collections.abc import Collection, Sequence
from math import erfc, log, sqrt
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from tournament.constrained import Constrained
from tournament.fit_exact import ELO
from tournament.format import Aim
from tournament.posterior import Games, Model

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file decides nothing
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

FLAT = 1000.0  # Elo: a spread of strengths that pulls hardly anybody towards the mean
LIKELY = 70.0  # Elo: how far beyond `within` a difference is expected to be
APART = 200.0  # Elo: so far ahead, a normal distribution is no good approximation
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
    def both(self) -> tuple[str, str]:
        return self.better, self.worse

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
    times: float  # how many times as many games these take, as far as they may be played, if they go on so

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
        inverse = np.linalg.inv(model.information(point, FLAT / ELO)).astype(np.float64)
        self._covariance: Floats = ELO**2 * inverse
        self._known = self._covariance  # by the results alone, without games to come
        self._constrained = Constrained(model, point, inverse, FLAT / ELO)
        self._narrower: dict[tuple[str, str, float], float] = {}

    def order(self, names: Collection[str]) -> list[str]:
        """The best first."""
        strength: list[float] = self.strength.tolist()
        return sorted(names, key=lambda name: (-round(strength[self.place[name]], DIGITS), name))

    def ahead(self, one: str, other: str) -> float:
        return self.all_ahead(one, (other,))[0]

    def all_ahead(self, one: str, others: Sequence[str]) -> list[float]:
        """How far one is ahead of each of the others."""
        return (self.strength[self.place[one]] - self.strength[self._places(others)]).tolist()

    def variance(self, one: str, other: str) -> float:
        """The variance of the estimated difference between two."""
        return self.variances(one, (other,))[0]

    def variances(self, one: str, others: Sequence[str]) -> list[float]:
        return _variances(self._covariance, self.place[one], self._places(others)).tolist()

    def variances_beyond(self, one: str, others: Sequence[str], within: float) -> list[float]:
        """The variances for judging whether one is weaker than each of the others by no more than `within`.

        An entrant that wins every game is far ahead, nobody knows how far, and each further win says
        less about that. It says as much as ever against the two being equal: so there the variance is
        taken from how much likelier the results are than if the two were equal.
        """
        import numpy as np

        if new := [other for other in others if (one, other, within) not in self._narrower]:
            i, places = self.place[one], self._places(new)
            top = self._model.density(self._point[:, None], FLAT / ELO)
            ratios = top - self._constrained.densities(i, places, within / ELO)
            ahead = self.strength[i] - self.strength[places] + within
            narrower = ahead**2 / np.maximum(2 * ratios, 1e-9) / _variances(self._known, i, places)
            for other, share in zip(new, np.minimum(1.0, narrower).tolist(), strict=True):
                self._narrower[one, other, within] = share
        return [
            variance * self._narrower[one, other, within]
            for other, variance in zip(others, self.variances(one, others), strict=True)
        ]

    def _places(self, names: Sequence[str]) -> "Numbers":
        import numpy as np

        return np.array([self.place[name] for name in names], np.intp)

    def play(self, one: str, other: str) -> None:
        """Become as sure as after two more games between these, with sides swapped."""
        import numpy as np

        i, j, advantage = self.place[one], self.place[other], self._point[-1]
        ahead = self._point[i] - self._point[j]
        for lead in (ahead + advantage, ahead - advantage):
            expected = 1 / (1 + np.exp(-lead))
            certain = expected * (1 - expected) / self._model.calm / ELO**2
            between = self._covariance[i] - self._covariance[j]
            less = np.outer(between, between)
            less *= certain / (1 + certain * (between[i] - between[j]))
            self._covariance = self._covariance - less

    def draws(self, names: Sequence[str], count: int, random: "np.random.Generator") -> "Floats":
        """Strengths that these may have: random draws, a row each."""
        import numpy as np

        chosen = [self.place[name] for name in names]
        root = np.linalg.cholesky(self._covariance[np.ix_(chosen, chosen)])
        return self.strength[chosen] + random.standard_normal((count, len(chosen))) @ root.T


def decision(outlook: Outlook, names: Collection[str], aim: Aim) -> Decision:
    """Who stands where among these, and what of that is still open."""
    order = outlook.order(names)
    places, needed = wanted(len(order), aim), needed_by_each(len(order), aim)
    still = [
        (place, claim)
        for place in range(places)
        for claim in open_claims(outlook, order, place, aim.within, needed)
    ]
    settled = still[0][0] if still else places
    still.sort(key=lambda each: round(each[1].evidence, DIGITS))
    open = tuple([claim for _, claim in still])
    return Decision(tuple(order), places, settled, open, most_times(open))


def open_claims(
    outlook: Outlook, order: Sequence[str], place: int, within: float, needed: float
) -> list[Claim]:
    """The claims that whoever has this place is better than those after it, as far as they are open."""
    better, others = order[place], order[place + 1 :]
    found = [
        Claim(better, worse, evidence(ahead + within, variance), needed, ahead + within, variance)
        for worse, ahead, variance in zip(
            others, outlook.all_ahead(better, others), outlook.variances(better, others), strict=True
        )
    ]
    found = [claim for claim in found if claim.evidence < needed]
    far = [claim.worse for claim in found if claim.ahead > APART]
    beyond = dict(zip(far, outlook.variances_beyond(better, far, within), strict=True))
    return [
        claim for each in found if (claim := _with_variance(each, beyond.get(each.worse))).evidence < needed
    ]


def _with_variance(claim: Claim, variance: float | None) -> Claim:
    if variance is None:
        return claim
    return replace(claim, evidence=evidence(claim.ahead, variance), variance=variance)


def most_times(open: Sequence[Claim]) -> float:
    """How many times as many games the claim takes that takes the most."""
    most = 1.0
    for claim in open:
        if evidence(claim.ahead, claim.variance / most) < claim.needed:
            most = claim.times
    return most


def wanted(entrants: int, aim: Aim) -> int:
    """How many places have to be settled: the last follows from the others, unless there is nobody else."""
    return min(aim.places or entrants, max(entrants - 1, min(entrants, 1)))


def claims(entrants: int, places: int) -> int:
    """How many claims could be false and be made.

    An entrant wrongly put first is put before the best, too: so there are as many claims as others.
    The second place may go wrong before the best of those that are left, and so on.
    """
    return places * (2 * entrants - places - 1) // 2


def needed_by_each(entrants: int, aim: Aim) -> float:
    """The evidence for a claim to be made: all that could be false and be made share the risk."""
    made = claims(entrants, wanted(entrants, aim))
    return log(made / (1 - aim.confidence)) if made else 0.0


def evidence(ahead: float, variance: float) -> float:
    """How much likelier such an estimate is if one really is ahead: a logarithm."""
    z = ahead * LIKELY / sqrt(variance * (variance + LIKELY**2))
    above = log(max(erfc(-z / sqrt(2)), 1e-300))  # twice the share of the normal distribution below z
    return log(variance / (variance + LIKELY**2)) / 2 + z**2 / 2 + above


def _variances(covariance: "Floats", one: int, others: "Numbers") -> "Floats":
    """The variance of the difference between one and each of the others."""
    own = covariance.diagonal()
    return own[one] + own[others] - 2 * covariance[one, others]
