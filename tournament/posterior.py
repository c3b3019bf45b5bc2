"""How strong everybody seems to be: joint draws from all that a field's results leave possible.

The model is the same for every format. Whoever is d points of Elo stronger is expected to score
1 / (1 + 10 ** (−d / 400)), where d includes an advantage for moving first that is estimated with
the strengths. Draws do not change what is expected, only how much results vary: a game's
likelihood is raised to the power 1 / φ, where φ is the share of the variance that draws leave.
Strengths are normally distributed around the mean of the field. How widely is not known:
beforehand, spreads up to some 200 Elo are about equally likely, and larger ones less so (one half
of a normal distribution).

`sampling.py` draws from it. `docs/standings.md` says what the figures are worth. Fields too large
for this: `fit_sparse.py`.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from tournament.fit_exact import ELO
from tournament.meetings import Meetings

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Numbers = NDArray[np.intp]

SPREADS = (10.0, 800.0, 18)  # Elo: the least and the greatest spread of strengths, and how many are tried
WIDE = 300.0  # Elo: the deviation of the normal distribution whose one half is the prior of spreads
FIRST_SPREAD = 150.0  # Elo: at which the share of the variance that draws leave is worked out at first
ADVANTAGE = 100.0  # Elo: the standard deviation of the prior of what moving first is worth
HALF = 0.25  # a variance counted in: that of one game that cannot be drawn, for fields with no others
ROUNDS, CLOSE = 100, 1e-6  # of Newton's method; units of the logistic curve: the last step


class Games(Struct, frozen=True):
    """The games of a field, a row for each two that met in the same seats; both by place among the names."""

    names: tuple[str, ...]  # in alphabetical order, so that the order of games changes nothing
    first: "Numbers"
    second: "Numbers"
    weight: "Floats"  # different games
    won: "Floats"  # what the first won of that weight
    drawn: "Floats"

    @property
    def size(self) -> int:
        return len(self.names)


def games_of(meetings: Meetings, names: Iterable[str] = ()) -> Games:
    """The games of these meetings, in a field to which the `names` belong, too."""
    import numpy as np

    names = sorted({*meetings.numbers, *names})
    at = {name: number for number, name in enumerate(names)}
    place = np.array([at[name] for name in meetings.numbers], np.intp)
    lower, higher = place[np.array(meetings.lower, np.intp)], place[np.array(meetings.higher, np.intp)]
    first, second = np.stack((lower, higher), 1).ravel(), np.stack((higher, lower), 1).ravel()
    played, different, scored, drawn = (
        np.array(each, np.float64)
        for each in (meetings.played, meetings.different, meetings.scored, meetings.drawn)
    )
    share = different / np.maximum(played, 1)
    order = np.lexsort((second, first))
    rows = order[played[order] > 0]
    return Games(
        tuple(names),
        first[rows],
        second[rows],
        different[rows],
        (share * scored / 2)[rows],
        (share * drawn)[rows],
    )


class Approximation(Struct, frozen=True):
    """The normal distribution that approximates the posterior at one spread."""

    spread: float
    share: float  # how likely the spread is, if the approximation were exact
    top: "Floats"
    root: "Floats"  # of the covariance
    scale: float  # the logarithm of the root's determinant


class Model:
    """What is likely, given the games. A point is all strengths and, last, the advantage of moving first."""

    def __init__(self, games: Games) -> None:
        import numpy as np

        self.games = games
        self.size = games.size
        self.rows = len(games.weight)
        self._by_first = _Sums(games.first, games.size)
        self._by_second = _Sums(games.second, games.size)
        self.calm = 1.0  # φ
        self.start = np.zeros(self.size + 1)  # a point that is not far from the likeliest
        for _ in range(2):
            self.calm_down(FIRST_SPREAD / ELO)

    @property
    def advantage(self) -> float:
        """What moving first is worth, at the likeliest point."""
        return float(self.start[self.size])

    @property
    def told(self) -> "Floats":
        """What each one's own games tell of its strength: a game between equals tells a quarter."""
        import numpy as np

        games, expected = self.games, self._expected(self.start[:, None])[:, 0]
        told = games.weight * expected * (1 - expected) / self.calm
        both = np.bincount(games.first, told, self.size) + np.bincount(games.second, told, self.size)
        return both.astype(np.float64)

    def calm_down(self, spread: float) -> None:
        """Take φ from what is likely at this spread.

        Scores vary less, the further apart the two are. If the likeliest point is not certain, the two are
        on average further apart than there: nobody knows in which direction it is off.
        """
        import numpy as np

        games, point = self.games, self.likeliest(self.start, spread)
        error = np.linalg.inv(self.information(point, spread))
        own, last = error.diagonal(), error[self.size]
        first, second = games.first, games.second
        unsure = own[first] + own[second] + own[-1] - 2 * (error[first, second] - last[first] + last[second])
        less = 1 / np.sqrt(1 + math.pi * unsure / 8)
        ahead = less * self._ahead(point[:, None])[:, 0]
        varied = float((games.weight * less / np.cosh(ahead / 2) ** 2).sum()) / 4
        self.calm = calmed(varied, float(games.drawn.sum()))
        self.start = point

    # Each column of what follows is a point, with a spread of its own or one for all.

    def density(self, points: "Floats", spread: "Floats | float") -> "Floats":
        """The logarithm of how likely each point is together with its spread, up to a constant."""
        import numpy as np

        ahead = self._ahead(points)
        likely = self.games.won @ ahead - self.games.weight @ np.maximum(ahead, 0)
        # This is log(1 + exp(ahead)) without its large part: numpy's own function is four times as slow.
        likely -= self.games.weight @ np.log(1 + np.exp(-np.abs(ahead)))
        likely /= self.calm
        likely -= (points[self.size] * ELO / ADVANTAGE) ** 2 / 2
        likely -= (points[: self.size] ** 2).sum(axis=0) / spread**2 / 2
        likely -= (spread * ELO / WIDE) ** 2 / 2
        return likely - (self.size - 1) * np.log(spread)  # `- 1`, because spreads are on a logarithmic scale

    def slope(self, points: "Floats", spread: "Floats | float") -> "Floats":
        """The slope of the density, along each strength and the advantage."""
        return self.slope_and_expected(points, spread)[0]

    def slope_and_expected(self, points: "Floats", spread: "Floats | float") -> tuple["Floats", "Floats"]:
        """The slope, and the expected score of the first in each row of games."""
        import numpy as np

        games, expected = self.games, self._expected(points)
        surprise = (games.won[:, None] - games.weight[:, None] * expected) / self.calm
        found = np.empty_like(points)
        found[: self.size] = self._by_first.of(surprise) - self._by_second.of(surprise)
        found[: self.size] -= points[: self.size] / spread**2
        found[self.size] = surprise.sum(axis=0) - points[self.size] * (ELO / ADVANTAGE) ** 2
        return found, expected

    def curve(self, expected: "Floats", directions: "Floats", spread: float) -> "Floats":
        """How sharply the slope falls along each direction, where so much is expected."""
        varied = self._ahead(directions) ** 2 * expected * (1 - expected)
        found = self.games.weight @ varied / self.calm
        found += (directions[: self.size] ** 2).sum(axis=0) / spread**2
        return found + (directions[self.size] * ELO / ADVANTAGE) ** 2

    def _ahead(self, points: "Floats") -> "Floats":
        ahead = points.take(self.games.first, axis=0)
        ahead -= points.take(self.games.second, axis=0)
        ahead += points[self.size]
        return ahead

    def _expected(self, points: "Floats") -> "Floats":
        import numpy as np

        return 0.5 + np.tanh(self._ahead(points) / 2) / 2

    # At one spread

    def likeliest(self, point: "Floats", spread: float) -> "Floats":
        """The top of the density, from there: Newton's method, shortened as in `fit_exact.py`."""
        import numpy as np

        for _ in range(ROUNDS):
            slope, information = self.newton(point, spread)
            step = np.linalg.solve(information, slope)
            reach = 3 * float(np.abs(step).max())
            if reach < CLOSE:
                break
            point = point + step * np.log1p(reach) / reach
        return point

    def information(self, point: "Floats", spread: float) -> "Floats":
        """How sharply the density falls around a point."""
        return self.newton(point, spread)[1]

    def newton(self, point: "Floats", spread: float) -> tuple["Floats", "Floats"]:
        """What a step of Newton's method needs: the slope and the information."""
        import numpy as np

        size, games = self.size, self.games
        expected = 0.5 + np.tanh(self._ahead(point) / 2) / 2
        surprise = (games.won - games.weight * expected) / self.calm
        slope = -point / spread**2
        slope[:size] += np.bincount(games.first, surprise, size)
        slope[:size] -= np.bincount(games.second, surprise, size)
        slope[size] = surprise.sum() - point[size] * (ELO / ADVANTAGE) ** 2
        between = games.weight * expected * (1 - expected) / self.calm
        found = np.zeros((size + 1, size + 1))
        found[games.first, games.second] = -between
        found += found.T
        as_first = np.bincount(games.first, between, size)
        as_second = np.bincount(games.second, between, size)
        found[size, :size] = found[:size, size] = as_first - as_second
        diagonal = found.reshape(-1)[:: size + 2]
        diagonal[:size] = as_first + as_second + 1 / spread**2
        diagonal[size] = between.sum() + (ELO / ADVANTAGE) ** 2
        return slope, found

    def approximations(self) -> list[Approximation]:
        """One at each of the spreads."""
        import numpy as np

        point = self.start
        found: list[Approximation] = []
        likely: list[float] = []
        low, high, count = SPREADS
        for spread in np.geomspace(low / ELO, high / ELO, count).tolist():
            point = self.likeliest(point, spread)
            root = np.linalg.inv(np.linalg.cholesky(self.information(point, spread))).T
            scale = float(np.log(root.diagonal()).sum())
            likely.append(float(self.density(point[:, None], spread)[0]) + scale)
            found.append(Approximation(spread, 0.0, point, root.astype(np.float64), scale))
        share = np.exp(np.array(likely) - max(likely))
        shares: list[float] = (share / share.sum()).tolist()
        return [structs.replace(each, share=one) for each, one in zip(found, shares, strict=True)]


def calmed(varied: float, drawn: float) -> float:
    """φ, where scores would vary so much if nothing were drawn."""
    return (max(varied - drawn / 4, 0) + HALF) / (varied + HALF)


class _Sums:
    """Adds up the rows that have the same number."""

    def __init__(self, numbers: "Numbers", size: int) -> None:
        import numpy as np

        self._order = np.argsort(numbers, kind="stable")
        self._there, self.starts = np.unique(numbers[self._order], return_index=True)
        self._size = size

    def of(self, rows: "Floats") -> "Floats":
        import numpy as np

        found = np.zeros((self._size, rows.shape[1]))
        if len(self._order):
            found[self._there] = np.add.reduceat(rows[self._order], self.starts, axis=0)
        return found
