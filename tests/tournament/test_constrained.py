"""The likeliest points at which one entrant is weaker than another by just so much."""

from random import Random

import numpy as np
import pytest

from tests.calibration.truth import World
from tests.steps import steps_taken
from tournament.constrained import Constrained
from tournament.format import Pairing
from tournament.meetings import Meetings
from tournament.posterior import Model, games_of

SPREADS = (1.0, 6.0)
BEHIND = 0.1

Field = tuple[Model, np.ndarray, Constrained]


def field(seed: int, size: int, games: int, apart: float, spread: float) -> Field:
    """A field whose strengths are so far apart, after a ring of games that connects all, and as many more."""
    random, meetings = Random(seed), Meetings()
    world = World(random, [random.gauss(0, apart) for _ in range(size)], 0.3, 60.0)
    pairs = [(place, (place + 1) % size) for place in range(size)]
    pairs += [tuple(random.sample(range(size), 2)) for _ in range(games)]
    for number, (first, second) in enumerate(pairs, 1):
        meetings.add(world.play(Pairing(number, 1, str(first), str(second))))
    model = Model(games_of(meetings, map(str, range(size))))
    top = model.likeliest(model.start, spread)
    covariance = np.linalg.inv(model.information(top, spread)).astype(np.float64)
    return model, top, Constrained(model, top, covariance, spread)


def solved(model: Model, point: np.ndarray, one: int, other: int, spread: float) -> float:
    """The same for one pair by Newton's method, which solves all equations in each step."""
    between = np.zeros(model.size + 1)
    between[one], between[other] = 1.0, -1.0
    point = point - between / 2 * (point[one] - point[other] + BEHIND)
    for _ in range(200):
        slope, information = model.newton(point, spread)
        by_slope, by_tie = np.linalg.solve(information, np.stack((slope, between), axis=1)).T
        step = by_slope - by_tie * (between @ by_slope) / (between @ by_tie)
        most = 3 * float(np.abs(step).max())
        if most < 1e-9:
            break
        point = point + step * np.log1p(most) / most
    return float(model.density(point[:, None], spread)[0])


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize(
    ("seed", "size", "games", "apart"), [(1, 2, 0, 0), (2, 9, 30, 200), (3, 30, 20, 2000)]
)
def test_they_are_those_of_newtons_method(
    seed: int, size: int, games: int, apart: float, spread: float
) -> None:
    model, top, constrained = field(seed, size, games, apart, spread)
    for one in range(0, size, 7):
        others = np.array([other for other in range(size) if other != one])
        found = constrained.densities(one, others, BEHIND)
        expected = [solved(model, top, one, other, spread) for other in others.tolist()]
        assert found == pytest.approx(expected, abs=1e-7)
        assert (found <= model.density(top[:, None], spread) + 1e-9).all()


def test_there_may_be_nobody_else() -> None:
    _, _, constrained = field(4, 3, 0, 100, 1.0)
    assert constrained.densities(0, np.array([], np.intp), BEHIND).tolist() == []


def test_many_pairs_take_about_as_many_steps_as_one() -> None:
    _, _, constrained = field(5, 40, 60, 300, 6.0)
    one, many = (
        steps_taken(lambda count=count: constrained.densities(0, np.arange(1, count + 1), BEHIND))
        for count in (1, 39)
    )
    assert many < 3 * one
