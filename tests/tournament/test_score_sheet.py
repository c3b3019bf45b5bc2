"""A score sheet that follows a record says what the pure functions say of the whole record."""

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import pytest
from msgspec import structs

from tests.effort import IS_CAMPAIGN
from tournament.events import Ending
from tournament.facts import Concluded, Disqualified, Drew, Entered, Opened, Voided, Withdrew
from tournament.format import Pairing, Terms, formats
from tournament.record import Record
from tournament.score_sheet import ALL_CROSSED, CROSSED, LATEST, NEAREST, ScoreSheet, board_of
from tournament.store import Store
from tournament.tournament import Tournament

pytestmark = pytest.mark.slow

NAMES = tuple(f"bot {number}" for number in range(8))
SCORES = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))


def event(kind: str, names: Sequence[str] = NAMES, terms: Terms | None = None) -> Record:
    record = Record("cup", Opened("tic-tac-toe", kind, terms=terms or Terms()))
    for name in names:
        record.add(Entered(name))
    return record


def happened(record: Record, random: Random, first: str, second: str) -> tuple[Drew, Concluded]:
    """One more pairing, and its match."""
    number, score = record.last_drawn + 1, random.choice(SCORES)
    winner = None if score[0] == 0.5 else int(score[0] == 0)
    moves = tuple(random.choices("abc", k=3))
    players, times = (first, second), (0.1,) * len(moves)
    over = Concluded(f"cup-{number}", number, players, winner, Ending.PLAYED, "so", score, moves, times)
    return Drew((Pairing(number, number, first, second),)), over


def play(record: Record, random: Random, first: str, second: str) -> str:
    """It is added to the record; returns the name of the match."""
    drew, over = happened(record, random, first, second)
    record.add(drew)
    record.add(over)
    return over.match


async def play_and_keep(
    tournament: Tournament, store: Store, random: Random, first: str, second: str
) -> None:
    """It is added to the record of a tournament that is held, and the store has it, with its moves."""
    facts = happened(tournament.record, random, first, second)
    for fact in facts:
        tournament.record.add(fact)
    await store.keep(tournament.record.kept_as, 0.0, facts)


def checked(number: int) -> bool:
    """Before the first rare thing, just after such, and some matches later; in a campaign always."""
    return IS_CAMPAIGN or number in (15, 20, 30, 40, 59)


# For a table they are as round robins are.
ALIKE = {"double-round-robin", "gauntlet"}


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(name, marks=pytest.mark.campaign if name in ALIKE else ())
        for name in formats()
        if name != "knockout"
    ],
)
def test_whatever_happens_to_a_record_the_sheet_that_follows_it_agrees(kind: str) -> None:
    random, record, sheet = Random(kind), event(kind), ScoreSheet()
    matches: list[str] = []
    for number in range(60):
        matches.append(play(record, random, *random.sample(NAMES, 2)))
        match number:
            case 20:
                record.add(Voided(matches.pop(7), "a fault"))
            case 25:
                record.add(Voided(matches.pop(), "before anybody has seen it"))
            case 30:
                record.add(Disqualified("bot 3", "it cheated"))
            case 40:
                record.add(Withdrew("bot 5", annulled=True))
            case 50:
                record.add(Entered("late"))
                record.add(Drew((Pairing(record.last_drawn + 1, 99, "late", None),)))
            case _:
                pass
        if checked(number):
            followed, whole = sheet.board(record, 1.0), board_of(record, 1.0)
            assert (followed.rows, followed.duplicates) == (whole.rows, whole.duplicates)
            assert followed.version == record.version


