"""The format that monitors read, and the reader that the tests have of it."""

import math
from functools import reduce
from operator import add

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.host.exposition import Family, Sample, exposition, single
from server.host.histogram import Histogram
from tests.server.exposition import read

FIGURES = st.floats(min_value=0.0, allow_nan=False)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), FIGURES, min_size=1))
def test_whatever_a_label_says_is_read_back_and_forges_no_line(values: dict[str, float]) -> None:
    samples = tuple(Sample(value, {"said": said}) for said, value in values.items())
    text = exposition([Family("q_things", "gauge", "Things.", samples)])
    assert len([line for line in text.split("\n") if line]) == 2 + len(values)
    names = [line.rpartition(" ")[2] for line in text.split("\n")[2:] if line]
    assert [float(name) for name in names] == list(values.values())


@given(st.lists(st.floats(0.0, 10.0)))
def test_a_histogram_is_read_back(observed: list[float]) -> None:
    histogram = Histogram()
    for seconds in observed:
        histogram.observe(seconds)
    found = read(exposition([single("q_seconds", "histogram", "Seconds.", histogram)]))
    assert found.one("q_seconds_count") == len(observed)
    assert found.one("q_seconds_sum") == reduce(add, observed, 0.0)  # newer Pythons' `sum` is nearer
    assert found.one("q_seconds_bucket", le="0.1") == sum(each <= 0.1 for each in observed)


def test_what_has_no_end_is_written_as_monitors_have_it() -> None:
    assert exposition([single("q_files", "gauge", "Files.", math.inf)]).endswith("\nq_files +Inf\n")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("# HELP q_x Help.\n# TYPE q_x counter\nq_x 1\n", "q_x is a counter"),
        ("# HELP q_total Help.\n# TYPE q_total gauge\nq_total 1\n", "q_total is a gauge"),
        ("# HELP q_x Help.\n# TYPE q_x gauge\nq_x 1\nq_x 2\n", "comes twice"),
        ("# HELP q_x Help.\n# TYPE q_x gauge\nq_y 1\n", "q_y stands among"),
        ('# HELP q_x Help.\n# TYPE q_x gauge\nq_x{a="b""} 1\n', "no sample"),
        ("# HELP q_x Help.\nq_x 1\n", "no type"),
        (
            '# HELP q_s Help.\n# TYPE q_s histogram\nq_s_bucket{le="1"} 2\nq_s_bucket{le="+Inf"} 1\n'
            "q_s_sum 1\nq_s_count 1\n",
            "do not add up",
        ),
    ],
)
def test_the_reader_takes_no_mistake(text: str, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        read(text)
