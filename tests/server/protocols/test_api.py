"""The HTTP API: what is on, standings, matches, events, and control."""

import csv
import io
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from functools import partial
from typing import Any

import msgspec
import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock, wait_all_tasks_blocked

from games.catalogue import catalogue
from games.game import Illegal, Quoted
from server.commands.tournament_answers import shown
from server.export.verify import verify
from server.host.host import Host
from server.host.unwelcome import STOPPING, Unwelcome
from server.http.head import HttpError
from server.http.routes import routed
from server.net.limits import Limits
from server.programs.report import rendered
from server.protocols.api.door import Api
from server.protocols.api.giving import LARGE
from server.protocols.api.orders import as_conflict
from server.protocols.api.reading import AWAITED, PIECE
from server.protocols.api.routes import Caller, Route
from server.protocols.api.table import ROUTES
from tests.hang import HANG
from tests.server.protocols.table import Slow
from tests.server.transcripts import hosting
from tests.server.web import Answer, Client, Server, get, serving
from tests.server.windowed import Weather
from tests.tournament.world import first, play
from tests.turns import taking_turns
from tournament.events import Began, Disconnected, Moved, Refused
from tournament.facts import Entered, Opened, Ordered
from tournament.player import Seat
from tournament.record import Record
from tournament.refusals import NotNow, NotThere, Over, Refusal, Senseless
from tournament.store import Memory

GAME = "tic-tac-toe"
TOKEN = "the organiser's own"


NOT_JSON = ("/events", "/export", "/metrics", "/wire", "/feed", "/calendar")


class Office:
    """A host with its API, and somebody who asks."""

    def __init__(self, host: Host, nursery: trio.Nursery, server: Server) -> None:
        self.host = host
        self.nursery = nursery
        self.server = server

    async def come(self, *names: str) -> None:
        for name in names:
            visit = await self.host.arrive(name, GAME)
            self.nursery.start_soon(play, visit.player, first)

    async def read(self, path: str, status: int = 200) -> Any:
        answer = await self.server.connect().ask(get(path))
        assert answer.status == status, answer.body
        return msgspec.json.decode(answer.body)

    async def text(self, path: str) -> tuple[str, str]:
        answer = await self.server.connect().ask(get(path))
        assert answer.status == 200
        return answer.headers["content-type"], answer.body.decode()

    async def tell(self, path: str, status: int = 200, token: str | None = TOKEN, **body: Any) -> Any:
        content = msgspec.json.encode(body)
        headers = [f"Content-Length: {len(content)}", *([f"Authorization: Bearer {token}"] if token else [])]
        answer = await self.server.connect().ask(get(path, *headers, method="POST") + content, "POST")
        assert answer.status == status, answer.body
        return msgspec.json.decode(answer.body)

    async def listen(self, path: str, *headers: str) -> Client:
        client = self.server.connect()
        await client.end.send_all(get(path, *headers))
        return client


@asynccontextmanager
async def office(store: Memory | None = None, limits: Limits | None = None) -> AsyncIterator[Office]:
    async with hosting({}, limits, store) as (host, nursery), serving(routed((Api(host, TOKEN),))) as server:
        yield Office(host, nursery, server)
        assert not server.guard.caught


def events(heard: bytes) -> list[dict[str, Any]]:
    """The events of a stream, each with its id."""
    found: list[dict[str, Any]] = []
    for block in heard.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if line[:2] in ("id", "da"))
        if "data" in fields:
            found.append(msgspec.json.decode(fields["data"]) | {"id": int(fields["id"])})
    return found


async def test_the_games_are_told_with_their_options(autojump_clock: MockClock) -> None:
    async with office() as here:
        games = {game["name"]: game for game in (await here.read("/api/games"))["games"]}
    assert set(games) == set(catalogue())
    assert games["hexagon-dots"]["options"] == {"rows": 5, "cols": 5, "end": "lines"}
    assert games["quoridor"]["pace"] == {"bank": 60.0, "gain": 2.0, "turn": None}


@pytest.mark.slow
async def test_a_tournament_from_its_opening_to_its_standings(autojump_clock: MockClock) -> None:
    async with office() as here:
        opened = await here.tell(
            "/api/tournaments", 201, name="cup", game=GAME, format="round-robin", entrants=4
        )
        assert (opened["state"], opened["entrants"], opened["wanted"]) == ("registering", 0, 4)
        await here.come("ann", "bob", "cas", "dee")
        await trio.sleep(9.5)
        running = await here.read("/api/tournaments/cup")
        assert running["state"] == "running"
        assert running["played"] + len(running["playing"]) + running["open"] == 6
        assert [entrant["name"] for entrant in running["entrants"]] == ["ann", "bob", "cas", "dee"]
        await trio.sleep(100.0)
        standings = await here.read("/api/tournaments/cup/standings")
        matches = (await here.read("/api/tournaments/cup/matches"))["matches"]
    assert (standings["tournament"], standings["game"]) == ("cup", GAME)
    assert (standings["format"], standings["state"]) == ("round-robin", "finished")
    assert sum(row["points"] for row in standings["rows"]) == 6.0
    for row in standings["rows"]:
        assert row["wins"] + row["draws"] + row["losses"] == row["played"] == 3
        assert row["interval"][0] < row["rating"] < row["interval"][1]
    assert len(matches) == 6
    assert all("moves" not in match and match["ending"] == "played" for match in matches)


