"""The house protocol: any game over any transport. Sentence by sentence, from outside."""

import json
import queue
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.blackbox.ends import SHORT, Answer, Asking, Frames, Lines, Stream, ask, fresh
from tests.blackbox.inspected import Inspected
from tests.hang import HANG

pytestmark = pytest.mark.slow
GAMES = {
    "tic-tac-toe": ("O", "X"),
    "quoridor": ("first", "second"),
    "connect-4": ("first", "second"),
    "santorini": ("first", "second"),
    "hexagon-dots": ("first", "second"),
}


class Streamed:
    """A bot over HTTP: what it says is posted, what it hears comes on an event stream."""

    def __init__(self, host: Inspected) -> None:
        self.host = host
        self.session = ""
        self.heard: queue.Queue[Any] = queue.Queue()

    def say(self, message: object) -> Answer:
        if self.session:
            return ask(self.host.http, "POST", f"/play/{self.session}", message)
        answer = ask(self.host.http, "POST", "/play", message)
        if answer.status >= 300:
            self.heard.put({"type": "refused", "reason": answer.json.get("reason") or answer.json["error"]})
            return answer
        self.session = answer.json["session"]
        self.stream = Stream(self.host.http, f"/play/{self.session}")
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()
        return answer

    def _read(self) -> None:
        try:
            while chunk := self.stream.chunk():
                for line in chunk.split(b"\n"):
                    if line.startswith(b"data: "):
                        self.heard.put(json.loads(line[6:]))
        except (OSError, EOFError, ValueError):
            return

    def hear(self, seconds: float = HANG) -> Any:
        return self.heard.get(timeout=seconds)

    def silent(self, seconds: float = SHORT) -> bool:
        try:
            self.heard.put(self.heard.get(timeout=seconds))
        except queue.Empty:
            return True
        return False

    def close(self) -> None:
        if self.session:
            self.say({"type": "bye"})  # or it would be there for another minute
            self.stream.socket.shutdown(2)
            self.reader.join()
            self.stream.close()


class Polled(Streamed):
    """A bot over HTTP that polls."""

    def say(self, message: object) -> Answer:
        if self.session:
            return ask(self.host.http, "POST", f"/play/{self.session}", message)
        answer = ask(self.host.http, "POST", "/play", message)
        if answer.status >= 300:
            self.heard.put({"type": "refused", "reason": answer.json.get("reason") or answer.json["error"]})
        else:
            self.session, self.after = answer.json["session"], 0
        return answer

    def hear(self, seconds: float = HANG) -> Any:
        while self.heard.empty():
            answer = Asking(self.host.http, "GET", f"/play/{self.session}?after={self.after}").answer(seconds)
            assert answer.status == 200, answer
            for message in answer.json:
                self.after = message["seq"]
                self.heard.put(message)
        return self.heard.get()

    def silent(self, seconds: float = SHORT) -> bool:
        with Asking(self.host.http, "GET", f"/play/{self.session}?after={self.after}") as asking:
            return self.heard.empty() and asking.silent(seconds)

    def close(self) -> None:
        if self.session:
            ask(self.host.http, "POST", f"/play/{self.session}", {"type": "bye"})


TRANSPORTS: dict[str, Any] = {
    "tcp": lambda host: Lines(host.tcp),
    "websocket": lambda host: Frames(host.websocket, "/play"),
    "stream": Streamed,
    "poll": Polled,
}
any_transport = pytest.mark.parametrize("transport", list(TRANSPORTS))


@contextmanager
def connected(host: Inspected, *transports: str) -> Iterator[list[Any]]:
    with ExitStack() as open_ones:
        bots = [TRANSPORTS[transport](host) for transport in transports]
        for bot in bots:
            open_ones.callback(bot.close)
        yield bots


def expect(bot: Any, kind: str) -> Any:
    message = bot.hear()
    assert message["type"] == kind, message
    return message


class Seats:
    """Two bots in a match, in the order of the seats, each having heard `begin` and the first `turn`."""

    def __init__(self, bots: list[Any], game: str) -> None:
        names = [fresh("house") for _ in bots]
        self.tokens: dict[str, str] = {}
        for bot, name in zip(bots, names, strict=True):
            bot.say({"type": "hello", "name": name, "game": game, "protocol": 1})
            self.tokens[name] = expect(bot, "welcome")["token"]
        self.begun = [expect(bot, "begin") for bot in bots]
        self.turns = [expect(bot, "turn") for bot in bots]
        assert self.begun[0]["match"] == self.begun[1]["match"], "two others were left by the check before"
        order = [GAMES[game].index(begun["you"]) for begun in self.begun]
        self.bots = [bot for _, bot in sorted(zip(order, bots, strict=True), key=lambda pair: pair[0])]
        self.names = self.begun[0]["players"]
        self.match = self.begun[0]["match"]

    def both(self, kind: str) -> Any:
        messages = [expect(bot, kind) for bot in self.bots]
        for message in messages:
            message.pop("seq", None)
        assert messages[0] == messages[1]
        return messages[0]


