"""What pages of other sites may do: at every door, by every method, in every answer."""

from contextlib import AbstractAsyncContextManager

import msgspec
import pytest
from trio.testing import MockClock

from server.config import Evaluation
from server.host.host import Host
from server.host.unwelcome import STOPPING
from server.http.sharing import KEPT
from server.net.limits import Limits
from server.protocols.api.door import Api
from server.protocols.arena.door import Arena
from tests.server.pages.gallery import TOKEN, gallery
from tests.server.pages.sitting import sitting
from tests.server.protocols.lists import Telephone, answered, lists
from tests.server.protocols.table import Table, table
from tests.server.web import Answer, Server, get

ELSEWHERE = "Origin: https://bots.example"
ORIGIN, EXPOSED = "access-control-allow-origin", "access-control-expose-headers"
METHODS, HEADERS = "access-control-allow-methods", "access-control-allow-headers"


def is_shared(answer: Answer) -> bool:
    """Whether a page of another site may read it, and of its headers those that bots need; all or nothing."""
    said = {name: value for name, value in answer.headers.items() if name.startswith("access-control-")}
    assert said in ({}, {ORIGIN: "*", EXPOSED: "X-Turn-Token, Location, Retry-After"}), said
    assert "access-control-allow-credentials" not in answer.headers
    return bool(said)


async def ask(server: Server, method: str, path: str, *headers: str, body: bytes = b"") -> Answer:
    request = get(path, ELSEWHERE, f"Content-Length: {len(body)}", *headers, method=method) + body
    return await server.connect().ask(request, method)


async def preflight(server: Server, path: str, method: str = "POST", headers: str = "") -> Answer:
    """What a browser asks before a page may send that."""
    asked = [f"Access-Control-Request-Method: {method}"]
    asked += [f"Access-Control-Request-Headers: {headers}"] if headers else []
    return await ask(server, "OPTIONS", path, *asked)


def arena(host: Host) -> Arena:
    return Arena(host, Evaluation(), "127.0.0.1", Telephone())


def api(host: Host) -> Api:
    return Api(host, TOKEN)


def bots_doors() -> AbstractAsyncContextManager[Table]:
    """All four of them."""
    return table(None, None, arena, api)


# Doors of bots


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/", b'{"rows":3,"cols":3}', 201),
        ("POST", "/", b"{", 400),
        ("PUT", "/", b"", 405),
        ("GET", "/match", b"", 201),
        ("GET", "/Match/", b"", 201),
        ("GET", "/games", b"", 200),
        ("HEAD", "/games", b"", 200),
        ("DELETE", "/games", b"", 405),
        ("GET", "/g/nobody", b"", 404),
        ("POST", "/g/nobody/moves", b"[]", 404),
        ("POST", "/tic-tac-toe/join", b"{", 400),
        ("GET", "/tic-tac-toe/join", b"", 405),
        ("PATCH", "/quoridor/evaluate", b"", 405),
        ("GET", "/tic-tac-toe/start/nobody", b"", 404),
        ("POST", "/quoridor/play/nobody", b"action=move", 404),
        ("GET", "/tic-tac-toe/nothing", b"", 404),
        ("GET", "/evaluations/nobody", b"", 404),
        ("POST", "/play", b'{"type":"hello","name":"ann","game":"quoridor"}', 201),
        ("POST", "/play", b'{"type":"hello","name":"ann","game":"chess"}', 403),
        ("POST", "/play", b"{", 400),
        ("GET", "/play", b"", 405),
        ("GET", "/play/nobody", b"", 404),
        ("GET", "/api/games", b"", 200),
        ("HEAD", "/api/games", b"", 200),
        ("GET", "/api/tournaments/nothing", b"", 404),
        ("GET", "/api/nothing", b"", 404),
        ("GET", "/healthz", b"", 200),
        ("GET", "/openapi.json", b"", 200),
    ],
)
async def test_whatever_bots_are_told_pages_of_any_site_may_read(
    method: str, path: str, body: bytes, status: int, autojump_clock: MockClock
) -> None:
    async with bots_doors() as here:
        answer = await ask(here.server, method, path, body=body)
        assert (answer.status, is_shared(answer)) == (status, True)


