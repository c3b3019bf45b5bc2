"""Old paths in other spellings, through the doors: they are served, without a redirect."""

import html
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import trio.testing
from trio.testing import MockClock

from server.host.wire_reader import WireReader
from server.http.routes import routed
from server.pages.door import Pages
from server.pages.wire import WirePage
from server.protocols.api.door import Api
from tests.server.protocols.lists import Fighter, Lists, Stream, answered, lists, put
from tests.server.protocols.table import TURN, said, table
from tests.server.transcripts import hosting
from tests.server.web import Answer, Client, serving

READS = ("GET", "HEAD")
TOKEN = "the organiser's"


@asynccontextmanager
async def whole() -> AsyncIterator[Callable[[str, str], Awaitable[Answer]]]:
    """Asks a host with the API and the pages, by method and path."""
    async with hosting({}) as (host, _):
        pages = Pages(host)
        doors = (Api(host, TOKEN), WirePage(pages, WireReader(host, TOKEN)))
        async with serving(routed(doors, pages)) as server:

            async def ask(method: str, path: str) -> Answer:
                return await server.connect().ask(
                    f"{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode(), method
                )

            yield ask


async def a_battle(here: Lists) -> str:
    """Ann's, with Bob."""
    ann, _ = [await here.join(name) for name in ("ann", "bob")]
    return await answered(ann)


@pytest.mark.parametrize(
    "written",
    [
        "/Evaluations/Run-A.1?B=C",
        "/evaluations/Run-A.1/",
        "/EVALUATIONS/Run-A.1/?",
        "http://a/evaluations/Run-A.1/?B=//evil",
    ],
)
async def test_what_is_read_is_told_there_and_then(written: str, autojump_clock: MockClock) -> None:
    """Catches a redirect, which many clients follow only if they are told to."""
    async with lists() as here:
        url = here.telephone.connect("bot.example:5000")
        await here.ask("/tic-tac-toe/evaluate", {"teamUrl": url, "runId": "Run-A.1"})
        for method in READS:
            answer = await here.ask(written, method=method)
            right = await here.ask("/evaluations/Run-A.1", method=method)
            assert (answer.status, answer.body) == (200, right.body)