@contextmanager
def match(
    host: Inspected, game: str = "tic-tac-toe", transports: tuple[str, str] = ("tcp", "tcp")
) -> Iterator[Seats]:
    with connected(host, *transports) as bots:
        yield Seats(bots, game)


@any_transport
@pytest.mark.parametrize("game", GAMES)
def test_any_game_over_any_transport_begins_with_these_messages(
    host: Inspected, game: str, transport: str
) -> None:
    with connected(host, transport, "tcp") as bots:
        bot, other = bots
        names = fresh("house"), fresh("house")
        bot.say({"type": "hello", "name": names[0], "game": game, "protocol": 1})
        welcome = expect(bot, "welcome")
        welcome.pop("seq", None)
        assert len(welcome.pop("token")) >= 22, "128 bits at least"
        assert welcome == {"type": "welcome", "name": names[0], "game": game, "tournament": None}
        assert bot.silent()
        other.say({"type": "hello", "name": names[1], "game": game})
        begin = expect(bot, "begin")
        begin.pop("seq", None)
        assert set(begin) == {"type", "match", "you", "players", "clock", "state"}
        assert set(begin["players"]) == set(names)
        assert begin["players"][GAMES[game].index(begin["you"])] == names[0]
        assert set(begin["clock"]) == {"bank", "gain", "turn"}
        turn = expect(bot, "turn")
        turn.pop("seq", None)
        assert set(turn) == {"type", "match", "ply", "turn", "last", "state", "clock"}
        assert (turn["match"], turn["ply"], turn["turn"], turn["last"]) == (
            begin["match"],
            0,
            GAMES[game][0],
            None,
        )
        assert turn["state"] == begin["state"]
        assert len(turn["clock"]) == 2


def test_states_are_as_the_table_says(host: Inspected) -> None:
    for game, state in {
        "tic-tac-toe": {"board": [None] * 9},
        "quoridor": {"pawns": ["e1", "e9"], "walls": [], "left": [10, 10]},
        "connect-4": [0] * 42,
    }.items():
        with match(host, game) as seats:
            assert seats.begun[0]["state"] == state
    with match(host, "santorini") as seats:
        one, two = seats.names
        assert seats.begun[0]["state"] == ["placeWorker", one, [[0] * 6] * 6, [one, []], [two, []]]
    with match(host, "hexagon-dots") as seats:
        assert set(seats.begun[0]["state"]) == {"rows", "cols", "lines", "hexagons", "players", "state"}


@pytest.mark.parametrize(
    ("game", "moves"),
    [
        ("tic-tac-toe", [({"action": "putSymbol", "position": "SE"}, "SE")]),
        (
            "quoridor",
            [({"action": "move", "position": "e2"}, "e2"), ({"action": "putWall", "position": "c6h"}, "c6h")],
        ),
        ("connect-4", [(3, "3"), (0, "0")]),
        (
            "santorini",
            [([2, 3], "2 3"), ([0, 0], "0 0"), ([4, 4], "4 4"), ([5, 5], "5 5"), ([1, 2, 2], "1 2 2")],
        ),
        (
            "hexagon-dots",
            [
                ([{"row": 0, "col": 0}, {"row": 0, "col": 1}], "0,0 0,1"),
                ([{"row": 0, "col": 0}, {"row": 1, "col": 0}], "0,0 1,0"),
            ],
        ),
    ],
    ids=GAMES,
)
def test_a_move_is_read_as_json_or_as_typed_into_nc_and_repeated_as_json(
    host: Inspected, game: str, moves: list[tuple[Any, str]]
) -> None:
    for short in (False, True):
        with match(host, game) as seats:
            turn = seats.turns[0]
            for number, (move, word) in enumerate(moves):
                mover = seats.bots[GAMES[game].index(turn["turn"])]
                mover.say(
                    word if short else {"type": "move", "ply": number, "match": seats.match, "move": move}
                )
                turn = seats.both("turn")
                assert (turn["ply"], turn["last"]) == (number + 1, move)


