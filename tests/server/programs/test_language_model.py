"""A bot that asks a language model, with a server of a model that says what it is told to."""

import json
import random
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from games.catalogue import catalogue
from server.exits import Failure, Misuse
from server.programs import language_model
from server.programs.language_model import (
    KEY,
    PROMPT,
    TRIES,
    Endpoint,
    ModelPlayer,
    Unanswered,
    checked,
    key,
)
from tests.hang import HANG
from tests.ports import refusing
from tests.server.run import quintain
from tests.server.served import Served


class FakeModel(ThreadingHTTPServer):
    """Says one thing after the other, the last of them again and again; a number is a status."""

    def __init__(self, *says: str | int | bytes) -> None:
        self.says = list(says)
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.wait: str | None = None  # for which a status asks
        super().__init__(("127.0.0.1", 0), Answering)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def next(self) -> str | int | bytes:
        return self.says.pop(0) if len(self.says) > 1 else self.says[0]


class Answering(BaseHTTPRequestHandler):
    server: FakeModel

    def do_POST(self) -> None:
        assert self.path == "/v1/chat/completions"
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked.append(json.loads(body))
        self.server.keys.append(self.headers["Authorization"])
        says = self.server.next()
        if isinstance(says, str):
            found = {"choices": [{"message": {"content": says}}], "usage": {"total_tokens": 7}}
            says = json.dumps(found).encode()
        content = says if isinstance(says, bytes) else b"no"
        self.send_response(says if isinstance(says, int) else 200)
        self.send_header("Content-Length", str(len(content)))
        if self.server.wait is not None:
            self.send_header("Retry-After", self.server.wait)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def saying(*says: str | int | bytes) -> Iterator[FakeModel]:
    with FakeModel(*says) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def asked(
    server: FakeModel, *moves: Any, game: str = "connect-4", left: float | None = 60.0
) -> dict[str, Any]:
    """The question after these moves, with the answer and the note that it has got."""
    rules = catalogue()[game]
    asking = ModelPlayer(
        rules, Endpoint(server.url, "m", None), PROMPT, lots=random.Random(1), say=lambda why: None
    )
    you = rules.seats[len(moves) % 2]
    question: dict[str, Any] = {"you": you, "players": ["ann", "bob"], "clock": [left, left], "options": {}}
    question |= {"moves": list(moves), "state": [], "match": "m-1", "ply": len(moves)}
    return question | {"answer": asking(question), "note": question["note"]}


def test_the_model_is_told_the_rules_the_moves_and_what_is_legal() -> None:
    with saying("Let me think.\nMOVE: 3") as server:
        assert asked(server, 3, 3)["answer"] == 3
    (body,) = server.asked
    assert body["model"] == "m"
    (told,) = body["messages"]
    assert catalogue()["connect-4"].rules.strip() in told["content"]
    assert "The moves so far: 3, 3" in told["content"]
    assert "0; 1; 2; 3; 4; 5; 6" in told["content"]


@pytest.mark.parametrize("said", ["MOVE: SE", "**MOVE:** `SE`", 'move: "SE".', "SE", "I take\nSE\n\n"])
def test_a_move_is_found_however_a_model_puts_it(said: str) -> None:
    with saying(said) as server:
        assert asked(server, game="tic-tac-toe")["answer"] == {"action": "putSymbol", "position": "SE"}


def test_an_illegal_move_is_asked_for_again_with_the_reason_and_both_tries_are_noted() -> None:
    with saying("MOVE: 9", "MOVE: 3") as server:
        found = asked(server)
    assert found["answer"] == 3
    assert (found["note"]["tries"], found["note"]["tokens"]) == (2, 14)
    *_, said, again = server.asked[1]["messages"]
    assert said == {"role": "assistant", "content": "MOVE: 9"}
    assert "there is no column 9" in again["content"]


def test_an_answer_without_a_word_is_one_and_its_tokens_are_counted() -> None:
    """Many servers answer like that when all tokens went into thinking."""
    wordless = b'{"choices":[{"message":{"content":null}}],"usage":{"total_tokens":900}}'
    with saying(wordless, "MOVE: 3") as server:
        found = asked(server)
    assert found["answer"] == 3
    assert (found["note"]["tries"], found["note"]["tokens"]) == (2, 907)
    assert "the answer is empty" in server.asked[1]["messages"][-1]["content"]


def test_whoever_finds_no_legal_move_makes_one_by_lot_and_says_so() -> None:
    with saying("MOVE: 9") as server:
        found = asked(server)
    assert found["answer"] in range(7)
    assert found["note"]["by_lot"] == 1
    assert found["note"]["tries"] == len(server.asked) == TRIES


