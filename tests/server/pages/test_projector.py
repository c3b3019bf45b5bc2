"""The pages for a projector: bounded whatever is held, right after any interruption, and up to date."""

import re

import pytest
import trio
from trio.testing import MockClock

from server.pages import projector
from tests.server.pages.gallery import GAME, TAG, Gallery, gallery
from tests.server.pages.test_live import paced
from tournament.desk import About, Desk


async def begun(here: Gallery, entrants: int, name: str = "cup") -> None:
    await here.hold(name, entrants=entrants)
    for number in range(entrants):
        await here.come(f"{name}-{number:03}", behave=paced(1.0))
    await trio.sleep(3.5)


async def test_it_shows_boards_the_table_and_what_is_next(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await begun(here, 5)
        record = here.host.tournaments["cup"].record
        coming = projector.coming(here.host.tournaments["cup"], 5)
        for address in ("/wall", "/wall/cup"):
            page = await here.read(address)
            assert page.count('<article class="card') == len(record.dealt) == 2
            assert re.findall(r'<th scope="row" dir="auto">([^<]+)</th>', page) == [
                row.name for row in record.standings()
            ]
            assert [*re.findall(r"<span><bdi>([^<]+)</bdi> – <bdi>([^<]+)</bdi></span>", page)] == coming
        await here.read("/wall/nowhere", status=404)
    drawn = {(each.first, each.second) for each in record.drawn.values()}
    assert coming
    assert drawn.issuperset(coming)


async def test_it_says_who_no_longer_plays(autojump_clock: MockClock) -> None:
    """After whose bot it is: `Mia did not check in 7b` reads as one sentence."""
    async with gallery() as here:
        await begun(here, 3)
        await Desk(here.host.tournaments["cup"]).describe("cup-001", About("7b"))
        await Desk(here.host.tournaments["cup"]).withdraw("cup-001")
        await trio.sleep(2.0)
        for address in ("/wall", "/wall/cup"):
            page = await here.read(address)
            (row,) = re.findall(r"<tr[^>]*>(?:(?!<tr).)*cup-001.*?</tr>", page, re.DOTALL)
            assert row.startswith('<tr class="out">')
            assert "cup-001 <small>7b</small> <small>withdrawn, results annulled</small>" in row
            assert page.count('class="out"') == 1


@pytest.mark.slow
async def test_its_size_does_not_grow_with_the_event(autojump_clock: MockClock) -> None:
    """It runs for hours: places are fixed, and lists are cut."""
    async with gallery() as here:
        for name in ("a", "b", "c", "d"):
            await begun(here, 30, name)
        sizes = [len(TAG.findall(await here.read(address))) for address in ("/wall", "/wall/a")]
        whole = await here.read("/wall")
    assert max(sizes) < 1000, sizes
    assert whole.count('<section class="group"') == projector.GROUPS
    assert whole.count("<tr>") == projector.GROUPS * projector.LINES[-1][0]
    assert whole.count(" – ") == projector.GROUPS * projector.LINES[-1][1]


@pytest.mark.slow
async def test_its_one_stream_goes_on_after_an_interruption(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        await begun(here, 4)
        page = await here.read("/wall/cup")
        assert re.findall(r'data-live="([^"]+)"', page) == ["/wall/cup"]
        first = await here.watch("page=/wall/cup&after=nothing")
        await trio.sleep(1.5)
        await first.look()
        assert {"groups", "place-0", "place-1"} <= set(first.parts)
        await first.client.end.aclose()
        await trio.sleep(60.0)
        again = await here.watch(f"page=/wall/cup&after={first.id}")
        await trio.sleep(1.5)
        await again.look()
    assert "Won by" in again.parts["groups"]


async def test_with_no_tournament_it_shows_the_open_tables(autojump_clock: MockClock) -> None:
    async with gallery() as here:
        empty = await here.read("/wall")
        await here.come("ann", "bob", behave=paced(1.0))
        await trio.sleep(1.5)
        page = await here.read("/wall")
    assert "There is no tournament yet" in empty
    assert f'aria-label="open-{GAME}"' in page
