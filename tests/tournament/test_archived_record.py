"""A record in the archive: nobody who reads it can tell, and what is added takes it out."""

from collections.abc import Iterator
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.histories import history
from tests.tournament.test_archive import is_out, round_robin
from tests.tournament.test_snapshot import known
from tests.tournament.test_tally import forgetful
from tournament import archive
from tournament.archived_record import can_be_archived, put_in_archive
from tournament.facts import AnyFact, Entered, Froze, State, Turned, Voided
from tournament.format import formats
from tournament.record import Record

seeds = st.integers(0, 2**32 - 1)
ENDING = [name for name, format in formats().items() if not format.endless]
OFTEN = 0.1


@pytest.fixture(autouse=True)
def empty() -> Iterator[None]:
    """Nothing is taken out beforehand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "taken_out", archive.OpenArchives())
        yield


@pytest.mark.slow
@given(seed=seeds, steps=st.integers(0, 150), format=st.sampled_from(ENDING), whole=st.booleans())
def test_whatever_happens_to_an_archived_record_happens_as_to_any_other(
    seed: int, steps: int, format: str, whole: bool
) -> None:
    """It is archived again and again, though it would be only once it is over."""
    opened, facts = history(format, Random(seed), steps)
    random = Random(seed)
    with forgetful():
        one, other = (Record("cup", opened, whole=whole) for _ in range(2))
        for fact in facts:
            one.add(fact)
            other.add(fact)
            if random.random() < OFTEN:
                put_in_archive(other)
                assert (other.pairings, other.decided, other.version) == (
                    one.pairings,
                    one.decided,
                    one.version,
                )
                assert other.latest_end == one.latest_end
                assert not is_out(other)
                if random.random() < 0.5:
                    assert known(other) == known(one)
                    assert [*other.matches.values()] == [*one.matches.values()]
                    assert [type(each) for each in other.matches.values()] == [
                        type(each) for each in one.matches.values()
                    ]
                    assert (other.endings, other.results.decisions) == (one.endings, one.results.decisions)
        assert known(other) == known(one)
        assert other.standings() == one.standings()


@pytest.mark.parametrize("whole", [True, False])
def test_a_preview_changes_nothing_in_the_archive(whole: bool) -> None:
    record = round_robin(5, whole=whole)
    before = record.standings()
    put_in_archive(record)
    voided = record.after(Voided("cup-1", "a cable"))
    assert 1 in voided.open
    assert 1 in record.results.came_to
    assert record.archived is not None
    assert record.standings() == before


@pytest.mark.parametrize("part", sorted(archive.PARTS))
def test_a_copy_that_is_made_as_another_thread_puts_parts_back_has_them(part: str) -> None:
    record, as_it_was = round_robin(4), round_robin(4)
    put_in_archive(record)
    assert record.results
    del vars(record)[part]  # one after the other goes back
    assert known(record.after()) == known(as_it_was)


def test_the_archive_knows_who_has_won() -> None:
    record = round_robin(7)
    put_in_archive(record)
    assert record.archived is not None
    assert record.archived.winners == tuple([row.name for row in record.standings() if row.rank == 1])


def test_of_too_many_that_are_taken_out_the_first_go_back() -> None:
    records = [round_robin(5, f"cup-{number}") for number in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "OUT", 3 * 10)
        for record in records:
            put_in_archive(record)
            assert len(record.matches) == 10
        assert [*map(is_out, records)] == [False] * 7 + [True] * 3
        records[8].add(Voided(f"{records[8].name}-1", "a cable"))  # and stays out from now on
        for record in records:
            assert len(record.matches) == 10
        assert is_out(records[8])
        assert sum(map(is_out, records)) == 4


@pytest.mark.parametrize(
    ("facts", "can"),
    [
        ((), True),
        ((Voided("cup-1", "a cable"),), False),
        ((Turned(State.PAUSED),), False),
        ((Entered("late"),), True),
        ((Froze(True),), False),
        ((Froze(True), Froze(False)), True),
    ],
)
def test_only_what_is_over_with_nothing_left_to_play_can_be_archived(
    facts: tuple[AnyFact, ...], can: bool
) -> None:
    record = round_robin(4)
    for fact in facts:
        record.add(fact)
    assert can_be_archived(record) is can
    put_in_archive(record)
    assert not can_be_archived(record), "twice"


def test_a_very_large_tournament_is_not_archived() -> None:
    """Taking it out would hold up whoever else has something to do."""
    record = round_robin(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGEST", 5)
        assert not can_be_archived(record)
