"""The whole record of a table without an end goes on from a snapshot as if there had been none."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.tournament.histories import history
from tests.tournament.test_columns import ENDLESS, said
from tests.tournament.test_snapshot import again, known
from tests.tournament.test_tally import forgetful
from tournament.record import Record
from tournament.snapshot import restored, taken

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, steps=st.integers(0, 120), more=st.integers(0, 60), format=st.sampled_from(ENDLESS))
def test_columns_are_the_same_again_and_go_on(seed: int, steps: int, more: int, format: str) -> None:
    opened, facts = history(format, Random(seed), steps + more)
    with forgetful():
        one = Record("cup", opened)
        for fact in facts[: len(facts) - more]:
            one.add(fact)
        other = again(one)
        assert said(other) == said(one)
        for fact in facts[len(facts) - more :]:
            one.add(fact)
            other.add(fact)
        assert said(other) == said(one)
        assert set(known(other)) == set(known(one))


def test_the_columns_of_another_machine_are_not_taken_for_ones_own() -> None:
    opened, facts = history("ladder", Random(8), 50)
    record = Record("cup", opened)
    for fact in facts:
        record.add(fact)
    snapshot = taken(record)
    assert snapshot.columns is not None
    strange = replace(snapshot, columns=replace(snapshot.columns, layout="big I2 d8 q8"))
    with pytest.raises(ValueError, match="another machine"):
        restored(strange)


def test_there_is_no_snapshot_of_the_whole_record_of_a_tournament_with_an_end() -> None:
    opened, _ = history("round-robin", Random(9), 0)
    with pytest.raises(ValueError, match="has an end"):
        taken(Record("cup", opened))
