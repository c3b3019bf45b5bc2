"""What a record remembers does not grow with the length of its matches, nor with what their bots say."""

from random import Random

import pytest
from msgspec import msgpack, structs

import tournament.record
from tests.tournament.test_score_sheet import event, happened
from tournament.causes import Disconnected
from tournament.facts import Concluded
from tournament.format import formats
from tournament.notes import Noted
from tournament.record import Record
from tournament.remembered import Abridged, Remembered

FIELDS = [field for field in Concluded.__struct_fields__ if field not in ("moves", "times", "notes")]
LED = ("cause", "thought", "network", "kinds")
SENTENCE, FIGURES = Noted(1, 0, "I begin in the middle"), Noted(2, 1, {"tokens": 12})


def told(over: Concluded, plies: int) -> Concluded:
    """That match, with all that can be said of one."""
    return structs.replace(
        over,
        moves=("a",) * plies,
        times=(0.125,) * plies,
        cause=(Disconnected(at=1.0, seat=1, ply=5),),
        thought=(3.0, 4.0),
        network=(0.1, 0.2),
        versions=("1", "2"),
        notes=(SENTENCE, FIGURES),
    )


def played(kind: str, plies: int, matches: int, whole: bool) -> tuple[Record, list[Concluded]]:
    random, record, kept = Random(1), event(kind), list[Concluded]()
    record = Record("cup", record.opened, whole=whole)
    for _ in range(matches):
        drew, over = happened(record, random, "ann", "bob")
        kept.append(told(over, plies))
        record.add(drew)
        record.add(kept[-1])
    return record, kept


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", [*formats()])
def test_the_latest_matches_are_remembered_without_their_moves(kind: str, whole: bool) -> None:
    record, (kept,) = played(kind, 40, 1, whole)
    (over,) = record.matches.values()
    assert (over.moves, over.times) == ((), ())
    assert {field: getattr(over, field) for field in FIELDS} == {
        field: getattr(kept, field) for field in FIELDS
    }
    assert over.plies == 40
    assert over.notes == ((FIGURES,) if whole else ()), "figures are added up by whoever shows them"


@pytest.mark.parametrize("kind", ["round-robin", "ladder"])
def test_what_led_to_an_end_is_remembered_of_the_latest_only(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tournament.record, "LATEST", 3)
    record, kept = played(kind, 40, 8, whole=True)
    matches = [*record.matches.values()]
    assert [type(over) for over in matches] == [Abridged] * 5 + [Remembered] * 3
    for over, fact in zip(matches, kept, strict=True):
        assert {field: getattr(over, field) for field in FIELDS if field not in LED} == {
            field: getattr(fact, field) for field in FIELDS if field not in LED
        }
    assert not any(over.cause or over.notes for over in matches[:5])
    assert all(over.cause and over.notes for over in matches[5:])


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("kind", ["round-robin", "ladder"])
def test_long_matches_take_no_more_than_short_ones(kind: str, whole: bool) -> None:
    """Catches a record that holds what only the store has to: a host may have thousands of tournaments."""
    short, long = (played(kind, plies, 20, whole)[0] for plies in (130, 250))
    one, other = (len(msgpack.encode([*record.matches.values()])) for record in (short, long))
    assert one == other
