"""The Arena between bots that cannot be called: sentence by sentence, from outside."""

import json
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest

from tests.blackbox.ends import Answer, Asking, Stream, Wire, ask, form, fresh, request
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected

pytestmark = pytest.mark.slow
FLIP = "(╯°□°)╯︵ ┻━┻"
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
WIN = ["NW", "SW", "N", "S", "NE"]
DRAW = ["C", "NW", "N", "S", "E", "W", "SW", "NE", "SE"]


class Bot:
    """Somebody in a battle: a battleId, and the stream once it is opened."""

    def __init__(self, host: Inspected, game: str, joined: Any, name: str) -> None:
        self.host = host
        self.game = game
        self.name = name
        self.token = joined["token"]
        self.battle = joined["battleId"]

    def open(self, query: str = "") -> Stream:
        self.stream = Stream(self.host.http, f"/{self.game}/start/{self.battle}{query}")
        return self.stream

    def post(self, body: object, query: str = "", **headers: str) -> Answer:
        return ask(self.host.http, "POST", f"/{self.game}/play/{self.battle}{query}", body, **headers)

    def put(self, position: str) -> Answer:
        return self.post({"action": "putSymbol", "position": position})

    def flip(self) -> Answer:
        return self.post({"action": FLIP})


@pytest.fixture(scope="module")
def clocked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """A host with the games' own clocks."""
    with ForkedHost(tmp_path_factory.mktemp("clocked")) as started:
        yield started


@contextmanager
def joined(host: Inspected, game: str = "tic-tac-toe") -> Iterator[tuple[Bot, Bot]]:
    """Two bots that were dealt a battle and did nothing yet."""
    names = fresh("team"), fresh("team")
    asked = [Asking(host.http, "POST", f"/{game}/join", {"name": name}) for name in names]
    answers = [asking.answer() for asking in asked]
    assert [answer.status for answer in answers] == [200, 200], answers
    one, two = (Bot(host, game, answer.json, name) for answer, name in zip(answers, names, strict=True))
    yield one, two


@contextmanager
def battle(host: Inspected, game: str = "tic-tac-toe") -> Iterator[tuple[Bot, Bot]]:
    """Who moves first, and the other; both with an open stream whose first event is read."""
    with joined(host, game) as bots, ExitStack() as streams:
        seats: dict[str, Bot] = {}
        for bot in bots:
            stream = streams.enter_context(bot.open())
            assert stream.status == 200, stream.rest()
            seats[stream.event()["youAre"]] = bot
        yield tuple(bot for _, bot in sorted(seats.items(), key=lambda seat: seat[0] in ("X", "second")))  # type: ignore[misc]


def both(first: Bot, second: Bot) -> Any:
    """The next event, which both must get."""
    events = first.stream.event(), second.stream.event()
    assert events[0] == events[1]
    return events[0]


def since(began: float) -> float:
    """Milliseconds by our clock: what the host has counted meanwhile is no more than that, and rounding."""
    return 1000 * (time.monotonic() - began) + 1


def put_all(first: Bot, second: Bot, positions: list[str]) -> None:
    for number, position in enumerate(positions):
        bot, seat = ((first, "O"), (second, "X"))[number % 2]
        assert bot.put(position).status == 200
        assert both(first, second) == {"player": seat, "action": "putSymbol", "position": position}


def recorded(host: Inspected, game: str, *bots: Bot) -> Any:
    """How the match of these two stands in the record."""
    matches = ask(host.http, "GET", f"/api/tournaments/open-{game}/matches").json["matches"]
    (found,) = (match for match in matches if set(match["players"]) == {bot.name for bot in bots})
    return found | {"won": None if found["winner"] is None else found["players"][found["winner"]]}


def test_a_join_without_a_team_url_is_held_until_there_is_a_match(host: Inspected) -> None:
    with Asking(host.http, "POST", "/tic-tac-toe/join", {"name": fresh()}) as one:
        assert one.silent()
        two = ask(host.http, "POST", "/tic-tac-toe/join", {"name": fresh()})
        assert (two.status, one.answer().status) == (200, 200)


def test_each_player_gets_a_battle_id_of_its_own(host: Inspected) -> None:
    with joined(host) as (one, two):
        assert one.battle != two.battle


