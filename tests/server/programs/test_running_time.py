"""The time in which this process runs, by a clock that the test sets."""

from itertools import accumulate, pairwise

from hypothesis import given
from hypothesis import strategies as st

from server.programs.running_time import BEAT, TOLERANCE, RunningTime

LATEST = BEAT + TOLERANCE  # seconds between two looks, of which no standstill is seen
usual = st.floats(0, LATEST - 1e-6)
standstill = st.floats(LATEST + 1e-6, 1e5)


def passed(looks: list[float]) -> list[float]:
    """The running time after each of these pauses between two looks."""
    times = accumulate(looks, initial=0.0)
    now = RunningTime(lambda: next(times))
    return [now() for _ in looks]


@given(st.lists(st.one_of(usual, standstill), min_size=1, max_size=20))
def test_a_standstill_takes_a_beat_and_everything_else_its_time(looks: list[float]) -> None:
    found = passed(looks)
    for look, (before, after) in zip(looks, pairwise([0.0, *found]), strict=True):
        assert abs(after - before - (look if look < LATEST else BEAT)) < 1e-6


def test_while_it_is_entered_it_is_looked_at_and_then_no_more() -> None:
    with RunningTime() as now:
        assert now() <= now()
        thread = now._thread
        assert thread.is_alive()
    assert not thread.is_alive()
