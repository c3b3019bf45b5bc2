"""The fit of a large field: what moving first is worth, and that it stands in nobody's way."""

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from tests.calibration.truth import held, world
from tests.effort import tries
from tests.tournament.test_fit_sparse import FIELD, REFITTED, UPDATED, WIDTHS, off, played
from tournament.equations import System
from tournament.fit_sparse import Sparse
from tournament.format import Pairing, Result
from tournament.meetings import Meetings
from tournament.posterior import ADVANTAGE
from tournament.priors import DrawnGames, Normal
from tournament.ratings import ELO, Ratings

pytestmark = pytest.mark.slow


def at_random(seed: int, games: int, spread: float, draws: float, advantage: float) -> list[Result]:
    random = Random(seed)
    truth = world(random, FIELD, spread, draws, advantage)
    pairs = [random.sample(range(FIELD), 2) for _ in range(games)]
    return [truth.play(Pairing(number, 1, *map(str, pair))) for number, pair in enumerate(pairs, 1)]


def swapped(results: Sequence[Result]) -> list[Result]:
    """The same scores, if whoever moved first had moved second."""
    return [
        Result(
            Pairing(each.pairing.number, 1, *reversed(each.pairing.names)),
            each.score[::-1],
            True,
            each.digest,
        )
        for each in results
    ]


def taken_in(results: Sequence[Result]) -> Meetings:
    meetings = Meetings()
    for result in results:
        meetings.add(result)
    return meetings


def fitted(results: Sequence[Result]) -> Sparse:
    sparse = Sparse(taken_in(results))
    sparse.refit()
    return sparse


def ratings(results: Sequence[Result]) -> dict[str, float]:
    return {each.name: each.rating for each in Ratings(results, small=0).fit().ratings}


def test_if_seats_are_swapped_the_advantage_changes_its_sign_and_nothing_else() -> None:
    results = at_random(1, 2_000, 150, 0.3, 150)
    here, there = fitted(results), fitted(swapped(results))
    assert there.advantage == pytest.approx(-here.advantage, abs=REFITTED / ELO)
    assert ratings(swapped(results)) == pytest.approx(ratings(results), abs=2 * REFITTED)


@pytest.mark.parametrize(
    "advantage", [-150.0, *(pytest.param(each, marks=pytest.mark.campaign) for each in (0.0, 60.0))]
)
def test_the_advantage_is_found_among_equals_and_they_are_found_to_be_equals(advantage: float) -> None:
    results = at_random(2, 20_000, 0, 0.0, advantage)
    found = fitted(results)
    assert found.advantage * ELO == pytest.approx(advantage, abs=4 * 2 * ELO / 20_000**0.5)
    of_each = ELO / (20_000 / FIELD * 2 / 4) ** 0.5
    assert max(map(abs, ratings(results).values())) < 4 * of_each


def test_where_all_is_played_in_both_seats_and_ends_alike_it_is_worth_nothing() -> None:
    """Then strengths are those of a fit that does not know it, with games that repeat earlier ones, too."""
    results = played(3, 1_000)
    meetings = taken_in([*results, *swapped(results)])
    start = np.zeros(len(meetings.against) + 1)
    prior = DrawnGames(3.0)
    found, plain = (System(meetings, plain=each).likeliest(start, prior) for each in (False, True))
    assert found == pytest.approx(plain, abs=REFITTED / ELO)
    assert plain[-1] == 0


def test_with_a_normal_prior_the_likeliest_strengths_and_advantage_are_found() -> None:
    """A row for each game, Newton's method with all second derivatives, and variances from their inverse."""
    results = at_random(4, 2_000, 200, 0.0, 150)
    meetings = taken_in(results)
    rows = np.zeros((len(results), FIELD + 1))
    for row, result in zip(rows, results, strict=True):
        first, second = (meetings.numbers[name] for name in result.pairing.names)
        row[first], row[second], row[-1] = 1, -1, 1
    won = np.array([result.score[0] for result in results])
    sure = np.append(np.full(FIELD, (ELO / 170) ** 2), (ELO / ADVANTAGE) ** 2)

    def information(point: np.ndarray) -> np.ndarray:
        varied = 1 / (4 * np.cosh(rows @ point / 2) ** 2)
        return rows.T @ (rows * varied[:, None]) + np.diag(sure)

    top = np.zeros(FIELD + 1)
    for _ in range(50):
        surprise = won - 1 / (1 + np.exp(-rows @ top))
        step = np.linalg.solve(information(top), rows.T @ surprise - sure * top)
        reach = 3 * abs(step).max()
        top += step * np.log1p(reach) / reach
    assert reach < 1e-9
    system, prior = System(meetings), Normal(float(sure[0]))
    found = system.likeliest(np.zeros(FIELD + 1), prior)
    assert found * ELO == pytest.approx(top * ELO, abs=REFITTED)
    centre = np.eye(FIELD) - 1 / FIELD
    covariance = centre @ np.linalg.inv(information(top))[:-1, :-1] @ centre
    variance = system.variances(system.equations(found, prior), prior.sure)
    assert variance**0.5 == pytest.approx(covariance.diagonal() ** 0.5, rel=WIDTHS)


def test_game_by_game_strengths_stay_close_to_those_of_a_fit_of_all() -> None:
    """The advantage is that of the latest fit of all until the next."""
    results = at_random(5, 2_000 + tries(40, 400), 150, 0.3, 150)
    ratings = Ratings(results[:2_000], small=0)
    for result in results[2_000:]:
        ratings.fit()
        ratings.add(result)
    assert off(ratings.fit().ratings, Ratings(results, small=0).fit().ratings) < UPDATED


@pytest.mark.parametrize("spread", [pytest.param(50.0, marks=pytest.mark.campaign), 300.0])
def test_intervals_of_a_large_swiss_hold_the_truth_where_moving_first_is_worth_a_lot(spread: float) -> None:
    """Without it they held it for 80 in 100 where the spread is 300: strengths seemed closer together."""
    truth = world(Random(f"{spread}"), 320, spread, draws=0.6, advantage=150.0)
    ratings = Ratings(held("swiss", rounds=9)(truth)).fit().ratings
    holding = sum(each.interval[0] <= truth.centred[int(each.name)] <= each.interval[1] for each in ratings)
    assert holding >= 0.91 * 320
