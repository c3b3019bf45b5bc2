"""The equations of a large field: the score of each entrant, and of all who moved first, is as expected.

A point is all strengths and, last, the advantage of moving first. Nothing here has a cell for each two
entrants, only for each two that have met. Newton's method finds the likeliest point, each step by
conjugate gradients. Where it is `unsure` how far apart two are, what is expected is an average over a
normal distribution around the point.

Deviations are sampled: strengths are drawn that could be the true ones, by solving the same equations
with noise on the right. Of each entrant's variance, the share that comes from its own games is
known, so only what its opponents' errors add rests on samples.

Not here: which prior there is (`spreads.py`), and what is done with a new game (`fit_sparse.py`).
"""

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from tournament.fit_exact import ELO, PRIOR, figures
from tournament.meetings import Meetings
from tournament.posterior import ADVANTAGE
from tournament.priors import DrawnGames, Prior

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

ROUNDS = 50  # of Newton's method; some five are enough unless the results are absurd
CLOSE = 0.1 / ELO  # a step as small as this is the last
SURE = (ELO / ADVANTAGE) ** 2  # what the prior tells of the advantage, before draws are considered
STEP, SAMPLE = 0.05, 0.005  # the share of the result by which a solution may be off
SOLVING = 500  # steps of a solution; some ten are enough
SAMPLES = (16, 200)  # as many as can be had for …
WORK = 8_000_000  # … so many looks at a pair, which take some seconds
NODES, FINE_NODES = 7, 20  # places at which a normal distribution is looked at
NARROW, NARROW_NODES = 0.25, 3  # the same where all variances are as small as this
SHARPEST = 3**-0.5 / 6  # of a logistic curve: the most that its slope changes with a strength
NOTHING = 1e-4  # of the logarithm of a probability, for each entrant: so little makes no difference


class Equations(Struct, frozen=True):
    """All equations at one point."""

    slope: "Floats"  # what each scored beyond the expected; last, what all who moved first did
    curve: "Floats"  # by how much that falls with its own strength; last, with the advantage
    border: "Floats"  # by how much that falls for each entrant with the advantage
    between: "Floats"  # the part of each pair in the curves of its entrants
    varied: "Floats"  # the same of all games of two in the same seats


