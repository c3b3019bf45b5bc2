"""Tournaments that belong together have one table, over the API and on a page."""

from collections.abc import Callable
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.host.grouping import frozen, members, table_over
from tests.server.pages.gallery import GAME, Gallery, gallery
from tests.server.protocols.test_api import TOKEN, office
from tournament.across import across
from tournament.facts import Described, Entered, Froze, Opened
from tournament.record import Record


async def week(here: Gallery, name: str, group: str, *bots: str) -> None:
    await here.hold(name, entrants=len(bots), group=group)
    await here.come(*bots)
    await trio.sleep(100.0)


@pytest.mark.slow
async def test_a_group_has_one_table_of_all_its_tournaments(autojump_clock: MockClock) -> None:
    async with office() as here:
        for number, bots in ((1, ("ann", "bob")), (2, ("cas", "dan"))):
            name = f"week-{number}"
            await here.tell("/api/tournaments", 201, name=name, game=GAME, entrants=2, group="a course 2030")
            await here.come(*bots)
            await trio.sleep(100.0)
        listed = await here.read("/api/groups")
        told = await here.read("/api/groups/a%20course%202030")
        page = await here.read("/api/groups/a%20course%202030?limit=1&after=1")
        await here.read("/api/groups/nothing", 404)
        tables = [(await here.read(f"/api/tournaments/week-{n}/standings"))["rows"] for n in (1, 2)]
    groups = [{"group": "a course 2030", "tournaments": ["week-1", "week-2"]}]
    assert listed == {"groups": groups, "next": None}
    for row in told["rows"]:
        own = [each for rows in tables for each in rows if each["name"] == row["name"]]
        assert row["points"] == sum(each["points"] for each in own)
        assert row["tournaments"] == len(own)
    assert {row["name"] for row in told["rows"]} == {"ann", "bob", "cas", "dan"}
    assert (page["rows"], page["next"]) == (told["rows"][1:2], 2)


async def test_a_group_of_tournaments_that_are_over_needs_no_boards(autojump_clock: MockClock) -> None:
    """Catches a page that nobody ever got: of 500 boards the first is gone before the last is there."""
    async with gallery() as here:
        await week(here, "one", "spring", "ann", "bob")
        await week(here, "two", "spring", "cas", "dan")
        boards = here.host.boards
        before, runs = boards.made, list[object]()

        async def run(work: Callable[[], Any]) -> Any:
            runs.append(work)
            return work()

        boards.run = run
        pages = [await here.read("/groups/spring") for _ in range(2)]
        assert boards.made == before
        assert len(runs) == 2 + 1 + 1, "a table of each, once, and one over them for either page"
        held = members(here.host.tournaments, "spring")
        of_boards = across([(await boards.exact(each.record)).rows for each in held])
        assert await table_over(here.host, held, boards.public) == of_boards
    assert pages[0] == pages[1]


async def test_the_page_of_a_group_says_whose_a_bot_is_as_its_latest_tournament_does(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        for week, affiliation in (("one", "Kent"), ("two", "ETH & friends")):
            record = (await here.hold(week, group="spring")).record
            for name in ("ann", "bob"):
                record.add(Entered(name))
            record.add(Described("ann", affiliation))
        page = await here.read("/groups/spring")
    assert page.count("<small>ETH &amp; friends</small>") == 1
    assert "Kent" not in page


@pytest.mark.slow
async def test_the_page_of_a_group_is_linked_from_its_tournaments(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await week(here, "one", "..", "ann", "bob")
        await week(here, "two", "..", "cas", "dan")
        cup = await here.read("/tournaments/one")
        assert 'href="/groups/?name=.."' in cup
        page = await here.read("/groups/?name=..")
        await here.read("/groups/nowhere", status=404)
    assert page.count('<th scope="row">') == 4
    assert {'href="/tournaments/one"', 'href="/tournaments/two"'} <= {
        f'href="{part.split(chr(34))[0]}"' for part in page.split('href="')[1:]
    }


async def test_a_group_whose_name_is_no_name_in_a_path_is_found_by_it_beside_the_path(
    autojump_clock: MockClock,
) -> None:
    """Clients take `..` for the path above it before they ask, and get another answer."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="week", game=GAME, entrants=2, group="..")
        told = await here.read("/api/groups?name=..")
        await here.read("/api/groups?name=nothing", 404)
    assert (told["group"], told["tournaments"]) == ("..", ["week"])


async def test_a_group_whose_address_could_not_be_written_is_refused(autojump_clock: MockClock) -> None:
    async with office() as here:
        told = await here.tell("/api/tournaments", 400, name="week", game=GAME, group="a/b")
    assert "without / in it" in told["error"]


@pytest.mark.slow
def test_standings_of_a_group_are_frozen_if_those_of_one_tournament_are() -> None:
    one, other = (Record(name, Opened("tic-tac-toe", "swiss")) for name in ("one", "other"))
    assert not frozen((one, other))
    other.add(Froze(True))
    assert frozen((one, other))


async def test_the_table_of_a_group_says_that_standings_are_frozen_and_an_organiser_sees_those_of_now(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2, group="spring")
        before = await here.read("/api/groups/spring")
        await here.tell("/api/tournaments/cup/freeze")
        await here.come("ann", "bob")
        await trio.sleep(100.0)
        told = await here.read("/api/groups/spring")
        own = await here.listen("/api/groups/spring", f"Authorization: Bearer {TOKEN}", "Connection: close")
        await trio.sleep(5.0)
        present = await own.now()
    assert (before["frozen"], before["rows"]) == (False, [])
    assert (told["frozen"], told["rows"]) == (True, [])
    assert b'"name":"ann"' in present


@pytest.mark.slow
async def test_a_bot_is_told_of_with_the_word_that_standings_are_frozen(autojump_clock: MockClock) -> None:
    """Catches a bot that seems to have played fewer matches than it has."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(100.0)
        told = [await here.read("/api/bots/ann")]
        await here.tell("/api/tournaments/cup/freeze")
        told.append(await here.read("/api/bots/ann"))
    assert [career["frozen"] for bot in told for career in bot["games"]] == [False, True]


async def test_the_page_of_a_bot_and_the_schedule_say_that_standings_are_frozen(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        await week(here, "one", "spring", "ann", "bob")
        paths = ("/bots/ann", "/tournaments/one/schedule")
        plain = [await here.read(path) for path in paths]
        here.host.tournaments["one"].record.add(Froze(True))
        await trio.sleep(5.0)
        frozen = [await here.read(path) for path in paths]
    assert ["are frozen" in page for page in plain + frozen] == [False, False, True, True]


async def test_the_page_and_the_wall_say_that_standings_are_frozen(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        record = (await here.hold("one", group="spring")).record
        plain = [await here.read(path) for path in ("/groups/spring", "/wall/one")]
        record.add(Froze(True))
        await trio.sleep(5.0)
        frozen = [await here.read(path) for path in ("/groups/spring", "/wall/one")]
    assert ["frozen" in page for page in plain + frozen] == [False, False, True, True]