async def test_a_tournament_by_invitation_takes_whom_the_organiser_enters_and_its_export_says_so(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        wanted = {"game": GAME, "entrants": 2}
        assert (await here.tell("/api/tournaments", 201, name="fair", **wanted))["by_invitation"] is False
        told = await here.tell("/api/tournaments/fair/enter", 409, name="ann")
        assert "fair has not begun" in told["error"]
        await here.tell("/api/tournaments/fair/delete")
        opened = await here.tell("/api/tournaments", 201, name="cup", by_invitation=True, **wanted)
        assert opened["by_invitation"] is True
        for name in ("ann", "bob"):
            await here.tell("/api/tournaments/cup/enter", name=name)
        assert "cup is full" in (await here.tell("/api/tournaments/cup/enter", 409, name="cas"))["error"]
        await here.come("ann", "cas")
        await trio.sleep(100.0)
        assert (await here.read("/api/tournaments/cup"))["state"] == "registering"
        await here.come("bob")
        await trio.sleep(100.0)
        assert (await here.read("/api/tournaments/cup"))["state"] == "finished"
        _, lines = await here.text("/api/tournaments/cup/export")
        told = await here.tell(
            "/api/tournaments", 400, name="x", game=GAME, format="ladder", by_invitation=True
        )
        assert "leave by_invitation out" in told["error"]
    written = lines.encode().splitlines()
    assert msgspec.json.decode(written[0])["by_invitation"] is True
    assert verify(written).findings == []
    plain = [line for line in written if b'"type":"fact"' not in line and b'"type":"withheld"' not in line]
    assert verify([line for line in plain if b'"type":"head"' not in line]).findings == []


async def test_a_match_is_there_with_moves_and_times_while_it_goes_on_and_after(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(3.5)
        live = await here.read("/api/matches/cup-1")
        assert (live["ending"], live["winner"], len(live["moves"])) == (None, None, 3)
        await trio.sleep(50.0)
        over = await here.read("/api/matches/cup-1")
    assert (over["match"], over["tournament"], over["game"]) == ("cup-1", "cup", GAME)
    assert (over["ending"], over["winner"]) == ("played", 0)
    assert over["moves"][:3] == live["moves"]
    assert over["times"] == pytest.approx([1.0] * len(over["moves"]))


async def test_control_wants_the_organisers_token(autojump_clock: MockClock) -> None:
    async with office() as here:
        for token in (None, "", "the organiser's ow", "ünïcode"):
            await here.tell("/api/tournaments", 401, token, name="cup", game=GAME)
            await here.tell("/api/tournaments/cup/start", 401, token)
        assert not here.host.tournaments


async def test_whoever_guesses_the_organisers_token_has_to_wait_and_the_organiser_never(
    autojump_clock: MockClock,
) -> None:
    async def guess(token: str) -> Answer:
        request = get("/api/admin-link", f"Authorization: Bearer {token}", method="POST")
        return await here.server.connect().ask(request, "POST")

    async with office() as here:
        answers = [await guess(str(number)) for number in range(15)]
        assert [answer.status for answer in answers] == [401] * 10 + [429] * 5
        assert b"`limits.wrong_tokens` allows 10 in 60 s" in answers[-1].body
        assert (await guess(TOKEN)).status == 409, "there is no desk here, but it was heard"
        assert (await guess("")).status == 401, "no token is no guess"
        await trio.sleep(float(answers[-1].headers["retry-after"]))
        assert [(await guess(token)).status for token in ("16", "17")] == [401, 429]


@pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.who is Caller.ORGANISER], ids=lambda route: route.path
)
async def test_every_route_of_the_organiser_wants_the_token(autojump_clock: MockClock, route: Route) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        path = route.path.format(name="cup", order="explode")
        for header, why in (
            ((), "organiser's token: `Authorization"),
            (("Authorization: Bearer another",), "a different one came"),
        ):
            answer = await here.server.connect().ask(get(path, *header, method=route.method))
            assert (answer.status, why in answer.body.decode()) == (401, True)
            assert answer.headers["www-authenticate"] == "Bearer"


async def test_where_a_method_is_not_taken_those_are_named_that_are(autojump_clock: MockClock) -> None:
    expected = {
        "/api/tournaments": "GET, HEAD, POST",
        "/api/tournaments/cup/standings": "GET, HEAD",
        "/api/tournaments/cup/start": "POST",
    }
    async with office() as here:
        for path, allowed in expected.items():
            answer = await here.server.connect().ask(get(path, method="DELETE"))
            assert (answer.status, answer.headers["allow"]) == (405, allowed)
        assert (await here.server.connect().ask(get("/api/nothing", method="DELETE"))).status == 404


