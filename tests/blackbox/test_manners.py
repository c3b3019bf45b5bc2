"""HTTP's manners, from outside: other spellings, pages of other sites, both loopbacks, compressed bodies."""

import gzip
import http.client
import json

import pytest

from tests.blackbox.ends import Answer, Asking, Frames, Lines, Stream, ask, fresh
from tests.blackbox.inspected import Address, Inspected
from tests.loopback import ipv6

pytestmark = pytest.mark.slow
PAGE = {"Origin": "https://bots.example"}
FIELDS = ["NW", "N", "W", "C", "SW"]


def test_a_match_is_played_by_bots_that_write_slashes_and_capitals(host: Inspected) -> None:
    asked = [Asking(host.http, "POST", "/Tic-Tac-Toe/Join/", {"name": fresh()}) for _ in range(2)]
    battles = [asking.answer().json["battleId"] for asking in asked]
    streams: dict[str, tuple[str, Stream]] = {}
    for battle in battles:
        stream = Stream(host.http, f"/TIC-TAC-TOE/start/{battle}/?a=1&a")
        streams[stream.event()["youAre"]] = battle, stream
    for number, field in enumerate(FIELDS):
        battle, _ = streams["OX"[number % 2]]
        path = f"/Tic-Tac-Toe/Play/{battle}/"
        assert ask(host.http, "POST", path, {"action": "putSymbol", "position": field}).status == 200
    for _, stream in streams.values():
        told = [stream.event() for _ in range(len(FIELDS) + 1)]
        assert told[-1] == {"winner": "O"}
        assert stream.over()
        stream.close()


def test_a_game_of_hexagon_dots_has_other_spellings_and_what_is_not_there_has_none(host: Inspected) -> None:
    game = ask(host.http, "POST", "/", {"rows": 3, "cols": 3}).headers["location"]
    for method in ("GET", "HEAD"):
        assert [ask(host.http, method, path).status for path in (f"{game}/", "/Games/?all")] == [200, 200]
    path = f"/G{game[2:]}/Players/"
    first = Asking(host.http, "POST", path, {"name": fresh()})
    while not ask(host.http, "GET", game).json["players"]:
        pass
    second = Asking(host.http, "POST", path, {"name": fresh()})
    token = first.answer().headers["x-turn-token"]
    line = [{"row": 0, "col": 0}, {"row": 0, "col": 1}]
    moving = Asking(host.http, "POST", f"{game}/MOVES/", line, X_Turn_Token=token)
    assert len(second.answer().json["lines"]) == 1
    moving.close()
    nowhere = "/g/nobody/ /G/nobody //evil.example/ //evil.example /Evaluations/nobody/ /Nothing/"
    for path in nowhere.split():
        answer = ask(host.http, "GET", path)
        assert (answer.status, "location" in answer.headers) == (404, False), path


def shared(answer: Answer) -> bool:
    """Whether a browser lets a page of another site read it."""
    return answer.headers.get("access-control-allow-origin") == "*"


def preflight(address: Address, path: str, method: str, *headers: str) -> Answer:
    asked = PAGE | {"Access-Control-Request-Method": method}
    if headers:
        asked["Access-Control-Request-Headers"] = ",".join(headers)
    return ask(address, "OPTIONS", path, **asked)


def test_pages_of_any_site_may_do_what_bots_do_and_nothing_that_an_organiser_does(host: Inspected) -> None:
    for path, method, *headers in (
        ("/", "POST", "content-type"),
        ("/g/0/moves", "POST", "content-type", "x-turn-token"),
        ("/tic-tac-toe/join", "POST", "content-type"),
        ("/quoridor/start/0", "GET"),
        ("/play", "POST", "content-type"),
        ("/api/tournaments", "GET", "last-event-id"),
    ):
        answer = preflight(host.http, path, method, *headers)
        assert (answer.status, shared(answer)) == (204, True), path
        assert method in answer.headers["access-control-allow-methods"]
        for header in headers:
            assert header in answer.headers["access-control-allow-headers"].lower()
        assert int(answer.headers["access-control-max-age"]) > 0
        refused = ask(host.http, method, path, b"{" if method == "POST" else None, **PAGE)
        assert shared(refused), "and it may read whatever comes of it"
        assert refused.headers["access-control-expose-headers"] == "X-Turn-Token, Location, Retry-After"
    for path in (
        "/api/tournaments",
        "/api/tournaments/open-quoridor/pause",
        "/api/admin-link",
        "/admin/login",
    ):
        for method in ("POST", "PUT", "DELETE"):
            for headers in ((), ("authorization", "content-type")):
                answer = preflight(host.http, path, method, *headers)
                assert answer.status >= 400
                assert not [name for name in answer.headers if name.startswith("access-control")], path
        for organiser in ({}, host.organiser()):
            assert not shared(ask(host.http, "POST", path, {"name": "?"}, **PAGE, **organiser))
    for path in ("/admin", "/tournaments/open-quoridor", "/games/quoridor"):
        assert not shared(ask(host.http, "GET", path, Accept="text/html", **PAGE)), path


@ipv6
def test_whoever_takes_localhost_for_the_other_loopback_finds_every_door(host: Inspected) -> None:
    assert host.ready.count("127.0.0.1") == 3
    assert "::1" not in host.ready
    tcp, websocket, web = (("::1", address[1]) for address in (host.tcp, host.websocket, host.http))
    with Lines(tcp, source="::1") as bot:
        bot.say({"type": "hello", "name": fresh(), "game": "quoridor"})
        assert bot.hear()["type"] == "welcome"
    with Frames(websocket, "/play", source="::1") as bot:
        bot.say({"type": "hello", "name": fresh(), "game": "quoridor"})
        assert bot.hear()["type"] == "welcome"
    named = {"Host": f"[::1]:{web[1]}"}
    assert Asking(web, "GET", "/games", None, "::1", **named).answer().status == 200
    page = (
        Asking(web, "GET", "/games/quoridor", None, "::1", Accept="text/html", **named).answer().body.decode()
    )
    assert f"tcp://[::1]:{tcp[1]}" in page
    desk = Asking(web, "GET", "/admin", None, "::1", Accept="text/html", **named).answer()
    assert desk.status == 401, "there is one, and it wants a login"


def test_a_compressed_body_is_refused_in_words_and_the_connection_stays(host: Inspected) -> None:
    body = gzip.compress(json.dumps({"name": fresh()}).encode())
    connection = http.client.HTTPConnection(*host.http, timeout=10)
    connection.connect()
    used = connection.sock
    for path in ("/tic-tac-toe/join", "/", "/play", "/api/tournaments", "/admin/login", "/nothing"):
        connection.request("POST", path, body, {"Content-Encoding": "gzip"})
        answer = connection.getresponse()
        said = json.loads(answer.read())["error"]
        assert (answer.status, answer.headers["Accept-Encoding"]) == (415, "identity"), path
        assert "expected a body as it is" in said
        assert "gzip" in said
    connection.request("POST", "/", json.dumps({"rows": 3, "cols": 3}))
    assert connection.getresponse().status == 201
    assert connection.sock is used
    connection.close()
