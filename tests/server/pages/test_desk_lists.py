"""Long lists at the desk: whoever is in them is found, and pages and work do not grow with them."""

import re
from collections.abc import Coroutine
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from trio.testing import MockClock, wait_all_tasks_blocked

from server.host.boards import Work
from server.host.names import LONGEST
from server.pages.desk import inside
from server.pages.desk.changes import TOP, compared
from server.pages.desk.entrants import PAGE, UNCHECKED, listed
from server.pages.desk.inside import PAGE as TOURNAMENTS
from server.pages.desk.place import Place
from server.protocols.api.giving import LARGE
from tests.server.pages.sitting import Sitting, sitting, table
from tests.steps import steps_taken
from tests.tournament.world import silent
from tournament.desk import AFFILIATION, CONTACT, Desk
from tournament.facts import CheckedIn, Described, Entered
from tournament.standings import Row
from tournament.tournament import Tournament

CUP = "/admin/tournaments/cup"
NAMES = [f"bot-{number:03}" for number in range(2 * PAGE + 1)]


async def filled(here: Sitting, names: list[str], **chosen: Any) -> Tournament:
    tournament = await here.hold(entrants=max(2, len(names)), format="swiss", by_invitation=True, **chosen)
    await tournament.keep(*map(Entered, names))
    return tournament


def names_on(page: str) -> list[str]:
    return [cells[0] for _, cells in table(page, "list entrants")]


