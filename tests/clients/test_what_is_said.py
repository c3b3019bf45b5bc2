"""What the Python client says to people, what it keeps, and where: on a host that is a script."""

import hashlib
import json
import logging
import stat
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import quintain_bot

from tests.clients.script import Script
from tests.hang import HANG

NAMED = {"match": "cup-1", "state": {}, "clock": [None, None]}
WELCOME = {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": "cup"}
BEGIN = NAMED | {"type": "begin", "you": "first", "players": ["ann", "bob"]}
TURN = NAMED | {"type": "turn", "ply": 0, "turn": "first", "last": None}
OVER = {
    "type": "standings",
    "tournament": "cup",
    "final": True,
    "rows": [{"rank": 1, "name": "ann", "points": 1.0}],
}
SHARE = "think for a share of turn['clock'] and leave some for the network"


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tokens are kept."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "quintain-bot"


@pytest.fixture
def script() -> Iterator[Script]:
    made = Script()
    yield made
    made.close()


Play = Callable[..., dict[str, Any]]


@pytest.fixture
def play(script: Script) -> Play:
    """Has a bot play with a host that says these messages; expects a move after a turn; returns the hello."""

    def run(*messages: dict[str, Any], **more: Any) -> dict[str, Any]:
        url = f"tcp://127.0.0.1:{script.port}"
        arguments = {"game": "quoridor", "name": "ann", "url": url} | more
        bot = threading.Thread(
            target=quintain_bot.run, args=(lambda turn: "e2",), kwargs=arguments, daemon=True
        )
        bot.start()
        script.accept()
        hello = script.hear()
        for message in (WELCOME, *messages, OVER):
            if message["type"] == "[hangs up]":
                script.hang_up()
                script.accept()
                script.hear()
                continue
            script.say(message)
            if message["type"] == "turn":
                script.hear()
        assert script.hear() == {"type": "bye"}
        bot.join(HANG)
        return hello

    return run


def end(
    winner: str | None, ending: str, fault: str | None, *cause: dict[str, Any], why: str = "why"
) -> dict[str, Any]:
    told = {"winner": winner, "ending": ending, "why": why, "fault": fault, "cause": cause}
    return {"type": "end", "match": "cup-1", "replay": "/matches/cup-1"} | told


@pytest.mark.slow
def test_whatever_happens_is_said_in_a_line(
    play: Play, script: Script, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refusal = {"type": "refused", "match": "cup-1", "ply": 0, "reason": "a wall lies between"}
    play(
        BEGIN,
        TURN,
        refusal,
        {"type": "refused", "reason": "too much"},
        BEGIN,
        {"type": "[hangs up]"},
        WELCOME,
        BEGIN | {"moves": ["e2", "e8"]},
        end("first", "played", None),
        end("draw", "played", None),
        end(None, "void", "host"),
        end("second", "resigned", None),
    )
    assert capsys.readouterr().out.splitlines() == [
        f"the token is kept in {memory}/127.0.0.1-quoridor-ann",
        connected := f"ann is connected to tcp://127.0.0.1:{script.port}: cup",
        "cup-1 from ply 0: ann against bob",
        "refused: a wall lies between",
        "refused: too much",
        "cup-1 from ply 0: ann against bob",
        "the connection is lost (the host hung up): trying again",
        connected,
        "cup-1 from ply 2: ann against bob",
        "cup-1: won (why)",
        "cup-1: drawn (why)",
        "cup-1: void (why)",
        "cup-1: lost (why)",
        "cup is over: rank 1 of 1, 1.0 points",
    ]


def test_standings_that_were_frozen_before_a_bot_came_are_said_to_be_without_it(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    over = "cup is over (its standings are frozen)"
    play(OVER | {"frozen": True, "rows": [{"rank": 1, "name": "bob", "points": 1.0}]})
    assert capsys.readouterr().out.splitlines()[-1] == f"{over}: this bot is not in its standings"


REFUSED = {"kind": "refused", "seat": 0, "ply": 4, "sent": "e99", "why": "no"}
LATE = {"kind": "late", "seat": 0, "ply": 4, "deadline": 5.0, "spent": 5.1}


@pytest.mark.parametrize(
    ("ending", "fault", "causes", "advice"),
    [
        (
            "illegal",
            "bot",
            [REFUSED],
            "you sent e99 at ply 4; look up the rules on the host's page /games/quoridor",
        ),
        ("time", "bot", [LATE], f"you had 5.0 s and took 5.1 s; {SHARE}"),
        (
            "time",
            "bot",
            [LATE | {"ignored": "this is not JSON"}],
            "the host waited for a move that it could read; see above why it was refused",
        ),
        ("time", "bot", [REFUSED, LATE], "refused moves cost the time; see above why they were refused"),
        ("time", "bot", [REFUSED | {"ply": 2}, LATE], f"you had 5.0 s and took 5.1 s; {SHARE}"),
        ("time", "bot", [LATE | {"seat": 1}], SHARE),
        (
            "time",
            "network",
            [LATE],
            "your clock ran on while you were gone; come back sooner, with the same token",
        ),
        (
            "left",
            "network",
            [],
            "look at what your program said last, and come back within half a minute",
        ),
        ("left", "bot", [], "stay until the standings have come; `matches` says how many matches you want"),
    ],
)
def test_a_bot_that_lost_off_the_board_is_told_what_to_do(
    ending: str, fault: str, causes: list[Any], advice: str, play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    """The winner is not."""
    play(BEGIN, end("second", ending, fault, *causes), end("first", ending, fault, *causes))
    _, _, _, lost, won, _ = capsys.readouterr().out.splitlines()
    assert lost == f"cup-1: lost (why): {advice}"
    assert won == "cup-1: won (why)"


def test_a_bot_that_is_to_be_quiet_prints_nothing_and_logs_everything(
    play: Play, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "quintain_bot")
    play(BEGIN, end("first", "played", None), quiet=True)
    assert capsys.readouterr() == ("", "")
    assert [each.getMessage() for each in caplog.records][2:] == [
        "cup-1 from ply 0: ann against bob",
        "cup-1: won (why)",
        "cup is over: rank 1 of 1, 1.0 points",
    ]


def test_nothing_that_a_stranger_is_called_or_says_forges_a_line_or_moves_a_cursor(
    play: Play, capsys: pytest.CaptureFixture[str]
) -> None:
    play(BEGIN | {"players": ["ann", "b\x1b[2J"]}, end("first", "played", None, why="ö\ncup-9: won"))
    _, _, begun, ended, _ = capsys.readouterr().out.splitlines()
    assert begun == r"cup-1 from ply 0: ann against b\x1b[2J"
    assert ended == r"cup-1: won (ö\ncup-9: won)"


def test_a_token_that_an_earlier_client_kept_is_found_and_kept_under_the_new_name(
    play: Play, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches an author who, with a new client, is told that the name is somebody else's."""
    memory.mkdir(parents=True)
    old = memory / hashlib.sha256(b"127.0.0.1\nquoridor\nann").hexdigest()[:32]
    old.write_text("a-token-of-long-ago")
    assert play()["token"] == "a-token-of-long-ago"
    new = memory / "127.0.0.1-quoridor-ann"
    assert new.read_text() == "a-token-of-long-ago"
    assert stat.S_IMODE(new.stat().st_mode) == 0o600
    assert str(new) in capsys.readouterr().out
    old.unlink()


def test_a_token_whose_file_a_power_cut_has_emptied_is_kept_anew(play: Play, memory: Path) -> None:
    """Catches a bot that is somebody else at each start, and is told where its token is kept."""
    memory.mkdir(parents=True)
    (memory / "127.0.0.1-quoridor-ann").touch(0o600)
    token = play()["token"]
    assert (memory / "127.0.0.1-quoridor-ann").read_text() == token


def test_a_token_that_is_given_is_kept_nowhere(
    play: Play, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert play(token="a-token-of-my-own")["token"] == "a-token-of-my-own"
    assert not memory.exists()
    assert "token" not in capsys.readouterr().out


def test_a_token_that_cannot_be_kept_is_good_for_once(
    play: Play, memory: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.parent.mkdir(exist_ok=True)
    memory.write_text("no folder")
    assert len(play()["token"]) >= 16
    assert capsys.readouterr().out.startswith(
        f"the token cannot be kept in {memory}/127.0.0.1-quoridor-ann: "
    )


@pytest.mark.slow
def test_a_record_has_everything_that_was_said_but_for_tokens(play: Play, tmp_path: Path) -> None:
    record = tmp_path / "talk.jsonl"
    hello = play(BEGIN, TURN, {"type": "[hangs up]"}, WELCOME, record=record)
    entries = [json.loads(line) for line in record.read_text().splitlines()]
    said = [(each["from"], each["message"]["type"]) for each in entries]
    host, bot = "host", "bot"
    assert said == [
        (bot, "hello"),
        (host, "welcome"),
        (host, "begin"),
        (host, "turn"),
        (bot, "move"),
        (bot, "hello"),
        (host, "welcome"),
        (host, "standings"),
        (bot, "bye"),
    ]
    assert entries[0]["message"] == hello | {"token": "…"}
    assert hello["token"] not in record.read_text()
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    assert [each["at"] for each in entries] == sorted(each["at"] for each in entries)


@pytest.mark.slow
def test_a_record_of_what_was_said_over_http_has_no_session(tmp_path: Path) -> None:
    record, session = tmp_path / "talk.jsonl", "2fQxKd81mPzT"
    opened = WELCOME | {"token": "a-token-of-the-host", "session": session, "seq": 1}
    over = json.dumps([OVER | {"seq": 2, "session": session}]).encode()

    class Answers(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            if self.path == "/play":
                self.answer(201, json.dumps(opened).encode())
            else:
                self.answer(200, b'{"seq":2}')

        def do_GET(self) -> None:
            self.answer(200, over if self.path == f"/play/{session}?after=1" else b"[]")

        def answer(self, status: int, content: bytes) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as host:
        answering = threading.Thread(target=host.serve_forever, daemon=True)
        answering.start()
        url = f"http://127.0.0.1:{host.server_port}"
        quintain_bot.run(lambda turn: "e2", game="quoridor", name="ann", url=url, record=record)
        host.shutdown()
        answering.join(HANG)
    entries = [json.loads(line)["message"] for line in record.read_text().splitlines()]
    assert [each["type"] for each in entries] == ["hello", "welcome", "standings", "bye"]
    assert entries[1] == opened | {"token": "…", "session": "…"}
    assert session not in record.read_text()


def test_a_record_that_cannot_be_opened_is_said_before_anybody_plays(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        quintain_bot.run(
            lambda turn: "e2", game="quoridor", name="ann", url="tcp://127.0.0.1:1", record=tmp_path
        )
