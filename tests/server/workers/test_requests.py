"""How a request that belongs to one of several processes is recognised."""

import json
from typing import Any

import pytest

from server.host.abroad import Wanted
from server.http.spelling import Spelling
from server.http.wire import Request
from server.protocols.catalogue import dialects
from server.protocols.mcp.sessions import announced
from server.workers.requests import Belonging, Keys, Reading, together

DOORS = [
    (("tic-tac-toe", "quoridor", "evaluations"), frozenset({"tic-tac-toe", "quoridor"})),
    (("", "g", "match", "games"), frozenset({"hexagon-dots"})),
    (("play",), frozenset[str]()),
]
HELLO = {"type": "hello", "name": "ann", "game": "connect-4"}
PEER = "192.0.2.7"


def asked(method: str, path: str, body: Any = None, **headers: str) -> Belonging | None:
    content = b"" if body is None else json.dumps(body).encode()
    spelling = Spelling(["/quoridor/join", "/g/*/players"])
    return Reading(DOORS, spelling).asked(
        Request(method, path, {}, headers, content, PEER, 0.0, secure=False)
    )


def tool(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"method": "tools/call", "params": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    ("path", "tournament"),
    [
        ("/admin/tournaments/cup/void", "cup"),
        ("/api/matches/my-cup-12/wire", "my-cup"),
        ("/matches/open-connect-4-7.2/wire", "open-connect-4"),
    ],
)
def test_a_path_names_a_tournament_or_a_match_of_it(path: str, tournament: str) -> None:
    assert asked("POST", path) == Belonging(tournament=tournament)


def test_an_order_about_an_open_table_opens_it_and_a_look_does_not() -> None:
    path = "/api/tournaments/open-connect-4"
    assert asked("POST", f"{path}/pause") == Belonging(tournament="open-connect-4", opens=True)
    assert asked("GET", path) == asked("GET", f"{path}/wire") == Belonging(tournament="open-connect-4")


def test_a_hello_says_where_its_bot_plays_and_then_its_session_does() -> None:
    assert asked("POST", "/play", HELLO) == Belonging(
        wanted=Wanted("ann", "connect-4", None, None, "house", PEER)
    )
    assert asked("POST", "/play", {"type": "bye"}) is None
    assert asked("GET", "/play", HELLO) is None
    assert asked("GET", "/play/secret") == Belonging(keys=("secret",))


def test_dialects_that_play_certain_games_alone_belong_where_these_are() -> None:
    assert asked("POST", "/quoridor/join") == Belonging(game="quoridor")
    assert asked("POST", "/tic-tac-toe/join") == Belonging(game="tic-tac-toe")
    assert asked("POST", "/Quoridor/JOIN/") == Belonging(game="quoridor")
    assert asked("POST", "/G/1f2e/players") == Belonging(game="hexagon-dots")
    assert asked("GET", "/evaluations/run") == Belonging(game="quoridor")
    assert asked("GET", "/g/1f2e") == asked("GET", "/") == Belonging(game="hexagon-dots")


def test_a_move_over_http_takes_one_look_at_its_path_in_each_process() -> None:
    """Catches reading it part by part, and making something of it, for each move."""
    reading = Reading(DOORS)
    move, other = (
        Request("POST", f"/tic-tac-toe/play/{battle}", {}, {}, b"0", "", 0.0, secure=False)
        for battle in ("1b4e28ba", "2fa111d2")
    )
    assert reading.asked(move) is reading.asked(other)
    assert asked("GET", "//api/tournaments/cup") == Belonging(tournament="cup"), (
        "it only begins as the path / does"
    )


def led_to(*keys: str) -> Belonging:
    """To where a model has joined last, which may be elsewhere the next time."""
    return Belonging(keys=keys, moves=True)


def test_a_model_is_known_by_its_token_or_session_and_comes_by_joining() -> None:
    session, needs = {"mcp-session-id": "secret"}, ("secret", announced("secret"))
    joins = tool("join", name="ann", game="connect-4", tournament="cup")
    wanted = Wanted("ann", "connect-4", "cup", None, "mcp", PEER)
    assert asked("POST", "/mcp", joins, **session) == Belonging(wanted=wanted, needs=needs)
    assert asked("POST", "/mcp", joins) == Belonging(wanted=wanted)
    assert asked("POST", "/mcp", tool("move", move="3"), **session) == led_to("secret")
    assert asked("POST", "/mcp", tool("move", move="3", token="t"), **session) == led_to("t", "secret")
    assert asked("POST", "/mcp", tool("tournaments"), **session) == Belonging(needs=needs)
    assert asked("POST", "/mcp", tool("tournaments")) is None


def test_a_model_that_comes_for_an_opponent_or_with_a_token_is_known_by_that() -> None:
    for token, brought in (("t", "t"), (7, None)):
        joins = tool("join", name="ann", game="connect-4", against="bob", token=token)
        wanted = Wanted("ann", "connect-4", "open-connect-4", brought, "mcp", PEER)
        assert asked("POST", "/mcp", joins) == Belonging(wanted=wanted)


def test_a_model_that_asks_what_its_session_alone_knows_belongs_where_that_is() -> None:
    session, needs = {"mcp-session-id": "secret"}, ("secret", announced("secret"))
    assert asked("DELETE", "/mcp", **session) == led_to(*needs)
    for method in ("tools/list", "ping"):
        for name in ("join", "move"):
            listed = tool(name, name="ann", game="connect-4") | {"method": method}
            assert asked("POST", "/mcp", listed, **session) == led_to(*needs)
            assert asked("POST", "/mcp", listed) is None
    assert asked("POST", "/mcp", {"method": "initialize"}, **session) is None
    assert asked("POST", "/mcp", tool("join", name=7), **session) == Belonging(needs=needs)
    assert asked("POST", "/mcp", tool("join", name=7)) is None


@pytest.mark.parametrize("body", ["no object", [], {"method": 1}, {"params": {"arguments": []}}])
def test_what_no_model_should_say_belongs_to_nobody(body: Any) -> None:
    assert asked("POST", "/mcp", body) is None


@pytest.mark.parametrize("path", ["/", "/api/tournaments", "/healthz", "/api/events", "/somewhere"])
def test_everything_else_belongs_to_nobody(path: str) -> None:
    assert asked("GET", path) is None or path == "/"


def test_games_are_together_that_one_dialect_over_http_plays_alone() -> None:
    groups = together()
    for dialect in ("arena", "hexagon-dots"):
        games = dialects()[dialect].games
        assert games is not None
        assert sum(frozenset(games) <= group for group in groups) == 1
    assert sum(map(len, groups)) == len(frozenset().union(*groups))


def test_a_secret_that_is_asked_for_outlives_those_made_for_a_turn() -> None:
    keys = Keys(most=3)
    keys.know("session", 1)
    for turn in range(10):
        keys.know(f"turn {turn}", 2)
        assert keys.whose("session") == 1
    assert [*keys] == ["turn 8", "turn 9", "session"]
    keys.know("turn 8", 2)
    assert [*keys] == ["turn 9", "session", "turn 8"]
    assert keys.whose("turn 0") is None