def test_quoridors_state_holds_pawns_walls_and_what_is_left(host: Inspected) -> None:
    with match(host, "quoridor") as seats:
        seats.bots[0].say({"type": "move", "move": "e2"})
        seats.both("turn")
        seats.bots[1].say({"type": "move", "move": "e3h"})
        assert seats.both("turn")["state"] == {"pawns": ["e2", "e9"], "walls": ["e3h"], "left": [10, 9]}


def test_tic_tac_toes_board_goes_by_rows_from_nw(host: Inspected) -> None:
    with match(host) as seats:
        seats.bots[0].say({"type": "move", "move": "NE"})
        seats.both("turn")
        seats.bots[1].say({"type": "move", "move": "W"})
        board = [None, None, "O", "X", None, None, None, None, None]
        assert seats.both("turn")["state"] == {"board": board}


@any_transport
def test_an_end_is_told_to_both(host: Inspected, transport: str) -> None:
    with match(host, "tic-tac-toe", (transport, "tcp")) as seats:
        for number, move in enumerate(["NW", "SW", "N", "S", "NE"]):
            seats.bots[number % 2].say({"type": "move", "ply": number, "move": move})
            assert seats.both("turn")["ply"] == number + 1, "the last move is a change like any other"
        end = seats.both("end")
        why = end.pop("why")
        assert isinstance(why, str)
        assert why
        assert re.fullmatch("[0-9a-f]+", end.pop("receipt"))
        cause = end.pop("cause")
        assert [each for each in cause if each["kind"] != "credited"] == []  # a busy machine may have stalled
        assert end == {
            "type": "end",
            "match": seats.match,
            "winner": "O",
            "ending": "played",
            "replay": f"/matches/{seats.match}",
            "fault": None,
        }


def test_a_draw_has_draw_as_its_winner(host: Inspected) -> None:
    with match(host) as seats:
        for number, move in enumerate(["C", "NW", "N", "S", "E", "W", "SW", "NE", "SE"]):
            seats.bots[number % 2].say({"type": "move", "ply": number, "move": move})
            seats.both("turn")
        end = seats.both("end")
        assert (end["winner"], end["ending"]) == ("draw", "played")


@any_transport
def test_resigning_loses_as_resigned(host: Inspected, transport: str) -> None:
    with match(host, "quoridor", (transport, "tcp")) as seats:
        seats.bots[1].say({"type": "resign"})
        end = seats.both("end")
        assert (end["winner"], end["ending"]) == ("first", "resigned")


@any_transport
def test_a_state_is_told_to_the_asker_alone(host: Inspected, transport: str) -> None:
    with match(host, "connect-4", (transport, "tcp")) as seats:
        seats.bots[0].say({"type": "state"})
        assert expect(seats.bots[0], "turn")["ply"] == 0
        assert seats.bots[1].silent()


@any_transport
def test_a_stale_answer_never_plays(host: Inspected, transport: str) -> None:
    with match(host, "santorini", (transport, "tcp")) as seats:
        one, two = seats.bots
        one.say({"type": "move", "ply": 0, "move": "0 0"})
        seats.both("turn")
        for ply in (0, 2, -1, 10**12):
            two.say({"type": "move", "match": seats.match, "ply": ply, "move": "1 1"})
            assert expect(two, "refused")["reason"]
        two.say({"type": "move", "match": "another", "ply": 1, "move": "1 1"})
        assert expect(two, "refused")["match"]
        assert one.silent()
        two.say({"type": "move", "match": seats.match, "ply": 1, "move": "1 1"})
        assert seats.both("turn")["ply"] == 2


def test_an_illegal_move_is_refused_with_match_ply_and_reason(host: Inspected) -> None:
    with match(host, "santorini") as seats:
        seats.bots[0].say({"type": "move", "match": seats.match, "ply": 0, "move": [9, 9]})
        refused = expect(seats.bots[0], "refused")
        assert (refused["match"], refused["ply"]) == (seats.match, 0)
        assert refused["reason"]
        assert seats.bots[1].silent()


@pytest.mark.parametrize(
    "move",
    [
        "1.0",
        "true",
        '"x"',
        "null",
        "[1.0,1]",
        "[1]",
        "[1,1,1]",
        "{}",
        '["1","1"]',
        "[6,0]",
        "[-1,0]",
        "1e999",
    ],
)
def test_what_is_no_move_is_refused_in_words(host: Inspected, move: str) -> None:
    with match(host, "santorini") as seats:
        seats.bots[0].say(f'{{"type":"move","move":{move}}}')
        assert expect(seats.bots[0], "refused")["reason"]
        seats.bots[0].say('{ "move" : [0,0], "extra" : {"a":[1]}, "type" : "move" }')
        assert seats.both("turn")["last"] == [0, 0]


