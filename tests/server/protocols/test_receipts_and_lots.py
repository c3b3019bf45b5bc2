"""What proves a result over the API and on pages: receipts, the key, and lots that were sealed before."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import msgspec
import pytest
import trio
from trio.testing import MockClock

from server.export.signing import Signer
from server.export.verify import Verdict, verify
from server.http.routes import routed
from server.pages.door import Pages
from server.protocols.api.door import Api
from tests.server.pages.sitting import at_once
from tests.server.protocols.test_api import GAME, TOKEN, Office
from tests.server.transcripts import hosting
from tests.server.web import get, serving
from tournament.store import Memory

KEY = Signer(bytes(range(32)))


@asynccontextmanager
async def office(store: Memory | None = None) -> AsyncIterator[Office]:
    async with hosting({}, store=store) as (host, nursery):
        pages = Pages(host, run=at_once, timer=trio.current_time, key=KEY.public)
        async with serving(routed((Api(host, TOKEN, signer=KEY),), pages)) as server:
            yield Office(host, nursery, server)
            assert not server.guard.caught


def verified(exported: str, receipt: str | None = None) -> Verdict:
    return verify(io.BytesIO(exported.encode()), receipt)


@pytest.mark.slow
async def test_a_receipt_is_in_the_api_on_the_page_and_in_the_public_export(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3, seed=0)
        await here.come("ann", "bob", "cas")
        await trio.sleep(3.0)
        playing = (await here.read("/api/tournaments/cup"))["playing"]
        assert (await here.read(f"/api/matches/{playing[0]}"))["receipt"] is None
        await trio.sleep(200.0)
        _, exported = await here.text("/api/tournaments/cup/export")
        lines = [msgspec.json.decode(line) for line in exported.splitlines()]
        concluded = (line for line in lines if line["type"] == "fact" and line["fact"]["type"] == "concluded")
        heads = {line["fact"]["match"]: line["head"] for line in concluded}
        for number in (1, 2, 3):
            match = await here.read(f"/api/matches/cup-{number}")
            found = verified(exported, match["receipt"])
            assert (found.findings, found.receipt_found) == ([], True)
            assert match["receipt"] == heads[f"cup-{number}"]
            _, page = await here.text(f"/matches/cup-{number}")
            assert match["receipt"] in page
        assert (await here.read("/api/key"))["key"] == KEY.public
        _, page = await here.text("/tournaments/cup")
    assert KEY.public in page
    (chain,) = found.chains
    assert (chain.key, chain.signed) == (KEY.public, True)


async def test_the_export_that_an_organiser_fetches_has_contacts_that_verify(
    autojump_clock: MockClock,
) -> None:
    """Catches contacts from which nothing in the file followed, for its facts left them out."""
    contact = "ann@example.org"
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.come("ann", "bob")
        await here.tell("/api/tournaments/cup/describe", name="ann", contact=contact)
        asked = get("/api/tournaments/cup/export", f"Authorization: Bearer {TOKEN}")
        exported = (await here.server.connect().ask(asked)).body.decode()
        _, public = await here.text("/api/tournaments/cup/export")
    for text, times in ((exported, 2), (public, 0)):
        assert (text.count(contact), verified(text).findings) == (times, [])
        assert '"kind":"ordered"' in text, "withheld from both"


async def test_a_public_export_tells_nothing_that_only_the_organiser_should_know(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        await here.come("ann", "bob")
        token = (await here.tell("/api/tournaments/cup/invite", 201, name="cas"))["token"]
        await here.tell("/api/tournaments/cup/disqualify", name="bob", why="two bots in one")
        _, exported = await here.text("/api/tournaments/cup/export")
        kept = [msgspec.json.encode(each.fact).decode() for each in here.host.store.kept()]
    digest = sha256(token.encode()).hexdigest()
    assert any(digest in fact for fact in kept)
    assert any("two bots in one" in fact for fact in kept)
    for secret in (digest, "two bots in one", "the organiser", "salt"):
        assert secret not in exported
    assert verified(exported).findings == []


@pytest.mark.slow
async def test_lots_are_sealed_before_anybody_enters_and_shown_when_they_are_drawn(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        opened = await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        lots = opened["lots"]
        assert (lots["by"], lots["seed"], lots["salt"]) == ("host", None, None)
        _, before = await here.text("/api/tournaments/cup/export")
        assert verified(before).findings == []
        assert lots["commitment"] in (await here.text("/tournaments/cup"))[1]
        await here.come("ann", "bob", "cas", "dee")
        await trio.sleep(100.0)
        shown = (await here.read("/api/tournaments/cup"))["lots"]
        _, after = await here.text("/api/tournaments/cup/export")
        page = (await here.text("/tournaments/cup"))[1]
    assert shown["commitment"] == lots["commitment"]
    assert sha256(f"{shown['seed']} {shown['salt']}".encode()).hexdigest() == lots["commitment"]
    assert str(shown["seed"]) in page
    assert str(shown["seed"]) not in before
    assert verified(after).findings == []
    assert msgspec.json.decode(after.splitlines()[0])["terms"]["seed"] == shown["seed"]


@pytest.mark.slow
@pytest.mark.parametrize("format", ["swiss", "knockout"])
async def test_a_seed_is_shown_to_nobody_who_may_still_enter_before_the_first_draw(
    format: str, autojump_clock: MockClock
) -> None:
    """Catches a seed that was shown when a tournament had started, and its first round had not begun."""
    async with office() as here:
        first = datetime.fromtimestamp(here.host.wall() + 60.0, UTC).isoformat()
        choices = {"game": GAME, "format": format, "rounds_at": [first]}
        await here.tell("/api/tournaments", 201, name="cup", entrants=4, **choices)
        await here.come("ann", "bob", "cas")
        await here.tell("/api/tournaments/cup/start")
        await trio.sleep(30.0)
        started = await here.read("/api/tournaments/cup")
        _, before = await here.text("/api/tournaments/cup/export")
        await trio.sleep(100.0)
        shown = await here.read("/api/tournaments/cup")
        _, after = await here.text("/api/tournaments/cup/export")
    assert (started["state"], started["round"], started["lots"]["seed"]) == ("running", 0, None)
    assert '"revealed"' not in before
    assert shown["lots"]["seed"] is not None
    assert verified(before).findings == verified(after).findings == []
    facts = [line["fact"]["type"] for line in map(msgspec.json.decode, after.splitlines()) if "fact" in line]
    assert facts.index("revealed") + 1 == facts.index("drew")


async def test_a_tournament_in_which_nothing_was_drawn_shows_its_seed_when_it_is_over(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        choices = {"game": GAME, "format": "swiss", "rounds_at": ["2030-03-01T18:00:00Z"]}
        await here.tell("/api/tournaments", 201, name="cup", entrants=4, **choices)
        await here.come("ann", "bob")
        await here.tell("/api/tournaments/cup/start")
        await here.tell("/api/tournaments/cup/withdraw", name="ann")
        await trio.sleep(1.0)
        shown = await here.read("/api/tournaments/cup")
        _, exported = await here.text("/api/tournaments/cup/export")
    assert shown["state"] == "finished"
    assert shown["lots"]["seed"] is not None
    assert verified(exported).findings == []


async def test_a_seed_that_was_given_openly_is_said_to_be(autojump_clock: MockClock) -> None:
    async with office() as here:
        opened = await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4, seed=7)
        page = (await here.text("/tournaments/cup"))[1]
    assert opened["lots"] == {"by": "organiser", "seed": 7}
    assert "the seed 7, which was given openly" in page


@pytest.mark.slow
async def test_a_host_that_stops_before_the_draw_draws_by_the_seed_that_it_sealed(
    autojump_clock: MockClock,
) -> None:
    store = Memory()
    async with office(store) as here:
        lots = (await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4))["lots"]
    async with office(Memory(store.kept())) as here:
        await here.come("ann", "bob", "cas", "dee")
        await trio.sleep(100.0)
        shown = (await here.read("/api/tournaments/cup"))["lots"]
        _, exported = await here.text("/api/tournaments/cup/export")
    assert sha256(f"{shown['seed']} {shown['salt']}".encode()).hexdigest() == lots["commitment"]
    assert verified(exported).findings == []


def changed(lines: list[dict[str, Any]], kind: str, **fields: Any) -> list[bytes]:
    """Without the chain, which an organiser can make anew before anybody has a receipt."""
    found = list[bytes]()
    for line in lines:
        if line["type"] == "fact":
            line = {key: each for key, each in line.items() if key not in ("head", "seal")}
            if line["fact"]["type"] == kind:
                line["fact"] = line["fact"] | fields
        if line["type"] not in ("head", "withheld"):
            found.append(msgspec.json.encode(line) + b"\n")
    return found


@pytest.mark.slow
async def test_another_seed_than_the_sealed_one_is_found_and_a_draw_without_any(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        await here.come("ann", "bob", "cas", "dee")
        await trio.sleep(100.0)
        _, exported = await here.text("/api/tournaments/cup/export")
    lines = [msgspec.json.decode(line) for line in exported.splitlines()]
    assert verify(changed(lines, "none")).findings == []
    other = [finding.why for finding in verify(changed(lines, "revealed", seed=7)).findings]
    assert any("the seed 7 is not the one that was sealed" in why for why in other)
    never = [line for line in lines if line["type"] != "fact" or line["fact"]["type"] != "revealed"]
    said = [finding.why for finding in verify(changed(never, "none")).findings]
    assert any("drawn by a seed that had not been revealed" in why for why in said)


async def test_of_lots_at_an_open_table_it_says_that_they_are_the_hosts_own(
    autojump_clock: MockClock,
) -> None:
    """Catches the seed 0 in the answer, which says nothing of who begins, and more so the one that does."""
    async with office() as here:
        here.host.random_bits = lambda bits: 7_654_321
        await here.host.table("connect-4")
        drawn_by_lot = await here.read("/api/tournaments/open-connect-4")
        taking_turns = await here.read("/api/tournaments/open-tic-tac-toe")
        _, exported = await here.text("/api/tournaments/open-connect-4/export")
    assert drawn_by_lot["lots"] == {"by": "host", "seed": None}
    assert taking_turns["lots"] == {"by": "organiser", "seed": 0}
    assert "7654321" not in exported
    assert verified(exported).findings == []
