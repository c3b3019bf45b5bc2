"""Open tables to which nobody has come: they are shown as they will be, and nothing of them is kept."""

import io

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from server.export.verify import verify
from server.host.opening import OPEN
from tests.server.pages.gallery import gallery
from tests.server.protocols.test_api import office

TABLE = "open-connect-4"
ALL = [OPEN + game for game in catalogue()]


async def test_without_anybody_there_is_an_open_table_for_every_game(autojump_clock: MockClock) -> None:
    async with office() as here:
        listed = (await here.read("/api/tournaments"))["tournaments"]
        assert [each["tournament"] for each in listed] == ALL
        assert {(each["format"], each["state"], each["entrants"]) for each in listed} == {
            ("open", "running", 0)
        }
        assert (await here.read(f"/api/tournaments/{TABLE}"))["entrants"] == []
        assert (await here.read(f"/api/tournaments/{TABLE}/standings"))["rows"] == []
        assert (await here.read(f"/api/tournaments/{TABLE}/matches"))["matches"] == []
        await here.read(f"/api/matches/{TABLE}-1", 404)
        await here.read("/api/tournaments/open-chess", 404)
        assert list(here.host.store.kept()) == [], "nothing was kept"


async def test_the_export_of_an_empty_table_follows_from_itself(autojump_clock: MockClock) -> None:
    async with office() as here:
        _, text = await here.text(f"/api/tournaments/{TABLE}/export")
    assert verify(io.BytesIO(text.encode())).findings == []


async def test_a_table_is_listed_once_before_and_after_its_first_bot(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game="tic-tac-toe")
        await here.host.arrive("ann", "connect-4")
        listed = [each["tournament"] for each in (await here.read("/api/tournaments"))["tournaments"]]
    assert listed[:2] == ["cup", TABLE], "in the order in which they were opened"
    assert sorted(listed) == sorted(["cup", *ALL])


async def test_an_order_opens_the_table_that_it_is_about(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell(f"/api/tournaments/{TABLE}/pause", 401, None)
        await here.tell(f"/api/tournaments/{TABLE}/explode", 404)
        await here.tell("/api/tournaments/open-chess/pause", 404)
        assert list(here.host.store.kept()) == [], "none of these was an order"
        assert (await here.tell(f"/api/tournaments/{TABLE}/pause"))["state"] == "paused"
        assert [*here.host.tournaments] == [TABLE]


@pytest.mark.slow
async def test_whoever_looks_at_an_empty_table_sees_who_comes(autojump_clock: MockClock) -> None:
    table = OPEN + "tic-tac-toe"
    async with gallery() as here:
        looked = here.host.shown[table]
        for page in (f"/tournaments/{table}", f"/wall/{table}"):
            await here.read(page)
        page = await here.watch(f"page=/tournaments/{table}")
        await here.come("ann", "bob")
        await trio.sleep(30.0)
        await page.look()
        assert {*looked.record.entrants} == {"ann", "bob"}
        assert "ann" in page.parts["standings"]