def test_what_is_decided_is_in_the_order_of_the_table_whoever_is_disqualified() -> None:
    """Catches a winner who was decided by matches that somebody disqualified had thrown."""
    ann, bob, cheat = NAMES[:3]
    record, random = event("decide", (ann, bob, cheat)), Random(1)
    for winner, loser in 4 * [(ann, cheat), (cheat, bob), (bob, ann), (ann, cheat), (cheat, bob)]:
        drew, over = happened(record, random, winner, loser)
        record.add(drew)
        record.add(structs.replace(over, winner=0, score=(1.0, 0.0)))

    def orders() -> tuple[Sequence[str], Sequence[str]]:
        board = board_of(record, 0.0)
        assert board.decision is not None
        return board.decision.order, [row.name for row in board.rows if row.name not in record.out]

    assert orders() == ((ann, cheat, bob), [ann, cheat, bob])
    record.add(Disqualified(cheat, "it threw its matches"))
    assert orders() == ((bob, ann), [bob, ann])


def test_every_change_of_the_table_is_another_version_and_nothing_else_is() -> None:
    random, record = Random(1), event("round-robin")
    match = play(record, random, *NAMES[:2])
    for fact in (
        Entered("late"),
        Withdrew("late", annulled=False),
        Voided(match, "a fault"),
        Disqualified("bot 3", "it cheated"),
    ):
        before, rows = record.version, board_of(record, 0.0).rows
        record.add(fact)
        assert record.version > before
        assert board_of(record, 0.0).rows != rows or isinstance(fact, Withdrew | Disqualified)
    before = record.version
    record.add(Drew((Pairing(record.last_drawn + 1, 1, *NAMES[:2]),)))
    assert record.version == before


def test_a_preview_leaves_the_lists_that_are_followed_as_they_are() -> None:
    random, record = Random(2), event("round-robin")
    match = play(record, random, *NAMES[:2])
    decisions, endings = list(record.results.decisions), list(record.endings)
    assert record.after(Voided(match, "a fault")).results.decisions != decisions
    assert (record.results.decisions, record.endings) == (decisions, endings)


def test_with_many_entrants_only_matches_against_the_nearest_are_crossed() -> None:
    random = Random(3)
    for many in (ALL_CROSSED, ALL_CROSSED + 1):
        names = tuple(f"bot {number}" for number in range(many))
        record = event("round-robin", names)
        for first, second in pairwise(names):
            play(record, random, first, second)
        board = ScoreSheet().board(record, 0.0)
        first = [row.name for row in board.rows[:CROSSED]]
        assert list(board.crossed) == first
        widths = [len(cells) for cells in board.crossed.values()]
        if many > ALL_CROSSED:
            assert widths == [
                min(place, NEAREST) + min(CROSSED - 1 - place, NEAREST) for place in range(CROSSED)
            ]
        else:
            assert widths == [CROSSED - 1] * CROSSED
        for row, cells in board.crossed.items():
            for column, entries in cells.items():
                came_to = record.results.came_to.values()
                met = [each for each in came_to if {*each.pairing.names} == {row, column}]
                assert [entry.number for entry in entries] == [each.pairing.number for each in met]
    assert LATEST > CROSSED


def test_an_open_table_has_whoever_played_last_and_whoever_was_pushed_out_comes_back_by_playing() -> None:
    random, record, sheet = Random(2), event("open"), ScoreSheet()
    record.format = structs.replace(record.format, latest=4)

    def there() -> set[str]:
        return {row.name for row in sheet.board(record, 1.0).rows}

    play(record, random, "bot 0", "bot 1")
    play(record, random, "bot 2", "bot 3")
    assert there() == {*NAMES}, "whoever has not played yet is there"
    before = {row.name: row.rating for row in sheet.board(record, 1.0).rows}
    play(record, random, "bot 4", "bot 5")
    assert there() == {*NAMES} - {"bot 0", "bot 1"}
    play(record, random, "bot 1", "bot 4")
    assert there() == {*NAMES} - {"bot 0", "bot 2"} or there() == {*NAMES} - {"bot 0", "bot 3"}
    (back,) = (row for row in sheet.board(record, 1.0).rows if row.name == "bot 1")
    assert back.played == 2, "with all that it had played before"
    assert before["bot 1"] is not None
    assert {row.name for row in ScoreSheet().board(record, 1.0).rows} == there()


def test_nothing_else_pushes_anybody_out() -> None:
    assert {name for name, found in formats().items() if found.latest is not None} == {"open"}
