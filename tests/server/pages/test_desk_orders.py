"""What an organiser orders at the desk, and what comes of it: for entrants, for the public, in the audit."""

import re
from collections.abc import Callable
from html import unescape
from typing import Any

import msgspec
import pytest
import trio
from msgspec.structs import fields
from trio.testing import MockClock

from server.export.verify import verify
from server.host.boards import WAIT
from server.host.names import LONGEST
from server.host.tournament_settings import TournamentSettings
from server.host.unwelcome import STOPPING, Unwelcome
from server.net.limits import Limits
from server.pages.desk import forms
from server.programs.report import rendered, report
from tests.server.exports import exported, text
from tests.server.pages.sitting import Browser, Sitting, fields_of, sitting, table
from tests.server.protocols.table import Slow
from tests.server.web import Server
from tests.tournament.world import first, play, silent
from tournament.desk import Desk
from tournament.facts import Opened, Ordered, State
from tournament.folding import fold
from tournament.format import Aim
from tournament.sizes import GROUP, SEED
from tournament.store import Memory


async def played(here: Sitting, *names: str, **chosen: Any) -> None:
    """A tournament that is over."""
    await here.hold(entrants=len(names), **chosen)
    await here.come(*names)
    await trio.sleep(200.0)
    assert here.host.tournaments["cup"].record.state is State.FINISHED


def standings(here: Sitting, name: str = "cup") -> list[list[str]]:
    """Rank, name and results of the live ones, as the pages write them."""
    rows = here.host.tournaments[name].record.standings()
    return [[str(row.rank), row.name, f"{row.wins}–{row.draws}–{row.losses}"] for row in rows]