async def test_a_tournament_is_paused_resumed_and_started_by_hand(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.come("ann")
        await here.tell("/api/tournaments/cup/start", 409)
        await here.come("bob", "cas")
        assert (await here.tell("/api/tournaments/cup/start"))["state"] == "running"
        await trio.sleep(1.5)
        assert (await here.tell("/api/tournaments/cup/pause"))["state"] == "paused"
        await trio.sleep(100.0)
        assert (await here.read("/api/tournaments/cup"))["played"] == 1
        assert (await here.tell("/api/tournaments/cup/resume"))["state"] == "running"
        await trio.sleep(100.0)
        assert (await here.read("/api/tournaments/cup"))["state"] == "finished"


@pytest.mark.slow
async def test_what_an_order_would_change_can_be_seen_before(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        await here.come("ann", "bob", "cas")
        await trio.sleep(100.0)
        rows = (await here.read("/api/tournaments/cup/standings"))["rows"]
        leader = rows[0]["name"]
        seen = await here.tell("/api/tournaments/cup/disqualify", name=leader, why="two bots", preview=True)
        assert seen["before"] == [{key: row[key] for key in seen["before"][0]} for row in rows]
        assert seen["before"][0]["tie_breaks"].keys() == rows[0]["tie_breaks"].keys() != set()
        assert (await here.read("/api/tournaments/cup/standings"))["rows"] == rows
        await here.tell("/api/tournaments/cup/disqualify", name=leader, why="two bots")
        after = (await here.read("/api/tournaments/cup/standings"))["rows"]
        assert [(row["name"], row["points"], row.get("out")) for row in after] == [
            (row["name"], row["points"], row.get("out")) for row in seen["after"]
        ]
        assert (after[-1]["name"], after[-1]["out"]) == (leader, "disqualified")


@pytest.mark.parametrize("format", ["round-robin", "decide"])
async def test_a_preview_counts_what_would_go_to_the_opponents_as_well(
    format: str, autojump_clock: MockClock
) -> None:
    """Catches a preview in which a leader stays first that is not first once its order is given."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, format=format)
        for name in ("ann", "bob", "cas", "dot"):
            await here.tell("/api/tournaments/cup/invite", 201, name=name)
        await here.tell("/api/tournaments/cup/start")
        await wait_all_tasks_blocked()
        await here.tell("/api/tournaments/cup/pause")
        record = here.host.tournaments["cup"].record
        for action, annuls in (("withdraw", format == "round-robin"), ("disqualify", False)):
            seen = await here.tell(f"/api/tournaments/cup/{action}", name="ann", why="x", preview=True)
            assert seen["to_play"] == (0 if annuls else record.left_to_play("ann"))
            assert seen["to_play"] > 0 or annuls
        seen = await here.tell("/api/tournaments/cup/disqualify", name="ann", why="x", preview=True)
        before = {row["name"]: row["wins"] for row in seen["after"]}
        await here.tell("/api/tournaments/cup/disqualify", name="ann", why="x")
        await here.tell("/api/tournaments/cup/resume")
        await wait_all_tasks_blocked()
        rows = (await here.read("/api/tournaments/cup/standings"))["rows"]
        assert sum(row["wins"] - before[row["name"]] for row in rows) == seen["to_play"]


@asynccontextmanager
async def cup_that_stays_as_it_is() -> AsyncIterator[Office]:
    """Two have entered it, and nothing is kept of it after that."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.come("ann", "bob")
        await trio.sleep(1.0)
        facts = here.host.tournaments["cup"].record.facts
        yield here
        assert here.host.tournaments["cup"].record.facts == facts


@pytest.mark.slow
async def test_what_an_order_would_change_is_worked_out_where_it_holds_up_nobody(
    autojump_clock: MockClock,
) -> None:
    """Catches a preview for which all matches stand still: with 300 bots it takes a second."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(100.0)
        winner = here.host.tournaments["cup"].record.standings()[0].name
        worked = list[Callable[[], Any]]()

        async def elsewhere(work: Callable[[], Any]) -> Any:
            worked.append(made := work())
            return made

        here.host.boards.run = elsewhere
        for action, about in (("disqualify", {"name": winner}), ("void", {"match": "cup-1"})):
            worked.clear()
            seen = await here.tell(f"/api/tournaments/cup/{action}", preview=True, **about)
            ((before, after),) = worked
            assert seen["before"] != seen["after"]
            assert msgspec.json.decode(before) == seen["before"], "it is encoded there, too"
            assert msgspec.json.decode(after) == seen["after"]


@pytest.mark.slow
async def test_of_several_who_ask_at_once_what_an_order_would_change_one_gets_it_after_the_other(
    autojump_clock: MockClock,
) -> None:
    """Catches ten organisers for whom ten copies of a ladder of 20,000 are made and worked on at once."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        await here.come(*"abcd")
        await trio.sleep(1000.0)
        copies, made = list[Record](), list[int]()
        copied, tournament = here.host.tournaments["cup"].copied_record, here.host.tournaments["cup"]

        async def counted() -> Record:
            copies.append(await copied())
            return copies[-1]

        async def at_length(work: Callable[[], Any]) -> Any:
            made.append(begun := len(copies))
            await trio.sleep(1.0)
            assert len(copies) == begun, "nobody else has begun"
            return work()

        here.host.boards.run = at_length
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tournament, "copied_record", counted)
            async with trio.open_nursery() as nursery:
                for match in ("cup-1", "cup-2", "cup-3"):
                    order = partial(here.tell, "/api/tournaments/cup/void", match=match, preview=True)
                    nursery.start_soon(order)
        assert made == [1, 2, 3]


@pytest.mark.parametrize("action", ["start", "pause", "resume", "end", "freeze", "unfreeze", "delete"])
async def test_an_order_that_has_no_preview_is_not_carried_out_with_one(
    autojump_clock: MockClock, action: str
) -> None:
    async with cup_that_stays_as_it_is() as here:
        refused = await here.tell(f"/api/tournaments/cup/{action}", 400, preview=True)
        expected = "only withdraw, disqualify and void have a preview; nothing was done"
        assert refused == {"error": expected}


async def test_an_order_about_somebody_that_has_no_preview_is_not_carried_out_with_one(
    autojump_clock: MockClock,
) -> None:
    async with cup_that_stays_as_it_is() as here:
        for action in ("invite", "release", "enter", "check-in"):
            await here.tell(f"/api/tournaments/cup/{action}", 400, name="ann", preview=True)
        await here.tell("/api/tournaments/cup/describe", 400, name="ann", contact="ann@x", preview=True)
        refused = await here.tell("/api/tournaments/cup/invite", 400, name="eve", bind=True)
        assert refused == {"error": "this order takes no `bind`; nothing was done"}


@pytest.mark.parametrize("path", [route.path for route in ROUTES if "why" in (route.fields or ())])
async def test_the_reason_for_an_order_is_kept_with_it(autojump_clock: MockClock, path: str) -> None:
    """Catches an order that takes a reason and drops it."""
    order = path.rpartition("/")[2]
    what, about = ("match", "cup-1") if order == "void" else ("name", "ann")
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        asked = partial(here.tell, path.format(name="cup"), **{what: about})
        await asked(400, why="x" * 201)
        await asked(why="a cable")
        (*_, kept) = [each.fact for each in here.host.audit if isinstance(each.fact, Ordered)]
    assert (kept.action, kept.detail) == (order, f"{about}: a cable")


async def test_a_voided_match_stays_in_the_record_as_void(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(50.0)
        await here.tell("/api/tournaments/cup/void", match="cup-1", why="a cable")
        assert (await here.read("/api/matches/cup-1"))["ending"] == "void"


@pytest.mark.parametrize(
    ("path", "body", "status", "reason"),
    [
        ("/api/tournaments", {"name": "x"}, 400, "game is required"),
        ("/api/tournaments", {"name": "x", "game": "chess"}, 400, "no game 'chess'"),
        (
            "/api/tournaments",
            {"name": "x", "game": GAME, "entrants": 1},
            400,
            "expected a whole number of 2 or more, not 1",
        ),
        (
            "/api/tournaments",
            {"name": "x", "game": GAME, "size": 1},
            400,
            "size is not known; there are: name",
        ),
        ("/api/tournaments", {"name": "cup", "game": GAME}, 409, "already"),
        ("/api/tournaments/cup/explode", {}, 404, "explode"),
        ("/api/tournaments/none/start", {}, 404, "no tournament 'none'"),
        ("/api/tournaments/cup/withdraw", {}, 400, "name"),
        ("/api/tournaments/cup/void", {}, 400, "match"),
        ("/api/tournaments/cup/void", {"match": "cup-1", "why": "\x1b[2J"}, 400, "text that can be printed"),
        ("/api/tournaments/cup/disqualify", {"name": "ann", "why": "x" * 201}, 400, "at most 200 characters"),
        ("/api/tournaments/cup/withdraw", {"name": "zoe"}, 404, "no entrant 'zoe'"),
        ("/api/tournaments/cup/void", {"match": "cup-7"}, 404, "no match 'cup-7'"),
        ("/api/tournaments/cup/release", {"name": "zoe"}, 404, "no entrant 'zoe'"),
        ("/api/tournaments/cup/invite", {"name": "zo\u202ee"}, 400, "a name has no control"),
        ("/api/tournaments/cup/enter", {"name": "zo\u202ee"}, 400, "a name has no control"),
        ("/api/tournaments/cup/enter", {"name": "zoe"}, 409, "whoever comes enters"),
        ("/api/tournaments/cup/resume", {}, 409, "only what is paused"),
    ],
)
async def test_what_cannot_be_done_is_said_in_words(
    autojump_clock: MockClock, path: str, body: dict[str, Any], status: int, reason: str
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        assert reason in (await here.tell(path, status, **body))["error"]


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if route.method == "POST" and route.listed],
    ids=lambda route: route.path,
)
async def test_no_order_takes_a_field_that_it_does_not_know(autojump_clock: MockClock, route: Route) -> None:
    """Catches an order that is carried out although its sender expected something else of it."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        refused = await here.tell(route.path.format(name="cup"), 400, surprise=True)
    assert "surprise is not known" in refused["error"]


ABOUT_SOMEBODY = ("invite", "release", "enter", "describe", "check-in", "withdraw", "disqualify")


@pytest.mark.parametrize("order", ABOUT_SOMEBODY)
async def test_a_name_that_nobody_can_have_is_refused_by_every_order_whatever_stands_against_it(
    autojump_clock: MockClock, order: str
) -> None:
    more = {"affiliation": "a club"} if order == "describe" else {}
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.tell("/api/tournaments", 201, name="stairs", game=GAME, format="ladder")
        for tournament in ("cup", "stairs", f"open-{GAME}"):
            for name in ("", " ", "x" * 33, "zo\u202ee", "random"):
                await here.tell(f"/api/tournaments/{tournament}/{order}", 400, name=name, **more)


async def test_spaces_around_a_name_in_an_order_are_no_part_of_it(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.come("ann")
        await here.tell("/api/tournaments/cup/describe", name=" ann ", affiliation="a club")
        (entrant,) = (await here.read("/api/tournaments/cup"))["entrants"]
    assert (entrant["name"], entrant["affiliation"]) == ("ann", "a club")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"{", "this is not JSON: "),
        (b'{"name":"\xff"}', "a body is UTF-8, and this one is not"),
        (b'{"unknown":"\xff"}', "a body is UTF-8, and this one is not"),
        (b"[" * 3000, "expected an object, not a list"),
        (b'{"name":3', "name: expected a text, not a whole number"),
        (b'{"name":"x","game":"quoridor","entrants":1e999}', "entrants: this number is too large"),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused_with_the_reason(
    autojump_clock: MockClock, body: bytes, reason: str
) -> None:
    headers = (f"Content-Length: {len(body)}", f"Authorization: Bearer {TOKEN}")
    async with office() as here:
        asked = get("/api/tournaments", *headers, method="POST") + body
        answer = await here.server.connect().ask(asked, "POST")
    assert answer.status == 400
    assert reason in msgspec.json.decode(answer.body)["error"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api", 404),
        ("/api/nothing", 404),
        ("/api/tournaments/none", 404),
        ("/api/tournaments/none/standings", 404),
        ("/api/matches/none-1", 404),
        ("/api/matches/", 404),
        ("/api/matches/x/events", 404),
        ("/elsewhere", 404),
    ],
)
async def test_what_is_not_there_is_said_in_words(autojump_clock: MockClock, path: str, status: int) -> None:
    async with office() as here:
        assert (await here.read(path, status))["error"]


async def test_a_match_can_be_followed_to_its_end_and_taken_up_again(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(2.5)
        live = await here.listen("/api/matches/cup-1/events")
        resumed = await here.listen("/api/matches/cup-1/events", "Last-Event-ID: 1")
        await trio.sleep(50.0)
        told, rest = events((await live.answer()).body), events((await resumed.answer()).body)
        again = events((await (await here.listen("/api/matches/cup-1/events")).answer()).body)
    assert [event["type"] for event in told] == ["began", *["moved"] * 7, "ended"]
    assert [event["id"] for event in told] == list(range(9))
    assert told[2:] == rest
    assert told[0]["at"] < told[1]["at"] <= told[-1]["at"] == again[-1]["at"]
    assert told[-2]["state"]["board"].count(None) == 2
    keys = ("id", "type", "state", "winner", "ending")
    assert [[event.get(key) for key in keys] for event in again] == [
        [event.get(key) for key in keys] for event in told
    ]


async def test_whoever_was_cut_off_between_two_moves_is_told_the_rest_when_the_match_is_over(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(2.5)
        live = await here.listen("/api/matches/cup-1/events")
        match = here.host.tournaments["cup"].matches["cup-1"]
        for sent in (Quoted('"Z9"'), "Z9", float("nan")):  # what another process tells of is quoted there
            match.log.append(Refused(trio.current_time(), 0, match.ply, sent, "there is no Z9", 1))
        match.log.append(Disconnected(trio.current_time(), match.ply, seat=1))
        await trio.sleep(50.0)
        heard = await live.now()
        told = events(heard[heard.index(b"\r\n\r\n") + 4 :])
        assert [event["sent"] for event in told if event["type"] == "refused"] == ['"Z9"', '"Z9"', "NaN"]
        cut = next(number for number, event in enumerate(told) if event["type"] == "disconnected")
        after = f"Last-Event-ID: {told[cut]['id']}"
        rest = events((await (await here.listen("/api/matches/cup-1/events", after)).answer()).body)
    assert [(event["id"], event["type"]) for event in rest] == [
        (event["id"], event["type"]) for event in told[cut + 1 :]
    ]
    assert rest[-1]["type"] == "ended"


async def clumsy(seat: Seat) -> None:
    """Try a column that is not there before each move, a second apart."""
    async for event in seat.match.log.read():
        if isinstance(event, Began | Moved) and seat.to_move:
            await trio.sleep(1.0)
            with pytest.raises(Illegal):
                seat.play(9, trio.current_time())
            await trio.sleep(1.0)
            seat.play(next(iter(seat.match.position.moves())), trio.current_time())


async def test_a_stream_in_which_moves_are_taken_back_ends(autojump_clock: MockClock) -> None:
    """Catches a client that waits for ever for what comes next."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(1.5)
        live = await here.listen("/api/matches/cup-1/events")
        await trio.sleep(0.1)
        *_, follower = here.host.tournaments["cup"].matches["cup-1"].log._followers
        follower.end()
        with trio.fail_after(HANG):
            told = events((await live.answer()).body)
        assert told[-1]["type"] == "moved"


async def test_a_match_taken_up_again_has_no_gap_whatever_else_has_happened_in_it(
    autojump_clock: MockClock,
) -> None:
    """Refusals are in no record, so an id that counted them would mean another event once it is over."""
    path = "/api/matches/cup-1/events"
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game="connect-4", entrants=2)
        for name in ("ann", "bob"):
            visit = await here.host.arrive(name, "connect-4")
            here.nursery.start_soon(play, visit.player, clumsy)
        await trio.sleep(12.5)
        left = await here.listen(path)
        early = events((await left.now()).partition(b"\r\n\r\n")[2])
        last = early[-1]["id"]
        after = f"Last-Event-ID: {last}"
        live, ahead = await here.listen(path, after), await here.listen(path, "Last-Event-ID: 999")
        await trio.sleep(100.0)
        over = await here.listen(path, after)
        with trio.fail_after(10.0):
            whole, *rests = [events((await each.answer()).body) for each in (ahead, live, over)]
    assert {event["type"] for event in early} == {"began", "moved", "refused"}
    assert [event["id"] for event in whole if event["type"] != "refused"] == list(range(21))
    assert [event["type"] for event in whole][:: len(whole) - 1] == ["began", "ended"]
    for rest in rests:
        assert [each["id"] for each in rest if each["type"] != "refused"] == list(range(last + 1, 21))