@pytest.mark.parametrize(("game", "seats"), [("tic-tac-toe", ["O", "X"]), ("quoridor", ["first", "second"])])
def test_the_stream_is_to_the_byte_what_clients_in_use_expect(
    host: Inspected, game: str, seats: list[str]
) -> None:
    with joined(host, game) as bots:
        seen: list[str] = []
        for bot in bots:
            with bot.open() as stream:
                assert (stream.version, stream.status) == ("HTTP/1.1", 200)
                assert stream.headers["content-type"] == "text/event-stream"
                assert stream.headers["transfer-encoding"] == "chunked"
                assert "content-length" not in stream.headers
                chunk = stream.chunk()
                assert re.fullmatch(rb'data: \{"youAre":"\w+","id":"[^"]+"\}\n\n', chunk), chunk
                seen.append(json.loads(chunk[6:])["youAre"])
        assert sorted(seen) == seats


def test_query_strings_are_ignored(host: Inspected) -> None:
    with joined(host) as (one, two), one.open("?cache=1&x=%20") as a, two.open("?") as b:
        seats = {a.event()["youAre"]: one, b.event()["youAre"]: two}
        answer = seats["O"].post({"action": "putSymbol", "position": "C"}, "?again=1")
        assert answer.status == 200


def test_the_mover_gets_its_echo_too_and_before_the_answer(host: Inspected) -> None:
    with battle(host) as (first, second):
        assert first.put("NE").status == 200
        for bot in (first, second):
            assert bot.stream.chunk() == b'data: {"player":"O","action":"putSymbol","position":"NE"}\n\n'


def test_an_accepted_move_is_answered_with_a_message_a_move_id_and_the_clock_in_milliseconds(
    clocked: Inspected,
) -> None:
    began = time.monotonic()
    with battle(clocked) as (first, second):
        said = first.put("C").json
        assert list(said) == ["message", "moveId", "clock"]
        assert said["message"] == "received your command"
        assert UUID.fullmatch(said["moveId"])
        assert isinstance(said["clock"], int)
        assert 20_000 - since(began) <= said["clock"] <= 20_000, "18 s, and 2 s after each answer in time"
        assert second.put("N").json["moveId"] != said["moveId"]


def test_quoridor_has_60_seconds(clocked: Inspected) -> None:
    began = time.monotonic()
    with battle(clocked, "quoridor") as (first, _):
        clock = first.post({"action": "move", "position": "e2"}).json["clock"]
        assert 62_000 - since(began) <= clock <= 62_000


def test_a_player_in_the_body_is_overruled(host: Inspected) -> None:
    with battle(host) as (first, second):
        first.post({"player": "X", "action": "putSymbol", "position": "C", "moveId": "mine"})
        assert both(first, second) == {"player": "O", "action": "putSymbol", "position": "C"}


def test_unknown_battles_are_404_in_these_words(host: Inspected) -> None:
    for game in ("tic-tac-toe", "quoridor"):
        answer = ask(
            host.http, "POST", f"/{game}/play/21083c13-f0c2-4b54-8cb1-090129ffaa93", {"action": FLIP}
        )
        assert (answer.status, answer.body) == (404, b'{"error":"Battle not found"}')
        assert ask(host.http, "GET", f"/{game}/start/21083c13-f0c2-4b54-8cb1-090129ffaa93").status == 404


def test_a_battle_of_one_game_is_unknown_to_the_other(host: Inspected) -> None:
    with joined(host) as (one, _):
        assert ask(host.http, "GET", f"/quoridor/start/{one.battle}").status == 404


def test_a_post_before_the_start_is_409_without_effect(host: Inspected) -> None:
    with joined(host) as (one, two):
        for bot in (one, two):
            answer = bot.put("C")
            assert (answer.status, answer.body) == (409, b'{"error":"battle not started"}')
        with one.open() as a, two.open() as b:
            seats = {a.event()["youAre"]: one, b.event()["youAre"]: two}
            assert a.silent()
            assert b.silent(0)
            assert seats["O"].put("C").status == 200


def test_a_win_is_told_then_the_streams_close(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, WIN)
        for bot in (first, second):
            assert bot.stream.chunk() == b'data: {"winner":"O"}\n\n'
            assert bot.stream.over()
        match = recorded(host, "tic-tac-toe", first, second)
        assert (match["ending"], match["won"]) == ("played", first.name)


def test_a_draw_is_told_in_lower_case(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, DRAW)
        for bot in (first, second):
            assert bot.stream.chunk() == b'data: {"winner":"draw"}\n\n'
            assert bot.stream.over()
        assert recorded(host, "tic-tac-toe", first, second)["won"] is None


