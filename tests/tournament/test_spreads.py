"""How far apart a large field is: its strengths are what the exact draws of a small field say they are."""

from collections.abc import Callable, Sequence
from itertools import combinations
from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.calibration.truth import held, world
from tests.effort import tries
from tests.tournament.test_fit_sparse import played
from tests.tournament.test_moving_first import taken_in
from tournament.equations import NOTHING, System
from tournament.fit_sparse import LEAST
from tournament.format import Pairing, Result
from tournament.meetings import Meetings
from tournament.posterior import ADVANTAGE
from tournament.priors import Normal
from tournament.ratings import ELO, Rating, Ratings, probability_first
from tournament.strength import Strength, strengths

pytestmark = pytest.mark.slow

MIDDLE, WIDTH, WIDTHS = 0.06, (0.8, 1.25), 0.1  # shares of the width of an interval; of one, and on average
FIRST = 0.12  # what P(first) may be off: the draws themselves leave three per cent to chance
FIELD, SURE = 60, (ELO / 170) ** 2  # entrants, and what a normal distribution of 170 Elo tells of each

Floats = NDArray[np.float64]

EVENTS: dict[str, Callable[[], Sequence[Result]]] = {
    "games at random": lambda: played(1, 600),
    "many games at random": lambda: played(2, 2_000),
    "a ladder of close neighbours": lambda: played(3, 600, ladder=True),
    "a close Swiss": lambda: held("swiss", rounds=7)(world(Random(4), 128, 50, 0.0, 60)),
    "a Swiss far apart": lambda: held("swiss", rounds=7)(world(Random(5), 128, 300, 0.5, 150)),
    "a round robin": lambda: held("round-robin")(world(Random(6), 40, 150, 0.3, 0)),
    "a knockout": lambda: held("knockout")(world(Random(5), 256, 100, 0.0, 0)),
    "a gauntlet": lambda: held("gauntlet", rounds=4)(world(Random(7), 64, 250, 0.4, 100)),
}


def width(of: Strength) -> float:
    return of.interval[1] - of.interval[0]


# Each has another beside it that has as few games, or is as far apart, or in which few meet each other.
ALIKE = {"many games at random", "a Swiss far apart", "a round robin", "a gauntlet"}


@pytest.mark.parametrize(
    "event", [pytest.param(name, marks=pytest.mark.campaign if name in ALIKE else ()) for name in EVENTS]
)
def test_strengths_of_a_large_field_are_what_exact_draws_say(event: str) -> None:
    """Catches a spread taken from the likeliest strengths: fields with few games then look close together."""
    results = EVENTS[event]()
    exact, large = strengths(Ratings(results)).of, strengths(Ratings(results, small=0)).of
    assert exact.keys() == large.keys()
    for name, right in exact.items():
        found = large[name]
        assert found.strength == pytest.approx(right.strength, abs=MIDDLE * width(right))
        assert WIDTH[0] < width(found) / width(right) < WIDTH[1]
        assert found.first == pytest.approx(right.first, abs=FIRST)
    assert sum(map(width, large.values())) == pytest.approx(sum(map(width, exact.values())), rel=WIDTHS)


@pytest.mark.parametrize("seed", range(tries(2, 4)))
def test_equals_have_equal_chances_to_be_the_strongest_even_after_one_game_each(seed: int) -> None:
    """Catches somebody who was certainly the strongest, for a win against a hub that 29 others beat, too."""
    random = Random(seed)
    results = list[Result]()
    for number in range(320):
        names, won = random.sample(("hub", f"bot {number}"), 2), random.random() < 0.91
        score = (1.0, 0.0) if won == (names[0] == "hub") else (0.0, 1.0)
        results.append(Result(Pairing(number, 1, *names), score, True, b"%d" % number))
    likely = probability_first(Ratings(results).fit())
    assert sum(likely.values()) == pytest.approx(1)
    chances = [
        likely[name]
        for result in results
        for name, score in zip(result.pairing.names, result.score, strict=True)
        if name != "hub" and score == 1
    ]
    assert chances == pytest.approx([sum(chances) / len(chances)] * len(chances), abs=0.02)


def test_a_fit_of_all_does_not_depend_on_what_was_fitted_before() -> None:
    """Catches a start from an earlier fit, with which two hosts would have two tables of the same results."""
    results = played(8, 1_000)
    ratings = Ratings(results[: -2 * LEAST], small=0)
    ratings.fit()
    for result in results[-2 * LEAST :]:
        ratings.add(result)
    assert ratings.fit() == Ratings(results, small=0).fit()


@pytest.mark.parametrize(
    ("games", "draws"),
    [
        (1, 0.9),
        (8, 0.0),
        pytest.param(1, 0.0, marks=pytest.mark.campaign),
        pytest.param(8, 0.9, marks=pytest.mark.campaign),
    ],
)
def test_somebody_new_is_known_as_well_as_after_a_fit_of_all(games: int, draws: float) -> None:
    """Catches an interval without what draws tell: with 9 of 10 games drawn it was 2.2 times as wide."""
    truth = world(Random(10), 120, 100, draws, 0)
    pairs = [truth.play(Pairing(1, 1, *map(str, Random(at).sample(range(119), 2)))) for at in range(1_500)]
    ratings = Ratings(pairs, small=0)
    ratings.fit()
    new = [truth.play(Pairing(1, 1, "119", f"{opponent}")) for opponent in range(games)]
    for result in new:
        ratings.add(result)
        ratings.fit()
    found, right = (each.fit().ratings[-1] for each in (ratings, Ratings([*pairs, *new], small=0)))
    assert found.name == right.name == "119"
    assert reach(found) == pytest.approx(reach(right), rel=0.12)


