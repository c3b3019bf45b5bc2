"""Histograms."""

from hypothesis import given
from hypothesis import strategies as st

from server.host.histogram import Histogram


# In steps whose sum is exact: Python's own sum rounds in a way of its own from 3.12 on.
@given(st.lists(st.integers(0, 10 * 1024).map(lambda steps: steps / 1024)))
def test_a_histogram_counts_what_took_no_longer_than_each_bound(observed: list[float]) -> None:
    histogram = Histogram()
    for seconds in observed:
        histogram.observe(seconds)
    counts = [sum(each <= bound for each in observed) for bound in histogram.bounds]
    assert histogram.up_to() == [*counts, len(observed)]
    assert histogram.total == sum(observed)


def test_what_took_exactly_as_long_as_a_bound_took_no_longer() -> None:
    histogram = Histogram()
    for bound in histogram.bounds:
        histogram.observe(bound)
    assert histogram.up_to() == [*range(1, len(histogram.bounds) + 1), len(histogram.bounds)]