def test_no_try_is_made_when_the_clock_leaves_no_time_for_it() -> None:
    with saying("MOVE: 3") as server:
        assert asked(server, left=0.0)["note"]["tries"] == 0
    assert not server.asked


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [503, 429, b"{}", b'{"choices":[]}', b"\xff", ""])
def test_trouble_that_may_pass_costs_a_try(
    trouble: int | bytes | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(language_model, "PAUSE", 0.01)
    with saying(trouble, "MOVE: 3") as server:
        found = asked(server)
    assert (found["answer"], found["note"]["tries"]) == (3, 2)


@pytest.mark.slow
def test_a_server_in_trouble_is_asked_again_as_long_as_the_clock_bears_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Catches a move by lot, with minutes on the clock, because a server had no answer for five seconds."""
    monkeypatch.setattr(language_model, "PAUSE", 0.0)
    with saying(*[429] * (2 * TRIES), "MOVE: 9", "MOVE: 3") as server:
        found = asked(server, left=4 * HANG)
    assert (found["answer"], found["note"]["tries"]) == (3, 2 * TRIES + 2)
    monkeypatch.setattr(language_model, "RETRYING", 0.0)
    with saying(429) as server:
        found = asked(server, left=4 * HANG)
    assert (found["note"]["by_lot"], found["note"]["tries"]) == (1, TRIES)


def test_a_server_that_wants_to_be_left_alone_says_for_how_long() -> None:
    for said, wait in (("7", 7.0), ("Fri, 01 Mar 2030 18:00:00 GMT", 0.0), (None, 0.0)):
        with saying(429) as server:
            server.wait = said
            with pytest.raises(Unanswered, match="answers with 429") as trouble:
                Endpoint(server.url, "m", None).ask([], HANG)
        assert trouble.value.wait == wait


def test_where_no_server_answers_that_is_told_in_words() -> None:
    said = r"^the server of the model does not answer: Connection refused$"
    with refusing() as port, pytest.raises(Unanswered, match=said):
        Endpoint(f"http://127.0.0.1:{port}", "m", None).ask([], HANG)


def test_what_says_something_that_is_not_http_is_told_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"this is no web server\n")

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(Unanswered, match=r"is not HTTP: this is no web server$"):
            Endpoint(f"http://127.0.0.1:{port}", "m", None).ask([], HANG)
        thread.join(HANG)


def _go_on(listening: socket.socket, accepted: list[socket.socket], times: int) -> None:
    """Say that a request may go on, again and again."""
    accepted.append(connected := listening.accept()[0])
    with connected, suppress(OSError):
        for _ in range(times):
            connected.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 1000)


@pytest.mark.slow
def test_a_server_that_says_something_all_the_time_and_no_answer_has_no_more_time_than_a_silent_one() -> None:
    """Catches a match that is lost on time, because every byte begins the time-out again."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        accepted: list[socket.socket] = []
        thread = threading.Thread(target=_go_on, args=(listening, accepted, 1000))
        thread.start()
        endpoint = Endpoint(f"http://127.0.0.1:{listening.getsockname()[1]}", "m", None)
        with pytest.raises(Unanswered, match="does not answer: timed out"):
            endpoint.ask([], 0.2)
        with suppress(OSError):
            accepted[0].shutdown(socket.SHUT_RDWR)  # it may wait for room to send more
        thread.join(HANG)


def test_a_server_that_wants_another_key_ends_the_bot_with_its_words() -> None:
    with saying(401) as server, pytest.raises(Failure, match="401: no"):
        asked(server)


def test_the_key_is_sent_and_nothing_without_one() -> None:
    with saying("MOVE: 3") as server:
        messages = [{"role": "user", "content": "hello"}]
        Endpoint(server.url, "m", "secret").ask(messages, HANG)
        Endpoint(server.url, "m", None).ask(messages, HANG)
    assert server.keys == ["Bearer secret", None]


def test_a_key_may_come_with_the_end_of_its_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """As from a file of a system that ends lines with two characters: no request could carry it."""
    monkeypatch.setenv(KEY, "secret\r\n")
    assert key() == "secret"


@pytest.mark.parametrize("given", ["sec\nret", "schlüssel"])
def test_a_key_that_no_request_can_carry_is_refused_and_not_shown(
    given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a traceback in the middle of a match, with the key in it."""
    monkeypatch.setenv(KEY, given)
    with pytest.raises(Misuse, match=f"{KEY}: expected one line of ASCII") as refused:
        key()
    assert given not in str(refused.value)


@pytest.mark.parametrize("template", ["$nonsense", "costs $5"])
def test_a_prompt_with_unknown_names_is_refused_with_those_there_are(template: str) -> None:
    with pytest.raises(Misuse, match=r"a prompt may have \$title"):
        checked(template)


@pytest.mark.parametrize(
    "address", ["ftp://here", "here", "http://[::1", "http://here:99999", "http://here/v 1"]
)
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(Misuse, match="expected an address"):
        Endpoint(address, "m", None)


@pytest.mark.slow
def test_a_model_plays_a_tournament_by_the_command_and_its_notes_are_shown_when_it_is_over(
    tmp_path: Path,
) -> None:
    served = Served(tmp_path, "--tournament", "t", "--game", "connect-4", "--entrants", "2")
    prompt = tmp_path / "prompt.txt"
    prompt.write_text("$title: $legal. $$")
    state = {"XDG_STATE_HOME": str(tmp_path), KEY: "secret"}
    ends: dict[str, tuple[int, str, str]] = {}
    try:
        with saying(*[f"MOVE: {column}" for column in (0, 1, 2, 3, 4, 5, 6) * 3]) as server:
            url = ("--game", "connect-4", "--url", f"tcp://127.0.0.1:{served.tcp}")
            words = {
                "llm": ("--base-url", server.url, "--model", "a/b", "--prompt", str(prompt)),
                "first": (),
            }
            threads = [
                threading.Thread(
                    target=lambda who=who, more=more: ends.update(
                        {who: quintain("bot", who, *url, *more, **state)}
                    )
                )
                for who, more in words.items()
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(HANG)
        assert [ends[who][0] for who in words] == [0, 0], ends
        assert server.keys[0] == "Bearer secret"
        assert server.asked[0]["messages"][0]["content"].startswith("Connect-4: 0; 1;")
        status, match = served.get("/api/matches/t-1")
        assert status == 200
        mine = match["players"].index("a-b")
        assert [note["ply"] for note in match["notes"]] == [*range(1 + mine, match["plies"] + 1, 2)]
        assert all(note["note"]["tokens"] for note in match["notes"])
    finally:
        served.kill()
