"""Whose an entrant is, and how to reach them: who is told which of it, and where it is looked for."""

import csv
import io
from html import escape

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host.descriptions import WHY, about, reason
from server.host.opening import JUST_NOW
from server.protocols.api.feeds import calendar, events
from tests.server.pages.sitting import sitting
from tests.server.protocols.test_api import GAME, TOKEN, office
from tests.server.web import get
from tournament.desk import AFFILIATION, CONTACT, About
from tournament.entries import entry, public
from tournament.facts import Described, Entered, Opened
from tournament.record import Record
from tournament.refusals import Refusal

STRANGE = "=<b>ETH</b> & Co."
SECRET = "ann@example.org"


def test_what_is_said_is_bounded_and_can_be_printed() -> None:
    assert about(" ETH ", None) == About("ETH", None)
    assert about("x" * AFFILIATION, "y" * CONTACT) == About("x" * AFFILIATION, "y" * CONTACT)
    for affiliation, contact, why in (
        ("x" * (AFFILIATION + 1), None, "affiliation: expected at most 64 characters, not 65"),
        (None, "x" * (CONTACT + 1), "contact: expected at most 200 characters, not 201"),
        ("two\nlines", None, "affiliation: expected text that can be printed"),
        ("‮backwards", None, "affiliation: expected text that can be printed"),
    ):
        with pytest.raises(Refusal, match=why):
            about(affiliation, contact)


def test_a_reason_is_one_line_that_can_be_printed() -> None:
    """It becomes the sentence of a match that is voided while it is being played."""
    assert reason(" a broken\r\n\tcable ") == "a broken cable"
    assert reason("x" * WHY) == "x" * WHY
    assert reason("") == ""
    for why, refused in (
        ("x" * (WHY + 1), "why: expected at most 200 characters, not 201"),
        ("\x1b[31mred", "why: expected text that can be printed"),
        ("\u202ebackwards", "why: expected text that can be printed"),
    ):
        with pytest.raises(Refusal, match=refused):
            reason(why)


def test_the_public_part_of_it_has_no_contact_and_the_whole_of_it_a_salt() -> None:
    fact = Described("ann", "ETH", SECRET)
    assert public(fact) == Described("ann", "ETH")
    assert entry(1, "cup", 0.0, fact).salt
    plain = Described("ann", "ETH")
    assert public(plain) is plain


def test_what_is_taken_back_is_gone() -> None:
    record = Record("cup", Opened(GAME, "round-robin"))
    for fact in (Entered("ann"), Described("ann", "ETH", SECRET), Described("ann", "", SECRET)):
        record.add(fact)
    assert (record.affiliations, record.contacts) == ({}, {"ann": SECRET})