async def test_a_page_can_read_how_long_it_is_to_wait(autojump_clock: MockClock) -> None:
    """Catches a bot in a page that is told to wait, and cannot tell for how long."""
    async with bots_doors() as here:
        for number in range(Limits().wrong_tokens.credits + 2):  # the first is right
            hello = {"type": "hello", "name": "ann", "game": "quoridor", "token": f"ann's own, {number:08}"}
            answer = await ask(here.server, "POST", "/play", body=msgspec.json.encode(hello))
        assert (answer.status, is_shared(answer)) == (429, True)
        assert "retry-after" in answer.headers
        assert "Retry-After" in answer.headers[EXPOSED].split(", ")


async def test_answers_that_were_held_and_those_that_refuse_in_a_match_can_be_read(
    autojump_clock: MockClock,
) -> None:
    async with bots_doors() as here:
        ann, bob = here.bot("ann"), here.bot("bob")
        game = await here.made()
        await ann.join(game)
        await bob.join(game)
        answer = await ann.turn()
        assert is_shared(answer)
        assert "x-turn-token" in answer.headers
        await ann.move([{"row": 0, "col": 0}, {"row": 2, "col": 2}])
        lost = await ann.told()
        assert (lost.status, is_shared(lost)) == (403, True)
        assert is_shared(await bob.told())
        assert is_shared(await here.caller().ask("POST", f"{game}/players", {"name": "cid"}))


async def test_streams_and_the_refusals_of_a_battle_can_be_read(autojump_clock: MockClock) -> None:
    async with lists() as here:
        clients = [await here.join(name) for name in ("ann", "bob")]
        battle = await answered(clients[0])
        command = {"action": "putSymbol", "position": "C"}
        early = await here.ask(f"/tic-tac-toe/play/{battle}", command)
        assert (early.status, is_shared(early)) == (409, True)
        ann, bob = here.send(f"/tic-tac-toe/start/{battle}"), clients[1]
        head, _, _ = (await ann.now()).partition(b"\r\n\r\n")
        assert b"\r\nAccess-Control-Allow-Origin: *\r\n" in head + b"\r\n"
        taken = await here.ask(f"/tic-tac-toe/play/{battle}", {"action": "(╯°□°)╯︵ ┻━┻"})
        assert is_shared(taken)
        over = await here.ask(f"/tic-tac-toe/play/{battle}", command)
        assert (over.status, is_shared(over)) == (423, True)
        assert is_shared(await bob.answer("POST"))
        past = here.send(f"/tic-tac-toe/start/{battle}")
        assert b"\r\nAccess-Control-Allow-Origin: *\r\n" in await past.now()


async def test_a_request_that_a_stopping_host_refuses_is_refused_readably(autojump_clock: MockClock) -> None:
    async with bots_doors() as here:
        ann = here.bot("ann")
        await ann.join(await here.made())
        here.server.http.drain(STOPPING)
        answer = await ann.told()
        assert (answer.status, is_shared(answer)) == (503, True)


@pytest.mark.parametrize(
    ("path", "method", "headers"),
    [
        ("/", "POST", "content-type"),
        ("/match", "GET", ""),
        ("/g/0123abcd/moves", "POST", "content-type,x-turn-token"),
        ("/G/0123abcd/Moves/", "POST", "x-turn-token"),
        ("/tic-tac-toe/join", "POST", "content-type"),
        ("/Quoridor/play/0123abcd/", "POST", "content-type"),
        ("/evaluations/run", "GET", ""),
        ("/play", "POST", "content-type"),
        ("/play/0123abcd", "GET", "last-event-id"),
        ("/api/tournaments", "GET", "last-event-id"),
        ("/api/events", "HEAD", "last-event-id"),
    ],
)
async def test_a_browser_that_asks_whether_a_page_may_do_what_bots_do_is_told_that_it_may(
    path: str, method: str, headers: str, autojump_clock: MockClock
) -> None:
    async with bots_doors() as here:
        answer = await preflight(here.server, path, method, headers)
        assert (answer.status, answer.body, answer.headers[ORIGIN]) == (204, b"", "*")
        assert method in answer.headers[METHODS].split(", ")
        assert {*filter(None, headers.split(","))} <= {*answer.headers[HEADERS].lower().split(", ")}
        assert answer.headers["access-control-max-age"] == KEPT
        assert "authorization" not in answer.headers[HEADERS].lower()
        assert (await ask(here.server, "OPTIONS", path)).status == 204, "and whoever else asks"