async def test_a_stream_in_which_nothing_happens_gives_signs_of_life_as_often_as_is_set(
    autojump_clock: MockClock,
) -> None:
    """Catches a proxy that takes a match in which somebody thinks for a host that is gone."""
    async with office(limits=Limits(heartbeat_seconds=4.0)) as here:
        for name in ("ann", "bob"):
            await here.host.arrive(name, "connect-4")
        await trio.sleep(1.5)
        paths = ("/api/matches/open-connect-4-1/events", "/api/events")
        silent = [await here.listen(path) for path in paths]
        await trio.sleep(9.0)
        assert [(await each.now()).count(b": still here\n\n") for each in silent] == [2, 2]


async def test_everything_that_begins_and_ends_can_be_followed(autojump_clock: MockClock) -> None:
    async with office() as here:
        feed = await here.listen("/api/events")
        await wait_all_tasks_blocked()
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "bob")
        await trio.sleep(40.0)
        heard = await feed.now()
        told = events(heard[heard.index(b"\r\n\r\n") + 4 :])
        first: int = told[0]["id"]
        later = await here.listen("/api/events", f"Last-Event-ID: {first}")
        missed = events(await later.now())
        earlier = [
            await here.listen("/api/events", f"Last-Event-ID: {each}")
            for each in (0, 1, first - 2, first + 3, 10**16, "elsewhere-1")
        ]
        since = [events(await each.now()) for each in earlier]
    assert [event["type"] for event in told] == ["begin", "end", "standings"]
    assert (told[0]["match"], told[1]["winner"], told[2]["rows"][0]["points"]) == ("cup-1", 0, 1.0)
    assert [event["id"] for event in missed] == [first + 1, first + 2]
    assert since == [told] * 6, "the ids are of before a restart, or of another host"
    assert b": still here\n\n" in heard


