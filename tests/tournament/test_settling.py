"""How pairings end that are not played, and matches that nobody can go on with."""

import pytest

from tournament.asides import Remark
from tournament.causes import Absent
from tournament.events import CUT_SHORT, Ending, Fault
from tournament.facts import Concluded, Dealt, Disqualified, Drew, Entered, Opened
from tournament.format import Pairing, formats
from tournament.notes import Noted
from tournament.record import Record
from tournament.settling import cut_short, settled
from tournament.store import Jottings

ENDLESS = [name for name, format in formats().items() if format.endless]
PAIRING = Pairing(1, 1, "ann", "bob")


def drawn(format: str, *out: str) -> Record:
    """Ann and Bob are to meet, and these have been disqualified."""
    record = Record("cup", Opened("tic-tac-toe", format, None if format in ENDLESS else 2))
    facts = [
        Entered("ann"),
        Entered("bob"),
        Drew((PAIRING,)),
        *(Disqualified(name, "it cheated") for name in out),
    ]
    for fact in facts:
        record.add(fact)
    return record


def after(format: str, *out: str) -> Concluded:
    """How a pairing of Ann and Bob ends when these have been disqualified."""
    return settled(drawn(format, *out), PAIRING, {}, set(), 1.0)


def test_where_there_is_a_schedule_whoever_is_left_wins() -> None:
    ended = after("round-robin", "ann")
    assert (ended.winner, ended.ending, ended.score) == (1, Ending.LEFT, (0.0, 1.0))
    assert ended.why == "ann is out of the tournament"
    assert ended.fault is None, "it is by order of the organiser"


def test_whoever_does_not_come_is_at_fault_and_it_is_told_how_long_it_was_away() -> None:
    ended = settled(drawn("round-robin"), PAIRING, {"bob": 30.0124}, set(), 1.0)
    assert (ended.winner, ended.ending, ended.fault) == (0, Ending.LEFT, Fault.BOT)
    assert ended.cause == (Absent(1.0, 1, 30.012),)


def test_a_match_that_the_host_cut_short_is_its_own_fault_and_keeps_all_that_is_known_of_it() -> None:
    record, note = drawn("round-robin"), Noted(1, 0, "so it is")
    record.add(Dealt("cup-1", 1, {"ply_limit": 9}, at=5.0))
    (ended,) = cut_short(record, ["cup-1"], {"cup-1": Jottings(["C"], [0.5], [Remark(note)])})
    assert (ended.ending, ended.why, ended.score, ended.fault) == (Ending.VOID, CUT_SHORT, None, Fault.HOST)
    assert (ended.moves, ended.times, ended.notes) == (("C",), (0.5,), (note,))
    assert (ended.options, ended.began) == ({"ply_limit": 9}, 5.0)


@pytest.mark.parametrize("format", ENDLESS)
def test_where_there_is_none_nobody_wins_by_what_was_not_played(format: str) -> None:
    """Catches points for every pairing that waited, even of bots that are in no table yet."""
    ended = after(format, "ann")
    assert (ended.winner, ended.ending, ended.score) == (None, Ending.VOID, None)
    assert ended.why == "ann is out of the tournament"
    assert after(format, "ann", "bob").score is None
