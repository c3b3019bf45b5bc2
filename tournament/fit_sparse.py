"""The fit of a large field, kept up to date game by game.

Nothing here has a cell for each two entrants, only for each two that have met. A game concerns two entrants
at first: strengths are moved until everybody's is within a fifth of a point of what its own games say, which
takes a few steps (`settle`). The remaining errors add up, so now and then the whole field is fitted anew from
where it stands (`refit`, by `equations.py`).

Unless the fit is to be plain, two more things are inferred with it. What moving first is worth is fitted
with the strengths, and stays as it is between two fits of all. And the closer together a field seems to be,
the more drawn games against an average opponent everybody is given.
"""

from collections import deque
from collections.abc import Iterable
from math import log1p, tanh
from typing import TYPE_CHECKING

from tournament.equations import Equations, System
from tournament.fit_exact import ELO, PRIOR
from tournament.meetings import Game, Meetings

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAR = 0.2 / ELO  # units of the logistic curve: how far a strength may be from what its own games say
MOST = 10_000  # steps after one game: where these are not enough, all is fitted anew
SHARE, LEAST = 0.02, 100  # the same after so many more games: a share of them, and the least number
STRONGEST = 8.0  # drawn games given at most: up to twice too many are inferred where most games are drawn
SETTLED, TRIES = 0.02, 30  # the share by which `_given` still changes when it is settled; the steps allowed
CONTENDERS = 100  # entrants whose chances to be the strongest are worked out


