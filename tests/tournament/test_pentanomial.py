"""Elo, its interval, LOS and normalised Elo: fastchess's figures, and intervals that hold what they say."""

from itertools import product
from math import factorial
from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.effort import tries
from tournament.pentanomial import ENOUGH, MOST, elo_of, strength
from tournament.sprt import SCORES

# Pairs in which the first got 0, ½, 1, 1½ and 2 points; what fastchess (alpha 1.8.2), built from its
# source, says of them: Elo, its error, normalised Elo and LOS in per cent.
FASTCHESS = [
    ((390, 16974, 36229, 16618, 365), -0.999343, 0.923077, -1.962271, 1.69),
    ((104, 5150, 10712, 4883, 127), -1.830282, 1.698967, -3.581711, 1.74),
    ((34, 54, 63, 64, 75), 55.579780, 27.653430, 57.935600, 100.00),
    ((332, 433, 498, 333, 334), -8.642667, 10.334194, -9.172914, 5.05),
    ((10, 40, 120, 55, 12), 13.934209, 19.404676, 22.507548, 92.08),
    ((3, 9, 30, 14, 4), 20.290111, 40.521392, 31.340214, 83.85),
    ((5, 10, 20, 10, 6), 6.813336, 53.823493, 8.605587, 59.88),
    ((12, 0, 76, 0, 20), 25.783196, 35.657464, 33.745927, 92.33),
    ((0, 571, 153, 75, 201), -16.341512, 12.960215, -19.236695, 0.66),
    ((92, 49, 13, 46, 0), -176.103399, 37.215458, -191.369547, 0.00),
]
counts = st.lists(st.integers(0, 300), min_size=5, max_size=5)


@pytest.mark.parametrize(("seen", "elo", "error", "nelo", "los"), FASTCHESS)
def test_the_figures_are_those_of_fastchess(
    seen: tuple[int, ...], elo: float, error: float, nelo: float, los: float
) -> None:
    found = strength(seen)
    low, high = found.interval
    assert (found.elo, (high - low) / 2, found.nelo) == pytest.approx((elo, error, nelo), abs=1e-5)
    assert found.los == pytest.approx(los / 100, abs=5.1e-5)


@given(counts)
@example([0, 0, 0, 0, 0])
@example([0, 0, 1, 0, 0])
@example([0, 0, 0, 0, 40000])
def test_the_interval_holds_what_was_found_and_nothing_is_beyond_what_can_be_told(seen: list[int]) -> None:
    found = strength(seen)
    low, high = found.interval
    assert -MOST <= low <= found.elo <= high <= MOST
    assert abs(found.nelo) <= MOST
    assert 0 <= found.los <= 1


@given(counts)
@example([3, 0, 0, 0, 0])
@example([2, 3, 4, 1, 0])
@example([0, 1, 30, 0, 0])
def test_seen_from_the_other_side_everything_is_the_other_way_round(seen: list[int]) -> None:
    one, other = strength(seen), strength(seen[::-1])
    low, high = other.interval
    assert (one.elo, one.nelo) == pytest.approx((-other.elo, -other.nelo), abs=1e-6)
    assert one.interval == pytest.approx((-high, -low), abs=0.5)  # the root of a logistic fit is not exact
    assert one.los == pytest.approx(1 - other.los, abs=1e-3)


@pytest.mark.parametrize("seen", [(0, 0, 1, 0, 0), (0, 0, 0, 0, 1), (1, 0, 0, 0, 0), (0, 1, 0, 1, 0)])
def test_a_pair_or_two_say_next_to_nothing(seen: tuple[int, ...]) -> None:
    """A normal distribution would say that one pair, whatever came of it, is certain."""
    low, high = strength(seen).interval
    assert low < 0 < high
    assert high - low > 300
    assert 0.1 < strength(seen).los < 0.9


def test_nothing_played_is_nothing_known() -> None:
    found = strength([0] * 5)
    assert (found.elo, found.interval, found.los) == (0, (-MOST, MOST), 0.5)


def test_whoever_wins_everything_is_stronger_by_an_unknown_amount() -> None:
    found = strength((0, 0, 0, 0, 25))
    assert found.elo == found.interval[1] == MOST
    assert found.interval[0] > 300
    assert found.los > 0.999


def test_where_one_way_of_counting_follows_the_other_the_interval_changes_little() -> None:
    few = strength((2, 3, 40, 2, ENOUGH - 8)).interval
    many = strength((2, 3, 40, 3, ENOUGH - 8)).interval
    assert many[1] - many[0] == pytest.approx(few[1] - few[0], rel=0.2)


def test_of_two_equals_hardly_any_is_called_the_stronger_after_few_pairs() -> None:
    """By all results that a few pairs without draws can have; it was one in nine."""
    for pairs in (6, 10):
        wrong = 0.0
        for lost, won in product(range(pairs + 1), repeat=2):
            even = pairs - lost - won
            if lost < won and even >= 0 and strength((lost, 0, even, 0, won)).interval[0] > 0:
                ways = factorial(pairs) / (factorial(lost) * factorial(even) * factorial(won))
                wrong += 2 * ways * 0.25 ** (lost + won) * 0.5**even
        assert 0 < wrong < 0.055


TRUTHS = {
    "even": (0.1, 0.2, 0.4, 0.2, 0.1),
    "many draws": (0.01, 0.1, 0.7, 0.17, 0.02),
    "openings decide": (0.05, 0.0, 0.85, 0.0, 0.1),
    "stronger": (0.01, 0.05, 0.14, 0.3, 0.5),
    "much stronger": (0.0, 0.01, 0.04, 0.05, 0.9),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    "pairs",
    [
        3,
        pytest.param(10, marks=pytest.mark.campaign),
        30,
        pytest.param(100, marks=pytest.mark.campaign),
        500,
    ],
)
@pytest.mark.parametrize(
    "truth",
    [
        "even",
        pytest.param("many draws", marks=pytest.mark.campaign),
        "openings decide",
        pytest.param("stronger", marks=pytest.mark.campaign),
        "much stronger",
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(truth: str, pairs: int) -> None:
    """95 times in 100, and a few times less or more while there are few pairs, which have few results."""
    runs, lots = tries(100, 2000), Random(f"{truth} {pairs}")
    elo = elo_of(sum(share * score for share, score in zip(TRUTHS[truth], SCORES, strict=True)))
    held = 0
    for _ in range(runs):
        drawn = lots.choices(range(5), TRUTHS[truth], k=pairs)
        low, high = strength([drawn.count(kind) for kind in range(5)]).interval
        held += low <= elo <= high
    assert held / runs >= tries(86, 88) / 100