async def test_the_overview_calls_games_and_formats_as_the_public_pages_do(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold()
        ((_, cells),) = table(await (await here.log_in()).read("/admin"), "list")
        assert cells[:3] == ["cup", "Tic-Tac-Toe", "Round robin"]


async def test_a_tournament_is_opened_started_and_paused_by_forms(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        typed = {"name": "friday", "game": "tic-tac-toe", "format": "round-robin", "turn": "5", "seed": "7"}
        answer = await browser.send(form, "/admin/create", **typed)
        assert b"<h1>friday</h1>" in answer.body
        opened = here.host.tournaments["friday"].record.opened
        assert (opened.game, opened.terms.seed, opened.pace and opened.pace.turn) == ("tic-tac-toe", 7, 5.0)
        await here.come("ann", "bob", behave=silent)
        for order, state in (("start", "running"), ("pause", "paused"), ("resume", "running")):
            overview = await browser.read("/admin")
            assert f">{order.capitalize()}<" in overview, "as the API and the command call it"
            answer = await browser.send(overview, f"/admin/tournaments/friday/{order}")
            assert b"<h1>Tournaments</h1>" in answer.body, "back to where it was ordered"
            assert here.host.tournaments["friday"].record.state == state
        said = [each.fact for each in here.host.audit]
    assert [each.action for each in said] == ["login", "open", "start", "pause", "resume"]
    assert {each.by for each in said[1:]} == {"the organiser, at the desk from 192.0.2.1"}


async def test_an_order_that_is_being_carried_out_when_the_host_stops_is_answered_with_its_own_page(
    autojump_clock: MockClock,
) -> None:
    async with sitting(Slow(Opened)) as here:
        browser = await here.log_in()
        form = fields_of(await browser.read("/admin/create"), "/admin/create")
        typed = {"name": "friday", "game": "tic-tac-toe", "format": "round-robin"}
        async with trio.open_nursery() as nursery:
            nursery.start_soon(drain, here.server)
            answer = await browser.ask("POST", "/admin/create", form | typed)
        assert (answer.status, answer.headers["location"]) == (303, "/admin/tournaments/friday")
        assert "friday" in here.host.tournaments


async def drain(server: Server) -> None:
    """In a moment, have it stop."""
    await trio.sleep(1.0)
    server.http.drain(STOPPING)


@pytest.mark.parametrize("length", [GROUP, GROUP + 1])
async def test_the_form_takes_every_group_that_the_api_takes(length: int, autojump_clock: MockClock) -> None:
    """Catches a group for whose page no browser can ask, because its address is too long."""
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        fields = {"name": "cup", "game": "tic-tac-toe", "format": "swiss", "group": "g" * length}
        answer = await browser.send(form, "/admin/create", 303 if length == GROUP else 400, **fields)
    if length > GROUP:
        assert "at most 64 characters, and this one has 65" in answer.body.decode()


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("-7", -7),
        (str(SEED), SEED),
        (str(-SEED), -SEED),
        (str(SEED + 1), "expected a whole number from -9007199254740991 to 9007199254740991"),
        ("7.5", "expected a whole number"),
        ("--7", "expected a whole number"),
        ("9" * 40, "expected a whole number"),
    ],
)
async def test_the_form_takes_every_seed_that_the_api_takes(
    typed: str, expected: int | str, autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        assert "min" not in re.findall(r'<input[^>]* id="seed"[^>]*>', form)[0], "a browser takes it as well"
        status = 400 if isinstance(expected, str) else 303
        fields = {"name": "cup", "game": "tic-tac-toe", "format": "swiss", "seed": typed}
        answer = await browser.send(form, "/admin/create", status, **fields)
        if isinstance(expected, str):
            assert f"seed: {expected}" in unescape(answer.body.decode())
        else:
            assert here.host.tournaments["cup"].record.opened.terms.seed == expected


async def test_the_form_takes_all_that_a_tournament_can_have(autojump_clock: MockClock) -> None:
    pace = {"turn", "bank", "gain"}
    assert set(forms.EMPTY) == {each.name for each in fields(TournamentSettings)} - {"pace"} | pace
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        assert "Only for Decide" in form
        typed = {"name": "sure", "game": "tic-tac-toe", "format": "decide"}
        aim = {"confidence": "0.9", "places": "2", "within": "30", "games": "400"}
        await browser.send(form, "/admin/create", **typed, **aim)
        assert here.host.tournaments["sure"].record.opened.terms.aim == Aim(0.9, 2, 30.0, 400)


def test_what_is_typed_into_the_form_is_what_the_api_would_be_told() -> None:
    """Field by field, and with nothing typed at all."""
    pace = {"bank": 60.5, "gain": 2.0, "turn": 5.0}
    told: dict[str, Any] = {
        "entrants": 8,
        "rounds": 5,
        "seed": -7,
        "absent": "wait",
        "start_at": "2030-03-01T18:00:00Z",
        "group": "spring",
        "rounds_at": ["2030-03-01T18:00:00Z", "2030-03-02T18:00:00Z"],
        "round_every": "30m",
        "check_in": "15m",
        "by_invitation": True,
        "confidence": 0.9,
        "places": 0,
        "within": 30.0,
        "games": 400,
        "options": {"ply_limit": 30},
        **{f"pace {key}": {"pace": {key: value}} for key, value in pace.items()},
        "pace": {"pace": pace},
    }
    cup = {"name": "cup", "game": "tic-tac-toe", "format": "swiss"}
    assert forms.wanted({**forms.EMPTY, **cup}) == msgspec.convert(cup, TournamentSettings)
    for setting, value in told.items():
        asked = value if setting.startswith("pace") else {setting: value}
        assert forms.wanted({**forms.EMPTY, **cup, **typed(asked)}) == msgspec.convert(
            cup | asked, TournamentSettings
        ), setting


def typed(asked: dict[str, Any]) -> dict[str, str]:
    """What an organiser types for that."""
    (setting, value), *_ = asked.items()
    match value:
        case True:
            return {setting: "yes"}
        case list():
            return {setting: " ".join(value)}
        case {"ply_limit": _}:
            return {setting: msgspec.json.encode(value).decode()}
        case dict():
            return {key: str(each) for key, each in value.items()}
        case _:
            return {setting: str(value)}


async def test_the_desk_says_who_is_missing_since_when_and_offers_to_withdraw_them(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await here.hold(absent="settle")
        await here.come("ann", "bob", "cas")
        bob = here.host.lobby.find("bob", "tic-tac-toe")
        assert bob is not None
        bob.away()
        await trio.sleep(1.0)
        page = await (await here.log_in()).read("/admin/tournaments/cup")
        assert re.search(
            r"Missing: .*bob.*, since <time [^>]*>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC</time>", page
        )
        assert 'href="/admin/tournaments/cup/withdraw?name=bob"' in page


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ({"entrants": 2}, "cup does not start by itself until all who were invited are here."),
        (
            {"entrants": 2, "by_invitation": True},
            "cup does not start by itself until all who were let in are here.",
        ),
        ({"by_invitation": True}, "It starts when you say so, whoever is here."),
        ({"start_at": 4e9, "absent": "settle"}, "otherwise the matches of whoever stays away are settled"),
        ({"start_at": 4e9, "absent": "wait"}, "otherwise each match waits for 45 seconds."),
    ],
)
async def test_the_desk_says_what_becomes_of_whoever_is_missing(
    chosen: dict[str, Any], said: str, autojump_clock: MockClock
) -> None:
    async with sitting(limits=Limits(away_seconds=45.0)) as here:
        await here.host.claims.invite(await here.hold(**chosen), "ann", "the organiser")
        await trio.sleep(1.0)
        assert said in await (await here.log_in()).read("/admin/tournaments/cup")


