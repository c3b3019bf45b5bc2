"""The fit of a large field, kept up to date game by game.

Nothing here has a cell for each two entrants, only for each two that have met. A game concerns two entrants
at first: strengths are moved until everybody's is within a fifth of a point of what its own games say, which
takes a few steps (`settle`). The remaining errors add up, so now and then the whole field is fitted anew
(`refit`, by `spreads.py`). Until then how far apart the field is, and what moving first is worth, stay as
they were.

A plain fit gives everybody a drawn game against an average opponent, and infers neither.
"""

from collections import deque
from collections.abc import Iterable
from math import log1p, tanh
from typing import TYPE_CHECKING

from tournament.equations import System
from tournament.fit_exact import ELO, PRIOR
from tournament.meetings import Game, Meetings
from tournament.priors import DrawnGames
from tournament.spreads import inferred

if TYPE_CHECKING:  # numpy is slow to import, and much of what imports this file rates nobody
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NEAR = 0.2 / ELO  # units of the logistic curve: how far a strength may be from what its own games say
MOST = 10_000  # steps after one game: where these are not enough, all is fitted anew
SHARE, LEAST = 0.02, 100  # the same after so many more games: a share of them, and the least number
CONTENDERS = 100  # entrants whose chances to be the strongest are worked out


class Sparse:
    def __init__(self, meetings: Meetings, *, plain: bool = False, most: int = MOST) -> None:
        """In a `plain` fit everybody is given one drawn game, and moving first is worth nothing."""
        self.prior = PRIOR  # drawn games that tell as much as what is believed beforehand
        self.centre = 0.0  # the mean strength at the latest fit of all
        self.strength: list[float] = []
        self.advantage = 0.0  # of moving first, at the latest fit of all
        self.variance: list[float] = []  # of each strength, relative to the mean
        self._calm = 1.0  # how much less scores vary because of draws, unless the fit is plain
        self._meetings = meetings
        self._plain = plain
        self._most = most
        self._slope: list[
            float
        ] = []  # what each scored beyond its expected score, since the latest fit of all
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
            self.variance[player] = known * before / after if known else self._calm / after
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
        system = System(self._meetings, plain=self._plain)
        if self._plain:
            self._refit_plain(system)
        else:
            self._refit(system)
        self._fitted, self._lost = self._meetings.games, False

    def _refit(self, system: System) -> None:
        found = inferred(system)
        *self.strength, self.advantage = found.point.tolist()
        self.centre = 0.0
        self.variance = found.variance.tolist()
        self._calm = system.calm
        self.prior = 4 * system.calm / found.spread**2  # a game between equals tells a quarter
        self._slope, self._curve = [0.0] * system.size, found.curve.tolist()

    def _refit_plain(self, system: System) -> None:
        """Everybody is given one drawn game."""
        import numpy as np

        prior = DrawnGames(PRIOR)
        point = np.zeros(system.size + 1)
        point[: len(self.strength)] = self.strength
        point = system.likeliest(point, prior)
        system.calm_down(point)
        self.prior = PRIOR * system.calm
        prior = DrawnGames(self.prior)
        point = system.likeliest(point, prior)
        here = system.equations(point, prior)
        believed, calm = prior.at(point[:-1])[1], system.calm_of_each(point, here, self.prior)
        self.centre = float(point[:-1].mean())
        self.strength = point[:-1].tolist()
        self.variance = system.plain_variances(here, believed, calm).tolist()
        self._slope, self._curve = here.slope[:-1].tolist(), here.curve[:-1].tolist()

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
        # Games between these may say more than a curve, which is an average where strengths are unsure.
        least = self.prior / 4 - information.sum(axis=1) + information.diagonal()
        np.fill_diagonal(information, np.maximum(information.diagonal(), least))
        inverse = np.linalg.inv(information)
        scale = np.sqrt(np.array([self.variance[player] for player in contenders]) / inverse.diagonal())
        return (inverse * np.outer(scale, scale)).astype(np.float64)


def _variance(ahead: float) -> float:
    """The variance of the score of one game."""
    expected = 0.5 + tanh(ahead / 2) / 2
    return expected * (1 - expected)
