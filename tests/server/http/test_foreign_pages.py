"""Laws over every route by which something is ordered or somebody called: no foreign page may use it."""

import msgspec
import pytest
from trio.testing import MockClock

from server.config import Evaluation
from server.host.host import Host
from server.http.origins import Origins
from server.http.routes import routed
from server.protocols.api.door import Api
from server.protocols.api.routes import Caller, Route
from server.protocols.api.table import ROUTES
from server.protocols.arena.cases import CASES
from server.protocols.arena.door import Arena
from server.protocols.arena.messages import games
from server.protocols.mcp.door import McpDoor
from tests.server.pages.gallery import TOKEN
from tests.server.pages.sitting import FORM, WHERE, fields_of, sitting
from tests.server.protocols.lists import Telephone, lists
from tests.server.transcripts import hosting
from tests.server.web import Answer, Server, get, serving

CLUB = "https://club.example"
FOREIGN = ("https://evil.example", "null", "http://a.evil.example", "")
SENT_AS = ("application/json", "text/plain", "application/x-www-form-urlencoded")

ordering = pytest.mark.parametrize(
    "route", [route for route in ROUTES if route.who is Caller.ORGANISER], ids=lambda route: route.path
)


async def order(server: Server, route: Route, *headers: str, token: str = TOKEN) -> Answer:
    path = route.path.format(name="cup", order="explode")
    content = msgspec.json.encode({"name": "night", "game": "quoridor"})
    headers = (f"Authorization: Bearer {token}", f"Content-Length: {len(content)}", *headers)
    return await server.connect().ask(get(path, *headers, method=route.method) + content, route.method)


def test_whatever_the_api_changes_is_the_organisers() -> None:
    """So the laws here are about all of it."""
    assert {route.who for route in ROUTES if route.method != "GET"} == {Caller.ORGANISER}


@ordering
async def test_no_foreign_page_orders_anything(route: Route, autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _), serving(routed((Api(host, TOKEN),))) as server:
        for origin in FOREIGN:
            for kind in SENT_AS:
                answer = await order(server, route, f"Origin: {origin}", f"Content-Type: {kind}")
                assert (answer.status, b"`origins`" in answer.body) == (403, True)
        assert (await order(server, route, "Sec-Fetch-Site: cross-site")).status == 403
        assert not host.tournaments
        assert not host.audit
        for own in ("Origin: http://a", "Sec-Fetch-Site: none"):
            assert (await order(server, route, own)).status != 403


@ordering
async def test_a_foreign_page_learns_nothing_of_the_token(route: Route, autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _), serving(routed((Api(host, TOKEN),))) as server:
        for token in (TOKEN, *map(str, range(20))):
            assert (await order(server, route, "Origin: null", token=token)).status == 403
        assert (await order(server, route, token="wrong")).status == 401, "and it uses up nobody's tries"


@ordering
async def test_a_page_of_a_listed_site_may_order(route: Route, autojump_clock: MockClock) -> None:
    origins = Origins([CLUB])
    async with (
        hosting({}) as (host, _),
        serving(routed((Api(host, TOKEN, None, origins),), None, origins)) as server,
    ):
        answer = await order(server, route, f"Origin: {CLUB}", "Sec-Fetch-Site: cross-site")
        assert answer.status != 403
        assert answer.headers["access-control-allow-origin"] == "*", "it may read the answer"
        ask = get(
            "/api/tournaments", f"Origin: {CLUB}", "Access-Control-Request-Method: POST", method="OPTIONS"
        )
        granted = await server.connect().ask(ask, "OPTIONS")
        assert "Authorization" in granted.headers["access-control-allow-headers"]
        assert (await order(server, route, "Origin: https://evil.example")).status == 403


calling = pytest.mark.parametrize(  # all requests that have the host call somebody
    ("path", "body"),
    [
        *((f"/{game}/join", {"name": "ann"}) for game in games()),
        *((f"/{game}/evaluate", {}) for game in CASES),
    ],
)