async def test_each_entrant_is_on_one_page_of_the_list(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await filled(here, NAMES)
        browser = await here.log_in()
        pages = [await browser.read(f"{CUP}?page={page}") for page in (1, 2, 3)]
        assert await browser.read(f"{CUP}?page=99") == pages[-1]
    shown = [*map(names_on, pages)]
    assert [*map(len, shown)] == [PAGE, PAGE, 1]
    assert [name for page in shown for name in page] == NAMES
    for page in pages:
        assert set(re.findall(r'href="/admin/tournaments/cup\?page=(\d)#entrants-title"', page)) == set("123")


@pytest.mark.parametrize(
    ("named", "found"),
    [("bot-007", ["bot-007"]), ("OT-19", NAMES[190:200]), ("ß&", ["Grüß&Gott"]), ("nobody", [])],
)
async def test_an_entrant_is_found_by_a_part_of_its_name(
    named: str, found: list[str], autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        await filled(here, [*NAMES, "Grüß&Gott"])
        browser = await here.log_in()
        page = await browser.read(f"{CUP}?{urlencode({'part': '', 'named': named})}")
    assert (names_on(page) if found else page.count("No entrant is like that.")) == (found or 1)
    assert f"<span>{len(found)} of {len(NAMES) + 1} entrants</span>" in page


async def test_who_is_missing_is_one_sentence_and_a_part_of_the_list(autojump_clock: MockClock) -> None:
    """Catches a sentence with a thousand names before everything that an organiser can order."""
    async with sitting() as here:
        await filled(here, NAMES)
        await here.come("bot-003", "bot-150", behave=silent)
        await wait_all_tasks_blocked()
        browser = await here.log_in()
        page = await browser.read(CUP)
        sentence = page.partition("Missing: ")[2].partition("</p>")[0]
        named = re.findall(">(bot-[0-9]+)<", sentence)
        missing = [name for name in NAMES if name not in ("bot-003", "bot-150")]
        assert set(named) < set(missing)
        assert 0 < len(named) < 30
        others = re.search(r'; and <a href="([^"]*)#entrants-title">(\d+) others</a>', sentence)
        assert others is not None
        assert int(others[2]) == len(missing) - len(named)
        pages = [await browser.read(f"{others[1]}&page={number}") for number in (1, 2)]
    assert sorted(name for page in pages for name in names_on(page)) == missing


async def test_who_has_not_checked_in_is_a_part_of_the_list_and_an_order_leads_back_to_it(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        tournament = await filled(here, NAMES, start_at=4e9, check_in=900.0)
        await tournament.keep(*(CheckedIn(name) for name in NAMES[1::2]))
        browser = await here.log_in()
        place = f"?part={UNCHECKED}&named=bot&page=2"
        page = await browser.read(CUP + place)
        assert names_on(page) == NAMES[2 * PAGE :: 2]
        answer = await browser.send(page, f"{CUP}/check-in{place}", name=NAMES[-1])
        assert names_on(answer.body.decode()) == NAMES[0 : 2 * PAGE : 2], "the nearest page that is left"
        assert NAMES[-1] in tournament.record.checked_in


async def test_every_order_of_the_list_leads_back_to_the_page_that_it_was_given_on(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await filled(here, NAMES)
        browser, there = await here.log_in(), f"{CUP}?page=3"
        page = await browser.read(there)
        for action in ("withdraw", "disqualify"):
            (asking,) = re.findall(rf'href="([^"]*/{action}[^"]*)"', page)
            asked = await browser.read(unescape(asking))
            assert f'<a href="{there}#entrants-title">Leave it as it is</a>' in asked
        for order, form, status, typed in (
            ("describe", page, 303, {"name": "bot-007", "affiliation": "Liège"}),
            ("enter", page, 409, {"name": "bot-007"}),
            ("disqualify", asked, 303, {"why": "two bots in one"}),
        ):
            answer = await browser.send(form, f"{CUP}/{order}?page=3", status, **typed)
            assert names_on(answer.body.decode()) == NAMES[2 * PAGE :], order
        assert "Liège" in await browser.read(CUP)
        assert b"disqualified" in answer.body


async def test_names_to_describe_are_offered_as_far_as_they_are_on_the_page(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await filled(here, NAMES)
        page = await (await here.log_in()).read(f"{CUP}?page=3")
    assert re.findall("<option>(.+?)</option>", page) == NAMES[2 * PAGE :]


async def test_a_name_that_nobody_has_cannot_be_described(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await filled(here, NAMES)
        browser = await here.log_in()
        answer = await browser.send(await browser.read(CUP), f"{CUP}/describe", 409, name="zoe", contact="x")
    assert "cup has no entrant 'zoe'." in unescape(answer.body.decode())


async def test_pages_do_not_grow_with_the_tournament(autojump_clock: MockClock) -> None:
    """Catches ten megabytes for 20,000 names, of which an organiser needed one."""
    paths = (CUP, f"{CUP}/withdraw?name=bot-007", f"{CUP}/standings?page=2", f"{CUP}?part=missing&named=bot")
    sizes: list[list[int]] = []
    for many in (len(NAMES), 5 * len(NAMES)):
        async with sitting() as here:
            await filled(here, [f"bot-{number:03}" for number in range(many)])
            browser = await here.log_in()
            sizes.append([len((await browser.ask("GET", path)).body) for path in paths])
    for small, large in zip(*sizes, strict=True):
        assert large < small * 1.1


async def test_work_on_the_loop_does_not_grow_with_the_tournament(autojump_clock: MockClock) -> None:
    steps: list[int] = []
    for many in (len(NAMES), 5 * len(NAMES)):
        async with sitting() as here:
            tournament = await filled(here, [f"bot-{number:03}" for number in range(many)])
            tournament.missing()  # which is kept until something changes

            async def elsewhere(work: Work) -> Any:
                return NAMES, {}

            looking = listed(tournament, here.host.lobby, Place(named="bot"), elsewhere)
            steps.append(steps_taken(lambda looking=looking: finished(looking)))
    assert steps[1] < steps[0] * 1.1


def finished(work: Coroutine[Any, Any, object]) -> None:
    """Run what waits for nothing."""
    with pytest.raises(StopIteration):
        work.send(None)


async def test_a_page_longer_than_what_is_kept_for_a_client_is_given_bit_by_bit(
    autojump_clock: MockClock,
) -> None:
    """Catches a connection that was cut off over long names, so that nothing could be ordered."""
    names = [f"{'🦊' * (LONGEST - 3)}{number:03}" for number in range(PAGE)]
    async with sitting() as here:
        tournament = await filled(here, names)
        await tournament.keep(*(Described(name, "🦊" * AFFILIATION, "🦊" * CONTACT) for name in names))
        answer = await (await here.log_in()).ask("GET", CUP)
    assert len(answer.body) > LARGE
    assert "content-length" not in answer.headers
    assert names_on(answer.body.decode()) == names


async def test_live_standings_are_paged_while_the_public_sees_frozen_ones(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        tournament = await filled(here, NAMES)
        await Desk(tournament).freeze()
        browser = await here.log_in()
        assert f'href="{CUP}/standings">All {len(NAMES)} entrants</a>' in await browser.read(CUP)
        pages = [await browser.read(f"{CUP}/standings?page={page}") for page in (1, 2, 3)]
    shown = [cells[1] for page in pages for _, cells in table(page, "standings")]
    assert shown == NAMES
    assert all("These are live." in page for page in pages)


async def test_of_many_matches_in_play_some_are_listed_and_all_counted(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inside, "MATCHES", 2)
    names = ["ann", "bob", "cas", "dot", "eli", "fay"]
    async with sitting() as here:
        await here.hold(entrants=len(names), format="swiss")
        await here.come(*names, behave=silent)
        await wait_all_tasks_blocked()
        page = await (await here.log_in()).read(CUP)
    assert "; 3 being played" in page
    assert len([1 for _, cells in table(page, "list matches") if cells[2] == "being played"]) == 2
    assert "1 more match is being played." in page


async def test_each_tournament_is_on_a_page_of_the_overview_and_found_by_its_name(
    autojump_clock: MockClock,
) -> None:
    """Catches an overview so long that the connection was cut off over it, and nobody could open the desk."""
    names = [f"cup-{number:03}" for number in range(2 * TOURNAMENTS + 1)]
    async with sitting() as here:
        for name in names:
            await here.hold(name)
        browser = await here.log_in()
        pages = [await browser.read(f"/admin?page={page}") for page in (1, 2, 3)]
        assert 'href="/admin?page=3"' in await browser.read("/admin")
        found = await browser.read("/admin?named=UP-20")
        await here.host.tournaments["cup-200"].keep(Entered("ann"), Entered("bob"))
        last = await browser.read("/admin?page=3")
        answer = await browser.send(last, "/admin/tournaments/cup-200/start?page=3")
        assert "cup-199" in answer.body.decode(), "page 3, where now the one before it is"
    shown = [[cells[0] for _, cells in table(page, "list")] for page in pages]
    assert [*map(len, shown)] == [TOURNAMENTS, TOURNAMENTS, 1]
    assert [name for page in shown for name in page] == names
    assert [cells[0] for _, cells in table(found, "list")] == names[-1:]


async def test_of_many_pages_of_the_audit_the_first_the_last_and_the_near_ones_are_offered(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await here.hold()
        browser = await here.log_in()
        for _ in range(20):
            for number in range(TOURNAMENTS):
                await here.host.note("the organiser", "login", str(number))
        page = await browser.read("/admin/audit?page=10")
    offered = [int(number) for number in re.findall(r'href="[^"]*\?page=(\d+)"', page)]
    assert offered == [1, 7, 8, 9, 10, 11, 12, 13, 21]
    assert page.count("<span>…</span>") == 2


def row(rank: int, name: str, points: float) -> Row:
    return Row(rank, name, points, 9, 0, 0, 0, (), None, None)


def test_the_preview_of_a_large_table_is_its_top_and_whose_results_change_below() -> None:
    before = [row(rank, f"bot-{rank}", 9000.0 - rank) for rank in range(1, 2001)]
    after = [row(rank - 1, f"bot-{rank}", 9000.0 - rank + (rank == 1500)) for rank in range(2, 2001)]
    seen = compared(before, after)
    names = [each.name for each in seen.lines]
    assert names == [*(f"bot-{rank}" for rank in range(2, TOP + 2)), "bot-1500", "bot-1"]
    assert (seen.total, seen.changed, seen.unseen) == (2000, 2000, 2000 - len(names))