def reach(of: Rating) -> float:
    return of.interval[1] - of.interval[0]


def test_the_order_of_results_hardly_changes_anything() -> None:
    """Catches few samples: in another order of a knockout, intervals were 1.3 times as wide."""
    results = list(held("knockout")(world(Random(12), 2_048, 150, 0.0, 0)))
    total: list[float] = []
    for seed in range(tries(3, 4)):
        Random(seed).shuffle(results)  # so that everybody gets other samples
        total.append(sum(map(width, strengths(Ratings(results)).of.values())))
    assert max(total) < 1.15 * min(total)


def test_two_samples_are_enough_where_games_say_nothing() -> None:
    """Catches a mean that is sampled: where that is off by chance, what is inferred of the spread is, too."""
    system = System(taken_in(once_each(30)))
    for spread in (1, 10):
        sure = (ELO / spread) ** 2
        here = system.equations(np.zeros(system.size + 1), Normal(sure))
        found = system.variances(here, sure, most=2).sum() * sure
        assert found == pytest.approx(system.size - 1, abs=0.1)


def once_each(games: int) -> Sequence[Result]:
    """So many games, none of them between two who have met."""
    random = Random(9)
    truth = world(random, FIELD, 150, 0.0, 60)
    pairs = random.sample([*combinations(range(FIELD), 2)], games)
    return [truth.play(Pairing(1, 1, *map(str, random.sample(pair, 2)))) for pair in pairs]


def rows_of(results: Sequence[Result], meetings: Meetings, size: int = FIELD) -> Floats:
    """A row for each game: 1 for whoever moved first, −1 for the other, and 1 for the advantage."""
    rows = np.zeros((len(results), size + 1))
    for row, result in zip(rows, results, strict=True):
        first, second = (meetings.numbers[name] for name in result.pairing.names)
        row[first], row[second], row[-1] = 1, -1, 1
    return rows


@pytest.mark.parametrize(("most", "off", "difference"), [(3.0, 0.01, 0.3), (0.25, 0.0005, 0.02)])
def test_what_is_expected_of_two_is_an_average_over_how_far_apart_they_may_be(
    most: float, off: float, difference: float
) -> None:
    """By 2,000 steps in place of three or seven places; and the curve is how fast the slope falls."""
    results = once_each(600)
    meetings = taken_in(results)
    system, prior, rows = System(meetings), Normal(SURE), rows_of(results, meetings)
    chance = np.random.default_rng(1)
    point, unsure = chance.normal(0, 1, FIELD + 1), chance.uniform(0, most, len(results))
    plain = system.equations(point, prior).slope
    system.unsure = unsure
    here = system.equations(point, prior)
    steps = np.linspace(-8, 8, 2_001)
    density = np.exp(-(steps**2) / 2)
    leads = (rows @ point)[:, None] + np.sqrt(unsure)[:, None] * steps
    expected = 1 / (1 + np.exp(-leads)) @ (density / density.sum())
    won = np.array([result.score[0] for result in results])
    right = rows.T @ (won - expected) - point * np.append(np.full(FIELD, SURE), (ELO / ADVANTAGE) ** 2)
    assert here.slope == pytest.approx(right, abs=off)
    assert abs(here.slope - plain).max() > difference
    along = chance.normal(0, 1, FIELD + 1)
    ahead, behind = (system.equations(point + way * 1e-4 * along, prior).slope for way in (1, -1))
    assert system.solved((behind - ahead) / 2e-4, here, 1e-6) == pytest.approx(along, abs=1e-3)


@pytest.mark.parametrize("most", [4.0, 0.04])
def test_what_a_normal_distribution_leaves_out_is_what_no_parabola_has(most: float) -> None:
    """Half its variance, by the nearest parabola to each game. Without it, knockouts look close."""
    results = once_each(50)
    meetings = taken_in(results)
    system = System(meetings)
    chance = np.random.default_rng(2)
    point, unsure = chance.normal(0, 1, system.size + 1), chance.uniform(most / 40, most, len(results))
    steps = np.linspace(-8, 8, 2_001)
    density = np.exp(-(steps**2) / 2)
    density /= density.sum()
    powers = np.vander(steps, 3)
    right = 0.0
    for row, variance in zip(rows_of(results, meetings, system.size), unsure, strict=True):
        likely = np.log(1 + np.exp(-(row @ point + variance**0.5 * steps)))
        nearest = np.linalg.lstsq(powers * np.sqrt(density)[:, None], likely * np.sqrt(density))[0]
        right += float(density @ (likely - powers @ nearest) ** 2) / 2
    assert (right > 0.05) == (most > 1)  # where little is open, it is so little that nobody looks
    assert system.left_out(point, unsure) == pytest.approx(right, rel=0.01, abs=NOTHING * system.size)


def test_how_unsure_leads_are_is_known_from_how_unsure_strengths_are() -> None:
    """By the inverse of the information, which a large field has no room for."""
    results = once_each(600)
    meetings = taken_in(results)
    system, prior, rows = System(meetings), Normal(SURE), rows_of(results, meetings)[:, :-1]
    point = system.likeliest(np.zeros(FIELD + 1), prior)
    here = system.equations(point, prior)
    added = float((system.variances(here, SURE) * here.curve[:-1]).mean())
    system.look_around(here, SURE, added)
    covariance = np.linalg.inv(rows.T @ (rows * here.varied[:, None]) + np.eye(FIELD) * SURE)
    right = ((rows @ covariance) * rows).sum(axis=1)
    assert system.unsure is not None
    assert system.unsure @ here.varied == pytest.approx(right @ here.varied, rel=0.02)
    assert system.unsure == pytest.approx(right, rel=0.35)