async def test_an_export_is_json_lines_and_standings_can_be_had_as_csv(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
        await here.come("ann", "@bob")
        await trio.sleep(50.0)
        kind, exported = await here.text("/api/tournaments/cup/export")
        export = await here.server.connect().ask(get("/api/tournaments/cup/export"))
        sniffed = export.headers["x-content-type-options"]
        csv_kind, table = await here.text("/api/tournaments/cup/standings?format=csv")
        trf_kind, report = await here.text("/api/tournaments/cup/standings?format=trf")
        await here.tell("/api/tournaments", 201, name="steps", game=GAME, format="ladder")
        refused = await here.read("/api/tournaments/steps/standings?format=trf", 409)
    lines = [msgspec.json.decode(line) for line in exported.splitlines()]
    assert kind == "application/x-ndjson"
    assert sniffed == "nosniff"
    assert list(dict.fromkeys(line["type"] for line in lines if line["type"] != "withheld")) == [
        "tournament",
        "entrant",
        "pairing",
        "match",
        "fact",
        "head",
        "standings",
    ]
    lines = [line for line in lines if line["type"] != "withheld"]
    verdict = verify(io.BytesIO(exported.encode()))
    assert (verdict.findings, verdict.matches) == ([], 1)
    assert len(lines[4]["moves"]) == 7
    assert csv_kind.startswith("text/csv")
    columns = "rank,name,points,played,wins,draws,losses,rating,low,high"
    assert re.fullmatch(columns + ",affiliation(,tie_break_[a-z-]+)+,out", table.splitlines()[0])
    assert ",'@bob," in table, "no cell is a formula"
    assert trf_kind.startswith("text/plain")
    assert [line[14:18] for line in report.split("\r\n") if line.startswith("001")] == ["ann ", "@bob"]
    assert refused["error"] == "TRF is a table of rounds, and a ladder tournament has none: take CSV"


async def test_what_has_no_rounds_is_refused_as_trf_before_anything_is_copied(
    autojump_clock: MockClock,
) -> None:
    """Catches 200,000 matches that were copied where moves are played, and counted, for a refusal."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="steps", game=GAME, format="ladder")
        asked = list[Callable[[], Any]]()

        async def elsewhere(work: Callable[[], Any]) -> Any:
            asked.append(work)
            return work()

        here.host.boards.run = elsewhere
        await here.read("/api/tournaments/steps/standings?format=trf", 409)
        assert asked == []


async def test_figures_are_made_once_for_all_who_ask_at_the_same_time(autojump_clock: MockClock) -> None:
    """Catches a flood of such requests: each took as long as twenty others, and every bot waited for all."""
    made: list[None] = []

    def figures() -> tuple[()]:
        made.append(None)
        return ()

    async with office() as here:
        here.host.figures.append(figures)
        clients = [here.server.connect() for _ in range(50)]
        for client in clients:
            client.end.send_now(get("/metrics") * 2)
        for client in clients * 2:
            assert (await client.answer()).status == 200
    assert len(made) <= 6


async def test_a_monitor_is_told_how_things_are(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.come("ann", "bob")
        await trio.sleep(1.5)
        _, figures = await here.text("/metrics")
        assert await here.read("/healthz") == {"alive": True}
        assert await here.read("/readyz") == {"ready": True}
        here.host.draining = True
        assert await here.read("/readyz", 503) == {"ready": False, "why": STOPPING}
        assert await here.read("/api/status") == {"trouble": "", "draining": True}
        refused = await here.tell("/api/tournaments", 503, name="cup", game=GAME, format="swiss")
    assert refused == {"error": STOPPING}
    assert f'\nquintain_matches_playing{{game="{GAME}"}} 1\n' in figures
    assert f'\nquintain_players{{game="{GAME}"}} 2\n' in figures
    assert "\nquintain_moves_total{" in figures


async def test_an_order_that_cannot_be_kept_is_refused_at_once(autojump_clock: MockClock) -> None:
    """Catches an order that waits for a disk, and is carried out when nobody expects it any more."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, format="swiss")
        here.host.store.trouble = "the disk is full"
        refused = await here.tell("/api/tournaments", 503, name="bowl", game=GAME, format="swiss")
        assert refused == {"error": "nothing can be kept just now, so nothing was changed: the disk is full"}
        assert await here.tell("/api/tournaments/cup/pause", 503) == refused
        here.host.store.trouble = ""
        assert "bowl" not in here.host.tournaments
        await here.tell("/api/tournaments/cup/delete")


async def test_an_order_that_is_being_carried_out_when_the_host_stops_says_what_came_of_it(
    autojump_clock: MockClock,
) -> None:
    """Catches 503 for an order that is carried out nevertheless, so that it is given once more."""
    async with office(Slow(Opened)) as here:
        async with trio.open_nursery() as nursery:
            cup = partial(here.tell, "/api/tournaments", 201, name="cup", game=GAME, format="swiss")
            nursery.start_soon(cup)
            await trio.sleep(1.0)
            here.server.http.drain(STOPPING)
        assert "cup" in here.host.tournaments


async def test_what_only_grows_is_a_counter_and_what_takes_time_a_histogram(
    autojump_clock: MockClock,
) -> None:
    """As Prometheus has it: a counter's name ends in `_total`, and a histogram's buckets add up."""
    async with office() as here:
        for seconds in (0.001, 0.03, 60.0):
            here.host.measures.lag.observe(seconds)
        _, figures = await here.text("/metrics")
    lines = figures.splitlines()
    types = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE")}
    assert {name for name, kind in types.items() if kind == "histogram"} == {
        "quintain_move_seconds",
        "quintain_loop_lag_seconds",
        "quintain_commit_seconds",
    }
    assert all(name.endswith("_total") == (kind == "counter") for name, kind in types.items())
    lag = dict(line.split() for line in lines if line.startswith("quintain_loop_lag_seconds"))
    buckets = {
        name.split('"')[1]: int(count)
        for name, count in lag.items()
        if name.startswith("quintain_loop_lag_seconds_bucket{le=")
    }
    assert (buckets["0.0005"], buckets["0.001"], buckets["0.02"], buckets["0.05"]) == (0, 1, 1, 2)
    assert buckets["+Inf"] == int(lag["quintain_loop_lag_seconds_count"]) == 3
    assert float(lag["quintain_loop_lag_seconds_sum"]) == 60.031


@pytest.mark.slow
async def test_the_openapi_document_names_every_address(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2, group="all")
        await here.come("ann", "bob")
        await trio.sleep(50.0)
        document = await here.read("/openapi.json")
        for path, operations in document["paths"].items():
            if "get" in operations and "security" not in operations["get"] and not path.endswith(NOT_JSON):
                asked = "?name=ann" if path == "/api/bots" else ""
                await here.read(
                    path.format(name="cup", match="cup-1", game=GAME, group="all", bot="ann") + asked
                )
    assert document["openapi"].startswith("3.")
    assert "TournamentSettings" in document["components"]["schemas"]


async def many_enter(here: Office) -> None:
    await here.tell("/api/tournaments", 201, name="cup", game=GAME, format="gauntlet")
    record = here.host.tournaments["cup"].record
    for number in range(15_000):
        record.add(Entered(f"entrant {number}"))


@pytest.mark.slow
async def test_a_large_answer_reaches_a_slow_reader_whole(autojump_clock: MockClock) -> None:
    """Catches an export that is cut because more of it is kept than for a slow reader may be."""
    async with office() as here:
        await many_enter(here)
        client = here.server.connect(Weather(window=65536, latency=0.001))
        await client.end.send_all(get("/api/tournaments/cup/export", "Connection: close"))
        answer = await client.rest()
    assert len(answer) > 1 << 20
    assert answer.endswith(b"0\r\n\r\n")
    assert answer.count(b'"type":"standings"') == 1


@pytest.mark.slow
async def test_others_get_their_turn_while_a_large_export_is_made(autojump_clock: MockClock) -> None:
    """To a client that takes everything at once: what comes between two turns of another was made in one."""
    async with office() as here:
        await many_enter(here)
        client = here.server.connect(Weather(window=1 << 30))
        await client.end.send_all(get("/api/tournaments/cup/export", "Connection: close"))
        pieces = list[bytes]()
        while not (pieces and pieces[-1].endswith(b"0\r\n\r\n")):
            await trio.lowlevel.checkpoint()
            if came := client.end.here():
                pieces.append(came)
    assert sum(map(len, pieces)) > 4 * LARGE
    assert max(map(len, pieces)) < 3 * LARGE, "two turns may come one right after the other"


async def test_a_name_is_released_or_bound_and_its_address_is_told_to_nobody(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        (await here.host.arrive("ann", GAME, keeps=False, door="santorini", peer="198.51.100.77")).leave()
        assert here.host.tournaments["cup"].record.seats["ann"].address == "198.51.100.77"
        cup = [f"/api/tournaments/cup{rest}" for rest in ("", "/standings", "/matches", "/export")]
        for path in ("/api/tournaments", "/api/status", "/metrics", *cup):
            assert "198.51.100.77" not in (await here.text(path))[1], path
        release = "/api/tournaments/cup/release"
        assert "name" in (await here.tell(release, 400))["error"]
        assert "no entrant" in (await here.tell(release, 404, name="bob"))["error"]
        assert (await here.tell(release, name="ann"))["tournament"] == "cup"
        assert "nobody" in (await here.tell(release, 409, name="ann"))["error"]
        bound = await here.tell(release, 201, name="ann", bind=True)
        assert [*bound] == ["name", "token"]
        visit = await here.host.arrive("ann", GAME, token=bound["token"])
        assert visit.player.place == "cup"
        assert await here.tell(release, 401, token=None, name="ann")
        assert [each.fact.action for each in here.host.audit] == ["open", "release", "bind"]


@pytest.mark.parametrize("order", [{"name": "eve"}, {"name": "ann", "bind": True}], ids=["invite", "bind"])
async def test_no_cache_keeps_an_answer_with_a_token(
    order: dict[str, Any], autojump_clock: MockClock
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        await here.tell("/api/tournaments/cup/invite", 201, name="ann")
        path = "/api/tournaments/cup/" + ("release" if "bind" in order else "invite")
        content = msgspec.json.encode(order)
        headers = f"Content-Length: {len(content)}", f"Authorization: Bearer {TOKEN}"
        answer = await here.server.connect().ask(get(path, *headers, method="POST") + content, "POST")
        assert (answer.status, answer.headers["cache-control"]) == (201, "no-store")


async def test_a_tournament_says_what_was_chosen_for_it_and_who_is_missing(autojump_clock: MockClock) -> None:
    async with office() as here:
        wanted = {"name": "cup", "game": GAME, "format": "round-robin", "group": "spring"}
        cup = await here.tell("/api/tournaments", 201, **wanted, start_at="2099-03-01T18:00:00Z")
        chosen = {"absent": "settle", "start_at": "2099-03-01T18:00:00.000Z", "group": "spring"}
        assert {name: cup[name] for name in chosen} == chosen
        plain = await here.tell("/api/tournaments", 201, name="plain", game=GAME, absent="wait")
        assert [plain[name] for name in chosen] == ["wait", None, None]
        visit = await here.host.arrive("ann", GAME, tournament="cup", keeps=False, door="d", peer="p")
        visit.player.away()
        await trio.sleep(2.0)
        (missing,) = (await here.read("/api/tournaments/cup"))["missing"]
        assert missing["name"] == "ann"
        assert datetime.fromisoformat(missing["since"]).tzinfo is not None
        ladder = {"name": "x", "game": GAME, "format": "ladder", "absent": "wait"}
        assert "has no end" in (await here.tell("/api/tournaments", 400, **ladder))["error"]
        for wrong in ({"absent": "never"}, {"start_at": "tomorrow"}, {"group": ""}, {"group": " a"}):
            assert (await here.tell("/api/tournaments", 400, **wanted | {"name": "x"} | wrong))["error"]
        for ever in ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"):  # years 0 and 10000 in UTC
            far = await here.tell("/api/tournaments", 400, **wanted | {"name": "x", "start_at": ever})
            assert "start_at: expected a time in the years 1970 to 2999" in far["error"]
        assert await here.read("/api/tournaments")  # which one of them would have spoilt


async def test_an_answer_to_an_order_names_a_hundred_of_those_who_are_awaited_and_counts_all(
    autojump_clock: MockClock,
) -> None:
    """Each answer named everybody, so what it cost to enter a list grew with its square."""
    wanted = {"name": "cup", "game": GAME, "format": "swiss", "by_invitation": True, "check_in": "1d"}
    names = [f"bot-{number}" for number in range(AWAITED + 20)]
    async with office() as here:
        await here.tell("/api/tournaments", 201, **wanted, start_at="2099-03-01T18:00:00Z")
        *_, ordered = [await here.tell("/api/tournaments/cup/enter", name=name) for name in names]
        tournaments = (await here.read("/api/tournaments"))["tournaments"]
        whole = await here.read("/api/tournaments/cup")
    listed = next(each for each in tournaments if each["tournament"] == "cup")
    for told, most in ((ordered, AWAITED), (listed, AWAITED), (whole, len(names))):
        assert [each["name"] for each in told["missing"]] == names[:most]
        assert told["missing_count"] == len(names)
        assert told["checking_in"]["missing"] == names[:most]


async def test_others_have_their_turns_while_thousands_who_are_awaited_are_told(
    autojump_clock: MockClock,
) -> None:
    """Whoever asked for a tournament with ten thousand who had not come held up all pages for 50 ms."""

    async def turns(count: int) -> int:
        async with office() as here:
            await here.tell("/api/tournaments", 201, name="cup", game=GAME, by_invitation=True)
            await here.host.tournaments["cup"].keep(*[Entered(f"bot-{number}") for number in range(count)])
            await wait_all_tasks_blocked()  # the tournament has looked at them
            async with taking_turns() as turns:
                client = await here.listen("/api/tournaments/cup?limit=1")
                await client.end.receive_some(1)  # the first of it comes when all of it is made
        return turns.taken

    assert await turns(8 * PIECE) > await turns(8) + 4


async def test_others_have_their_turns_while_the_end_is_foreseen_for_the_answer_to_an_order(
    autojump_clock: MockClock,
) -> None:
    """Each order about a tournament with four thousand who had not come held up all moves for 50 ms."""

    async def turns(count: int) -> int:
        async with office() as here:
            await here.tell(
                "/api/tournaments", 201, name="cup", game=GAME, format="swiss", by_invitation=True
            )
            await here.host.tournaments["cup"].keep(*[Entered(f"bot-{number}") for number in range(count)])
            await here.tell("/api/tournaments/cup/start")
            await trio.sleep(1.0)
            async with taking_turns() as turns:
                await here.tell("/api/tournaments/cup/describe", name="bot-1", affiliation="Kraków")
        return turns.taken

    assert await turns(400) > await turns(4) + 4


async def test_a_deleted_tournament_is_gone_and_its_name_free_but_not_while_it_runs(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        delete = "/api/tournaments/cup/delete"
        for name in ("ann", "bob"):
            await here.host.arrive(name, GAME)
        await here.tell("/api/tournaments/cup/start")
        assert "is running" in (await here.tell(delete, 409))["error"]
        assert await here.tell(delete, 401, token=None)
        await here.tell("/api/tournaments/cup/pause")
        assert "is paused with matches in play" in (await here.tell(delete, 409))["error"]
        await trio.sleep(100.0)
        assert (await here.tell(delete))["state"] == "deleted"
        assert "no tournament" in (await here.read("/api/tournaments/cup", 404))["error"]
        assert "no match" in (await here.read("/api/matches/cup-1", 404))["error"]
        assert (await here.tell("/api/tournaments", 201, name="cup", game=GAME))["entrants"] == 0
        assert [each.fact.action for each in here.host.audit] == ["open", "start", "pause", "delete", "open"]
        assert {each.tournament for each in here.host.audit} == {"cup"}


async def test_the_format_of_open_tables_is_none_that_can_be_asked_for(autojump_clock: MockClock) -> None:
    async with office() as here:
        refused = await here.tell("/api/tournaments", 400, name="cup", game=GAME, format="open")
        assert refused["error"].startswith("there is no format 'open'; there are: ")


async def test_bots_of_a_deleted_tournament_enter_no_other_and_start_none(autojump_clock: MockClock) -> None:
    """Catches contestants of another evening, who have taken the places of those that it was for."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="friday", game=GAME, entrants=4)
        await here.tell("/api/tournaments", 201, name="saturday", game=GAME, entrants=3)
        visits = [await here.host.arrive(name, GAME, tournament="friday") for name in ("ann", "bob", "cas")]
        await here.host.tournaments["saturday"].enter("cas")
        await here.tell("/api/tournaments/friday/delete")
        await trio.sleep(1.0)
        assert [visit.player.place for visit in visits] == [f"open-{GAME}", f"open-{GAME}", "saturday"]
        assert [*here.host.tournaments["saturday"].record.entrants] == ["cas"]


async def test_a_ladder_is_deleted_when_it_does_not_run_and_an_open_table_never(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="mistyped", game=GAME, format="ladder")
        assert (await here.tell("/api/tournaments/mistyped/delete"))["state"] == "deleted"
        await here.tell("/api/tournaments", 201, name="hill", game=GAME, format="ladder")
        await here.tell("/api/tournaments/hill/start")
        assert "is running" in (await here.tell("/api/tournaments/hill/delete", 409))["error"]
        await here.tell("/api/tournaments/hill/pause")
        assert (await here.tell("/api/tournaments/hill/delete"))["state"] == "deleted"
        assert "is an open table" in (await here.tell(f"/api/tournaments/open-{GAME}/delete", 409))["error"]


@pytest.mark.slow
async def test_the_export_of_a_name_that_is_used_again_is_of_the_new_tournament_alone(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        for entrants in (("ann", "bob"), ("cyd", "dan")):
            await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=2)
            await here.come(*entrants)
            await trio.sleep(50.0)
            _, exported = await here.text("/api/tournaments/cup/export")
            receipt = (await here.read("/api/matches/cup-1"))["receipt"]
            verdict = verify(io.BytesIO(exported.encode()), receipt)
            assert (verdict.findings, verdict.matches, verdict.receipt_found) == ([], 1, True)
            first, *lines = (msgspec.json.decode(line) for line in exported.splitlines())
            assert {line["name"] for line in lines if line["type"] == "entrant"} == set(entrants)
            if entrants == ("ann", "bob"):
                await here.tell("/api/tournaments/cup/delete")
    assert (first["tournament"], first["kept_as"]) == ("cup", "cup~2")
    assert {line["tournament"] for line in lines if line["type"] in ("fact", "withheld", "head")} == {"cup~2"}
    assert {line["tournament"] for line in lines if line["type"] in ("match", "standings")} == {"cup"}


async def test_while_a_tournament_takes_entrants_those_that_were_taken_out_are_not_counted(
    autojump_clock: MockClock,
) -> None:
    """Catches "3 of 4" of a tournament that waits for two; when it has begun, the field is listed."""
    with capture_logs() as logs:
        await _begun_without_one()
    (begun,) = (line for line in logs if line["event"] == "tournament begun")
    assert begun["entrants"] == 2, "so many play"


async def _begun_without_one() -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        await here.come("ann", "bob", "cas")
        ordered = await here.tell("/api/tournaments/cup/withdraw", name="cas")
        (listed,) = (each for each in (await here.read("/api/tournaments"))["tournaments"] if each["wanted"])
        assert ordered["entrants"] == listed["entrants"] == 2
        whole = await here.read("/api/tournaments/cup")
        assert [each["gone"] for each in whole["entrants"]] == [False, False, True]
        assert "2 of 4" in shown(whole)
        begun = await here.tell("/api/tournaments/cup/start")
        assert begun["entrants"] == 3
        assert re.search(r"running +3 ", shown(await here.read("/api/tournaments/cup")))


async def test_how_long_a_paused_tournament_takes_is_said_of_the_time_after_the_pause(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=4)
        await here.come("ann", "bob", "cas", "dan")
        await trio.sleep(9.5)
        running = await here.read("/api/tournaments/cup")
        await here.tell("/api/tournaments/cup/pause")
        paused = await here.read("/api/tournaments/cup")
    assert "\nover in about " in shown(running)
    assert "over in" not in shown(paused)
    assert f"\nabout {paused['eta']:.0f} s to go once it is resumed" in shown(paused)


async def test_a_thousand_who_are_missing_are_counted_and_ten_of_them_named(
    autojump_clock: MockClock,
) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=12)
        whole = await here.read("/api/tournaments/cup")
    missing = [{"name": f"bot {number}", "since": "2026-03-01T12:00:00Z"} for number in range(1, 1001)]
    few, many = (shown(whole | {"missing": missing[:most]}).splitlines() for most in (10, 1000))
    assert "missing: bot 10, since 2026-03-01T12:00:00Z" in few
    assert not [line for line in few if "more" in line]
    assert "missing: 990 more; --json lists all of them" in many
    assert many[-1] == "    quintain tournament withdraw cup 'bot 10'"
    assert len(many) == len(few) + 1


async def test_a_thousand_entrants_and_matches_are_counted_and_a_hundred_of_them_named(
    autojump_clock: MockClock,
) -> None:
    """Catches a line of fifty thousand characters in a terminal."""
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=12)
        whole = await here.read("/api/tournaments/cup")
    names = [f"bot {number}" for number in range(1, 1001)]
    checking_in = {"from": "2026-03-01T12:00:00Z", "missing": names}
    for most in (100, 1000):
        entrants = [{"name": name, "gone": False} for name in names[:most]]
        found = whole | {"entrants": entrants, "playing": names[:most], "checking_in": checking_in}
        lines = shown(found).splitlines()
        rest = ", and 900 more; --json lists all of them" if most > 100 else ""
        listed = ", ".join(names[:100])
        assert f"entrants: {listed}{rest}" in lines
        assert f"being played: {listed}{rest}" in lines
        assert any(
            line.endswith("still to come: " + listed + ", and 900 more; --json lists all of them")
            for line in lines
        )


async def test_every_table_says_whose_results_a_withdrawal_has_annulled(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME, entrants=3)
        await here.come("ann", "bob", "cas")
        await here.tell("/api/tournaments/cup/withdraw", name="ann")
        standings = await here.read("/api/tournaments/cup/standings")
        _, table = await here.text("/api/tournaments/cup/standings?format=csv")
    out = {row["name"]: (row.get("out"), row.get("annulled")) for row in standings["rows"]}
    assert out == {"ann": ("withdrawn", True), "bob": (None, None), "cas": (None, None)}
    cells = {line["name"]: line["out"] for line in csv.DictReader(table.splitlines())}
    assert cells == {"ann": "withdrawn, results annulled", "bob": "", "cas": ""}
    (printed,) = [line for line in rendered(standings, as_json=False).splitlines() if "withdrawn" in line]
    assert printed.split()[1] == "ann"
    assert printed.endswith("withdrawn, results annulled")


async def test_whoever_was_taken_out_is_told_so_when_it_comes_back(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        for name in ("ann", "bob", "cas"):
            (await here.host.arrive(name, GAME, door="d", peer="p")).leave(for_good=True)
        await here.tell("/api/tournaments/cup/withdraw", name="ann")
        await here.tell("/api/tournaments/cup/disqualify", name="bob", why="two bots in one")
        for name, told in (("ann", "was withdrawn from cup"), ("bob", "was disqualified from cup")):
            with pytest.raises(Unwelcome, match=told):
                await here.host.arrive(name, GAME, tournament="cup", door="d", peer="p")


async def test_standings_say_who_no_longer_plays(autojump_clock: MockClock) -> None:
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game=GAME)
        await here.come("ann", "bob", "cas")
        everybody = await here.read("/api/tournaments/cup/standings")
        await here.tell("/api/tournaments/cup/start")
        await here.tell("/api/tournaments/cup/withdraw", name="ann")
        await here.tell("/api/tournaments/cup/disqualify", name="bob", why="two bots in one")
        told = await here.read("/api/tournaments/cup/standings")
    out = {row["name"]: row.get("out") for row in told["rows"]}
    assert out == {"ann": "withdrawn", "bob": "disqualified", "cas": None}
    printed = rendered(told, as_json=False)
    assert "withdrawn" in next(line for line in printed.splitlines() if "ann" in line)
    assert " out" not in rendered(everybody, as_json=False)


@pytest.mark.parametrize(
    ("refusal", "status"),
    [(NotThere, 404), (Senseless, 400), (Over, 409), (Refusal, 409), (NotNow, 503)],
)
def test_the_status_of_a_refused_order_says_whether_to_give_it_again(
    refusal: type[Refusal], status: int
) -> None:
    """Catches a conflict where a database does not answer for a moment, so that nobody tried again."""
    with pytest.raises(HttpError) as refused, as_conflict():
        raise refusal("why")
    assert (refused.value.status, str(refused.value)) == (status, "why")
    assert (dict(refused.value.headers).get("Retry-After") is not None) == (refusal is NotNow)