@any_transport
def test_junk_is_refused_in_words(host: Inspected, transport: str) -> None:
    with match(host, "santorini", (transport, "tcp")) as seats:
        bot = seats.bots[seats.turns.index(seats.turns[0])]
        for message in ({"type": "dance"}, {}, {"type": "move"}):
            bot.say(message)
            assert expect(bot, "refused")["reason"]


@pytest.mark.parametrize(("old", "new"), [(old, new) for old in TRANSPORTS for new in TRANSPORTS])
def test_a_hello_with_the_same_name_and_token_takes_the_seat_over_on_any_transport(
    host: Inspected, old: str, new: str
) -> None:
    with match(host, "quoridor", (old, "tcp")) as seats, connected(host, new) as (newcomer,):
        seats.bots[0].say({"type": "move", "move": "e2"})
        seats.both("turn")
        mine = next(index for index, bot in enumerate(seats.bots) if begun_first(bot, old))
        name = seats.names[mine]
        newcomer.say({"type": "hello", "name": name, "token": seats.tokens[name], "game": "quoridor"})
        assert expect(newcomer, "welcome")["token"], "told everything it needs to go on"
        begin = expect(newcomer, "begin")
        assert (begin["match"], begin["you"]) == (seats.match, GAMES["quoridor"][mine])
        turn = expect(newcomer, "turn")
        assert (turn["ply"], turn["turn"], turn["state"]["pawns"]) == (1, "second", ["e2", "e9"])
        other = seats.bots[1 - mine]
        mover = newcomer if mine == 1 else other
        mover.say({"type": "move", "match": seats.match, "ply": 1, "move": "e8"})
        assert expect(newcomer, "turn")["ply"] == expect(other, "turn")["ply"] == 2


def begun_first(bot: Any, transport: str) -> bool:
    """Whether this is the bot that may be taken over: of two on TCP, either."""
    kinds = {"tcp": Lines, "websocket": Frames, "stream": Streamed, "poll": Polled}
    return type(bot) is kinds[transport]


def test_the_old_connection_is_closed_when_the_new_one_has_taken_over(host: Inspected) -> None:
    with match(host, "quoridor") as seats, connected(host, "tcp") as (newcomer,):
        name = seats.names[0]
        newcomer.say({"type": "hello", "name": name, "token": seats.tokens[name], "game": "quoridor"})
        expect(newcomer, "welcome")
        seats.bots[0].rest()


def test_a_bot_that_lost_its_line_comes_back_to_its_match(host: Inspected) -> None:
    with match(host, "quoridor") as seats, connected(host, "websocket") as (newcomer,):
        seats.bots[0].close()
        assert seats.bots[1].silent()
        name = seats.names[0]
        newcomer.say({"type": "hello", "name": name, "token": seats.tokens[name], "game": "quoridor"})
        expect(newcomer, "welcome"), expect(newcomer, "begin"), expect(newcomer, "turn")
        newcomer.say({"type": "move", "ply": 0, "move": "e2"})
        assert expect(seats.bots[1], "turn")["ply"] == 1


@any_transport
def test_a_name_without_or_with_another_token_is_refused_and_nothing_leaks(
    host: Inspected, transport: str
) -> None:
    with match(host, "quoridor") as seats:
        name, other = seats.names
        for token in (None, "", "wrong", seats.tokens[other]):
            with connected(host, transport) as (stranger,):
                hello = {"type": "hello", "name": name, "game": "quoridor"}
                stranger.say(hello if token is None else {**hello, "token": token})
                refused = expect(stranger, "refused")
                assert seats.tokens[name] not in json.dumps(refused)
        seats.bots[0].say({"type": "move", "move": "e2"})
        assert seats.both("turn")["ply"] == 1


@any_transport
@pytest.mark.parametrize(
    "change",
    [
        {"name": ""},
        {"name": "Draw"},
        {"name": "x" * 33},
        {"name": "a\u202eb"},
        {"name": "a\nb"},
        {"name": 7},
        {"game": "chess"},
        {"tournament": "nowhere"},
        {"protocol": 99},
        {"protocol": "1"},
    ],
    ids=str,
)
def test_a_hello_that_cannot_be_is_refused_in_words(
    host: Inspected, transport: str, change: dict[str, Any]
) -> None:
    with connected(host, transport) as (bot,):
        bot.say({"type": "hello", "name": fresh("house"), "game": "quoridor", "protocol": 1} | change)
        assert expect(bot, "refused")["reason"]


