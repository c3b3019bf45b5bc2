"""Bots on a page of another site, in a real browser: they play; what an organiser may do, they may not."""

import itertools
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from tests.browser.conftest import LOOKS
from tests.hang import HANG
from tests.loopback import HAS_IPV6
from tests.server.run import quintain
from tests.server.served import Served

pytestmark = pytest.mark.slow
NUMBERS = itertools.count()
FIELDS = ("NW", "N", "W", "C", "SW")

ARENA = """async ([at, fields, names]) => {
    const post = (path, body, headers) => fetch(at + path, {method: "POST", headers, body});
    const json = {"Content-Type": "application/json"};
    const join = async (name) => {
        const answer = await post("/Tic-Tac-Toe/join/", JSON.stringify({name}), json);
        if (!answer.ok) throw new Error(await answer.text());
        return (await answer.json()).battleId;
    };
    const told = {};
    const bots = await Promise.all((await Promise.all(names.map(join))).map((battle) =>
        new Promise((begun, failed) => {
            const stream = new EventSource(`${at}/tic-tac-toe/start/${battle}/`);  // and is sent on
            stream.onmessage = ({data}) => {
                const event = JSON.parse(data);
                if (event.youAre) {
                    told[event.youAre] = [];
                    begun({battle, side: event.youAre, stream});
                    stream.side = event.youAre;
                } else {
                    told[stream.side].push(event.winner ? `${event.winner} wins` : event.position);
                }
            };
            stream.onerror = () => {  // as at the end of every stream
                stream.close();
                failed(new Error("there is no stream"));
            };
        })));
    bots.sort((one, other) => (one.side < other.side ? -1 : 1));  // O, X
    const statuses = [];
    for (const [number, position] of fields.entries()) {
        const form = new URLSearchParams({action: "putSymbol", position});
        const path = `/tic-tac-toe/play/${bots[number % 2].battle}`;
        statuses.push((await post(path, number % 2 ? form : JSON.stringify({action: "putSymbol", position}),
            number % 2 ? {} : json)).status);
    }
    const late = await post(`/tic-tac-toe/play/${bots[0].battle}`, "{}", json);
    while (bots.some(({stream}) => stream.readyState !== EventSource.CLOSED)) {
        await new Promise((later) => setTimeout(later, 10));
    }
    return {told, statuses, late: [late.status, (await late.json()).error]};
}"""

DOTS = """async ([at, names]) => {
    const made = await fetch(at + "/", {method: "POST", body: '{"rows":3,"cols":3}'});
    const game = made.headers.get("Location");
    const join = (name) => fetch(`${at}${game}/players/`, {method: "POST", body: JSON.stringify({name})});
    const first = await Promise.race(names.map(join));
    const bad = await fetch(`${at}${game}/moves`, {
        method: "POST",
        headers: {"X-Turn-Token": first.headers.get("X-Turn-Token"), "Content-Type": "application/json"},
        body: '[{"row":0,"col":0},{"row":2,"col":0}]',
    });
    return [made.status, first.status, bad.status, await bad.text()];
}"""

HOUSE = """async ([at, name]) => {
    const hello = JSON.stringify({type: "hello", name, game: "quoridor"});
    const json = {"Content-Type": "application/json"};
    const welcome = await fetch(at + "/play", {method: "POST", headers: json, body: hello});
    const where = at + welcome.headers.get("Location");
    await fetch(where, {method: "POST", headers: json, body: '{"type":"shout"}'});
    const headers = {"Last-Event-ID": "1"};
    const reader = (await fetch(where, {headers})).body.getReader();
    return [welcome.status, new TextDecoder().decode((await reader.read()).value).split("\\n")[0]];
}"""

READING = """async (at) => {
    const games = await (await fetch(at + "/api/games")).json();
    const authorization = {headers: {Authorization: "Bearer of a bot"}};
    const wire = await fetch(at + "/api/matches/nothing-1/wire", authorization);
    return [games.games.length, wire.status, (await fetch(at + "/api/nothing")).status];
}"""

