"""The power may go at any time. `python -m tests.powercuts` has more of it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.crashes.world import FAST
from tests.effort import tries
from tests.powercuts.cuts import cut

pytestmark = pytest.mark.slow

SEEDS = range(1, 1 + tries(30, 60))


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        yield Path(folder)


def test_no_power_cut_takes_what_was_said_to_be_safe(folder: Path) -> None:
    cuts = [cut(seed, folder / str(seed)) for seed in SEEDS]
    assert sum(each.safe for each in cuts) > 1000, "the power has to stay for a while"
    assert min(each.operations for each in cuts) < 20, "and sometimes to go at once"


def test_a_database_that_does_not_synchronise_every_commit_would_be_found(folder: Path) -> None:
    with pytest.raises(AssertionError, match="was safe, and is gone"):
        sum(cut(seed, folder / str(seed), "synchronous = NORMAL").safe for seed in SEEDS)
