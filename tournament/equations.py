"""The equations of a large field, one for each entrant: its score equals its expected score.

Nothing here has a cell for each two entrants, only for each two that have met. Newton's method finds the
strengths, each step by conjugate gradients.

Deviations are sampled: strengths are drawn that could be the true ones, by solving the same equations
with noise on the right. Of each entrant's variance, the share that comes from its own games is
known, so only what its opponents' errors add rests on samples.

Not here: which prior there is, and what is done with a new game (`fit_sparse.py`).
"""

from typing import TYPE_CHECKING

from tournament.fit_exact import ELO, PRIOR, figures
from tournament.meetings import Meetings

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

ROUNDS = 50  # of Newton's method; some five are enough unless the results are absurd
CLOSE = 0.1 / ELO  # a step as small as this is the last
STEP, SAMPLE = 0.05, 0.005  # the share of the result by which a solution may be off
SOLVING = 500  # steps of a solution; some ten are enough
SAMPLES = (16, 200)  # as many as can be had for …
WORK = 8_000_000  # … so many looks at a pair, which take some seconds


class System:
    """The equations of all pairs, for numpy."""

    def __init__(self, meetings: Meetings) -> None:
        import numpy as np

        self.size = len(meetings.against)
        self.lower: Numbers = np.array(meetings.lower, dtype=np.intp)
        self.higher: Numbers = np.array(meetings.higher, dtype=np.intp)
        self.count, self.won, self.draws = figures(meetings)
        self._room = np.empty(len(self.count))  # scratch space: new memory takes time

    def likeliest(self, strength: "Floats", prior: float) -> "Floats":
        """Maximise the likelihood with the prior, starting from these strengths.

        A whole step that ends before the highest point on its line cannot have gone too far. Any other is
        shortened: `fit_exact.py` says why that goes uphill.
        """
        import numpy as np

        here = self.equations(strength, prior)
        for _ in range(ROUNDS):
            slope, curve, between = here
            step = self.solved(slope, between, curve, STEP)
            reach = max(step.max(), 0.0) - min(step.min(), 0.0)
            ahead = strength + step
            if reach < CLOSE:
                return ahead
            there = self.equations(ahead, prior)
            if reach > 1 and there[0] @ step < 0:
                ahead = strength + step * np.log1p(reach) / reach
                there = self.equations(ahead, prior)
            strength, here = ahead, there
        return strength

    def equations(self, strength: "Floats", prior: float) -> tuple["Floats", "Floats", "Floats"]:
        """What each scored beyond the expected, how fast that falls, and the part of each pair in that."""
        import numpy as np

        expected = 0.5 + np.tanh((strength[self.lower] - strength[self.higher]) / 2) / 2
        surprise = self.won - self.count * expected
        between = self.count * expected * (1 - expected)
        slope = self._to(self.lower, surprise) - self._to(self.higher, surprise)
        curve = self._to(self.lower, between) + self._to(self.higher, between)
        half = np.tanh(strength / 2)
        return slope - prior * half / 2, curve + prior * (1 - half**2) / 4, between

    def solved(self, right: "Floats", between: "Floats", curve: "Floats", missing: float) -> "Floats":
        """Solve information · x = right, by conjugate gradients, each in units of its own curve."""
        import numpy as np

        found = np.zeros(self.size)
        left = right.copy()
        scaled = left / curve
        direction = scaled.copy()
        energy = float(left @ scaled)
        enough = missing**2 * energy
        for _ in range(SOLVING):
            if energy <= enough:
                break
            image = curve * direction - self._spread(direction, between)
            length = energy / float(direction @ image)
            found += length * direction
            left -= length * image
            scaled = left / curve
            energy, before = float(left @ scaled), energy
            direction = scaled + energy / before * direction
        return found

    def calm(self, strength: "Floats") -> float:
        """How much less scores vary than if nothing were drawn: for all together, as in `fit_exact.py`."""
        import numpy as np

        between = self.equations(strength, PRIOR)[2]
        prior = float(PRIOR * (1 - np.tanh(strength / 2) ** 2).sum() / 4)
        decisive = 2 * float(between.sum())
        return (max(decisive - 2 * float(self.draws.sum()) / 4, 0) + prior) / (decisive + prior)

    def variances(self, strength: "Floats", between: "Floats", curve: "Floats", prior: float) -> "Floats":
        """The variance of each strength relative to their mean.

        It is worked out as if there were no draws, and then reduced in the ratio in which samples
        with the noise that draws leave vary less than samples with the noise of no draws.
        """
        import numpy as np

        random = np.random.default_rng(0)
        against = (1 - np.tanh(strength / 2) ** 2) / 4
        root, own_root = np.sqrt(between), np.sqrt(prior * against)
        calm = self._calm_of_each(curve - prior * against, PRIOR * against) ** 0.25
        calm_pairs = calm[self.lower] * calm[self.higher]
        part = 1 - 1 / self.size  # of a strength, left when the mean is taken off
        others, loud, quiet = (np.zeros(self.size) for _ in range(3))  # what opponents' errors add; the whole
        least, most = SAMPLES
        samples = min(max(least, WORK // len(between)), most)
        for _ in range(samples):
            noise, mine = root * random.standard_normal(len(root)), random.standard_normal(self.size)
            mine *= own_root
            drawn = self.solved(self._noise(noise, mine), between, curve, SAMPLE)
            theirs = self._spread(drawn, between)
            others += (part * theirs / curve - (drawn.sum() - drawn) / self.size) ** 2
            loud += (drawn - drawn.mean()) ** 2
            calmed = self._noise(noise * calm_pairs, mine * calm**2)
            drawn = self.solved(calmed, between, curve, SAMPLE)
            quiet += (drawn - drawn.mean()) ** 2
        return (part**2 / curve + others / samples) * quiet / loud

    def _noise(self, of_pairs: "Floats", of_prior: "Floats") -> "Floats":
        """The noise of each score: what one gains by chance from another, the other loses."""
        return of_prior + self._to(self.lower, of_pairs) - self._to(self.higher, of_pairs)

    def _calm_of_each(self, decisive: "Floats", prior: "Floats") -> "Floats":
        """How much less each entrant's scores vary than if nothing were drawn."""
        import numpy as np

        drawn = self._to(self.lower, self.draws) + self._to(self.higher, self.draws)
        return (np.maximum(decisive - drawn / 4, 0) + prior) / (decisive + prior)

    def _spread(self, values: "Floats", between: "Floats") -> "Floats":
        """The sum of each entrant's opponents' values, weighted by `between`."""
        import numpy as np

        there = np.take(values, self.higher, out=self._room, mode="clip")
        there *= between
        found = self._to(self.lower, there)
        back = np.take(values, self.lower, out=self._room, mode="clip")
        back *= between
        return found + self._to(self.higher, back)

    def _to(self, players: "Numbers", values: "Floats") -> "Floats":
        import numpy as np

        return np.bincount(players, values, self.size).astype(np.float64, copy=False)
