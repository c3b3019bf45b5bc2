"""Names, moves, times and strengths as spectators see them; all of it without a script."""

import json
import re
from html import unescape

import pytest
import trio
from trio.testing import MockClock

from games.game import Pace
from server.pages import formatting, home, tables
from server.pages.rendering import part
from server.pages.tournament import FORECAST
from tests.server.pages.gallery import GAME, Gallery, gallery
from tests.tournament.world import silent
from tournament.desk import Desk
from tournament.events import Ending
from tournament.facts import Concluded, State, Turned
from tournament.score_sheet import board_of
from tournament.skill import in_elo

TIME = re.compile(r'<time datetime="(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)" data-local="\w+">[^<]+</time>')


async def over(here: Gallery, *names: str, **chosen: str) -> None:
    await here.hold(entrants=len(names), **chosen)
    await here.come(*names, game=chosen.get("game", GAME))
    await trio.sleep(300.0)


@pytest.mark.slow
async def test_a_match_has_its_players_on_the_board_and_says_when_it_was(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await over(here, "ann", "bob")
        match = here.host.tournaments["cup"].record.matches["cup-1"]
        page, alone = await here.read("/matches/cup-1"), await here.read("/embed/matches/cup-1")
        bot, cup = await here.read("/bots/ann"), await here.read("/tournaments/cup")
        first = await here.read("/")
    for each in (page, alone):
        names = re.search(r'<p class="names">(.*?)</p>\s*<div id="board"', each, re.DOTALL)
        assert names is not None
        assert re.sub("<[^>]+>", " ", names[1]).split() == [*match.players]
    assert match.ended is not None
    for each in (page, bot, cup, first):
        assert TIME.search(each), "a time"
    assert formatting.when(match.ended) in bot
    assert formatting.when(match.ended) in cup
    assert formatting.when(match.began) in page


async def test_a_link_to_a_position_shows_how_long_both_had_thought_by_then(
    autojump_clock: MockClock,
) -> None:
    """As the replay does when somebody steps to it. Each move took a second."""
    async with gallery() as here:
        await over(here, "ann", "bob")
        for ply, used in ((0, ["< 1 ms", "< 1 ms"]), (3, ["2.00 s", "1.00 s"])):
            page = await here.read(f"/matches/cup-1?ply={ply}")
            (frame, *_) = json.loads(await here.read(f"/matches/cup-1/frames?from={ply}"))["frames"]
            assert [*map(unescape, re.findall(r'data-used="\d">([^<]+)<', page))] == used
            assert frame["used"] == used


async def test_the_moves_of_santorini_are_spelled_out(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await over(here, "ann", "bob", game="santorini")
        page = await here.read("/matches/cup-1")
    moves = re.findall(r'<a href="\?ply=\d+" class="seat-\d"[^>]*>([^<]+)</a>', page)
    assert moves[:6] == [
        "place (0,0)",
        "place (1,0)",
        "place (2,0)",
        "place (3,0)",
        "worker 1 → (0,1)",
        "build (0,0)",
    ]


@pytest.mark.slow
async def test_an_open_table_counts_matches_and_a_tournament_rounds(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.come("ann", "bob")
        await trio.sleep(30.0)
        name = f"open-{GAME}"
        page, table = await here.read(f"/matches/{name}-3"), await here.read(f"/tournaments/{name}")
        await over(here, "cas", "dan")
        in_round = await here.read("/matches/cup-1")
    assert "match 3 (" in page
    assert '<th scope="col" class="figure">Match</th>' in table
    assert "round 1 (" in in_round


async def test_a_ladder_that_never_ends_has_no_bar_for_how_far_it_has_come(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold("rungs", entrants=2, format="ladder")
        await here.come("ann", "bob")
        await trio.sleep(60.0)
        decided = here.host.tournaments["rungs"].record.decided
        page = await here.read("/")
    assert decided
    assert "<progress" not in page
    assert re.search(r"<td><small>\d+</small></td>", page)


@pytest.mark.parametrize("estimated", [False, True])
def test_there_is_a_blank_between_two_sentences_on_how_well_a_match_was_played(estimated: bool) -> None:
    judged = {"accuracy": [("ann", 0.5), ("bob", None)], "mistakes": [], "ungraded": 11}
    said = part("grades", {"judged": judged, "estimated": estimated})
    assert ". 11 moves could not be graded" in said


def test_two_that_keep_meeting_have_one_line_of_what_has_just_ended() -> None:
    lately = home.Lately()
    for number in range(1, 21):
        players = ("ann", "bob") if number % 2 else ("bob", "ann")
        lately.add("open-nim", "Nim", ended(f"open-nim-{number}", players, 60.0 * number))
    lately.add("cup", "Nim", ended("cup-1", ("ann", "bob"), 1300.0))
    assert [(each.match, each.before, each.ended) for each in lately.lines()] == [
        ("cup-1", 0, 1300.0),
        ("open-nim-20", 19, 1200.0),
    ]
    for number in range(home.LATELY + 3):
        lately.add("cup", "Nim", ended(f"cup-{number}", (f"bot {number}", "ann"), 1400.0))
    assert len(lately.lines()) == home.LATELY


async def test_every_tournament_is_on_a_page_though_the_first_page_lists_only_some(
    autojump_clock: MockClock,
) -> None:
    """Catches a tournament that takes entrants and is nowhere, behind thirty others."""
    listed = re.compile(r'<th scope="row"><a href="/tournaments/([^"]+)"')
    async with gallery() as here:
        names = [f"cup-{number}" for number in range(home.PAGE + 1)]
        for name in names[: home.MOST]:
            await here.hold(name)
        assert 'href="/tournaments"' not in await here.read("/")
        for name in names[home.MOST :]:
            await here.hold(name)
        await trio.sleep(home.REFRESH)
        assert '<a href="/tournaments">All 101 tournaments</a>' in await here.read("/")
        first, second = [await here.read(f"/tournaments?page={number}") for number in (1, 2)]
    assert listed.findall(first) + listed.findall(second) == names
    assert '<a href="?page=2" rel="next">' in first
    assert '<a href="?page=1" rel="prev">' in second


async def test_what_has_just_ended_is_in_the_order_of_its_ends_whichever_tournament_is_the_older(
    autojump_clock: MockClock,
) -> None:
    """Those who look see first what ended before anybody looked."""
    async with gallery() as here:
        await here.hold("older", entrants=2)
        await here.hold("newer", entrants=2, game="connect-4")
        await here.come("cas", "dan", game="connect-4")
        await trio.sleep(300.0)
        await here.come("ann", "bob")
        await trio.sleep(300.0)
        page = await here.read("/")
    assert re.findall(r'<li><a href="/matches/([^"]+)"', page)[:2] == ["older-1", "newer-1"]


async def test_there_is_a_blank_between_all_sentences_under_the_name_of_a_tournament(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.hold(absent="settle")
        page = await here.read("/tournaments/cup")
    said = re.sub("<[^>]+>", "", page.partition('class="subtitle"')[2].partition("</p>")[0])
    assert "after each move. The host" in " ".join(said.split())
    assert re.findall(r"[a-z]\.[A-Z]\w*", said) == []


async def test_what_is_said_of_a_start_holds_after_its_time_where_too_few_have_come(
    autojump_clock: MockClock,
) -> None:
    """Catches a beginning that is announced for an hour ago."""
    async with gallery() as here:
        await here.hold(start_at=here.host.wall() + 60.0)
        paths = ("/", "/tournaments/cup", "/wall/cup")
        for name, wanting in (("ann", True), ("bob", False)):
            await here.come(name)
            await trio.sleep(1.0)
            for path in paths:
                assert ("</time> or later, once 2 have entered" in await here.read(path)) == wanting, path
        await here.hold("fair", start_at=here.host.wall() + 60.0, check_in=30.0)
        assert "</time> or later, once 2 have checked in" in await here.read("/tournaments/fair")


@pytest.mark.slow
async def test_what_is_foreseen_goes_on_while_nothing_ends(autojump_clock: MockClock) -> None:
    """The page of a tournament said "about 1 s to go" for as long as a match lasted."""
    foreseen = re.compile("about (.*?) to go")
    async with gallery() as here:
        cup = await here.hold(entrants=2, pace=Pace(turn=3600.0))
        await here.come("ann", "bob", behave=silent)
        await trio.sleep(1.0)
        page = await here.read("/tournaments/cup")
        watcher = await here.watch("page=/tournaments/cup")
        for _ in range(5):
            await trio.sleep(300.0)
            await watcher.look()
            page = await here.read("/tournaments/cup")
            assert foreseen.findall(watcher.parts["progress"]) == foreseen.findall(page)
            left = cup.eta()
            assert left is not None
            words = {formatting.duration(left + off) for off in (-FORECAST, 0.0, FORECAST)}
            assert words.issuperset(foreseen.findall(page))


async def test_a_tournament_that_takes_entrants_says_how_it_begins_and_how_bots_come_in(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.hold(game="quoridor")
        for path in ("/", "/wall", "/tournaments/cup"):
            assert re.search("(begins|starts) when the organiser says so", await here.read(path)), path
        link = '<a href="/games/quoridor#connect-title">'
        assert link in await here.read("/tournaments/cup")
        await here.hold("invited", game="quoridor", by_invitation=True)
        assert link not in await here.read("/tournaments/invited"), "only the organiser lets bots in"
        for table in ("open-quoridor", "open-connect-4"):
            await here.host.table(table.removeprefix("open-"))
            link = f'<a href="/games/{table.removeprefix("open-")}#connect-title">'
            assert link in await here.read(f"/tournaments/{table}")
        home_page = await here.read("/")
        headings = re.findall(r'<th scope="col"[^>]*>(\w+)', await here.read("/tournaments"))
    assert headings[:2] == ["Tournament", "State"], "a phone has room for two or three"
    said = unescape(home_page).partition("<main")[2]
    assert "A host for tournaments of bots that play board games." in said
    assert 'href="/games"' in home_page, "nothing else leads there"


async def test_a_tournament_waits_for_others_in_the_place_of_those_who_were_taken_out(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        tournament = await here.hold(entrants=4)
        await here.come("ann", "bob", "cas")
        await trio.sleep(1.0)
        await Desk(tournament).withdraw("cas")
        home_page, page, wall = [await here.read(path) for path in ("/", "/tournaments/cup", "/wall")]
    assert '<td class="figure">2 of 4</td>' in home_page
    assert "waits for 2 bots" in home_page
    assert "<span>2 entrants; it starts by itself when 4 have entered</span>" in page
    assert "2 entrants; begins with 4" in wall


async def test_thousands_are_written_alike_wherever_they_stand(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold(entrants=1000, format="swiss")
        pages = [await here.read(path) for path in ("/", "/tournaments/cup", "/wall")]
    assert all("1,000" in page and "1000" not in page.partition("<main")[2] for page in pages)


async def test_the_first_round_by_the_clock_does_not_wait_for_one_before(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await here.hold(rounds_at=(1e10, 2e10))
        record = here.host.tournaments["cup"].record
        record.add(Turned(State.RUNNING))
        seen = tables.progress(record, board_of(record, 0.0), 0, None)
    first, second = [part("progress", seen | {"next_round": (number, 1e10)}) for number in (1, 2)]
    assert "round 1 begins at" in first
    assert "the one before" not in first
    assert "if the one before is over" in second


def ended(match: str, players: tuple[str, str], at: float) -> Concluded:
    return Concluded(match, 1, players, 0, Ending.PLAYED, "it has won", (1.0, 0.0), ended=at)


@pytest.mark.slow
async def test_the_ladder_and_the_strength_are_on_one_scale(autojump_clock: MockClock) -> None:
    name = f"open-{GAME}"
    async with gallery() as here:
        await here.come("ann", "bob")
        await trio.sleep(60.0)
        page, bot = await here.read(f"/tournaments/{name}"), await here.read("/bots/ann")
        board = await here.host.boards.exact(here.host.tournaments[name].record)
    shown = re.findall(r'<td class="figure tie">([^<]+)</td>', page)
    assert shown == [formatting.signed(in_elo(row.tie_breaks[0])) for row in board.rows]
    assert "64 of 100 points" in page
    assert "64 of 100 points" in bot
    assert "μ" not in page + bot


async def test_a_bot_in_its_first_match_at_an_open_table_is_not_said_to_have_never_been_here(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await here.host.arrive("ann", GAME)
        await here.host.arrive("bob", GAME)
        await trio.sleep(1.0)
        page, answer = await here.read("/bots/ann", status=404), await here.ask("/api/bots/ann")
    assert "finished a match at an open table in which both had moved." in page
    assert answer.status == 404
    assert b"finished a match at an open table in which both had moved" in answer.body


async def test_nobody_is_told_to_send_a_post_to_see_a_tournament(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        page = await here.read("/")
    assert "There is no tournament yet" in page
    assert "POST /api" not in page
