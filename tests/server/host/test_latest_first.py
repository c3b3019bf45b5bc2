"""The latest matches of many tournaments: those that are archived are not taken out before their turn."""

from collections.abc import Iterator
from heapq import merge
from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from server.host.latest_first import latest_first
from tests.tournament.test_archive import is_out, round_robin
from tournament.archived_record import keep_archived, put_in_archive
from tournament.record import Record


def ends(record: Record) -> Iterator[float]:
    for match in reversed([*record.matches.values()]):
        yield match.ended or 0.0


def itself(each: float) -> float:
    return each


@given(
    times=st.lists(st.tuples(st.lists(st.integers(1, 50), min_size=1), st.booleans()), max_size=8),
)
def test_they_come_as_if_all_had_been_looked_at(times: list[tuple[list[int], bool]]) -> None:
    """Whichever of them are archived, of matches that ended together too."""
    sources = list[list[tuple[int, int]]]()
    records = list[Record]()
    for number, (ended, archived) in enumerate(times):
        sources.append([(at, number) for at in sorted(ended, reverse=True)])
        record = round_robin(2, f"cup-{number}")
        if archived:
            put_in_archive(record)
            assert record.archived is not None
            keep_archived(record, structs.replace(record.archived, latest_end=float(max(ended))))
        records.append(record)
    found = latest_first(zip(records, map(iter, sources), strict=True), lambda each: float(each[0]))
    assert [*found] == [*merge(*sources, key=lambda each: each[0], reverse=True)]


def test_an_archived_tournament_is_not_looked_at_before_its_turn() -> None:
    records = [round_robin(entrants) for entrants in range(3, 8)]
    Random(3).shuffle(records)
    latest = max(records, key=lambda record: record.latest_end or 0.0)
    for record in records:
        put_in_archive(record)
    found = latest_first(((record, ends(record)) for record in records), itself)
    assert next(found) == latest.latest_end
    assert [record for record in records if is_out(record)] == [latest]
