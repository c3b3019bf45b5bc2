"""Which tournaments of a game are not over, and which of these take whoever comes."""

import pytest

from server.host.current import Current
from server.host.opening import OPEN, table_record
from tests.steps import steps_taken
from tournament.facts import AnyFact, Entered, Opened, State, Turned, Withdrew
from tournament.record import Record

GAME = "tic-tac-toe"


def record(name: str, *facts: AnyFact, opened: Opened | None = None) -> Record:
    found = Record(name, opened or Opened(GAME, "round-robin", 2))
    for fact in facts:
        found.add(fact)
    return found


def sorted_in(*records: Record) -> Current:
    current = Current()
    for each in records:
        current.sort(each)
    return current


def taking(current: Current, name: str = "new") -> list[str]:
    return [each.name for each in current.taking(GAME, name)]


def test_whoever_comes_is_taken_by_the_oldest_that_has_room_for_as_long_as_it_has() -> None:
    old, new = record("old"), record("new")
    current = sorted_in(record("begun", Turned(State.RUNNING)), old, new)
    assert taking(current) == ["old", "new"]
    for name in ("ann", "bob"):
        old.add(Entered(name))
    assert taking(current) == ["new"]
    old.add(Withdrew("ann", annulled=False))
    assert taking(current) == ["old", "new"]
    old.add(Turned(State.RUNNING))
    current.sort(old)
    assert taking(current) == ["new"]
    assert [*current.of(GAME)] == ["begun", "old", "new"]


def test_a_ladder_takes_whoever_comes_after_its_start_and_an_open_table_nobody_who_names_none() -> None:
    ladder = record("ladder", Turned(State.RUNNING), opened=Opened(GAME, "ladder"))
    current = sorted_in(table_record(GAME, whole=False), ladder)
    assert taking(current) == ["ladder"]
    assert [*current.of(GAME)] == [OPEN + GAME, "ladder"]


def test_a_tournament_takes_whoever_comes_before_a_ladder_does_however_old_that_is() -> None:
    ladder = record("ladder", Turned(State.RUNNING), opened=Opened(GAME, "ladder"))
    cup = record("cup")
    current = sorted_in(ladder, cup)
    assert taking(current) == ["cup", "ladder"]
    for name in ("ann", "bob"):
        cup.add(Entered(name))
    assert taking(current) == ["ladder"]


def test_a_ladder_that_is_full_takes_nobody_but_its_own_entrants() -> None:
    facts = Entered("ann"), Entered("bob"), Turned(State.RUNNING)
    ladder = record("ladder", *facts, opened=Opened(GAME, "ladder", 2))
    current = sorted_in(ladder)
    assert taking(current, "cas") == []
    assert taking(current, "bob") == ["ladder"]
    ladder.add(Withdrew("ann", annulled=False))
    assert taking(current, "cas") == ["ladder"]


@pytest.mark.parametrize("end", [State.FINISHED, State.DELETED])
def test_what_is_over_is_not_among_them_until_it_goes_on_again(end: State) -> None:
    ladder = record("ladder", opened=Opened(GAME, "ladder"))
    current = sorted_in(ladder)
    for state, names in ((end, []), (State.RUNNING, ["ladder"])):
        ladder.add(Turned(state))
        current.sort(ladder)
        assert [*current.of(GAME)] == taking(current) == names
        assert [each.name for each in current.all()] == [each.name for each in current.latest()] == names
    current.remove(ladder)
    assert not current.of(GAME)
    assert not [*current.all()]


def test_the_latest_of_all_games_are_those_that_were_opened_last() -> None:
    current = sorted_in(record("old"), record("other", opened=Opened("connect-4", "swiss")), record("new"))
    assert [each.name for each in current.latest()] == ["new", "other", "old"]


def test_whoever_comes_is_placed_as_soon_however_many_tournaments_have_begun() -> None:
    """Catches bots whose arrival takes milliseconds of everybody's time on a host with thousands of them."""
    cost: list[int] = []
    for many in (50, 100):
        begun = [record(f"cup-{number}", Turned(State.RUNNING)) for number in range(many)]
        current = sorted_in(*begun, record("late"))
        cost.append(steps_taken(lambda current=current: taking(current)))
        assert taking(current) == ["late"]
    assert cost[0] == cost[1]
