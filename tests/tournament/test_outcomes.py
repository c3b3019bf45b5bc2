"""What outcomes add up to where draws make their likelihoods powers: by the definition, and in a knockout."""

from random import Random

import numpy as np
import pytest

from tests.calibration.truth import held, world
from tournament.outcomes import added_up
from tournament.ratings import Ratings
from tournament.strength import strengths

pytestmark = pytest.mark.slow

LEADS = np.linspace(-6, 6, 25)


def by_definition(lead: float, calm: float) -> float:
    """The sum over a win, a draw and a loss."""
    win, power = 1 / (1 + np.exp(-lead)), 1 / calm
    draws = 2 * (1 - calm) / calm  # how often a draw counts: between equals, the share `1 - calm` is drawn
    return float(win**power + draws * (win * (1 - win)) ** (power / 2) + (1 - win) ** power)


@pytest.mark.parametrize("calm", [0.95, 0.8, 0.7, 0.55])
def test_outcomes_add_up_to_what_they_do_by_definition(calm: float) -> None:
    found = added_up(LEADS, np.zeros(len(LEADS)), calm)
    right = np.log([by_definition(lead, calm) for lead in LEADS])
    assert found - found[0] == pytest.approx(right - right[0], abs=1e-9)
    assert found.max() == found[len(LEADS) // 2], "equals have most of it"


@pytest.mark.parametrize("calm", [1.0, 0.5, 0.3])
def test_where_no_game_or_half_of_them_is_drawn_leads_make_no_difference(calm: float) -> None:
    assert not added_up(LEADS, np.ones(len(LEADS)), calm).any()


def test_a_lead_that_is_unsure_is_averaged() -> None:
    random = np.random.default_rng(1)
    sampled = 1.5 + 0.9 * random.standard_normal(200_000)
    right = np.mean(added_up(sampled, np.zeros(len(sampled)), 0.7))
    assert added_up(np.array([1.5]), np.array([0.81]), 0.7)[0] == pytest.approx(right, abs=2e-4)


def test_draws_do_not_make_a_field_with_few_games_look_close() -> None:
    """Catches likelihoods that do not add up to one: 73 % of these intervals held."""
    within = total = 0
    for seed in range(3):
        truth = world(Random(seed), 512, 300, 0.3, 0)
        for name, found in strengths(Ratings(held("knockout")(truth))).of.items():
            within += found.interval[0] <= truth.centred[int(name)] <= found.interval[1]
            total += 1
    assert within > 0.86 * total