@pytest.mark.parametrize(
    "written",
    [
        "/tic-tac-toe/start/‹battle›/",
        "/Tic-Tac-Toe/START/‹battle›",
        "/tic-tac-toe/Start/‹battle›/?a=1&a&x=%2F+%C3%A4",
        "/tic-tac-toe/start/‹battle›/?",
    ],
)
async def test_a_stream_of_the_arena_is_opened_there_and_then(
    written: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        battle = await a_battle(here)
        for _ in ("to open it", "to come back"):
            stream = Stream(here.send(written.replace("‹battle›", battle)))
            assert await stream.told() == [{"youAre": "O", "id": battle}]
            await stream.client.end.aclose()


async def test_what_is_posted_is_served_there_and_then(autojump_clock: MockClock) -> None:
    async with lists() as here:
        clients: list[Client] = []
        for name in ("ann", "bob"):
            clients.append(here.send("/TIC-TAC-TOE/Join/", {"name": name}))
            await trio.testing.wait_all_tasks_blocked()
        ann, bob = [Fighter(here, await answered(client)) for client in clients]
        await ann.start()
        await bob.start()
        for fighter, path in ((ann, "/tic-tac-toe/play/{}/"), (bob, "/Tic-tac-toe/PLAY/{}")):
            command = {"action": "putSymbol", "position": "C" if fighter is ann else "N"}
            status, told = await here.says(path.format(fighter.battle), command)
            assert (status, told.get("message")) == (200, "received your command"), told
        assert await ann.told() == [put("O", "C"), put("X", "N")]
        url = here.telephone.connect("bot.example:5000")
        assert (await here.says("/quoridor/Evaluate/", {"teamUrl": url}))[0] == 200


async def test_a_game_of_hexagon_dots_is_played_under_other_spellings(autojump_clock: MockClock) -> None:
    async with table() as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        answer = await ann.ask("GET", "/Match/")
        game = answer.headers["location"]
        opened = (await here.read("/Games/"))["games"]
        assert (answer.status, [each["game"] for each in opened]) == (201, [game])
        for bot, path in ((ann, f"/G{game[2:]}/players"), (bob, f"{game}/Players/")):
            await bot.send("POST", path, {"name": bot.name})
        await ann.turn()
        ann.game = f"/G{game[2:]}/MOVES/"
        await ann.send("POST", ann.game, [{"row": 0, "col": 0}, {"row": 0, "col": 1}], f"{TURN}: {ann.token}")
        await bob.turn()
        for path in (game, f"{game}/", f"/G{game[2:]}"):
            assert len(said(await here.caller().ask("GET", path))["lines"]) == 1
        observer = here.caller()
        await observer.send("POST", f"{game}/Observers/")
        assert b'"state":"in play"' in await observer.client.now()


@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize(
    "path",
    [
        *("/Evaluations/nobody", "/tic-tac-toe/", "/Quoridor/lose/"),
        *(
            "/tic-tac-toe/start//",
            "//evil",
            "//evil/",
            "///evil/..",
            "//Match",
            "/Santorini/start/1/",
            "/Nothing/",
        ),
    ],
)
async def test_where_nothing_is_no_spelling_finds_anything(
    method: str, path: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        answer = await here.ask(path, method=method)
        assert answer.status == 404
        assert (await here.ask("/tic-tac-toe/start/21083c13/")).status == 404
        assert (await here.ask("/Quoridor/start/" + await a_battle(here))).status == 404, "of another game"


@pytest.mark.parametrize("method", READS)
@pytest.mark.parametrize(
    "path", ["/g/0123abcd/", "/G/0123abcd", "/g/", "//match", "//evil/", "/match//", "//"]
)
async def test_no_spelling_finds_a_game_that_is_not_there(
    method: str, path: str, autojump_clock: MockClock
) -> None:
    async with table() as here:
        caller = here.caller()
        await caller.client.end.send_all(f"{method} {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        answer = await caller.client.answer(method)
        assert answer.status == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/api/tournaments/rr/start", "POST"),
        ("HEAD", "/api/admin-link", "POST"),
        ("PUT", "/api/tournaments/rr/start", "POST"),
        ("POST", "/tournaments/rr", "GET, HEAD"),
        ("POST", "/bots/z1", "GET, HEAD"),
        ("DELETE", "/wall", "GET, HEAD"),
        ("PUT", "/", "GET, HEAD"),
        ("POST", "/matches/rr-1", "GET, HEAD"),
        ("DELETE", "/matches/rr-1/wire", "GET, HEAD, POST"),
    ],
)
async def test_a_method_that_an_address_does_not_take_is_told_those_that_it_does(
    method: str, path: str, allowed: str, autojump_clock: MockClock
) -> None:
    async with whole() as ask:
        answer = await ask(method, path)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/tournaments/rr/nothing"),
        ("GET", "/api/nothing"),
        ("POST", "/nothing"),
        ("GET", "/wall/x"),
    ],
)
async def test_where_nothing_is_nothing_is_found(method: str, path: str, autojump_clock: MockClock) -> None:
    async with whole() as ask:
        assert (await ask(method, path)).status == 404


@pytest.mark.parametrize("browser", [False, True])
@pytest.mark.parametrize(
    "path",
    [
        "/api/tournaments/c%2Fd",
        "/api/tournaments/rr%2Fstandings",
        "/api/matches/rr%2F1",
        "/api/groups/c%2Fd",
        "/api/games/c%2Fd",
        "/tournaments/c%2Fd",
        "/matches/c%2Fd",
        "/bots/c%2Fd/e",
        "/nothing%2Fwhatever",
        "/%2e%2Fapi/games",
    ],
)
async def test_only_the_name_of_a_bot_may_hold_a_slash(
    path: str, browser: bool, autojump_clock: MockClock
) -> None:
    async with whole() as ask:
        for written in (path, path.replace("F", "f")):
            answer = await ask("GET", written + browser * " HTTP/1.1\r\nAccept: text/html\r\nX: a")
            assert answer.status == 404
            assert f"here is nothing at {path.replace('%2e', '.')}".encode() in answer.body
        for path in ("/api/bots/c%2Fd", "/bots/c%2fd"):
            answer = await ask("GET", path)
            assert answer.status == 404
            assert "obody named 'c/d'" in html.unescape(answer.body.decode()), "which somebody may be"


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/Tic-Tac-Toe/Join/", "POST"),
        ("GET", "/tic-tac-toe/play/‹battle›/", "POST"),
        ("DELETE", "/Quoridor/join", "POST"),
        ("POST", "/Tic-tac-toe/start/‹battle›", "GET"),
    ],
)
async def test_a_wrong_method_is_told_the_right_one_in_any_spelling(
    method: str, path: str, allowed: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        battle = await a_battle(here)
        answer = await here.ask(path.replace("‹battle›", battle), method=method)
        assert (answer.status, answer.headers["allow"]) == (405, allowed)