def test_after_the_end_a_post_is_423_and_changes_nothing(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, WIN)
        for bot in (first, second):
            answer = bot.flip()
            assert (answer.status, answer.body) == (423, b'{"error":"Battle already ended"}')
        assert recorded(host, "tic-tac-toe", first, second)["ending"] == "played"


def test_after_the_end_a_start_tells_all_events_and_closes(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, WIN)
        with second.open() as stream:
            events = [stream.event() for _ in range(len(WIN) + 2)]
            assert events[0]["youAre"] == "X"
            assert [event.get("position") for event in events[1:-1]] == WIN
            assert events[-1] == {"winner": "O"}
            assert stream.over()


def test_a_second_start_takes_the_stream_over_and_replays_the_events_so_far(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, ["C", "N"])
        old = first.stream
        with first.open() as stream:
            assert stream.event()["youAre"] == "O"
            assert [stream.event()["position"] for _ in range(2)] == ["C", "N"]
            assert stream.silent()
            assert old.over(), "the old one ends, and is told nothing twice"
            assert first.put("S").status == 200
            assert stream.event()["position"] == "S"
            assert second.stream.event()["position"] == "S"


@pytest.mark.parametrize(
    "way", ["form", "form, labelled", "json as a form", "json as text", "json unlabelled"]
)
def test_forms_and_json_are_alike_whatever_the_content_type(host: Inspected, way: str) -> None:
    written = (
        form(action="putSymbol", position="SE")
        if way.startswith("form")
        else b' {"position" : "SE", "extra":null,\n"action":"putSymbol"} '
    )
    kinds = {
        "form, labelled": "application/x-www-form-urlencoded; charset=utf-8",
        "form": "application/x-www-form-urlencoded",
        "json as a form": "application/x-www-form-urlencoded",
        "json as text": "text/plain",
    }
    headers = {"content_type": kinds[way]} if way in kinds else {}
    with battle(host) as (first, second):
        assert first.post(written, **headers).status == 200
        assert both(first, second) == {"player": "O", "action": "putSymbol", "position": "SE"}


def test_joining_by_form_works_too(host: Inspected) -> None:
    asked = [
        Asking(
            host.http,
            "POST",
            "/tic-tac-toe/join",
            form(name=fresh()),
            Content_Type="application/x-www-form-urlencoded",
        )
        for _ in range(2)
    ]
    assert [asking.answer().status for asking in asked] == [200, 200]


@pytest.mark.parametrize(
    "body", [b"{", b'{"action":', b"\xff\xfe", b'{"action":"putSymbol","position":NaN}', b""]
)
def test_malformed_bodies_are_400_without_effect(host: Inspected, body: bytes) -> None:
    with battle(host) as (first, second):
        answer = first.post(body, content_type="application/json")
        assert answer.status == 400
        assert list(answer.json) == ["error"]
        assert first.stream.silent(0.1)
        assert second.stream.silent(0)
        assert first.put("C").status == 200


