"""The two clocks of a match."""

from math import inf

import pytest
from hypothesis import given, settings
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


# What may happen to a clock, each with whole seconds, so that sums are exact.
steps = st.lists(
    st.tuples(
        st.sampled_from(("wait", "wait", "move", "pause", "resume", "credit", "halt")), st.integers(0, 9)
    ),
    max_size=30,
)
whole = st.none() | st.integers(1, 20).map(float)


@settings(max_examples=50)
@given(bank=whole, turn=whole, gain=st.integers(0, 3).map(float), steps=steps)
def test_whatever_happens_the_mover_alone_pays_and_only_for_time_that_counted(
    bank: float | None, turn: float | None, gain: float, steps: list[tuple[str, int]]
) -> None:
    clock, now, paused = Clock(Pace(bank, gain, turn)), 100.0, False
    most = inf if turn is None else turn
    banks = [inf if bank is None else bank] * 2
    mover, spent, at_start = 0, 0.0, banks[0]
    clock.start(mover, now)
    for what, seconds in steps:
        if what == "wait":
            now += seconds
            spent += 0 if paused else seconds
        elif what == "pause":
            clock.pause(now)
            paused = True
        elif what == "resume":
            clock.resume(now)
            paused = False
        elif what == "credit":
            given = 0.0 if paused else min(seconds, spent)
            assert clock.credit(seconds, now) == given
            spent -= given
        else:
            if what == "move" and spent <= min(at_start, most):
                assert clock.stop(now) == spent
                banks[mover] += gain - spent
                mover = 1 - mover
            else:  # a flag falls, or the match waits for somebody
                assert clock.halt(now) == spent
                banks[mover] = max(0.0, banks[mover] - spent)
            assert (clock.halt(now), clock.spent(now), clock.deadline) == (0.0, 0.0, inf)
            spent, at_start = 0.0, banks[mover]
            clock.start(mover, now)
        assert clock.allowed == min(at_start, most)
        assert clock.deadline == (inf if paused else now - spent + clock.allowed)
        for seat in (0, 1):
            left = max(0.0, min(banks[seat], most) - spent * (seat == mover))
            assert clock.left(seat, now) == (None if left == inf else left)


@given(
    bank=st.integers(1, 20).map(float), gain=st.integers(0, 3).map(float), spent=st.integers(0, 30).map(float)
)
def test_time_charged_for_a_move_from_before_is_what_the_move_had_cost(
    bank: float, gain: float, spent: float
) -> None:
    clock, other = Clock(Pace(bank, gain)), Clock(Pace(bank, gain))
    clock.charge(1, spent)
    other.start(1, 0.0)
    other.stop(spent)
    assert clock.left(0, 0.0) == bank
    assert clock.left(1, 0.0) == other.left(1, spent) == max(0.0, bank - spent) + gain
