"""One table over several tournaments: sums, shared ranks, and nothing lost."""

from hypothesis import given
from hypothesis import strategies as some

from tournament.across import Across, across
from tournament.standings import Row


def row(name: str, wins: int, draws: int, losses: int) -> Row:
    return Row(1, name, wins + draws / 2, wins + draws + losses, wins, draws, losses, ())


def test_points_add_up_and_equals_share_a_rank() -> None:
    first = [row("ann", 2, 0, 0), row("bob", 1, 0, 1), row("cas", 0, 0, 2)]
    second = [row("bob", 0, 2, 0), row("dan", 2, 0, 0), row("cas", 0, 0, 2)]
    assert across([first, second]) == [
        Across(1, "ann", 2.0, 1, 2, 2, 0, 0),
        Across(1, "dan", 2.0, 1, 2, 2, 0, 0),
        Across(3, "bob", 2.0, 2, 4, 1, 2, 1),
        Across(4, "cas", 0.0, 2, 4, 0, 0, 4),
    ]
    assert across([]) == []


NUMBERS = some.integers(0, 5)
TABLES = some.lists(some.dictionaries(some.sampled_from("abcd"), some.tuples(NUMBERS, NUMBERS, NUMBERS)))


@given(TABLES)
def test_nothing_is_lost_or_counted_twice(tables: list[dict[str, tuple[int, int, int]]]) -> None:
    rows = [[row(name, *figures) for name, figures in table.items()] for table in tables]
    found = across(rows)
    for field in ("points", "played", "wins", "draws", "losses"):
        everything = sum(getattr(each, field) for table in rows for each in table)
        assert sum(getattr(each, field) for each in found) == everything
    assert sum(each.tournaments for each in found) == sum(map(len, rows))
    assert [each.rank for each in found] == sorted(each.rank for each in found)
    assert len({each.name for each in found}) == len(found)