def test_bodies_that_come_in_chunks_or_after_a_continue_are_read(host: Inspected) -> None:
    with battle(host) as (first, second):
        body = json.dumps({"action": "putSymbol", "position": "W"}).encode()
        with Wire(host.http) as wire:
            path = f"/tic-tac-toe/play/{first.battle}"
            wire.send(
                f"POST {path} HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n".encode()
            )
            for part in (body[:7], body[7:], b""):
                wire.send(f"{len(part):X}\r\n".encode() + part + b"\r\n")
            assert wire.until(b"\r\n").startswith(b"HTTP/1.1 200")
        assert both(first, second)["position"] == "W"
        with Wire(host.http) as wire:
            body = form(action="putSymbol", position="E")
            wire.send(
                f"POST /tic-tac-toe/play/{second.battle} HTTP/1.1\r\nhost: localhost\r\n"
                f"expect: 100-continue\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
            )
            assert wire.until(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
            wire.send(body)
            assert wire.rest().startswith(b"HTTP/1.1 200")
        assert both(first, second)["position"] == "E"


def test_two_requests_on_one_connection_are_answered_in_order(host: Inspected) -> None:
    with battle(host) as (first, second), Wire(host.http) as wire:
        path = "/tic-tac-toe/play/{}".format
        wire.send(
            request("POST", path(first.battle), host.http, {"action": "putSymbol", "position": "C"})
            + request(
                "POST",
                path("nobody"),
                host.http,
                {"action": "putSymbol", "position": "C"},
                Connection="close",
            )
        )
        assert re.findall(rb"HTTP/1.1 (\d+)", wire.rest()) == [b"200", b"404"]
        assert both(first, second)["position"] == "C"


@pytest.mark.parametrize(
    "body",
    [
        {"action": "putSymbol", "position": "C"},
        {"action": "putSymbol", "position": "c"},
        {"action": "putSymbol", "position": "XX"},
        {"action": "putSymbol", "position": "NW "},
    ],
    ids=["taken", "lower case", "nowhere", "trailing"],
)
def test_an_illegal_move_is_shown_to_both_and_the_other_may_flip(
    host: Inspected, body: dict[str, str]
) -> None:
    with battle(host) as (first, second):
        put_all(first, second, ["C"])
        answer = second.post(body)
        assert (answer.status, answer.json["message"]) == (200, "received your command")
        assert both(first, second) == {"player": "X", **body}
        back = second.flip()
        assert (back.status, back.json) == (423, {"error": "Battle already ended"})
        assert first.flip().status == 200
        for bot in (first, second):
            assert bot.stream.chunk() == f'data: {{"player":"O","action":"{FLIP}"}}\n\n'.encode()
            assert bot.stream.over(), "without a winner event"
        match = recorded(host, "tic-tac-toe", first, second)
        assert (match["ending"], match["won"]) == ("illegal", first.name)


def test_a_flip_without_a_cause_loses_and_is_shown_to_both(host: Inspected) -> None:
    with battle(host) as (first, second):
        flip = form(action=FLIP)
        assert first.post(flip, content_type="application/x-www-form-urlencoded").status == 200
        for bot in (first, second):
            assert bot.stream.chunk() == f'data: {{"player":"O","action":"{FLIP}"}}\n\n'.encode()
        assert first.flip().status == 423
        assert second.flip().status == 200, "the other's flip is never wrong after that"
        for bot in (first, second):
            assert bot.stream.event() == {"player": "X", "action": FLIP}
            assert bot.stream.over()
        match = recorded(host, "tic-tac-toe", first, second)
        assert (match["ending"], match["won"]) == ("illegal", second.name)


def test_after_a_cheat_the_other_cannot_lose_by_whatever_it_does(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, ["C"])
        second.put("C")
        first.put("C")
        first.flip()
        assert recorded(host, "tic-tac-toe", first, second)["won"] == first.name


def test_a_move_out_of_turn_does_not_lose(host: Inspected) -> None:
    with battle(host) as (first, second):
        answer = second.put("C")
        assert answer.status >= 400, answer
        assert first.put("N").status == 200
        assert both(first, second)["position"] == "N"
        assert second.put("C").status == 200


def test_wrong_methods_are_405_with_allow(host: Inspected) -> None:
    for method, path, allowed in (
        ("GET", "/tic-tac-toe/play/x", "POST"),
        ("POST", "/tic-tac-toe/start/x", "GET"),
        ("GET", "/quoridor/join", "POST"),
        ("DELETE", "/quoridor/evaluate", "POST"),
    ):
        answer = ask(host.http, method, path)
        assert answer.status == 405
        assert allowed in answer.headers["allow"].replace(" ", "").split(",")
        assert "error" in answer.json


def test_a_bot_joins_again_with_its_name_and_token_for_the_next(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, WIN)
        again = [
            Asking(host.http, "POST", "/tic-tac-toe/join", {"name": bot.name, "token": bot.token})
            for bot in (first, second)
        ]
        assert {asking.answer().json["battleId"] for asking in again}.isdisjoint(
            {first.battle, second.battle}
        )


def test_a_name_is_not_had_without_its_token(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, ["C"])
        for body in ({"name": first.name}, {"name": first.name, "token": second.token}):
            answer = ask(host.http, "POST", "/tic-tac-toe/join", body)
            assert 400 <= answer.status < 500
            assert first.token not in answer.body.decode()
        assert second.put("N").status == 200


@pytest.mark.parametrize("name", ["", "Draw", "x" * 33, "a\x1bb", "a\u202eb", 7, None])
def test_a_name_that_may_not_be_is_refused(host: Inspected, name: object) -> None:
    answer = ask(host.http, "POST", "/quoridor/join", {"name": name})
    assert 400 <= answer.status < 500
    assert list(answer.json) == ["error"]


def test_battle_ids_leak_to_no_other_site(host: Inspected) -> None:
    with joined(host) as (one, _), one.open() as stream:
        assert stream.headers["referrer-policy"] == "no-referrer"


def walk(first: Bot, second: Bot, moves: str) -> None:
    """Moves and walls alternating, as the short strings; all of them must be legal."""
    for number, position in enumerate(moves.split()):
        bot, seat = ((first, "first"), (second, "second"))[number % 2]
        action = "putWall" if len(position) == 3 else "move"
        answer = bot.post({"action": action, "position": position})
        assert answer.status == 200, answer
        assert both(first, second) == {"player": seat, "action": action, "position": position}


@pytest.mark.parametrize(
    ("winner", "moves"),
    [
        ("first", "e2 d9 e3 c9 e4 b9 e5 a9 e6 b9 e7 c9 e8 b9 e9"),
        ("second", "d1 e8 c1 e7 b1 e6 a1 e5 b1 e4 c1 e3 b1 e2 a1 e1"),
        ("first", "e2 e8 e3 e7 e4 e6 e5 e4 e6 e3 e7 e2 e8 e3 e9"),
        ("second", "a1v e8 a3v e7 a5v e6 a7v e5 b1v e4 b3v e3 b5v e2 b7v d1"),
    ],
    ids=["first", "second", "over each other", "past the edge"],
)
def test_quoridor_is_won_on_the_far_row(host: Inspected, winner: str, moves: str) -> None:
    with battle(host, "quoridor") as (first, second):
        walk(first, second, moves)
        for bot in (first, second):
            assert bot.stream.chunk() == f'data: {{"winner":"{winner}"}}\n\n'.encode()
            assert bot.stream.over()


@pytest.mark.parametrize(
    ("moves", "illegal"),
    [
        ("", "i4v"),
        ("", "a0h"),
        ("", "a9h"),
        ("", "E3h"),
        ("", "e3H"),
        ("", "e3hh"),
        ("", "e3"),
        ("", "d2"),
        ("", "e1"),
        ("", "e0"),
        ("", "E2"),
        ("", "e2 "),
        ("e3h", "e3h"),
        ("e3h", "f3h"),
        ("e3h", "d3h"),
        ("e3h", "e3v"),
        ("e3v", "e4v"),
        ("e1h e8h", "e2"),
        ("d1h e8h", "e2"),
        ("e2 e8h e1v d9", "f2"),
        ("a1h a8h c1h c8h e1h e8h g1h g8h", "h1v"),
        ("e2 e8 e3 e7 e4 e6 e5", "d5"),
        ("e2 e8 e3 e7 e4 e6 e5 e6h", "e7"),
        ("e2 e8 e3 e7 e4 e6 e5 e4h", "d6"),
    ],
)
def test_what_quoridor_forbids_loses(host: Inspected, moves: str, illegal: str) -> None:
    with battle(host, "quoridor") as (first, second):
        walk(first, second, moves)
        mover, other = (first, second) if len(moves.split()) % 2 == 0 else (second, first)
        action = "putWall" if len(illegal.strip()) >= 3 else "move"
        assert mover.post({"action": action, "position": illegal}).status == 200
        assert both(first, second)["position"] == illegal
        assert other.flip().status == 200
        match = recorded(host, "quoridor", first, second)
        assert (match["ending"], match["won"]) == ("illegal", other.name), match["why"]


@pytest.mark.parametrize(
    "moves",
    [
        "e3h e2h e4v c3h g3h",
        "e3v e1v e2h a5h",
        "a1h h8v h1v a8h",
        "e2 e8 e3 e7 e4 e6 e5 e4h a1h d5",
        "e2 e8 e3 e7 e4 e6 e5 e4h a1h f5",
        "e2 e8 e3 e7 e4 e6 e5 e6h d6",
    ],
)
def test_what_quoridor_allows_goes_on(host: Inspected, moves: str) -> None:
    with battle(host, "quoridor") as (first, second):
        walk(first, second, moves)
        mover, other = (first, second) if len(moves.split()) % 2 == 0 else (second, first)
        assert mover.flip().status == 200, recorded(host, "quoridor", first, second)
        other.flip()


def test_the_stream_of_a_client_that_asks_to_close_is_closed(host: Inspected) -> None:
    with battle(host) as (first, second):
        put_all(first, second, WIN)
        with Stream(host.http, f"/tic-tac-toe/start/{first.battle}", Connection="close") as stream:
            assert stream.rest().endswith(b'data: {"winner":"O"}\n\n\r\n0\r\n\r\n')
