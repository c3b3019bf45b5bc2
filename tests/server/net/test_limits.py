"""The bucket of credits, and the limits as data."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.net.limits import Bucket, Limits, Rate

RATE = Rate(20, 10.0)

times = st.lists(st.floats(0, 100), min_size=1, max_size=120).map(sorted)


@given(times)
def test_no_stretch_of_time_sees_more_than_the_burst_and_what_came_back_in_it(asked: list[float]) -> None:
    bucket = Bucket(RATE, asked[0])
    given_at = [at for at in asked if bucket.take(at)]
    for first, start in enumerate(given_at):
        for last in range(first, len(given_at)):
            allowed = RATE.credits + (given_at[last] - start) * RATE.credits / RATE.seconds
            assert last - first + 1 <= allowed + 1e-6


def test_a_credit_is_spent_when_all_of_it_has_come_back() -> None:
    bucket = Bucket(Rate(2, 10.0), 0.0)
    assert [bucket.take(at) for at in (0.0, 0.0, 4.9, 5.1, 9.9, 10.1)] == [
        True,
        True,
        False,
        True,
        False,
        True,
    ]


@given(times)
def test_whoever_keeps_to_the_rate_is_never_refused(gaps: list[float]) -> None:
    bucket, now = Bucket(RATE, 0.0), 0.0
    for gap in gaps:
        now += RATE.seconds / RATE.credits + gap + 1e-6
        assert bucket.take(now)


def test_the_whole_burst_can_be_spent_at_once_and_what_is_refused_costs_nothing() -> None:
    bucket = Bucket(RATE, 5.0)
    assert all(bucket.take(5.0) for _ in range(RATE.credits))
    assert not any(bucket.take(5.0) for _ in range(1000))
    assert bucket.take(5.5)
    assert not bucket.take(5.5)
    assert bucket.take(7.5, cost=4.0)


def test_what_came_before_a_bucket_was_made_takes_no_more_than_it_costs() -> None:
    bucket = Bucket(RATE, 1000.0)
    assert [bucket.take(at) for at in (0.0, 500.0, 1.0)] == [True] * 3
    assert [bucket.take(1000.0) for _ in range(RATE.credits - 2)] == [True] * (RATE.credits - 3) + [False]


def test_limits_are_read_from_an_organisers_file_and_a_wrong_name_is_named() -> None:
    assert msgspec.convert({"line_bytes": 100, "junk": {"credits": 1, "seconds": 2.0}}, Limits) == Limits(
        line_bytes=100, junk=Rate(1, 2.0)
    )
    with pytest.raises(msgspec.ValidationError, match="line_byte"):
        msgspec.convert({"line_byte": 100}, Limits)
