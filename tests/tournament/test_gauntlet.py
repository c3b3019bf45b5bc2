"""Gauntlet: one against all, any number of times round."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.holding import Held, by_round, field, imbalance, meetings, repetitions, sides
from tournament.format import Terms, formats

GAUNTLET = formats()["gauntlet"]


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [None, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("count", range(2, 41))
def test_the_first_who_entered_meets_each_of_the_others_so_many_times(count: int, rounds: int | None) -> None:
    drawn = GAUNTLET.draw(field(count), [], [], Terms(rounds=rounds))
    times = rounds or 2
    assert meetings(drawn) == {frozenset(("p0", f"p{index}")): times for index in range(1, count)}
    assert {round: len(pairings) for round, pairings in by_round(drawn).items()} == dict.fromkeys(
        range(1, times + 1), count - 1
    )
    assert imbalance(drawn) == times % 2
    assert repetitions(sides(drawn)["p0"]) == 0


@given(
    count=st.integers(2, 9),
    rounds=st.integers(1, 5),
    late=st.lists(st.integers(1, 3), max_size=4),
    gone=st.sets(st.integers(1, 8)),
)
def test_late_entries_meet_that_one_alone_and_sides_stay_balanced(
    count: int, rounds: int, late: list[int], gone: set[int]
) -> None:
    held = Held(GAUNTLET, field(count), Terms(rounds=rounds))
    held.advance()
    for index in gone & set(range(count)):
        held.withdraw(f"p{index}")
    for wave, size in enumerate(late):
        held.entrants += field(size, f"late{wave}.")
        assert len(held.advance()) == size * rounds
    assert set(meetings(held.drawn)) == {frozenset(("p0", other.name)) for other in held.entrants[1:]}
    assert set(meetings(held.drawn).values()) == {rounds}
    assert imbalance(held.drawn) <= rounds % 2


def test_without_that_one_nobody_else_is_drawn() -> None:
    held = Held(GAUNTLET, field(4))
    held.advance()
    held.withdraw("p0")
    held.entrants += field(2, "late")
    assert not held.advance()


def test_whoever_has_gone_before_it_begins_is_not_that_one() -> None:
    held = Held(GAUNTLET, field(4))
    held.withdraw("p0")
    assert meetings(held.advance()) == {frozenset(("p1", "p2")): 2, frozenset(("p1", "p3")): 2}
