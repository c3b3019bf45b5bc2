"""Who takes part where, found by name."""

import pytest

from server.host.roll import Roll
from tests.steps import steps_taken
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


def test_whoever_enters_again_is_awaited_once() -> None:
    books = Books("cup")
    books.add("cup", Entered("ann"), Entered("ann"), SEATED, SEATED)
    assert books.awaiting("ann") == ["cup"]
    assert books.roll.seats("ann", GAME) == [SEATED]


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


def is_over(record: Record) -> bool:
    return record.state is State.FINISHED


def test_what_is_long_over_is_known_of_and_looked_at_once_until_it_goes_on_again() -> None:
    books = Books("cup", "league")
    for name in books.records:
        books.add(name, Entered("ann"), SEATED)
    books.add("cup", Turned(State.FINISHED))
    assert [record.name for record in books.roll.of("ann", GAME)] == ["cup", "league"]
    looked_at: list[str] = []

    def is_past(record: Record) -> bool:
        looked_at.append(record.name)
        return is_over(record)

    books.roll.is_past = is_past
    for _ in range(2):
        assert [record.name for record in books.roll.of("ann", GAME)] == ["league"]
        assert books.roll.seats("ann", GAME) == [SEATED]
    assert looked_at.count("cup") == 2, "once for its entrants and once for their seats"
    books.add("league", Turned(State.FINISHED))
    assert not books.roll.of("ann", GAME)
    assert not books.roll.seats("ann", GAME)
    assert books.roll.knows("ann", GAME)
    books.add("cup", Turned(State.RUNNING))
    assert books.awaiting("ann") == ["cup"]
    assert books.roll.seats("ann", GAME) == [SEATED]


def test_what_goes_on_after_it_was_long_over_is_there_once_for_each_of_its_bots() -> None:
    """Also for those of whom nobody has asked meanwhile."""
    books = Books("cup")
    books.add("cup", Entered("ann"), Entered("bob"), SEATED, Turned(State.FINISHED))
    books.roll.is_past = is_over
    assert not books.roll.of("ann", GAME)
    books.add("cup", Turned(State.RUNNING))
    assert books.roll.of("ann", GAME) == books.roll.of("bob", GAME) == [books.records["cup"]]
    assert books.awaiting("ann") == books.awaiting("bob") == ["cup"]


def test_what_was_long_over_at_the_start_is_not_looked_at_for_each_bot() -> None:
    books, again, looked_at = Books("cup"), Roll(), list[str]()
    books.add("cup", Entered("ann"), Entered("bob"), SEATED, Turned(State.FINISHED))

    def is_past(record: Record) -> bool:
        looked_at.append(record.name)
        return is_over(record)

    again.is_past = is_past
    again.add(books.records["cup"])
    for name in ("ann", "bob"):
        assert again.knows(name, GAME)
        assert not again.of(name, GAME)
        assert not again.seats(name, GAME)
    assert looked_at == ["cup"]
    books.records["cup"].add(Turned(State.RUNNING))
    again.hear(books.records["cup"], Turned(State.RUNNING))
    assert [*again.awaiting("bob", GAME)] == again.of("ann", GAME) == [books.records["cup"]]
    assert again.seats("ann", GAME) == [SEATED]


def test_a_bot_is_placed_as_soon_however_many_tournaments_it_has_played() -> None:
    """Catches a bot that comes every hour, for months, and each time takes more of everybody's time."""
    cost: list[int] = []
    for many in (50, 100):
        books = Books("now", *(f"cup-{number}" for number in range(many)))
        for name in books.records:
            books.add(name, Entered("ann"), SEATED)
            if name != "now":
                books.add(name, Turned(State.FINISHED))
        books.roll.is_past = is_over

        def ask(roll: Roll = books.roll) -> list[object]:
            asked = [*roll.awaiting("ann", GAME)], roll.seats("ann", GAME), roll.of("ann", GAME)
            return [roll.knows("ann", GAME), *asked]

        assert ask() == ask() == [True, [books.records["now"]], [SEATED], [books.records["now"]]]
        cost.append(steps_taken(ask))
    assert cost[0] == cost[1]


def test_nothing_is_left_of_tournaments_that_are_deleted() -> None:
    """Catches names that are kept for ever: a host lives long, and every week may have a tournament."""
    books = Books("cup", "league", "old")
    for record in books.records.values():
        books.add(record.name, Entered("ann"), Entered("bob"), SEATED)
    books.add("cup", Claimed("bob", "00"))
    books.add("old", Turned(State.FINISHED))
    books.roll.is_past = is_over
    assert len(books.roll.of("ann", GAME)) == 2
    for record in books.records.values():
        books.roll.remove(record)
    indexes = {what: index for what, index in vars(books.roll).items() if isinstance(index, dict | set)}
    assert len(indexes) >= 6
    assert not any(indexes.values()), indexes