@calling
async def test_no_foreign_page_has_anybody_called(
    path: str, body: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists() as here:
        body = body | {"teamUrl": here.telephone.connect("bot.example:5000")}
        for origin in FOREIGN:
            for kind in SENT_AS:
                for spelling in (path, f"{path}/", path.upper()):
                    headers = {"Origin": origin, "Content-Type": kind}
                    status, said = await here.says(spelling, body, headers=headers)
                    assert (status, "`origins`" in said["error"]) == (403, True)
        assert not here.telephone.calls
        assert (await here.says(path, body, headers={"Origin": "http://a"}))[0] in (200, 202)


@calling
async def test_a_page_of_a_listed_site_has_bots_called(
    path: str, body: dict[str, str], autojump_clock: MockClock
) -> None:
    def arena(host: Host, telephone: Telephone) -> Arena:
        return Arena(host, Evaluation(), "127.0.0.1", telephone, Origins([CLUB]))

    telephone = Telephone()
    async with hosting({}) as (host, _), serving(routed((arena(host, telephone),))) as server:
        content = msgspec.json.encode(body | {"teamUrl": telephone.connect("bot.example:5000")})
        asked = get(path, f"Origin: {CLUB}", f"Content-Length: {len(content)}", method="POST") + content
        assert (await server.connect().ask(asked, "POST")).status in (200, 202)


async def test_a_model_on_a_page_of_a_listed_site_plays_and_on_no_other(autojump_clock: MockClock) -> None:
    """Catches a browser that asks before it sends anything, and is refused, though its page is let in."""
    hello = b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}'
    asking = "Access-Control-Request-Method: POST"
    async with (
        hosting({}) as (host, _),
        serving(routed((McpDoor(host, Origins([CLUB])),), None, Origins([CLUB]))) as server,
    ):
        for origin, let_in in ((CLUB, True), ("https://evil.example", False)):
            ask = get("/mcp", f"Origin: {origin}", asking, method="OPTIONS")
            begin = get("/mcp", f"Origin: {origin}", f"Content-Length: {len(hello)}", method="POST") + hello
            granted, begun = [await heard(server, request) for request in (ask, begin)]
            assert (b"\r\nAccess-Control-Allow-Origin: *\r\n" in granted) == let_in
            assert (b", Mcp-Session-Id" in granted) == let_in
            assert (b"\r\nAccess-Control-Allow-Origin: *\r\n" in begun) == let_in
            assert (b"\r\nAccess-Control-Expose-Headers: Mcp-Session-Id\r\n" in begun) == let_in


async def heard(server: Server, request: bytes) -> bytes:
    client = server.connect()
    await client.end.send_all(request)
    return await client.now()


async def test_a_bot_on_a_page_of_any_site_joins_if_it_wants_nobody_called(autojump_clock: MockClock) -> None:
    async with lists() as here:
        waiting = await here.join("ann", headers={"Origin": "https://evil.example"})
        assert await here.waits(waiting)


async def test_no_foreign_page_sends_any_form_of_the_desk(autojump_clock: MockClock) -> None:
    async with sitting() as here:
        await here.hold("cup")
        await here.come("ann", "bob")
        browser = await here.log_in()
        places = ("/admin", "/admin/create", "/admin/tournaments/cup", here.link())
        forms = [
            (action, fields_of(page, action))
            for page in [await browser.read(place) for place in places]
            for action in {found["action"] for found in FORM.finditer(page)}
        ]
        assert {action.rpartition("/")[2] for action, _ in forms} >= {"login", "logout", "create", "freeze"}
        before = here.host.audit
        noted = len(before)
        for action, fields in forms:
            for origin in FOREIGN:
                answer = await browser.ask("POST", action, fields, Origin=origin or "x", Sec_Fetch_Site="")
                assert answer.status == 403, action
            answer = await browser.ask("POST", action, fields, Origin="", Sec_Fetch_Site="same-site")
            assert answer.status == 403, action
        assert len(here.host.audit) == noted
        await browser.send(await browser.read("/admin/tournaments/cup"), "/admin/tournaments/cup/freeze")
        assert len(here.host.audit) == noted + 1, f"what comes from {WHERE} is done"