class System:
    """The equations of all pairs, for numpy."""

    def __init__(self, meetings: Meetings, *, plain: bool = False) -> None:
        """In a `plain` system moving first is worth nothing."""
        import numpy as np

        self.size = len(meetings.against)
        self.calm = 1.0  # how much less scores vary than if nothing were drawn
        self.unsure: Floats | None = None  # the variance of how far apart two in their seats are
        self.lower: Numbers = np.array(meetings.lower, dtype=np.intp)
        self.higher: Numbers = np.array(meetings.higher, dtype=np.intp)
        count, won, self.draws = figures(meetings)
        self.games = float(count.sum())
        self._room = np.empty(len(count))  # scratch space: new memory takes time
        # Of all games of two in the same seats: the number of the pair; whether the lower moved first, as 1
        # or −1; the weight of the games, and what the lower won of that.
        self._pair, self._ahead, self._count, self._won = _seatings(meetings)
        if plain:
            self._pair, self._ahead = np.arange(len(count)), np.zeros(len(count))
            self._count, self._won = count, won

    def likeliest(self, point: "Floats", prior: Prior) -> "Floats":
        """Maximise the likelihood, starting from this point.

        A whole step that ends before the highest point on its line cannot have gone too far. Any other is
        shortened: `fit_exact.py` says why that goes uphill.
        """
        import numpy as np

        here = self.equations(point, prior)
        for _ in range(ROUNDS):
            step = self.solved(here.slope, here, STEP)
            strengths, advantage = step[:-1], step[-1]
            reach = max(strengths.max(), 0.0) - min(strengths.min(), 0.0) + abs(advantage)
            ahead = point + step
            if reach < CLOSE:
                return ahead
            there = self.equations(ahead, prior)
            if reach > 1 and there.slope @ step < 0:
                ahead = point + step * np.log1p(reach) / reach
                there = self.equations(ahead, prior)
            point, here = ahead, there
        return point

    def equations(self, point: "Floats", prior: Prior) -> Equations:
        import numpy as np

        surprise, varied = self._of_games(point)
        between = self._by_pair(varied)
        border = self._gained(self._by_pair(self._ahead * varied))
        (pull, believed), sure = prior.at(point[:-1]), SURE * self.calm
        slope = np.append(self._gained(self._by_pair(surprise)), self._ahead @ surprise)
        slope -= np.append(pull, sure * point[-1])
        own = self._to(self.lower, between) + self._to(self.higher, between) + believed
        curve = np.append(own, self._ahead**2 @ varied + sure)
        return Equations(slope, curve, border, between, varied)

    def _of_games(self, point: "Floats") -> tuple["Floats", "Floats"]:
        """What the lower won beyond the expected in all games in the same seats, and its variance."""
        import numpy as np

        lead = self._lead(point)
        if self.unsure is None:
            expected = 0.5 + np.tanh(lead / 2) / 2
            return self._won - self._count * expected, self._count * expected * (1 - expected)
        mean, varied = np.zeros(len(lead)), np.zeros(len(lead))
        deviation = np.sqrt(self.unsure)
        for place, weight in _places(NARROW_NODES if self.unsure.max() <= NARROW else NODES):
            expected = 0.5 + np.tanh((lead + place * deviation) / 2) / 2
            mean += weight * expected
            varied += weight * expected * (1 - expected)
        return self._won - self._count * mean, self._count * varied

    def _lead(self, point: "Floats") -> "Floats":
        """How far ahead of the higher the lower is, in each of the seats that the two have had."""
        return (point[self.lower] - point[self.higher])[self._pair] + self._ahead * point[-1]

    def left_out(self, point: "Floats", unsure: "Floats") -> float:
        """How much more likely the games are than a normal distribution around the point makes them seem.

        In theory that is about half the variance of what the logarithm of their likelihood has and a parabola
        does not. Here each pair stands for itself. Parts of a function that belong to different Hermite
        polynomials add up in its variance, and those of the first three make the parabola. Where everybody
        has played much, next to nothing is left.
        """
        import numpy as np

        most = float((self._count**2 * unsure**3).sum()) * SHARPEST**2 / 6  # by the next polynomial alone
        if most < NOTHING * self.size * self.calm**2:
            return 0.0
        lead, deviation = self._lead(point), np.sqrt(unsure)
        square, parts = np.zeros(len(self.lower)), np.zeros((3, len(self.lower)))
        for place, weight in _places(FINE_NODES):
            likely = self._by_pair(self._count * np.logaddexp(0, lead + place * deviation))
            square += weight * likely**2
            for part, polynomial in zip(parts, (1.0, place, (place**2 - 1) / 2**0.5), strict=True):
                part += weight * polynomial * likely
        return float(np.maximum(square - (parts**2).sum(axis=0), 0).sum()) / self.calm**2 / 2

    def look_around(self, here: Equations, sure: float, added: float) -> "Floats":
        """Take what is expected from now on as an average over how far apart two may be; returns variances.

        The variance of a strength is so much more than what its own games and the prior leave. That of a
        lead is about as much as its two entrants have together, and less by as much as all of them have
        in common: how much the games tell of all leads is known from how much they tell of all strengths.
        """
        told = max(self.size - 1 - added * sure * float((1 / here.curve[:-1]).sum()), 0.0)
        apart = 1 / here.curve[self.lower] + 1 / here.curve[self.higher]
        unsure = self.unsure = (self.calm * told / float(here.between @ apart) * apart)[self._pair]
        return unsure

    def solved(self, right: "Floats", here: Equations, missing: float) -> "Floats":
        """Solve information · x = right, by conjugate gradients, each in units of its own curve."""
        import numpy as np

        found = np.zeros_like(right)
        left = right.copy()
        scaled = left / here.curve
        direction = scaled.copy()
        energy = float(left @ scaled)
        enough = missing**2 * energy
        for _ in range(SOLVING):
            if energy <= enough:
                break
            image = here.curve * direction
            image[:-1] -= self._spread(direction, here)
            image[-1] += here.border @ direction[:-1]
            length = energy / float(direction @ image)
            found += length * direction
            left -= length * image
            scaled = left / here.curve
            energy, before = float(left @ scaled), energy
            direction = scaled + energy / before * direction
        return found

    def calm_down(self, point: "Floats") -> None:
        """Take from this point how much less scores vary because of draws: for all, as in `fit_exact.py`."""
        import numpy as np

        prior = float(PRIOR * (1 - np.tanh(point[:-1] / 2) ** 2).sum() / 4)
        decisive = 2 * float(self.equations(point, DrawnGames(PRIOR)).between.sum())
        self.calm = (max(decisive - 2 * float(self.draws.sum()) / 4, 0) + prior) / (decisive + prior)

    def variances(self, here: Equations, sure: float, most: int = SAMPLES[1]) -> "Floats":
        """The variance of each strength relative to their mean, by a normal prior, as if there were no draws.

        Games say nothing of the mean itself. So how unsure it is follows from the prior, and samples have
        none of it: in a few of these it would be off by chance, and the spread would be, too.
        """
        import numpy as np

        random = np.random.default_rng(0)
        curve, own_root, root = here.curve[:-1], sure**0.5, np.sqrt(here.varied)
        others = np.zeros(self.size)  # what opponents' errors add
        samples = self._samples(most)
        for _ in range(samples):
            noise = root * random.standard_normal(len(root))
            mine = own_root * random.standard_normal(self.size)
            drawn = self.solved(self._noise(noise, mine), here, SAMPLE)
            drawn[:-1] -= drawn[:-1].mean()
            others += (self._spread(drawn, here) / curve) ** 2
        passed_on = 1 - sure / curve  # of an error of the mean, by opponents
        return 1 / curve + others / samples - (1 - passed_on**2) / (self.size * sure)

    def plain_variances(self, here: Equations, believed: "Floats", calm: "Floats") -> "Floats":
        """The same in a plain fit.

        It is reduced in the ratio in which samples with the noise that draws leave vary less than samples
        with the noise of no draws.
        """
        import numpy as np

        random = np.random.default_rng(0)
        curve, own_root, root = here.curve[:-1], np.sqrt(believed), np.sqrt(here.varied)
        calmed = (calm[self.lower] * calm[self.higher])[self._pair]
        part = 1 - 1 / self.size  # of a strength, left when the mean is taken off
        others, loud, quiet = (np.zeros(self.size) for _ in range(3))  # what opponents' errors add; the whole
        samples = self._samples(SAMPLES[1])
        for _ in range(samples):
            noise = root * random.standard_normal(len(root))
            mine = own_root * random.standard_normal(self.size)
            drawn = self.solved(self._noise(noise, mine), here, SAMPLE)
            theirs, drawn = self._spread(drawn, here), drawn[:-1]
            others += (part * theirs / curve - (drawn.sum() - drawn) / self.size) ** 2
            loud += (drawn - drawn.mean()) ** 2
            drawn = self.solved(self._noise(noise * calmed, mine * calm**2), here, SAMPLE)[:-1]
            quiet += (drawn - drawn.mean()) ** 2
        return (part**2 / curve + others / samples) * quiet / loud

    def _samples(self, most: int) -> int:
        return min(max(SAMPLES[0], WORK // len(self.lower)), most)

    def _noise(self, of_games: "Floats", of_prior: "Floats") -> "Floats":
        """The noise of each score: what one gains by chance from another, the other loses.

        The prior of the advantage has none: it tells as much as a dozen games.
        """
        import numpy as np

        return np.append(of_prior + self._gained(self._by_pair(of_games)), self._ahead @ of_games)

    def calm_of_each(self, point: "Floats", here: Equations, given: float) -> "Floats":
        """The root of how much less each entrant's scores deviate than if nothing were drawn."""
        import numpy as np

        against = (1 - np.tanh(point[:-1] / 2) ** 2) / 4
        decisive, prior = here.curve[:-1] - given * against, PRIOR * against
        drawn = self._to(self.lower, self.draws) + self._to(self.higher, self.draws)
        return ((np.maximum(decisive - drawn / 4, 0) + prior) / (decisive + prior)) ** 0.25

    def _spread(self, values: "Floats", here: Equations) -> "Floats":
        """What a change of everything else, by these values, adds to each entrant's slope."""
        there = values.take(self.higher, out=self._room, mode="clip")
        there *= here.between
        found = self._to(self.lower, there)
        back = values.take(self.lower, out=self._room, mode="clip")
        back *= here.between
        return found + self._to(self.higher, back) - here.border * values[-1]

    def _gained(self, of_pairs: "Floats") -> "Floats":
        """The sum of what each gains: what the lower of a pair gains, the higher loses."""
        return self._to(self.lower, of_pairs) - self._to(self.higher, of_pairs)

    def _by_pair(self, of_games: "Floats") -> "Floats":
        import numpy as np

        return np.bincount(self._pair, of_games, len(self.lower)).astype(np.float64, copy=False)

    def _to(self, players: "Numbers", values: "Floats") -> "Floats":
        import numpy as np

        return np.bincount(players, values, self.size).astype(np.float64, copy=False)


@cache
def _places(many: int) -> list[tuple[float, float]]:
    """Places on a normal distribution, in deviations, and how much of it each stands for."""
    import numpy as np

    places, weights = np.polynomial.hermite_e.hermegauss(many)
    return [*zip(places.tolist(), (weights / weights.sum()).tolist(), strict=True)]


def _seatings(meetings: Meetings) -> tuple["Numbers", "Floats", "Floats", "Floats"]:
    import numpy as np

    slots = np.flatnonzero(np.array(meetings.played))
    played, different, scored = (
        np.array(each, np.float64)[slots] for each in (meetings.played, meetings.different, meetings.scored)
    )
    turned = slots % 2 == 1
    won = np.where(turned, played - scored / 2, scored / 2)
    return slots // 2, np.where(turned, -1.0, 1.0), different, different / played * won
