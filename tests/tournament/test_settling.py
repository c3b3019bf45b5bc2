"""How pairings that are not played end, because an entrant is out of the tournament."""

import pytest

from tournament.events import Ending
from tournament.facts import Concluded, Disqualified, Drew, Entered, Opened
from tournament.format import Pairing, formats
from tournament.record import Record
from tournament.settling import settled

ENDLESS = [name for name, format in formats().items() if format.endless]
PAIRING = Pairing(1, 1, "ann", "bob")


def after(format: str, *out: str) -> Concluded:
    """How a pairing of Ann and Bob ends when these have been disqualified."""
    record = Record("cup", Opened("tic-tac-toe", format, None if format in ENDLESS else 2))
    facts = [
        Entered("ann"),
        Entered("bob"),
        Drew((PAIRING,)),
        *(Disqualified(name, "it cheated") for name in out),
    ]
    for fact in facts:
        record.add(fact)
    return settled(record, PAIRING, {}, set(), 1.0)


def test_where_there_is_a_schedule_whoever_is_left_wins() -> None:
    ended = after("round-robin", "ann")
    assert (ended.winner, ended.ending, ended.score) == (1, Ending.LEFT, (0.0, 1.0))
    assert ended.why == "ann is out of the tournament"


@pytest.mark.parametrize("format", ENDLESS)
def test_where_there_is_none_nobody_wins_by_what_was_not_played(format: str) -> None:
    """Catches points for every pairing that waited, even of bots that are in no table yet."""
    ended = after(format, "ann")
    assert (ended.winner, ended.ending, ended.score) == (None, Ending.VOID, None)
    assert ended.why == "ann is out of the tournament"
    assert after(format, "ann", "bob").score is None
