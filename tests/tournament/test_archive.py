"""A record in the archive: nobody who reads it can tell, and it takes little room."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.histories import history
from tests.tournament.test_snapshot import again, known
from tests.tournament.test_tally import forgetful
from tournament import archive
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Froze, Opened, State, Turned, Voided
from tournament.format import Pairing, formats
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


def round_robin(entrants: int, name: str = "cup", *, whole: bool = True) -> Record:
    """One that is over. Moves and times differ from match to match, as real ones do."""
    record, random = Record(name, Opened("connect-4", "round-robin"), whole=whole), Random(entrants)
    names = [f"bot-{number}" for number in range(entrants)]
    pairings = [Pairing(number, 1, *both) for number, both in enumerate(combinations(names, 2), 1)]
    facts: list[AnyFact] = [*map(Entered, names), Turned(State.RUNNING), Drew(tuple(pairings))]
    for pairing in pairings:
        match, winner = f"{name}-{pairing.number}", random.randrange(2)
        moves, began = tuple([random.randrange(7) for _ in range(20)]), 1.7e9 + 60 * pairing.number
        facts += [
            Dealt(match, pairing.number),
            Concluded(
                *(
                    match,
                    pairing.number,
                    (pairing.first, pairing.second or ""),
                    winner,
                    Ending.PLAYED,
                    "four",
                ),
                score=(1.0 - winner, float(winner)),
                moves=moves,
                began=began,
                ended=began + random.random() * 60,
            ),
        ]
    for fact in [*facts, Turned(State.FINISHED)]:
        record.add(fact)
    return record


def is_out(record: Record) -> bool:
    return not archive.PARTS.isdisjoint(vars(record))


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
                other.archive()
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
    record.archive()
    voided = record.after(Voided("cup-1", "a cable"))
    assert 1 in voided.open
    assert 1 in record.results.came_to
    assert record.archived is not None
    assert record.standings() == before


@pytest.mark.parametrize("part", sorted(archive.PARTS))
def test_a_copy_that_is_made_as_another_thread_puts_parts_back_has_them(part: str) -> None:
    record, as_it_was = round_robin(4), round_robin(4)
    record.archive()
    assert record.results
    del vars(record)[part]  # one after the other goes back
    assert known(record.after()) == known(as_it_was)


@pytest.mark.parametrize("whole", [True, False])
def test_a_snapshot_has_what_is_archived_as_it_is(whole: bool) -> None:
    """With a match that was voided after the end, and played once more."""
    record = round_robin(6, whole=whole)
    replayed = Concluded(
        *("cup-1.2", 1, ("bot-0", "bot-1"), None, Ending.PLAYED, "full"), score=(0.5, 0.5), moves=(1,)
    )
    for fact in (
        *(Turned(State.RUNNING), Voided("cup-1", "a cable")),
        *(Dealt("cup-1.2", 1), replayed, Turned(State.FINISHED)),
    ):
        record.add(fact)
    before = known(record)
    assert record.can_be_archived
    record.archive()
    read = again(record)
    assert (read.whole, read.archived) == (whole, record.archived)
    assert not is_out(record)
    assert not is_out(read)
    assert known(read) == before


def test_the_archive_knows_who_has_won() -> None:
    record = round_robin(7)
    record.archive()
    assert record.archived is not None
    assert record.archived.winners == tuple([row.name for row in record.standings() if row.rank == 1])


def test_a_match_takes_less_than_a_hundred_bytes_in_the_archive() -> None:
    record = round_robin(20)
    record.archive()
    assert record.archived is not None
    assert len(record.archived.content) < 100 * len(record.drawn)


def test_of_too_many_that_are_taken_out_the_first_go_back() -> None:
    records = [round_robin(5, f"cup-{number}") for number in range(10)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "OUT", 3 * 10)
        for record in records:
            record.archive()
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
    assert record.can_be_archived is can
    record.archive()
    assert not record.can_be_archived, "twice"


def test_a_very_large_tournament_is_not_archived() -> None:
    """Taking it out would hold up whoever else has something to do."""
    record = round_robin(4)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGEST", 5)
        assert not record.can_be_archived