TRESPASS = """async ([at, token]) => {
    const tried = async (path, options) => {
        try {
            const answer = await fetch(at + path, options);
            return `${path}: read ${answer.status}`;
        } catch (error) {
            return `${path}: ${error.name}`;
        }
    };
    const bearer = {Authorization: `Bearer ${token}`};
    const json = {...bearer, "Content-Type": "application/json"};
    const body = '{"name":"stolen","game":"quoridor"}';
    await tried("/api/tournaments", {headers: {"Last-Event-ID": "1"}});  // is allowed, and remembered
    return [
        await tried("/api/tournaments", {headers: bearer}),
        await tried("/api/tournaments", {method: "POST", headers: json, body}),
        await tried("/api/tournaments", {method: "POST", headers: bearer, body}),
        await tried("/api/tournaments", {method: "POST", body}),
        await tried("/api/admin-link", {method: "POST", headers: bearer}),
        await tried("/api/tournaments/open-quoridor/pause", {method: "PUT", headers: bearer}),
        await tried("/admin", {credentials: "include"}),
        await tried("/admin", {}),
        await tried("/admin/login", {method: "POST", body: new URLSearchParams({secret: "x"})}),
        await tried("/admin/new", {method: "POST", headers: {"Content-Type": "text/html"}, body: "x"}),
        await tried("/games/quoridor", {}),
    ];
}"""


class Blank(BaseHTTPRequestHandler):
    """Some site with a page on which nothing is, and no policy."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "15")
        self.end_headers()
        self.wfile.write(b"<!doctype html>")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("elsewhere"), "--log-level", "error")
    yield served
    served.kill()


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page of another site."""
    site = ThreadingHTTPServer(("127.0.0.1", 0), Blank)
    Thread(target=site.serve_forever, daemon=True).start()
    context = browser.new_context(**LOOKS["light"])
    try:
        opened = context.new_page()
        opened.set_default_timeout(1000 * HANG)
        opened.goto(f"http://127.0.0.1:{site.server_port}/")
        yield opened
    finally:
        context.close()
        site.shutdown()
        site.server_close()


@pytest.fixture(params=["127.0.0.1", "localhost", "[::1]"])
def at(request: pytest.FixtureRequest, host: Served) -> str:
    if request.param == "[::1]" and not HAS_IPV6:
        pytest.skip("this system has no IPv6 loopback")
    return f"http://{request.param}:{host.http}"


def fresh() -> list[str]:
    """Two names that nobody else has had: a name is kept for whoever had it, for a while."""
    return [f"{name}{next(NUMBERS)}" for name in ("ada", "bela")]


def test_two_bots_play_the_arena_from_a_page_of_another_site(page: Page, at: str) -> None:
    seen = page.evaluate(ARENA, [at, FIELDS, fresh()])
    assert seen["statuses"] == [200] * len(FIELDS)
    assert seen["told"] == {side: [*FIELDS, "O wins"] for side in "OX"}
    assert seen["late"] == [423, "Battle already ended"]


def test_hexagon_dots_and_the_house_protocol_are_played_and_the_api_read_from_there(
    page: Page, at: str
) -> None:
    made, joined, refused, why = page.evaluate(DOTS, [at, fresh()])
    assert (made, joined, refused) == (201, 200, 403)
    assert "not adjacent" in why, "the token was the right one"
    assert page.evaluate(HOUSE, [at, fresh()[0]]) == [201, "id: 2"]
    assert page.evaluate(READING, at) == [5, 404, 404]


def test_a_page_of_another_site_can_neither_order_nor_see_what_is_the_organisers(
    browser: Browser, page: Page, host: Served
) -> None:
    """Even one that knows the organiser's token, in a browser in which the organiser has logged in."""
    at = f"http://127.0.0.1:{host.http}"
    log_in(page, host)
    token = (host.data / "organiser-token").read_text().strip()
    tried = page.evaluate(TRESPASS, [at, token])
    assert [each.rpartition(": ")[2] for each in tried] == ["TypeError"] * len(tried), tried
    assert "stolen" not in {each["tournament"] for each in host.get("/api/tournaments")[1]["tournaments"]}


def log_in(page: Page, host: Served) -> None:
    """The organiser, in another tab of the same browser."""
    where = f"http://127.0.0.1:{host.http}"
    code, link, errors = quintain("admin-link", "--url", where, "--data", str(host.data))
    assert code == 0, errors
    tab = page.context.new_page()
    tab.goto(link.strip())
    tab.get_by_role("button", name="Open the desk").click()
    tab.get_by_role("heading", name="Tournaments").wait_for()
