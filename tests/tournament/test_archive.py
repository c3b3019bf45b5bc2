"""What is kept of a record in the archive is all of it, and takes little room."""

from collections.abc import Iterator
from itertools import combinations
from random import Random

import pytest

from tests.tournament.test_snapshot import again, known
from tournament import archive
from tournament.archived_record import can_be_archived, put_in_archive
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, State, Turned, Voided
from tournament.format import Pairing
from tournament.record import Record


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
    assert can_be_archived(record)
    put_in_archive(record)
    read = again(record)
    assert (read.whole, read.archived) == (whole, record.archived)
    assert not is_out(record)
    assert not is_out(read)
    assert known(read) == before


def test_a_match_takes_less_than_a_hundred_bytes_in_the_archive() -> None:
    record = round_robin(20)
    put_in_archive(record)
    assert record.archived is not None
    assert len(record.archived.content) < 100 * len(record.drawn)
