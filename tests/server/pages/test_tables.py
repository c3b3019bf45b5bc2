"""Tables of large events: pages of them are the whole, and a page costs what it shows."""

import re
from collections.abc import Callable
from itertools import chain
from random import Random
from typing import Any

import pytest
import trio
from msgspec import structs
from trio.testing import MockClock

from server.pages import bot, formatting, home, tables
from server.pages.rendering import part
from server.pages.tournament import parts_of, stamp
from tests.effort import tries
from tests.server.pages.gallery import Gallery, gallery
from tests.steps import steps_taken
from tests.tournament.test_score_sheet import event, happened, play, play_and_keep
from tournament.events import Ending
from tournament.facts import (
    Concluded,
    Dealt,
    Disqualified,
    Drew,
    Entered,
    Froze,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import Pairing
from tournament.kinds import BOTS, Kind
from tournament.record import Record
from tournament.score_sheet import ALL_CROSSED, ScoreSheet, board_of

pytestmark = pytest.mark.slow

FEW = tries(1_000, 1_500)  # matches
NAMED = re.compile(r'<th scope="row"><a[^>]*>([^<]*)</a>')


def large(matches: int, field: int = 20, kind: str = "swiss") -> Record:
    names = tuple(f"bot {number}" for number in range(field))
    random, record = Random(1), event(kind, names)
    for _ in range(matches):
        play(record, random, *random.sample(names, 2))
    return record


async def held(here: Gallery, field: int, matches: int = 100) -> Record:
    tournament = await here.hold("cup", format="swiss")
    names = [f"bot {number}" for number in range(field)]
    for name in names:
        tournament.record.add(Entered(name))
    random = Random(1)
    for _ in range(matches):
        await play_and_keep(tournament, here.host.store, random, *random.sample(names, 2))
    return tournament.record


def finished(kind: str, *scores: tuple[float, float]) -> Record:
    """Ann and Bob met so often, with sides changed each time; the scores are Ann's and Bob's."""
    record = event(kind, ("ann", "bob"))
    for number, score in enumerate(scores, 1):
        pair, came = (("ann", "bob"), score) if number % 2 else (("bob", "ann"), score[::-1])
        winner = None if score[0] == score[1] else came.index(max(came))
        record.add(Drew((Pairing(number, number, *pair),)))
        moves = (number, "a", "b")
        record.add(Concluded(f"cup-{number}", number, pair, winner, Ending.PLAYED, "so", came, moves))
    record.add(Turned(State.FINISHED))
    return record


def test_nobody_has_won_by_a_board_of_before_the_end() -> None:
    """Where nobody has looked since, it is the latest that there is."""
    record = event("round-robin", ("ann", "bob"))
    before = board_of(record, 0.0)
    assert tables.winners(record, before) == []
    record = finished("round-robin", (0.0, 1.0))
    assert tables.winners(record, before) == []
    assert tables.winners(record, None) == []
    assert tables.winners(record, board_of(record, 0.0)) == ["bob"]
    record.add(Froze(True))
    assert tables.winners(record, board_of(record, 0.0)) == []


def test_whoever_shares_the_first_place_has_won_but_nobody_without_a_point() -> None:
    shared, lost = finished("round-robin", (0.5, 0.5)), finished("round-robin", (0.0, 0.0))
    assert tables.winners(shared, board_of(shared, 0.0)) == ["ann", "bob"]
    assert tables.winners(lost, board_of(lost, 0.0)) == []


def test_whoever_was_withdrawn_has_won_if_it_is_first_and_whoever_was_disqualified_has_not() -> None:
    """Withdrawing takes no result away that counts; what the table says, the page repeats."""
    record = finished("swiss", (1.0, 0.0))
    record.add(Withdrew("ann", False))
    assert tables.winners(record, board_of(record, 0.0)) == ["ann"]
    record.add(Disqualified("ann", "two bots in one"))
    assert tables.winners(record, board_of(record, 0.0)) == ["bob"]


def test_where_it_is_decided_who_has_won_it_is_somebody_who_is_still_in() -> None:
    """An entrant that has gone can have no place there, though it may be first by its strength."""
    record = finished("decide", (1.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    record.add(Withdrew("ann", False))
    board = board_of(record, 0.0)
    assert board.rows[0].name == "ann"
    assert tables.winners(record, board) == ["bob"]


def test_where_it_is_decided_who_has_won_equals_have_won_together() -> None:
    """Two that draw every match are decided to be as good as each other; the alphabet is no merit."""
    record = finished("decide", *[(0.5, 0.5)] * 60)
    board = board_of(record, 0.0)
    assert board.decision is not None
    assert board.decision.decided
    assert [row.rank for row in board.rows] == [1, 1]
    assert tables.winners(record, board) == ["ann", "bob"]


def test_a_strength_stands_beside_both_ends_of_its_interval() -> None:
    """It is not in the middle of these: half their distance, with a ±, would be neither end."""
    record = finished("round-robin", (1.0, 0.0), (1.0, 0.0), (1.0, 0.0))
    board = board_of(record, 0.0)
    seen = part("standings", tables.standings(record, board) | {"whole": False})
    for row in board.rows:
        assert row.rating is not None
        assert row.interval is not None
        low, high = row.interval
        assert abs(low + high - 2 * row.rating) > 100
        ends = f"{formatting.signed(low)} to {formatting.signed(high)}"
        assert f"{formatting.signed(row.rating)} <small>{ends}</small>" in seen


@pytest.mark.parametrize(("many", "others"), [(4, "1 other<"), (5, "2 others<")])
def test_three_of_those_who_share_the_first_place_are_named_and_the_others_counted(
    many: int, others: str
) -> None:
    record = finished("round-robin", (0.5, 0.5))
    seen = tables.progress(record, board_of(record, 0.0), 0, None)
    said = part("progress", seen | {"winners": [f"bot {number}" for number in range(many)]})
    assert "bot 2" in said
    assert "bot 3" not in said
    assert f" and {others}" in said


def test_where_the_winner_was_to_be_settled_and_is_not_nobody_has_won() -> None:
    open_still, settled = finished("decide", *[(0.5, 0.5)] * 2), finished("decide", *[(1.0, 0.0)] * 40)
    assert board_of(open_still, 0.0).rows[0].rank == 1
    assert tables.winners(open_still, board_of(open_still, 0.0)) == []
    assert tables.winners(settled, board_of(settled, 0.0)) == ["ann"]


async def test_the_pages_of_the_standings_are_the_standings(autojump_clock: MockClock) -> None:
    field = 2 * tables.PAGE + 30
    async with gallery() as here:
        record = await held(here, field)
        found: list[list[str]] = []
        for page in (1, 2, 3, 4):
            shown = await here.read(f"/tournaments/cup/standings?page={page}")
            found.append(NAMED.findall(shown))
            assert f"{min(page, 3)} of 3" in shown
    assert [len(each) for each in found[:3]] == [tables.PAGE, tables.PAGE, 30]
    assert [*chain(*found[:3])] == [row.name for row in record.standings()]
    assert found[3] == found[2], "the last, for whoever asks for more"


def test_the_estimate_by_which_a_tournament_is_decided_is_shown_as_elo_is() -> None:
    record = event("decide", ("ann", "bob"))
    for number in range(5):
        play(record, Random(number), "ann", "bob")
    board = ScoreSheet().board(record, 0.0)
    (row, other) = (
        structs.replace(each, tie_breaks=(figure,))
        for each, figure in zip(board.rows, (129.6, -186.5), strict=True)
    )
    seen = tables.standings(record, structs.replace(board, rows=[row, other]))
    shown = part("standings", seen | {"whole": False})
    assert re.findall(r'<td class="figure tie">([^<]*)</td>', shown) == ["+130", "−186"]


def test_whoever_has_played_nothing_has_no_estimate() -> None:
    record = event("decide", ("ann", "bob", "cyd"))
    play(record, Random(1), "ann", "bob")
    shown = part("standings", tables.standings(record, board_of(record, 0.0)) | {"whole": False})
    assert [bool(each) for each in re.findall(r'<td class="figure tie">([^<]*)</td>', shown)] == [
        True,
        True,
        False,
    ]


def test_nobody_is_certain_to_be_the_strongest_or_not_to_be() -> None:
    record = finished("round-robin", *[(1.0, 0.0)] * 40)
    board = board_of(record, 0.0)
    assert {row.first for row in board.rows} == {0.0, 1.0}, "in all draws that there are"
    shown = part("standings", tables.standings(record, board) | {"whole": False})
    assert re.findall(r'<td class="figure">([^<]* %)</td>', shown) == ["&gt; 99 %", "&lt; 1 %"]


def test_a_pairing_that_is_to_be_played_again_has_not_ended() -> None:
    record = large(1)
    drew, over = happened(record, Random(1), "bot 1", "bot 2")
    record.add(drew)
    record.add(structs.replace(over, ended=60.0))
    (_, before) = tables.schedule(record, 1)["meetings"]
    record.add(Voided(record.endings[-1], "a cable"))
    (_, after) = tables.schedule(record, 1)["meetings"]
    assert (before.state, before.ended) == ("over", 60.0)
    assert (after.state, after.ended) == ("open", None)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (None, None),
        (Disqualified("bot 0", "two in one"), "whoever has met a bot that is disqualified has won."),
        (Withdrew("bot 0", annulled=True), "a bot whose results are annulled count for nobody."),
        (Withdrew("bot 0", annulled=False), None),
    ],
)
def test_the_schedule_says_where_the_standings_have_other_results(
    change: Disqualified | Withdrew | None, said: str | None
) -> None:
    """A lost match was 0 – 1 in the schedule and 1 in the table of who met whom, without a word."""
    record = event("round-robin", ("bot 0", "bot 1"))
    play(record, Random(1), "bot 0", "bot 1")
    if change is not None:
        record.add(change)
    shown = part("schedule", tables.schedule(record, 1) | {"whole": True})
    assert ("results as they were played" in shown) == (said is not None)
    assert said is None or said in shown


@pytest.mark.parametrize("kind", ["open", "ladder"])
def test_a_match_that_counts_for_nothing_is_not_shown_as_one_that_both_have_lost(kind: str) -> None:
    """Catches a victory over one of the host's own opponents as 0 – 0, and a match that is void."""
    record = event(kind, ("ann", "greedy"))
    for number, (score, ending, kinds) in enumerate(
        (
            ((1.0, 0.0), Ending.PLAYED, BOTS),
            (None, Ending.PLAYED, (Kind.BOT, Kind.HOUSE)),
            (None, Ending.VOID, BOTS),
            ((0.0, 0.0), Ending.LEFT, BOTS),
        ),
        start=1,
    ):
        drew, over = happened(record, Random(number), "ann", "greedy")
        winner = None if ending is not Ending.PLAYED else 0
        record.add(drew)
        record.add(structs.replace(over, score=score, winner=winner, ending=ending, kinds=kinds))

    def results() -> list[str]:
        shown = part("schedule", tables.schedule(record, 1) | {"whole": True})
        return re.findall(r'<td class="middle"><a href="[^"]*">([^<]*)</a>', shown)

    assert results() == ["1 – 0", "1 – 0", "void", "0 – 0"]
    record.add(Froze(True))
    record.add(Voided(next(iter(record.endings)), "a cable", ("ann", "greedy"), (1.0, 0.0)))
    assert results() == ["1 – 0", "1 – 0", "void", "0 – 0"], "what came after a freeze is not for everybody"
    record.add(Froze(False))
    assert results() == ["void", "1 – 0", "void", "0 – 0"]


@pytest.mark.parametrize("cut", [False, True])
def test_where_two_have_met_more_often_than_a_cell_has_room_for_the_page_says_so(cut: bool) -> None:
    record = finished("round-robin", *[(1.0, 0.0)] * (tables.CELL + int(cut)))
    said = part("crosstable", tables.crossed(record, ScoreSheet().board(record, 0.0)))
    assert said.count('class="score-2"') == tables.CELL
    assert (f"The latest {tables.CELL} matches of each pair." in said) == cut


def test_before_two_have_met_there_is_a_sentence_instead_of_an_empty_crosstable() -> None:
    record = large(0)
    assert len(record.entrants) > 1
    said = part("crosstable", tables.crossed(record, ScoreSheet().board(record, 0.0)))
    assert "Nobody has met anybody yet." in said
    assert "<table" not in said


async def test_a_large_field_is_not_crossed_but_compared_with_its_nearest(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await held(here, ALL_CROSSED + 1)
        assert "nearest rivals in the table" in await here.read("/tournaments/cup")
    async with gallery() as here:
        await held(here, ALL_CROSSED)
        assert "nearest rivals in the table" not in await here.read("/tournaments/cup")


async def test_the_largest_page_that_stays_open_all_evening_has_a_bounded_number_of_elements(
    autojump_clock: MockClock,
) -> None:
    """Two hundred of two thousand are for the boards, which a script adds."""
    async with gallery() as here:
        await held(here, tables.ROWS + 5, tries(2_500, 4_000))
        page = await here.read("/tournaments/cup")
        assert page.count("<tr") > tables.ROWS
        assert 1_000 < len(re.findall("<[a-z]", page)) <= 1_800


async def test_while_there_are_no_standings_a_page_asks_to_be_looked_at_again(
    autojump_clock: MockClock,
) -> None:
    async def slowly(work: Callable[[], Any]) -> Any:
        await trio.sleep(60)
        return work()

    async with gallery() as here:
        await held(here, 10)
        here.host.boards.run = slowly
        for path in ("/tournaments/cup", "/tournaments/cup/standings", "/live?page=/tournaments/cup"):
            answer = await here.ask(path)
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert answer.headers["refresh"] == "2", "browsers do nothing about the other"
            said = answer.body.decode()
            assert "The standings are being computed, and it takes a while: ask again in a second." in said
            assert "<h1>Not just now</h1>" in said
        await trio.sleep(100)
        assert "bot 3" in await here.read("/tournaments/cup")


@pytest.mark.parametrize(("name", "field"), [("bot 3", 20), ("bot 11", 20), ("bot 1", 2)])
def test_the_pages_of_a_bot_have_each_of_its_matches_once_the_latest_first(name: str, field: int) -> None:
    records = [large(bot.MIXED + 100, field), large(400, field, "ladder")]
    records[0].add(Voided(records[0].endings[-2], "a fault"))
    index, curves, found = bot.Index(), bot.Curves(), list[str]()
    seen = bot.seen(name, records, 1, index, curves)
    assert seen is not None
    for page in range(1, seen["pages"] + 1):
        shown = bot.seen(name, records, page, index, curves)
        assert shown is not None
        found += [each.match for each in shown["played"]]
    mine = [match for record in records for match, each in record.matches.items() if name in each.players]
    assert found == mine[::-1]
    assert seen["count"] == len(mine)
    assert len(seen["played"]) == bot.PAGE


def test_the_latest_match_of_a_bot_is_first_in_whatever_tournament_it_was_played() -> None:
    """Catches a match just played at the open table, below all of a tournament that was opened since."""
    table, cup, random = large(0, kind="ladder"), large(0), Random(1)
    for at, record in enumerate((table, table, cup, table, cup, table)):
        drew, over = happened(record, random, "bot 1", "bot 2")
        record.add(drew)
        record.add(structs.replace(over, ended=float(at + 1)))
    seen = bot.seen("bot 1", [table, cup], 1, bot.Index(), bot.Curves())
    assert seen is not None
    assert [each.ended for each in seen["played"]] == [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]


def test_a_page_of_a_bot_follows_what_is_played_meanwhile() -> None:
    random, record, index, curves = Random(2), large(50), bot.Index(), bot.Curves()
    before = bot.seen("bot 1", [record], 1, index, curves)
    play(record, random, "bot 1", "bot 2")
    after = bot.seen("bot 1", [record], 1, index, curves)
    assert before is not None
    assert after is not None
    assert after["count"] == before["count"] + 1
    assert after["played"][0].match == record.endings[-1]
    assert after["played"][1:] == before["played"][: bot.PAGE - 1]


class Shown:
    """A tournament, as pages see it."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.matches: dict[str, Any] = {}

    def eta(self) -> None:
        return None


def test_what_a_page_shows_costs_the_same_whatever_was_played_before() -> None:
    """Each step on the loop: to look whether something has changed, and to look up what is shown."""

    def effort(matches: int) -> list[int]:
        record = large(matches)
        record.add(Froze(on=False))
        board, held = ScoreSheet().board(record, 0.0), Shown(record)
        work: list[Callable[[], object]] = [
            lambda: stamp(record),
            lambda: parts_of(held, board),  # pyright: ignore[reportArgumentType]
            lambda: tables.around_now(record),
            lambda: tables.schedule(record, matches // tables.PAGE),
            lambda: home.latest(record),
            lambda: record.decided,
        ]
        for each in work:
            each()
        return [steps_taken(each) for each in work]

    few, many = effort(FEW), effort(3 * FEW)  # already a few fill the cells of the crosstable
    for less, more in zip(few, many, strict=True):
        assert more < 1.5 * less + 100


@pytest.mark.parametrize("dealt", [0, 3])
def test_around_now_is_what_is_played_and_what_comes_next(dealt: int) -> None:
    record = large(40)
    numbers = range(41, 71)
    record.add(Drew(tuple(Pairing(number, number, "bot 1", "bot 2") for number in numbers)))
    for number in numbers[:dealt]:
        record.add(Dealt(f"cup-{number}", number))
    around = tables.around_now(record)
    states = [each.state for each in around["meetings"]]
    before, shown = tables.BEFORE, tables.WINDOW
    assert states == ["over"] * before + ["live"] * dealt + ["open"] * (shown - before - dealt)
    assert around["more"] == 70 - shown
