"""A snapshot of a record, and what becomes of it."""

from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tournament.histories import history
from tests.tournament.test_tally import forgetful
from tournament.facts import (
    Called,
    CheckedIn,
    Chose,
    Claimed,
    Concluded,
    Dealt,
    Described,
    Disqualified,
    Drew,
    EndedEarly,
    Froze,
    NoShow,
    Revealed,
    RoundBegan,
    Sealed,
    Withdrew,
)
from tournament.forecast import Forecast
from tournament.format import Pairing, Result, formats
from tournament.record import Record
from tournament.remembered import Abridged
from tournament.snapshot import Snapshot, restored, taken

seeds = st.integers(0, 2**32 - 1)
names = st.sampled_from([*formats()])


def again(record: Record) -> Record:
    """Written, read, and made a record."""
    return restored(msgspec.msgpack.decode(msgspec.msgpack.encode(taken(record)), type=Snapshot))


def known(record: Record) -> dict[str, object]:
    """All of it, but for moves, which a snapshot does not have."""
    found = vars(record) | vars(record.results)
    del found["results"], found["archived"]
    found["matches"] = [
        Abridged(
            *(each.match, each.pairing, each.players, each.winner, each.ending, each.why, each.score),
            options=each.options,
            began=each.began,
            ended=each.ended,
            length=each.plies,
        )
        for each in record.matches.values()
    ]
    found["open"] = [*record.open.items()]
    found["tallies"] = record.results.tallies.of, record.results.tallies.read
    decided = dict[int, Result]()
    for each in record.results.decisions:  # what was taken back is not in a snapshot
        if isinstance(each, int):
            del decided[each]
        else:
            decided[each.pairing.number] = each
    found["decisions"] = [*decided.items()]
    if record.results.latest is not None:
        latest = record.results.latest
        found["latest"] = [*latest], latest.results, latest.times, latest.playing
    still = record.frozen
    found["_still"] = still and ("itself" if still is record else known(still))
    del found["_stands_still"]  # which is just that
    return found


@pytest.mark.slow
@given(seed=seeds, steps=st.integers(0, 120), more=st.integers(0, 60), format=names)
def test_a_record_goes_on_from_a_snapshot_as_if_there_had_been_none(
    seed: int, steps: int, more: int, format: str
) -> None:
    opened, facts = history(format, Random(seed), steps + more)
    with forgetful():
        one = Record("cup", opened, whole=False)
        for fact in facts[: len(facts) - more]:
            one.add(fact)
        other = again(one)
        assert known(other) == known(one)
        for fact in facts[len(facts) - more :]:
            one.add(fact)
            other.add(fact)
        assert known(other) == known(one)
        assert other.standings() == one.standings()


@pytest.mark.parametrize("format", [*formats()])
def test_a_snapshot_knows_every_field_of_a_record(format: str) -> None:
    """Catches a field that a record was given, and a snapshot was not: it would be lost at the next start."""
    opened, facts = history(format, Random(5), 300, expelled=False)
    number = 1 + sum(len(fact.pairings) for fact in facts if isinstance(fact, Drew))
    bye = () if formats()[format].endless else (Pairing(number + 2, 1, "e", None),)
    facts += [
        EndedEarly(),
        Drew((Pairing(number, 1, "c", "d"), Pairing(number + 1, 1, "c", "e"), *bye)),
        Dealt(f"cup-{number}", number, {"rows": 4}, ("ab", ""), ("", "dots /g/1"), 4.5),
    ]
    facts += [Disqualified("a", "?"), Withdrew("b", annulled=True), Claimed("c", "cd", True)]
    facts += [
        Called("c", "http://192.0.2.7/", "cd", "192.0.2.7"),
        Called("e", "http://192.0.2.8/"),
        Called("e"),
    ]
    facts += [RoundBegan(1000, 5.0), CheckedIn("c"), NoShow("d"), Described("e", "ETH", "e@example")]
    facts += [Sealed("ab"), Chose(7, "cd"), Revealed(7, "cd"), Froze(True)]
    record, fresh = (Record("cup", opened, whole=False) for _ in range(2))
    for fact in facts:
        record.add(fact)
    fields = known(fresh)
    same: set[str] = {field for field, value in known(record).items() if value == fields[field]}
    same -= {"decisions", "endings", "_columns"}  # of whole records
    same -= {"_format", "forgets"}  # of its format
    if record.format.endless:
        same -= {"missed_pairings", "byes"}  # none is played again, and nobody goes without an opponent
        same -= {"numbers"}  # strangers play there under ever new names
    assert same <= {"name", "kept_as", "opened", "format", "whole", "latest", "tallies", "history"}
    assert known(again(record)) == known(record)


def test_a_snapshot_knows_when_matches_were_played() -> None:
    """Catches a start after which no end was forecast, and no bot heard that a frozen tournament was over."""
    opened, facts = history("swiss", Random(5), 300, expelled=False)
    record = Record("cup", opened, whole=False)
    for fact in facts:
        record.add(fact)
    assert again(record).latest_end == record.latest_end is not None
    assert Forecast(again(record)).length == Forecast(record).length > 0


def test_what_a_snapshot_shares_with_its_record_does_not_change_with_it() -> None:
    opened, facts = history("ladder", Random(6), 400)
    with forgetful():
        record = Record("cup", opened, whole=False)
        for fact in facts[:300]:
            record.add(fact)
        snapshot, before = taken(record), known(again(record))
        for fact in facts[300:]:
            record.add(fact)
        assert known(restored(snapshot)) == before


def test_names_and_scores_are_there_once_however_often_they_are_read() -> None:
    opened, facts = history("round-robin", Random(7), 300)
    record = Record("cup", opened, whole=False)
    for fact in facts:
        record.add(fact)
    read = again(record)
    assert len({id(each.first) for each in read.drawn.values()}) <= 8
    assert len({id(each.score) for each in read.results.remembered()}) <= 5
    assert {type(each) for each in read.matches.values()} <= {Abridged, Concluded}