class Sparse:
    def __init__(self, meetings: Meetings, *, plain: bool = False, most: int = MOST) -> None:
        """In a `plain` fit everybody is given one drawn game, and moving first is worth nothing."""
        self.prior = PRIOR
        self.centre = 0.0  # the mean strength at the latest fit of all
        self.strength: list[float] = []
        self.advantage = 0.0  # of moving first, at the latest fit of all
        self.variance: list[float] = []  # of each strength, relative to the mean
        self._meetings = meetings
        self._plain = plain
        self._given = PRIOR  # drawn games given to each, before draws are considered
        self._added = 0.0  # every variance, in terms of what its own games leave; 0: not known yet
        self._most = most
        self._slope: list[float] = []  # what each scored beyond its expected score
        self._curve: list[float] = []  # by how much that falls with its strength
        self._fitted = 0  # games in the latest fit of all
        self._lost = True  # whether all has to be fitted anew

    def update(self, games: Iterable[Game]) -> None:
        """Take in games that were added since the last update."""
        known = self._meetings.games
        if self._lost or known > self._fitted + max(LEAST, SHARE * self._fitted):
            self.refit()
            return
        for game in games:
            self.settle(game)
        if self._lost:
            self.refit()

    # Game by game

    def settle(self, game: Game) -> None:
        """Bring the strengths in line with a new game."""
        while len(self.strength) < len(self._meetings.against):
            self.strength.append(0.0)
            self.variance.append(0.0)
            self._slope.append(0.0)
            self._curve.append(self.prior / 4)
        ahead = self.strength[game.first] - self.strength[game.second] + self.advantage
        more = game.won - game.count * (0.5 + tanh(ahead / 2) / 2)
        certain = game.count * _variance(ahead)
        for player, surprise in ((game.first, more), (game.second, -more)):
            before = self._curve[player]
            after = self._curve[player] = before + certain
            self._slope[player] += surprise
            known = self.variance[player]
            self.variance[player] = known * before / after if known else 1 / after
        waiting = deque((game.first, game.second))
        for _ in range(self._most):
            if not waiting:
                return
            player = waiting.popleft()
            if abs(self._slope[player]) > NEAR * self._curve[player]:
                waiting += self._move(player)
        self._lost = True

    def _move(self, player: int) -> list[int]:
        """Move a strength to where its own games put it; returns the opponents to look at because of that."""
        meetings, before = self._meetings, self.strength[player]
        different, advantage = meetings.different, self.advantage
        step = self._slope[player] / self._curve[player]
        after = self.strength[player] = before + step * log1p(abs(step)) / abs(step)
        slope = self._slope[player] - self.prior * (tanh(after / 2) - tanh(before / 2)) / 2
        curve = self.prior * _variance(after)
        disturbed: list[int] = []
        for opponent, pair in meetings.against[player].items():
            more, theirs = 0.0, self.strength[opponent]
            as_first = 2 * pair + (player > opponent)
            for slot, first in ((as_first, advantage), (as_first ^ 1, -advantage)):
                if count := different[slot]:
                    was, now = tanh((before - theirs + first) / 2), tanh((after - theirs + first) / 2)
                    more += count * (now - was) / 2
                    curve += count * (1 - now * now) / 4
            slope -= more
            self._slope[opponent] += more
            if abs(self._slope[opponent]) > NEAR * self._curve[opponent]:
                disturbed.append(opponent)
        self._slope[player], self._curve[player] = slope, curve
        if abs(slope) > NEAR * curve:
            disturbed.append(player)
        return disturbed

    # All at once

    def refit(self) -> None:
        import numpy as np

        system = System(self._meetings, plain=self._plain)
        point = np.zeros(system.size + 1)
        point[: len(self.strength)] = self.strength
        point[-1] = self.advantage
        point = system.likeliest(point, PRIOR)
        system.calm_down(point)
        if not self._plain:
            point = self._infer(system, point)
        self.prior = self._given * system.calm
        point = system.likeliest(point, self._given)
        here = system.equations(point, self._given)
        variance = system.variances(point, here, self._given)
        self.centre = float(point[:-1].mean())
        *self.strength, self.advantage = point.tolist()
        self.variance = variance.tolist()
        self._slope, self._curve = here.slope[:-1].tolist(), here.curve[:-1].tolist()
        self._added = _ratio(variance, here)
        self._fitted, self._lost = self._meetings.games, False

    def _infer(self, system: System, point: "Floats") -> "Floats":
        """Infer the spread of the field, and from it the drawn games to give; returns a fit with these.

        The variance of the field is the variance of the strengths plus the average variance of each. It is
        found step by step, by the EM algorithm with steps twice as long. What samples add to the variances
        hardly depends on it, and is taken from the latest samples.
        """
        for _ in range(TRIES):
            point = system.likeliest(point, self._given)
            here = system.equations(point, self._given)
            if not self._added:
                self._added = _ratio(system.variances(point, here, self._given), here)
            apart = float(point[:-1].var() + self._added * (1 / here.curve[:-1]).mean())
            before, found = self._given, 4 / apart  # a game between equals tells a quarter
            self._given = min(max(found * found / before, PRIOR), STRONGEST)
            if abs(self._given - before) < SETTLED * before:
                break
        return point

    def contention(self, contenders: list[int]) -> "Floats":
        """The covariance of the errors of a few entrants, as far as it comes from games between them.

        Everybody else is taken to be as strong as estimated. Variances are those of the whole field.
        """
        import numpy as np

        meetings, size = self._meetings, len(contenders)
        place = {player: number for number, player in enumerate(contenders)}
        information = np.zeros((size, size))
        for number, player in enumerate(contenders):
            information[number, number] = self._curve[player]
            for other, at in place.items():
                if (pair := meetings.against[player].get(other)) is not None:
                    ahead = self.strength[player] - self.strength[other]
                    as_first = 2 * pair + (player > other)
                    for slot, first in ((as_first, self.advantage), (as_first ^ 1, -self.advantage)):
                        information[number, at] -= meetings.different[slot] * _variance(ahead + first)
        inverse = np.linalg.inv(information)
        scale = np.sqrt(np.array([self.variance[player] for player in contenders]) / inverse.diagonal())
        return (inverse * np.outer(scale, scale)).astype(np.float64)


def _ratio(variance: "Floats", here: Equations) -> float:
    return float(variance.mean() / (1 / here.curve[:-1]).mean())


def _variance(ahead: float) -> float:
    """The variance of the score of one game."""
    expected = 0.5 + tanh(ahead / 2) / 2
    return expected * (1 - expected)