# What cookies or the organiser's token protect


CONTROL = (
    "/api/tournaments",
    "/api/tournaments/cup/start",
    "/api/tournaments/cup/disqualify",
    "/api/admin-link",
    "/api/matches/cup-1/wire",
)


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("path", CONTROL)
async def test_a_page_of_another_site_is_not_allowed_control_and_may_not_read_its_answers(
    path: str, method: str, autojump_clock: MockClock
) -> None:
    async with bots_doors() as here:
        for headers in ("authorization,content-type", "content-type", ""):
            asked = await preflight(here.server, path, method, headers)
            assert (asked.status, is_shared(asked)) == (403, False)
        for headers in ((), (f"Authorization: Bearer {TOKEN}",)):
            assert not is_shared(await ask(here.server, method, path, *headers, body=b"{}"))


@pytest.mark.parametrize("path", CONTROL[:-1])
async def test_a_permission_to_read_is_none_to_bring_the_organisers_token_where_there_is_control(
    path: str, autojump_clock: MockClock
) -> None:
    """Browsers remember which headers a path takes, whatever the method was."""
    async with bots_doors() as here:
        answer = await preflight(here.server, path, "GET", "authorization")
        assert "authorization" not in answer.headers[HEADERS].lower()


async def test_the_wire_log_is_read_with_a_bots_token_from_anywhere(autojump_clock: MockClock) -> None:
    async with bots_doors() as here:
        answer = await preflight(here.server, "/api/matches/cup-1/wire", "GET", "authorization")
        assert "Authorization" in answer.headers[HEADERS].split(", ")


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "OPTIONS"])
@pytest.mark.parametrize("path", ["/admin", "/admin/login", "/admin/tournaments/cup", "/Admin", "/admin/"])
async def test_the_desk_is_nothing_to_pages_of_other_sites(
    path: str, method: str, autojump_clock: MockClock
) -> None:
    async with sitting() as here:
        organiser = await here.log_in()
        cookies = "; ".join(f"{name}={value}" for name, value in organiser.cookies.items())
        answer = await ask(here.server, method, path, f"Cookie: {cookies}")
        assert not is_shared(answer)
        asked = await preflight(here.server, path, method, "content-type")
        assert not is_shared(asked)
        assert asked.status >= 400


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
@pytest.mark.parametrize(
    "path", ["/tournaments/open-quoridor", "/matches/x-1", "/matches/x-1/wire", "/bots/ann", "/nothing"]
)
async def test_pages_are_for_people_who_look_at_them(
    path: str, method: str, autojump_clock: MockClock
) -> None:
    async with gallery() as here:
        for accepted in ("text/html", "*/*"):
            assert not is_shared(await ask(here.server, method, path, f"Accept: {accepted}"))


@pytest.mark.slow
async def test_the_root_is_a_page_for_browsers_and_games_for_bots_of_any_site(
    autojump_clock: MockClock,
) -> None:
    async with gallery() as here:
        assert not is_shared(await ask(here.server, "GET", "/", "Accept: text/html"))
        assert not is_shared(await ask(here.server, "GET", "/games/quoridor"))
        assert is_shared(await ask(here.server, "GET", "/", "Accept: */*"))
        assert is_shared(await ask(here.server, "POST", "/", "Accept: text/html", body=b"{}"))


async def test_pages_are_told_that_they_may_read_the_api_and_nothing_else(autojump_clock: MockClock) -> None:
    async with bots_doors() as here:
        answer = await ask(here.server, "OPTIONS", "/api/tournaments")
        assert answer.headers[METHODS] == "GET, HEAD"
        assert answer.headers[HEADERS] == "Content-Type, Last-Event-ID, X-Turn-Token"
