"""The two clocks of a match."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.game import Pace
from tournament.clock import Clock

seconds = st.floats(0, 1000, allow_nan=False)
paces = st.builds(
    Pace, bank=st.none() | st.floats(0.1, 100), gain=st.floats(0, 5), turn=st.none() | st.floats(0.1, 100)
)


def test_a_bank_is_spent_and_gains_after_an_answer() -> None:
    clock = Clock(Pace(bank=18.0, gain=2.0))
    clock.start(0, 100.0)
    assert clock.deadline == 118.0
    assert clock.stop(105.0) == 5.0
    assert clock.left(0, 105.0) == 15.0
    assert clock.left(1, 105.0) == 18.0


def test_a_turn_is_for_each_move_alone() -> None:
    clock = Clock(Pace(turn=5.0))
    clock.start(1, 0.0)
    clock.stop(4.0)
    clock.start(1, 10.0)
    assert clock.deadline == 15.0
    assert clock.left(1, 12.0) == 3.0


def test_where_bank_and_turn_are_given_both_bind() -> None:
    clock = Clock(Pace(bank=8.0, turn=5.0))
    clock.start(0, 0.0)
    assert clock.deadline == 5.0
    clock.stop(5.0)
    clock.start(0, 10.0)
    assert clock.deadline == 13.0


def test_without_limits_there_is_no_deadline_and_no_time_left_to_tell() -> None:
    clock = Clock(Pace())
    clock.start(0, 0.0)
    assert clock.deadline == inf
    assert clock.left(0, 1e9) is None


def test_an_answer_at_the_deadline_leaves_nothing_and_still_gains() -> None:
    clock = Clock(Pace(bank=3.0, gain=2.0))
    clock.start(0, 7.0)
    clock.stop(10.0)
    assert clock.left(0, 10.0) == 2.0


def test_halting_spends_and_gains_nothing() -> None:
    clock = Clock(Pace(bank=3.0, gain=2.0))
    clock.start(0, 0.0)
    clock.halt(1.0)
    assert clock.left(0, 1.0) == 2.0
    assert clock.running is None


@given(pace=paces, thoughts=st.lists(seconds, max_size=20))
def test_no_clock_is_ever_negative_and_nobody_spends_less_than_nothing(
    pace: Pace, thoughts: list[float]
) -> None:
    clock, now = Clock(pace), 0.0
    for number, thought in enumerate(thoughts):
        clock.start(number % 2, now)
        now = min(now + thought, clock.deadline)
        assert clock.stop(now - 1e-9) >= 0.0
        for seat in (0, 1):
            left = clock.left(seat, now)
            assert left is None or left >= 0.0


@given(pace=paces, charged=seconds, stall=seconds)
def test_a_credit_gives_back_what_was_charged_and_no_more(pace: Pace, charged: float, stall: float) -> None:
    clock = Clock(pace)
    clock.start(0, 0.0)
    before = clock.deadline
    clock.credit(stall, charged)
    assert clock.deadline == pytest.approx(before + min(stall, charged))


@given(pace=paces, first=seconds, paused=seconds, rest=seconds)
def test_a_pause_costs_nothing(pace: Pace, first: float, paused: float, rest: float) -> None:
    clock = Clock(pace)
    clock.start(0, 0.0)
    clock.pause(first)
    assert clock.deadline == inf
    clock.resume(first + paused)
    assert clock.spent(first + paused + rest) == pytest.approx(first + rest)


def test_a_move_in_a_pause_is_charged_until_the_pause_only() -> None:
    clock = Clock(Pace(bank=10.0))
    clock.start(0, 0.0)
    clock.pause(4.0)
    assert clock.stop(100.0) == 4.0
    clock.start(1, 100.0)
    clock.resume(200.0)
    assert clock.deadline == 210.0