@pytest.mark.parametrize("transport", ["tcp", "websocket"])
def test_bye_ends_the_connection(host: Inspected, transport: str) -> None:
    with connected(host, transport) as (bot,):
        bot.say({"type": "hello", "name": fresh("house"), "game": "quoridor"})
        expect(bot, "welcome")
        bot.say({"type": "bye"})
        if transport == "tcp":
            bot.rest()
        else:
            assert bot.closing() == 1000


def test_after_bye_a_session_over_http_is_no_more(host: Inspected) -> None:
    answer = ask(host.http, "POST", "/play", {"type": "hello", "name": fresh("house"), "game": "quoridor"})
    session = f"/play/{answer.json['session']}"
    assert ask(host.http, "POST", session, {"type": "bye"}).status < 300
    assert ask(host.http, "POST", session, {"type": "state"}).status in (404, 410)


def test_over_http_every_message_has_a_sequence_number_to_resume_from(host: Inspected) -> None:
    with match(host, "tic-tac-toe", ("stream", "tcp")) as seats:
        bot = next(bot for bot in seats.bots if isinstance(bot, Streamed))
        for number, move in enumerate(["C", "N", "S"]):
            seats.bots[number % 2].say({"type": "move", "ply": number, "move": move})
            seats.both("turn")
        path = f"/play/{bot.session}"
        everything = ask(host.http, "GET", f"{path}?after=0").json
        assert [message["seq"] for message in everything] == list(range(1, 7))
        assert ask(host.http, "GET", f"{path}?after=4").json == everything[4:]
        with Stream(host.http, path, Last_Event_ID="4") as stream:
            lines = stream.chunk().decode().splitlines()
            assert "id: 5" in lines
            assert f"data: {json.dumps(everything[4], separators=(',', ':'))}" in lines


def test_what_is_not_the_house_hello_is_the_seeds_own(host: Inspected) -> None:
    """On TCP the two dialects meet in one match: a name is enough."""
    with connected(host, "tcp", "tcp") as (house, memo):
        name, plain = fresh("house"), fresh("plain")
        house.say({"type": "hello", "name": name, "game": "santorini"})
        expect(house, "welcome")
        memo.say(plain)
        state = memo.hear()
        assert state[0] == "placeWorker"
        begin = expect(house, "begin")
        assert begin["state"] == state == expect(house, "turn")["state"]
        mover = house if state[1] == name else memo
        mover.say({"type": "move", "move": "0 0"} if mover is house else "0 0")
        assert expect(house, "turn")["state"] == memo.hear()


def test_a_hello_in_one_lump_with_its_first_messages_is_read(host: Inspected) -> None:
    with connected(host, "tcp") as (bot,):
        hello = json.dumps({"type": "hello", "name": fresh("house"), "game": "quoridor"})
        bot.send(f'{hello}\r\n{{"type":"state"}}\r\n'.encode())
        expect(bot, "welcome")
        expect(bot, "refused")


def test_a_json_line_may_have_4_kib_and_no_more(host: Inspected) -> None:
    with match(host, "quoridor") as seats:
        mover = seats.bots[0]
        mover.say('{"type":"move","move":"e2","padding":"' + "x" * 3900 + '"}')
        seats.both("turn")
        mover.send(b'{"type":"move","padding":"' + b"x" * 5000)
        mover.rest()


@any_transport
def test_duplicate_keys_last_wins_and_nesting_is_survived(host: Inspected, transport: str) -> None:
    with match(host, "connect-4", (transport, "tcp")) as seats:
        mover = seats.bots[0]
        if isinstance(mover, Streamed):
            post = f"/play/{mover.session}"
            assert ask(host.http, "POST", post, b"[" * 3000).status < 500
            ask(host.http, "POST", post, b'{"type":"move","move":9,"move":3}')
        else:
            mover.say("[" * 3000)
            expect(mover, "refused")
            mover.say('{"type":"move","move":9,"move":3}')
        assert expect(seats.bots[1], "turn")["last"] == 3


def test_the_grammar_is_published_as_a_json_schema() -> None:
    published = [file.read_text() for file in (Path(__file__).parents[2] / "docs").rglob("*.json")]
    assert any('"$schema"' in text and '"hello"' in text for text in published)
