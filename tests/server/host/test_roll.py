"""Who takes part where, found by name."""

import pytest

from server.host.roll import Roll
from tournament.facts import AnyFact, Claimed, Entered, Opened, Released, Seated, State, Turned
from tournament.record import Record

GAME = "tic-tac-toe"
SEATED = Seated("ann", "santorini", "192.0.2.1")


class Books:
    """Tournaments whose facts a roll hears of."""

    def __init__(self, *names: str, format: str = "round-robin") -> None:
        self.records = {name: Record(name, Opened(GAME, format)) for name in names}
        self.roll = Roll()
        for record in self.records.values():
            self.roll.add(record)

    def add(self, name: str, *facts: AnyFact) -> None:
        record = self.records[name]
        for fact in facts:
            record.add(fact)
            self.roll.hear(record, fact)

    def awaiting(self, name: str) -> list[str]:
        return [record.name for record in self.roll.awaiting(name, GAME)]


def test_an_entrant_is_awaited_until_the_tournament_is_over_and_when_it_goes_on_again() -> None:
    books = Books("old", "new")
    books.add("new", Entered("ann"))
    books.add("old", Entered("ann"))
    assert books.awaiting("ann") == ["old", "new"], "the oldest first, whichever it entered first"
    assert not books.awaiting("bob")
    books.add("old", Turned(State.FINISHED))
    assert books.awaiting("ann") == ["new"]
    books.add("old", Turned(State.RUNNING))
    assert books.awaiting("ann") == ["old", "new"]


def test_nobody_is_awaited_where_there_is_no_end_but_whoever_played_there_is_known() -> None:
    books = Books("table", format="open")
    books.add("table", Entered("ann"))
    assert not books.awaiting("ann")
    assert books.roll.knows("ann", GAME)
    assert not books.roll.knows("ann", "quoridor")
    assert not books.roll.knows("Ann", GAME)


def test_a_name_that_looks_like_an_entrants_is_found() -> None:
    books = Books("cup", "other")
    books.add("cup", Entered("Bob1"))
    assert books.roll.alike(books.records["cup"], "b0bl") == "Bob1"
    assert books.roll.alike(books.records["cup"], "Bob1") is None
    assert books.roll.alike(books.records["other"], "b0bl") is None
    del books.records["cup"].entrants["Bob1"]  # a record need not remember everybody for ever
    assert books.roll.alike(books.records["cup"], "b0bl") is None
    books.add("cup", Entered("b0bl"))
    assert books.roll.alike(books.records["cup"], "Bob1") == "b0bl"


@pytest.mark.parametrize("after", [Claimed("ann", "00"), Released("ann"), Turned(State.FINISHED)])
def test_a_seat_is_known_by_whatever_looks_like_its_name_until_it_is_given_up(after: AnyFact) -> None:
    books = Books("cup")
    books.add("cup", Entered("ann"), SEATED)
    assert books.roll.seats("ANN", GAME) == [SEATED]
    assert not books.roll.seats("ann", "quoridor")
    books.add("cup", after)
    assert not books.roll.seats("ann", GAME)


def test_a_roll_of_records_that_were_there_before_is_the_same() -> None:
    books = Books("cup")
    books.add("cup", Entered("ann"), SEATED)
    again = Roll()
    again.add(books.records["cup"])
    assert again.seats("ann", GAME) == [SEATED]
    assert again.knows("ann", GAME)
    assert again.alike(books.records["cup"], "ANN") == "ann"


def test_nothing_is_left_of_tournaments_that_are_deleted() -> None:
    """Catches names that are kept for ever: a host lives long, and every week may have a tournament."""
    books = Books("cup", "league")
    for record in books.records.values():
        books.add(record.name, Entered("ann"), Entered("bob"), SEATED)
    books.add("cup", Claimed("bob", "00"))
    for record in books.records.values():
        books.roll.remove(record)
    indexes = {what: index for what, index in vars(books.roll).items() if isinstance(index, dict)}
    assert len(indexes) >= 4
    assert not any(indexes.values()), indexes
