"""What a tally counts: games, pairs in five kinds, and pairs that repeat an earlier one."""

from itertools import product
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.programs.tally import Played, Tally
from tests.server.programs.series_played import DRAW, FIRST, SECOND, played


def tally(*matches: Played) -> Tally:
    counted = Tally()
    for each in matches:
        counted.add(each)
    return counted


@pytest.mark.parametrize(("one", "other"), [*product((FIRST, DRAW, SECOND), repeat=2)])
def test_a_pair_is_counted_by_the_points_of_the_first_program(one: float, other: float) -> None:
    counted = tally(played(5, one), played(6, other))
    assert counted.pairs == counted.distinct == [int(2 * (one + other) == kind) for kind in range(5)]
    assert (counted.wins, counted.draws, counted.losses) == tuple(
        [one, other].count(points) for points in (FIRST, DRAW, SECOND)
    )


@given(points=st.lists(st.sampled_from([FIRST, DRAW, SECOND]), max_size=12), seed=st.integers(0, 1000))
def test_the_order_in_which_matches_end_changes_nothing(points: list[float], seed: int) -> None:
    matches = [played(number, each, [number % 4]) for number, each in enumerate(points, 1)]
    shuffled = Random(seed).sample(matches, len(matches))
    one, other = tally(*matches), tally(*shuffled)
    assert (one.pairs, one.distinct, one.repeats, one.wins) == (
        other.pairs,
        other.distinct,
        other.repeats,
        other.wins,
    )
    assert other.in_order() == matches
    assert sum(one.pairs) == len(points) // 2 == sum(one.distinct) + one.repeats


def test_a_match_without_its_other_half_is_in_no_pair() -> None:
    counted = tally(played(1, FIRST), played(4, FIRST))
    assert (counted.wins, counted.pairs) == (2, [0] * 5)


def test_a_pair_that_repeats_another_move_by_move_counts_once() -> None:
    counted = Tally()
    changes = [
        counted.add(each)
        for each in (
            played(1, FIRST, [1]),
            played(2, SECOND, [2]),
            played(3, FIRST, [1]),
            played(4, SECOND, [2]),
            played(5, FIRST, [1]),
            played(6, SECOND, [3]),
        )
    ]
    assert changes == [False, True, False, False, False, True], "whether it has told something new"
    assert (counted.pairs, counted.distinct, counted.repeats) == ([0, 0, 3, 0, 0], [0, 0, 2, 0, 0], 1)


def test_the_same_moves_with_another_result_are_another_pair() -> None:
    """As when somebody is too slow for the next one."""
    one = played(1, FIRST, [1]), played(2, FIRST, [1])
    other = played(3, FIRST, [1]), played(4, SECOND, [1])
    assert tally(*one, *other).repeats == 0