async def test_the_desk_says_when_a_tournament_starts_by_itself(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold(start_at=4e9)
        await here.hold("fair")
        browser = await here.log_in()
        assert re.search(
            "It starts by itself at <time[^>]*>2096-10-02 07:06 UTC</time> or later, once 2 have entered[.]",
            await browser.read("/admin/tournaments/cup"),
        )
        await here.come("ann", "bob")
        await trio.testing.wait_all_tasks_blocked()
        assert "</time>.</p>" in await browser.read("/admin/tournaments/cup")
        assert "starts by itself" not in await browser.read("/admin/tournaments/fair")


async def test_a_tournament_is_deleted_only_after_a_question(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await played(here, "ann", "bob")
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        assert 'action="/admin/tournaments/cup/delete"' not in page
        assert 'href="/admin/tournaments/cup/delete"' in page
        question = await browser.read("/admin/tournaments/cup/delete")
        assert "1 of 1 match is over" in question
        assert "This cannot be undone" in question
        assert list(here.host.tournaments) == ["cup"]
        await browser.send(question, "/admin/tournaments/cup/delete")
        assert list(here.host.tournaments) == []


async def test_a_ladder_that_is_paused_is_deleted_at_the_desk_and_an_open_table_is_not(
    autojump_clock: MockClock,
) -> None:
    table = "open-tic-tac-toe"
    async with sitting() as here:
        await here.come("ann", "bob")
        await here.hold("rungs", format="ladder")
        browser = await here.log_in()
        await here.api("POST", "/api/tournaments/rungs/start")
        assert "/rungs/delete" not in await browser.read("/admin/tournaments/rungs")
        for name in ("rungs", table):
            assert (await here.api("POST", f"/api/tournaments/{name}/pause"))["state"] == "paused"
        assert "/delete" not in await browser.read(f"/admin/tournaments/{table}")
        assert 'href="/admin/tournaments/rungs/delete"' in await browser.read("/admin/tournaments/rungs")
        question = await browser.read("/admin/tournaments/rungs/delete")
        await browser.send(question, "/admin/tournaments/rungs/delete")
        assert list(here.host.tournaments) == [table]


async def test_a_tournament_that_is_over_is_deleted_and_its_name_is_free(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await played(here, "ann", "bob")
        browser = await here.log_in()
        question = await browser.read("/admin/tournaments/cup/delete")
        await browser.send(question, "/admin/tournaments/cup/delete")
        assert list(here.host.tournaments) == []
        await played(here, "cas", "dot")
        record = here.host.tournaments["cup"].record
        assert (list(record.entrants), list(record.matches)) == (["cas", "dot"], ["cup-1"])
        kept = {entry.tournament for entry in here.host.store.kept()}
        assert {"cup", "cup~2"} <= kept
        records = fold(here.host.store.kept()).values()
        assert [(each.name, each.state) for each in records] == [
            ("cup", State.DELETED),
            ("cup", State.FINISHED),
        ]


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ({"name": "../x"}, "a tournament is named by letters"),
        ({"name": "cup"}, "there is a tournament cup already"),
        ({"name": "a", "entrants": "1"}, "entrants: expected a whole number, 2 or more, not '1'"),
        ({"name": "a", "turn": "soon"}, "turn: expected seconds, 0.01 or more, not 'soon'"),
        ({"name": "a", "turn": "nan"}, "turn: expected seconds"),
        ({"name": "a", "gain": "1"}, "expected bank, turn or both"),
        ({"name": "a", "turn": "2", "gain": "1"}, "needs a bank"),
        ({"name": "a", "options": "[1]"}, "options: expected a JSON object"),
        ({"name": "a", "options": "{"}, "options: expected a JSON object"),
        ({"name": "a", "options": '{"boards": 3}'}, "boards"),
        ({"name": "a", "game": "<b>"}, "there is no game"),
        ({"name": "a", "places": "1"}, "confidence, places, within and games are of the format decide"),
        (
            {"name": "a", "format": "decide", "confidence": "1"},
            "a confidence is at least 0.5 and less than 1",
        ),
        (
            {"name": "a", "format": "decide", "within": "wide"},
            "within: expected a number, 1 or more, not 'wide'",
        ),
    ],
)
async def test_what_is_wrong_with_a_form_is_said_and_what_was_typed_stays(
    typed: dict[str, str], told: str, autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        await here.hold("cup")
        browser = await here.log_in()
        sent = {"game": "tic-tac-toe", "format": "round-robin"} | typed
        answer = await browser.send(await browser.read("/admin/create"), "/admin/create", 400, **sent)
        page = answer.body.decode()
        assert told in unescape(page)
        assert "<b>'" not in page
        assert f'value="{typed["name"]}"' in page
        assert list(here.host.tournaments) == ["cup"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "asked"),
    [
        ("withdraw", {"name": "ann", "why": "a broken machine"}),
        ("disqualify", {"name": "ann", "why": "two bots in one"}),
        ("void", {"match": "cup-1", "why": "a cable"}),
    ],
)
async def test_what_a_preview_shows_is_what_happens(
    action: str, asked: dict[str, str], autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        await played(here, "ann", "bob", "cas", "dot")
        browser, record = await here.log_in(), here.host.tournaments["cup"].record
        if action == "withdraw":  # from what goes on: nobody withdraws from what is over
            here.host.tournaments["cup"].halt()
            await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        before = standings(here)
        path = f"/admin/tournaments/cup/{action}"
        page = await browser.read(path + "?" + "&".join(f"{k}={v}" for k, v in asked.items() if k != "why"))
        assert standings(here) == before, "nothing is done by looking"
        rows = table(page, "list preview")
        shown = [[cells[0], cells[2], cells[5]] for _, cells in rows]
        was = sorted([[cells[1], cells[2], cells[6]] for _, cells in rows])
        assert was == sorted(before)
        for marked, cells in rows:
            now_and_then = (cells[0], cells[3], cells[5]), (cells[1], cells[4], cells[6])
            assert marked or now_and_then[0] == now_and_then[1], cells
        assert any(marked for marked, _ in rows) is (action != "withdraw")
        here.host.tournaments["cup"].halt()  # so that what is void is not played again at once
        await browser.send(page, path, **asked)
        assert standings(here) == shown
        gone = {"withdraw": record.entrants["ann"].gone, "disqualify": "ann" in record.disqualified}
        assert gone.get(action, "cup-1" in record.voided)
        order = here.host.audit[-1]
        assert isinstance(order.fact, Ordered)
        assert (order.tournament, order.fact.action) == ("cup", action)
        assert asked.get("why", "") in order.fact.detail


@pytest.mark.parametrize("format", ["round-robin", "decide"])
async def test_a_preview_says_who_would_get_what_an_entrant_has_yet_to_play(
    format: str, autojump_clock: MockClock
) -> None:
    """Catches a win announced to all opponents of somebody whose results will be annulled."""
    async with sitting() as here:
        tournament = await here.hold(entrants=4, format=format)
        await here.come("ann", "bob", "cas", "dot", behave=silent)
        await trio.testing.wait_all_tasks_blocked()
        browser, path = await here.log_in(), "/admin/tournaments/cup/withdraw"
        page = await browser.read(f"{path}?name=ann")
        tournament.halt()  # so that nothing else is played and won
        await browser.send(page, path, name="ann")
        annulled = "ann" in tournament.record.annulled
        assert annulled is (format == "round-robin")
        assert ("its results would be annulled" in page) is annulled
        assert ("would also go to its opponents" in page) is not annulled


@pytest.mark.slow
async def test_whoever_withdrew_is_disqualified_all_the_same_and_the_export_follows(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await here.hold(entrants=6)
        await here.come(*"abcdef")
        await trio.sleep(8.0)
        await Desk(here.host.tournaments["cup"]).withdraw("a")
        await trio.sleep(200.0)
        browser = await here.log_in()
        assert 'disqualify?name=a"' in await browser.read("/admin/tournaments/cup")
        form = await browser.read("/admin/tournaments/cup/disqualify?name=a")
        await browser.send(form, "/admin/tournaments/cup/disqualify", name="a", why="two bots in one")
        record = here.host.tournaments["cup"].record
        assert {row.name: row.points for row in record.standings()}["a"] == 0.0
        assert 'disqualify?name=a"' not in await browser.read("/admin/tournaments/cup")
        for chained in (True, False):
            assert verify(text(exported(here.host.store.kept(), chained))).findings == []


@pytest.mark.slow
async def test_what_cannot_be_done_is_said_on_the_page_of_the_tournament(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await played(here, "ann", "bob")
        browser = await here.log_in()
        for query in ("withdraw?name=zoe", "disqualify?name=%3Cb%3E", "void?match=cup-9"):
            page = await browser.read(f"/admin/tournaments/cup/{query}", 409)
            assert "That was not done:" in page
            assert "<h1>cup</h1>" in page
        page = await browser.read("/admin/tournaments/cup")
        fields = re.search(r'name="form_token" value="([^"]*)"', page)
        assert fields is not None
        answer = await browser.ask("POST", "/admin/tournaments/cup/start", {"form_token": fields[1]})
        assert answer.status == 409
        assert b"cup is finished" in answer.body


async def test_the_desk_says_that_a_match_is_played_again_only_where_it_is(autojump_clock: MockClock) -> None:
    """A ladder has no second match, nor has what was ended early; a match there just stops counting."""
    async with sitting() as here:
        browser, said = await here.log_in(), "be played again"
        await played(here, "ann", "bob", "cas")
        await here.hold("rungs", format="ladder", game="quoridor")
        await here.come("dot", "eli", game="quoridor", behave=silent)
        await here.api("POST", "/api/tournaments/rungs/start")
        await trio.testing.wait_all_tasks_blocked()
        assert said in await browser.read("/admin/tournaments/cup/void?match=cup-1")
        (live,) = here.host.tournaments["rungs"].matches
        asked = await browser.read(f"/admin/tournaments/rungs/void?match={live}")
        assert f"{live} is being played: it would stop now and count for nothing." in asked
        assert "Why, for everybody to see" in asked, "it becomes the reason of the ending"
        assert "<table" not in asked, "the standings stay as they are"
        here.host.tournaments["cup"].halt()
        await Desk(here.host.tournaments["cup"]).void("cup-1", "a cable")
        await here.api("POST", "/api/tournaments/cup/end")
        asked = await browser.read("/admin/tournaments/cup/void?match=cup-2")
        assert "would stay in the record as void." in asked
        assert "Why, for the record" in asked
        assert said not in asked
        await browser.send(asked, "/admin/tournaments/cup/void", match="cup-2", why="another")
        assert not here.host.tournaments["cup"].record.open


async def test_a_tournament_is_ended_early_after_a_page_has_asked(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold(entrants=3, format="double-round-robin")
        await here.come("ann", "bob", "cas")
        await trio.sleep(20.0)
        browser, record = await here.log_in(), here.host.tournaments["cup"].record
        assert 'href="/admin/tournaments/cup/end"' in await browser.read("/admin/tournaments/cup")
        asked = await browser.read("/admin/tournaments/cup/end")
        assert f"{record.decided} of 6 matches" in asked
        assert not record.ended_early
        await browser.send(asked, "/admin/tournaments/cup/end")
        await trio.sleep(100.0)
        assert record.state is State.FINISHED
        assert 0 < record.decided < 6
        desk, public = await browser.read("/admin/tournaments/cup"), await here.read("/tournaments/cup")
        assert "It was ended early: what was not played counts for nobody." in desk
        assert 'href="/admin/tournaments/cup/end"' not in desk
        for page in (
            public,
            *[await here.read(f"/tournaments/cup/{each}") for each in ("standings", "schedule")],
        ):
            assert "ended early: what was not played counts for nobody" in page
        assert 'class="winner"' in public
        for path in ("", "/standings"):
            assert (await here.api("GET", f"/api/tournaments/cup{path}", token=None))["ended_early"] is True
        assert "ended_early" not in await here.api("GET", "/api/tournaments/open-tic-tac-toe", token=None)
        told = await here.api("GET", "/api/tournaments/cup/standings", token=None)
        for shown in (rendered(told, as_json=False), report(record, as_json=False)):
            assert "cup: tic-tac-toe, double-round-robin, finished, ended early" in shown
        trf = (await here.read("/api/tournaments/cup/standings?format=trf")).splitlines()
        assert sum(line.startswith("001") for line in trf) == 3
    assert [each.fact.action for each in here.host.audit][-1] == "end"


@pytest.mark.slow
async def test_frozen_standings_stand_still_for_the_public_and_move_at_the_desk(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await here.hold(entrants=3, format="double-round-robin")
        await here.come("ann", "bob", "cas")
        await trio.sleep(20.0)
        browser, record = await here.log_in(), here.host.tournaments["cup"].record
        assert 0 < len(record.results.remembered()) < len(record.drawn)
        address = "/api/tournaments/cup/standings"
        then = (await here.api("GET", address, token=None))["rows"]
        path = "/admin/tournaments/cup/freeze"
        await browser.send(await browser.read("/admin/tournaments/cup"), path)
        watcher = await here.watch("page=/tournaments/cup")
        for _ in range(60):
            await trio.sleep(5.0)
            await watcher.look()
        assert record.state is State.FINISHED
        told = await here.api("GET", address, token=None)
        assert (told["rows"], told["frozen"], told["state"]) == (then, True, "finished")
        live = await here.api("GET", address)
        assert live["rows"] != then
        assert live["rows"][0]["played"] == 4
        public, home = await here.read("/tournaments/cup"), await here.read("/")
        for page in (public, watcher.parts["standings"], await here.read("/tournaments/cup/standings")):
            assert "The standings are frozen" in page
            shown = [cells[3] for _, cells in table(page, "standings")]
            assert shown == [str(row["played"]) for row in then]
        assert 'class="winner"' not in public
        assert '<td class="winners">won by ' not in home
        desk = await browser.read("/admin/tournaments/cup")
        assert [cells[3] for _, cells in table(desk, "standings")] == ["4", "4", "4"]
        export = (await here.read("/api/tournaments/cup/export")).splitlines()
        assert sum('"type":"match"' in line for line in export) < len(record.drawn)
        assert verify([line.encode() for line in export]).findings == []
        whole = text(exported(here.host.store.kept()))
        assert sum(b'"type":"match"' in line for line in whole) == len(record.drawn)
        assert verify(whole).findings == []
        await browser.send(desk, "/admin/tournaments/cup/unfreeze")
        thawed = await here.api("GET", address, token=None)
        assert (thawed["rows"], thawed["frozen"]) == (live["rows"], False)
        await trio.sleep(1.0)
        assert 'class="winner"' in await here.read("/tournaments/cup")
        assert '<td class="winners">won by ' in await here.read("/")


@pytest.mark.slow
async def test_a_tournament_is_added_up_once_however_often_its_page_at_the_desk_is_read(
    autojump_clock: MockClock,
) -> None:
    """Catches copying and rating all results for each look, which holds up all matches for a moment."""
    async with sitting() as here:
        browser = await here.log_in()
        await played(here, "ann", "bob", "cas")
        made = here.host.boards.made
        pages = {tuple(table(await browser.read("/admin/tournaments/cup"), "standings")[0][1]) for _ in "12"}
        assert len(pages) == 1
        assert here.host.boards.made == made + 1


@pytest.mark.slow
async def test_an_organiser_does_not_wait_for_strengths_to_give_an_order(autojump_clock: MockClock) -> None:
    """The page of 300 entrants at the desk took up to 20 seconds, and again whenever a match had ended."""

    async def slowly(work: Callable[[], Any]) -> Any:
        await trio.sleep(20.0)
        return work()

    async with sitting() as here:
        browser = await here.log_in()
        await played(here, "ann", "bob", "cas")
        here.host.boards.run = slowly
        asked = trio.current_time()
        page = await browser.read("/admin/tournaments/cup")
        assert "The standings are being computed" in page
        assert trio.current_time() - asked == WAIT
        await trio.sleep(30.0)
        page = await browser.read("/admin/tournaments/cup")
        assert "The standings are being computed" not in page
        assert [row[1] for row in table(page, "standings")]
        await Desk(here.host.tournaments["cup"]).disqualify("ann", "two bots in one")
        page = await browser.read("/admin/tournaments/cup")
        assert "More has happened since these standings were computed" in page


async def test_standings_stay_frozen_over_a_restart(autojump_clock: MockClock) -> None:
    store = Memory()
    address = "/api/tournaments/cup/standings"
    async with sitting(store) as here:
        await here.hold(entrants=3, format="double-round-robin")
        await here.come("ann", "bob", "cas")
        await trio.sleep(20.0)
        then = (await here.api("GET", address, token=None))["rows"]
        assert (await here.api("POST", "/api/tournaments/cup/freeze"))["frozen"] is True
        await trio.sleep(300.0)
        live = (await here.api("GET", address))["rows"]
    async with sitting(store) as here:
        told = await here.api("GET", address, token=None)
        assert (told["rows"], told["frozen"]) == (then, True)
        assert (await here.api("GET", address))["rows"] == live != then
        assert [each.fact.action for each in here.host.audit] == ["freeze"]


async def invited(browser: Browser, name: str, status: int = 200) -> str:
    page = await browser.read("/admin/tournaments/cup")
    answer = await browser.send(page, "/admin/tournaments/cup/invite", status, name=name)
    found = re.search(r'class="token">([^<]*)<', answer.body.decode())
    return found[1] if found else answer.body.decode()


async def test_an_invited_name_is_only_for_whoever_has_its_token(autojump_clock: MockClock) -> None:
    store = Memory()
    async with sitting(store) as here:
        await here.hold()
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        answer = await browser.send(page, "/admin/tournaments/cup/invite", 200, name="ann")
        token = re.search(r'class="token">([^<]*)<', answer.body.decode())
        assert token is not None
        hello = f'{{"type":"hello","name":"ann","game":"tic-tac-toe","token":"{token[1]}"}}'
        assert unescape(answer.body.decode()).count(hello) == 3, "for TCP, websocket and HTTP"
        assert token[1] not in await browser.read("/admin/tournaments/cup") + await browser.read(
            "/admin/audit"
        )
        assert list(here.host.tournaments["cup"].record.entrants) == ["ann"]
        for wrong in ({}, {"token": "A" * 22}, {"keeps": False}, {"shared": True}):
            with pytest.raises(Unwelcome, match="the name ann is taken"):
                await here.host.arrive("ann", "tic-tac-toe", **wrong)
    async with sitting(store) as here:
        with pytest.raises(Unwelcome, match="the name Ann is taken"):
            await here.host.arrive("Ann", "tic-tac-toe")
        visit = await here.host.arrive("ann", "tic-tac-toe", token=token[1])
        assert visit.player.place == "cup"


async def test_the_longest_names_fit_into_their_fields_whatever_letters_they_have(
    autojump_clock: MockClock,
) -> None:
    """A browser counts in UTF-16, and drops what is too much."""
    async with sitting() as here:
        await here.hold(by_invitation=True)
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        seen = page + await browser.read("/games/connect-4/play")
        lengths = dict(re.findall(r'<input[^>]* id="([^"]*)"[^>]* maxlength="(\d+)"', seen))
        counted = len(("🦊" * LONGEST).encode("utf-16-le")) // 2
        assert [int(lengths[field]) for field in ("invited", "entered", "name")] == [counted] * 3
        await invited(browser, "🦊" * LONGEST)
        assert list(here.host.tournaments["cup"].record.entrants) == ["🦊" * LONGEST]
        refused = await browser.send(page, "/admin/tournaments/cup/invite", 409, name="🦊" * (LONGEST + 1))
        assert b"a name has at most 32 characters" in refused.body


async def test_an_invitation_can_be_made_anew_until_the_bot_has_come(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold()
        browser = await here.log_in()
        lost, token = await invited(browser, "ann"), await invited(browser, "ann")
        with pytest.raises(Unwelcome):
            await here.host.arrive("ann", "tic-tac-toe", token=lost)
        await here.host.arrive("ann", "tic-tac-toe", token=token)
        assert (
            "ann is here already, and needs no invitation: it is an entrant of cup already"
            in await invited(browser, "ann", 409)
        )
        assert "would take for Ann" in await invited(browser, "Ann", 409)
        assert "reserved word" in await invited(browser, "draw", 409)
        assert list(here.host.tournaments["cup"].record.entrants) == ["ann"]


async def test_a_name_that_came_without_a_token_is_released_or_bound_at_the_desk(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        await here.hold()
        browser, ours = await here.log_in(), {"keeps": False, "door": "santorini", "peer": "198.51.100.77"}
        for name in ("ann", "bob"):
            (await here.host.arrive(name, "tic-tac-toe", **ours)).leave()
        page = await browser.read("/admin/tournaments/cup")
        assert page.count('action="/admin/tournaments/cup/release"') == 2
        await browser.send(page, "/admin/tournaments/cup/release", 303, name="ann")
        await here.host.arrive("ann", "tic-tac-toe", **ours | {"peer": "198.51.100.78"})
        answer = await browser.send(page, "/admin/tournaments/cup/bind", 200, name="bob")
        token = re.search(r'class="token">([^<]*)<', answer.body.decode())
        assert token is not None
        assert "bob has a token" in answer.body.decode()
        with pytest.raises(Unwelcome, match="is taken"):
            await here.host.arrive("bob", "tic-tac-toe", **ours)
        await here.host.arrive("bob", "tic-tac-toe", token=token[1])
        pages = [await browser.read(path) for path in ("/admin/tournaments/cup", "/admin/audit", "/admin")]
        assert pages[0].count('action="/admin/tournaments/cup/release"') == 1, "a token needs no seat"
        assert (
            "bob belongs to a token"
            in (await browser.send(pages[0], "/admin/tournaments/cup/release", 409, name="bob")).body.decode()
        )
        for text in (page, *pages):
            assert "198.51.100" not in text


async def test_a_tournament_waits_for_the_invited_before_it_begins_by_itself(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        record = (await here.hold(entrants=2)).record
        browser = await here.log_in()
        tokens = {name: await invited(browser, name) for name in ("ann", "bob")}
        assert "cup is full" in await invited(browser, "cas", 409)
        await trio.sleep(100.0)
        assert record.state is State.REGISTERING
        for name, token in tokens.items():
            assert record.state is State.REGISTERING
            visit = await here.host.arrive(name, "tic-tac-toe", token=token)
            here.nursery.start_soon(play, visit.player, first)
        await trio.sleep(200.0)
        assert record.state is State.FINISHED
        assert [fact.ending for fact in record.matches.values()] == ["played"]


async def test_whoever_comes_late_is_let_in_where_the_format_does_that(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold(entrants=2)
        await here.hold("out", entrants=2, game="connect-4", format="knockout")
        await here.come("ann", "bob", behave=silent)
        await here.come("ann", "bob", behave=silent, game="connect-4")
        await trio.testing.wait_all_tasks_blocked()
        browser = await here.log_in()
        page = await browser.read("/admin/tournaments/cup")
        await browser.send(page, "/admin/tournaments/cup/enter", name="cas")
        assert list(here.host.tournaments["cup"].record.entrants) == ["ann", "bob", "cas"]
        assert "/enter" not in await browser.read("/admin/tournaments/out")
        told = await here.api("POST", "/api/tournaments/out/enter", name="cas")
        assert (told["status"], "takes no more entrants" in told["error"]) == (409, True)


async def test_progress_is_in_matches_and_a_bye_is_none(autojump_clock: MockClock) -> None:
    """On the pages, at the desk and over the API; standings count the bye."""
    async with sitting() as here:
        await here.hold(entrants=3, format="swiss")
        await here.come("ann", "bob", "cas", behave=silent)
        await trio.testing.wait_all_tasks_blocked()
        browser = await here.log_in()
        assert "0 of 1 match over; 1 being played" in await browser.read("/admin/tournaments/cup")
        assert '<td class="figure">0 of 1</td>' in await browser.read("/admin")
        assert "0 of 1 match is over, 1 in play" in await browser.read("/tournaments/cup")
        assert "0 / 1</small>" in await browser.read("/")
        assert "0 of 1 match is over" in await browser.read("/wall/cup")
        cup = await here.api("GET", "/api/tournaments/cup")
        assert (cup["played"], len(cup["playing"]), cup["open"]) == (0, 1, 0)
        rows = (await here.api("GET", "/api/tournaments/cup/standings"))["rows"]
        assert [(row["points"], row["played"]) for row in rows] == [(1.0, 0), (0.0, 0), (0.0, 0)]


async def test_the_desk_tells_how_long_this_host_waits_for_a_bot_that_is_gone(
    autojump_clock: MockClock,
) -> None:
    async with sitting(limits=Limits(away_seconds=45.0)) as here:
        form = await (await here.log_in()).read("/admin/create")
    assert "each of its matches waits for 45 seconds" in form


async def test_a_tournament_by_invitation_is_opened_filled_and_shown_as_that(
    autojump_clock: MockClock,
) -> None:
    async with sitting() as here:
        browser = await here.log_in()
        form = await browser.read("/admin/create")
        typed = {"name": "cup", "game": "tic-tac-toe", "format": "swiss", "entrants": "2"}
        wrong = await browser.send(form, "/admin/create", 400, **typed, by_invitation="perhaps")
        assert b"by_invitation: expected yes or nothing" in wrong.body
        page = (await browser.send(form, "/admin/create", **typed, by_invitation="yes")).body.decode()
        assert "By invitation." in page
        page = (await browser.send(page, "/admin/tournaments/cup/enter", name="ann")).body.decode()
        assert "waits for 1 bot <small>(by invitation)</small>" in await browser.read("/")
        await browser.send(page, "/admin/tournaments/cup/invite", 200, name="bob")
        assert list(here.host.tournaments["cup"].record.entrants) == ["ann", "bob"]
        public = await browser.read("/tournaments/cup")
        assert "By invitation: only bots that the organiser invites or enters take part." in public
        assert "it starts by itself when 2 have entered and all of them are here" in public
        assert "waits until all are here <small>(by invitation)</small>" in await browser.read("/")
        assert "2 entrants; begins with 2, once all are here" in await browser.read("/wall")
        await Desk(here.host.tournaments["cup"]).withdraw("ann")
        assert "<span>1 entrant of 2</span>" in await browser.read("/admin/tournaments/cup"), "there is room"
        assert '<td class="figure">1 of 2</td>' in await browser.read("/admin")
        await browser.send(form, "/admin/create", **typed | {"name": "fair"})
        assert "/enter" not in await browser.read("/admin/tournaments/fair")
        assert "nvitation:" not in await browser.read("/tournaments/fair")


async def test_a_ladder_that_has_begun_has_no_more_entrants_than_it_wants(autojump_clock: MockClock) -> None:
    """Catches "3 of 2": the number says how many may come by themselves, and organisers may let in more."""
    async with sitting() as here:
        browser = await here.log_in()
        await here.hold("steps", 2, format="ladder")
        await here.come("ann")
        await trio.sleep(1.0)
        assert '<td class="figure">1 of 2</td>' in await browser.read("/admin")
        await here.come("bob")
        await trio.sleep(100.0)
        await here.api("POST", "/api/tournaments/steps/enter", name="cas")
        assert '<td class="figure">3</td>' in await browser.read("/admin")
        assert "<span>3 entrants" in await browser.read("/admin/tournaments/steps")
        assert "3 entrants of 2" not in await browser.read("/admin/tournaments/steps")


async def test_the_audit_knows_what_was_ordered_by_the_api_as_well(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold()
        browser = await here.log_in()
        await here.api("POST", "/api/tournaments/cup/freeze")
        await here.api("POST", "/api/tournaments/cup/invite", name="<script>")
        rows = [cells for _, cells in table(await browser.read("/admin/audit"), "list audit")]
    assert [(cells[2], cells[3], cells[4]) for cells in rows] == [
        ("cup", "invite", "<script>"),
        ("cup", "freeze", ""),
        ("the host", "login", ""),
    ]
    assert rows[0][1] == "the organiser, from 192.0.2.1"


async def test_in_trouble_the_desk_says_so_and_orders_nothing(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold()
        browser = await here.log_in()
        here.host.store.trouble = "the disk is full"
        page = await browser.read("/admin/tournaments/cup")
        assert "the disk is full" in page
        answer = await browser.send(page, "/admin/tournaments/cup/freeze", 503)
        assert b"the disk is full" in answer.body
        await trio.testing.wait_all_tasks_blocked()  # an order may be carried out after its answer
        assert here.host.tournaments["cup"].record.frozen is None


async def test_what_is_offered_to_be_voided_is_what_counts(autojump_clock: MockClock) -> None:
    def offered(page: str) -> set[str]:
        return set(re.findall(r'href="/admin/tournaments/cup/void\?match=([^"]+)"', page))

    async with sitting() as here:
        await played(here, "ann", "bob", "cas")
        cup, browser = here.host.tournaments["cup"], await here.log_in()
        cup.halt()  # so that what is void is not played again at once
        assert offered(await browser.read("/admin/tournaments/cup")) == {"cup-1", "cup-2", "cup-3"}
        await Desk(cup).void("cup-2", "a cable")
        assert offered(await browser.read("/admin/tournaments/cup")) == {"cup-1", "cup-3"}


@pytest.mark.slow
async def test_pages_show_nothing_of_an_earlier_tournament_of_the_same_name(
    autojump_clock: MockClock,
) -> None:
    paths = ("/tournaments/cup", "/matches/cup-1", "/wall/cup", "/")
    async with sitting() as here:
        browser = await here.log_in()
        await played(here, "kay", "lou")
        for path in paths:
            assert "kay" in await browser.read(path)
        open_before = await here.watch("page=/tournaments/cup")
        question = await browser.read("/admin/tournaments/cup/delete")
        await browser.send(question, "/admin/tournaments/cup/delete")
        await trio.sleep(1.0)
        assert "kay" not in await browser.read("/")
        await played(here, "cas", "dot")
        assert open_before.client.end.here().endswith(b"0\r\n\r\n"), (
            "though nobody has asked for the new page"
        )
        for path in paths:
            page = await browser.read(path)
            assert "kay" not in page, path
            assert "cas" in page, path
        again = await here.watch("page=/tournaments/cup&tournament=cup")  # as its script asks
        await trio.testing.wait_all_tasks_blocked()
        assert again.client.end.here().endswith(b"event: anew\ndata:\n\n\r\n0\r\n\r\n")
        (about,) = re.findall(r'data-tournament="([^"]*)"', await browser.read("/tournaments/cup"))
        watcher = await here.watch(f"page=/tournaments/cup&tournament={about}")
        await watcher.look()
        assert "cas" in "".join(watcher.parts.values())