async def test_the_affiliation_is_everybodys_and_the_contact_the_organisers(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        cup = "/api/tournaments/cup"
        await here.tell(f"{cup}/invite", 201, name="ann", affiliation=STRANGE, contact=SECRET)
        await here.come("bob")
        await here.tell(f"{cup}/describe", name="bob", affiliation="Uni")
        assert "expected" in (await here.tell(f"{cup}/describe", 400, name="bob"))["error"]
        too_long = await here.tell(f"{cup}/describe", 400, name="bob", contact="x" * 201)
        assert "at most 200 characters" in too_long["error"]
        assert "no entrant" in (await here.tell(f"{cup}/describe", 404, name="eve", contact="x"))["error"]
        assert await here.tell(f"{cup}/describe", 401, token=None, name="bob", affiliation="x")
        for path in ("", "/standings", "/standings?format=csv", "/matches", "/export", "/feed"):
            assert SECRET not in (await here.text(cup + path))[1], path
        shown = {each["name"]: each for each in (await here.read(cup))["entrants"]}
        assert (shown["ann"]["affiliation"], shown["bob"]["affiliation"]) == (STRANGE, "Uni")
        rows = (await here.read(f"{cup}/standings"))["rows"]
        assert {row["name"]: row["affiliation"] for row in rows} == {"ann": STRANGE, "bob": "Uni"}
        _, table = await here.text(f"{cup}/standings?format=csv")
        cells = {row["name"]: row["affiliation"] for row in csv.DictReader(io.StringIO(table))}
        assert cells == {"ann": "'" + STRANGE, "bob": "Uni"}, "no cell is a formula"
        lines = [msgspec.json.decode(line) for line in (await here.text(f"{cup}/export"))[1].splitlines()]
        entrants = {line["name"]: line for line in lines if line["type"] == "entrant"}
        assert (entrants["ann"]["affiliation"], entrants["ann"].get("contact")) == (STRANGE, None)
        token = f"Authorization: Bearer {TOKEN}"
        for path in ("", "/export"):
            answer = await here.server.connect().ask(get(cup + path, token))
            assert SECRET.encode() in answer.body, path


async def test_the_desk_shows_both_and_changes_them_and_pages_show_one(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold()
        await here.come("ann")
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        order = "/admin/tournaments/cup/describe"
        answer = await browser.send(page, order, name="ann", affiliation=STRANGE, contact=SECRET)
        desk = answer.body.decode()
        assert escape(STRANGE, quote=False) in desk.replace("&#39;", "'")
        assert SECRET in desk
        for address in ("/tournaments/cup", "/tournaments/cup/standings", "/bots/ann", "/wall/cup"):
            public = await browser.read(address)
            assert "&lt;b&gt;ETH&lt;/b&gt;" in public, address
            assert "<b>ETH" not in public
            assert SECRET not in public


async def test_rounds_and_checking_in_are_chosen_and_told_over_the_api(autojump_clock: MockClock) -> None:
    async with office() as here:
        wanted = {"name": "cup", "game": GAME, "format": "swiss", "entrants": 4, "rounds": 3}
        times = {"start_at": "2099-03-01T18:00:00Z", "round_every": "30m", "check_in": "15m"}
        cup = await here.tell("/api/tournaments", 201, **wanted, **times)
        assert (cup["round_every"], cup["check_in"], cup["rounds_at"]) == (1800.0, 900.0, None)
        assert (cup["round"], cup["next_round"]) == (0, {"round": 1, "at": "2099-03-01T18:00:00.000Z"})
        await here.come("ann")
        cup = await here.read("/api/tournaments/cup")
        assert cup["checking_in"] == {"from": "2099-03-01T17:45:00.000Z", "missing": ["ann"]}
        cup = await here.tell("/api/tournaments/cup/check-in", name="ann")
        assert cup["checking_in"]["missing"] == []
        _, dates = await here.text("/api/tournaments/cup/calendar")
        assert dates.count("BEGIN:VEVENT") == 3
        assert "DTSTART:20990301T183000Z\r\nDURATION:PT1800S" in dates
        assert "round 2 of 3" in dates
        for wrong, why in (
            ({"round_every": "soon"}, "round_every: expected seconds"),
            ({"check_in": 60}, "expected start_at"),
            ({"rounds_at": ["2099-03-01T18:00:00Z"], "round_every": 60}, "not both"),
        ):
            told = await here.tell("/api/tournaments", 400, **{**wanted, "name": "x", **wrong})
            assert why in told["error"]


async def test_no_organiser_opens_a_tournament_that_starts_in_the_past(autojump_clock: MockClock) -> None:
    """It was taken silently, and the first two who came were the whole of it."""
    past = "1970-01-01T00:00:00Z"
    wanted = {"name": "cup", "game": GAME, "format": "swiss"}
    async with sitting() as here:
        await trio.sleep(JUST_NOW)
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        now = await browser.send(form, "/admin/create", start_at=past, **wanted)
        assert "cup" in here.host.tournaments, now.body
        await trio.sleep(1.0)
        wanted["name"] = "next"
        for key in ("start_at", "rounds_at"):
            form = await browser.read("/admin/create")
            answer = await browser.send(form, "/admin/create", 400, **wanted, **{key: past})
            assert f"{key}: expected a time that is to come" in answer.body.decode()
        opened = Opened(GAME, "swiss", start_at=0.0)
        with capture_logs() as logs:
            await here.host.found("next", opened)
    assert [line["log_level"] for line in logs if "is past" in line["event"]] == ["warning"]


def test_a_calendar_has_the_start_where_the_first_round_is_later() -> None:
    opened = Opened(GAME, "swiss", 4, start_at=1_770_000_000.0, rounds_at=(1_770_003_600.0, 1_770_007_200.0))
    made = calendar(events(Record("cup", opened), 0.0), now=0.0)
    assert made.count("BEGIN:VEVENT") == 3
    assert len({line for line in made.splitlines() if line.startswith("UID:")}) == 3


async def test_the_desk_opens_a_tournament_by_the_clock_and_checks_somebody_in(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        typed = {"name": "cup", "game": GAME, "format": "swiss", "start_at": "2099-03-01T18:00:00Z"}
        wrong = await browser.send(form, "/admin/create", 400, **typed, round_every="soon")
        assert b"round_every: expected seconds" in wrong.body
        answer = await browser.send(form, "/admin/create", **typed, round_every="30m", check_in="15m")
        assert b'Entrants check in from <time datetime="2099-03-01T17:45:00' in answer.body
        await browser.send(answer.body.decode(), "/admin/tournaments/cup/invite", 200, name="ann")
        page = await browser.read("/admin/tournaments/cup")
        page = (await browser.send(page, "/admin/tournaments/cup/check-in", name="ann")).body.decode()
        assert "checked in, not here" in page
        assert "/admin/tournaments/cup/check-in" not in page
        public = await browser.read("/tournaments/cup")
        assert "entrants check in from" in public
        assert "the rounds as a calendar" in public
        times = "2099-03-01T18:00:00Z 2099-03-01T18:30:00Z"
        await browser.send(form, "/admin/create", **(typed | {"name": "next"}), rounds_at=times)
        assert here.host.tournaments["next"].record.opened.rounds_at == (4076071200.0, 4076073000.0)
        assert [each.fact.action for each in here.host.audit][-3:] == ["invite", "check-in", "open"]
