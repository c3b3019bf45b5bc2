"""The commands that speak to a host, against a real one; and the demo."""

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from server.programs.child import started
from tests.hang import HANG
from tests.server.example_programs import command
from tests.server.run import quintain
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("host"))
    yield served
    served.kill()


@pytest.fixture
def desk(host: Served) -> Callable[..., tuple[int, str, str]]:
    def ask(*words: str) -> tuple[int, str, str]:
        data = ("--data", str(host.data)) if words[0] == "tournament" and words[1] in CHANGING else ()
        return quintain(*words, "--url", f"http://127.0.0.1:{host.http}", *data, QUINTAIN_TOKEN="")

    return ask


CHANGING = {"create", "start", "pause", "resume", "release", "withdraw", "disqualify", "void"}


@pytest.mark.slow
def test_from_an_empty_desk_to_the_standings_a_replay_and_a_second_thought(
    host: Served, desk: Callable[..., tuple[int, str, str]], tmp_path: Path
) -> None:
    """All of it by commands: two house bots and a program, over the three transports."""
    assert desk("tournament", "create", "cup", "--game", "connect-4", "--turn", "20", "--json")[0] == 0
    assert desk("tournament", "create", "cup", "--game", "connect-4")[0] == 1
    state = {"XDG_STATE_HOME": str(tmp_path)}
    common = ("--game", "connect-4", "--tournament", "cup", "--url")
    players = (
        ("bot", "greedy", *common, f"ws://127.0.0.1:{host.websocket}", "--think", "0"),
        ("bot", "random", *common, f"http://127.0.0.1:{host.http}", "--json"),
        (
            "play",
            "--bot",
            command(tmp_path, "good"),
            "--name",
            "good",
            *common,
            f"tcp://127.0.0.1:{host.tcp}",
        ),
    )
    ends: dict[int, tuple[int, str, str]] = {}
    threads = [
        threading.Thread(target=lambda n=n, words=words: ends.update({n: quintain(*words, **state)}))
        for n, words in enumerate(players)
    ]
    for thread in threads:
        thread.start()
    while len(json.loads(desk("tournament", "show", "cup", "--json")[1])["entrants"]) < 3:
        assert not ends
    assert "3" in desk("tournament", "start", "cup")[1]
    for thread in threads:
        thread.join(HANG)
    assert [ends[n][0] for n in range(3)] == [0, 0, 0], ends
    assert "house-greedy takes part in cup" in ends[0][1]
    assert json.loads(ends[1][1].splitlines()[-1])["type"] == "standings"
    assert "cup: the final standings" in ends[2][1]

    standings: dict[str, Any] = json.loads(desk("standings", "cup", "--json")[1])
    assert standings["state"] == "finished"
    assert len(standings["rows"]) == 3
    _, table, _ = desk("standings", "cup")
    assert all(row["name"] in table for row in standings["rows"])
    assert desk("standings", "cup", "--csv")[1].startswith("rank,name,points")
    assert "cup" in desk("tournament", "list")[1]

    code, replay, _ = desk("replay", "cup-1")
    assert code == 0
    found: dict[str, Any] = json.loads(desk("replay", "cup-1", "--json")[1])
    assert len(found["positions"]) == len(found["moves"]) + 1
    assert len(re.findall(r"^ +\d+ ", replay, re.MULTILINE)) == len(found["moves"])
    assert found["why"] in replay

    before = desk("standings", "cup", "--json")
    code, preview, _ = desk("tournament", "disqualify", "cup", "good", "--why", "a trial", "--preview")
    assert code == 0
    assert "new rank" in preview
    assert desk("standings", "cup", "--json") == before
    code, _, errors = desk("tournament", "void", "cup", "cup-9")
    assert (code, "no match 'cup-9'" in errors) == (1, True)
    code, exported, _ = desk("tournament", "export", "cup")
    assert code == 0
    assert {json.loads(line)["type"] for line in exported.splitlines()} >= {
        "tournament",
        "match",
        "standings",
    }


@pytest.mark.slow
def test_a_program_that_ends_loses_its_match_and_the_command_fails(host: Served, tmp_path: Path) -> None:
    where = ("--url", f"tcp://127.0.0.1:{host.tcp}", "--game", "connect-4")
    other = started(("bot", "first", *where, "--token", "first-has-a-token"), folder=str(tmp_path))
    try:
        words = ("play", "--bot", command(tmp_path, "crashing"), "--matches", "5", *where)
        code, out, errors = quintain(*words, XDG_STATE_HOME=str(tmp_path))
    finally:
        other.kill()
        other.wait()
    assert code == 1
    assert "sits at the open table of connect-4" in out
    assert "ended with exit code 1" in errors


@pytest.mark.parametrize(
    "words", [("standings", "no-such"), ("replay", "no-such-1"), ("tournament", "show", "x")]
)
def test_a_name_that_nobody_knows_is_said(
    words: tuple[str, ...], desk: Callable[..., tuple[int, str, str]]
) -> None:
    code, out, errors = desk(*words)
    assert (code, out) == (1, "")
    assert re.fullmatch(r"quintain: there is no \w+ '[\w-]+'\n", errors)


def test_a_match_of_two_that_leave_nothing_to_chance_says_so() -> None:
    words = ("match", "brain:first", "brain:first", "--game", "tic-tac-toe", "--games", "6")
    code, out, errors = quintain(*words, "--json")
    told = json.loads(out)
    assert (code, errors) == (0, "")
    assert (told["games"], told["duplicates"]) == (6, 4)
    assert told["wins"] == told["losses"] == 3, "sides change after each game"
    assert told["interval"][0] < told["elo"] < told["interval"][1]
    assert "4 of these games repeat an earlier one" in quintain(*words)[1]


def test_a_program_that_crashes_is_told_of_in_harmless_words(tmp_path: Path) -> None:
    words = ("match", command(tmp_path, "crashing"), "brain:first", "--game", "connect-4", "--games", "2")
    code, out, _ = quintain(*words)
    assert code == 0
    assert "lost 2 by ending in the middle" in out
    assert "no idea \\x1b[31m" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(("name", "code"), [("good", 0), ("illegal", 1)])
def test_check_ends_with_whether_something_broke(name: str, code: int, tmp_path: Path) -> None:
    got, out, _ = quintain("check", command(tmp_path, name), "--game", "connect-4", "--json")
    told = json.loads(out)
    assert (got, told["ok"]) == (code, not code)
    assert any(not each["ok"] for each in told["checks"]) == bool(code)


@pytest.mark.slow
def test_the_demo_holds_a_tournament_in_every_game_and_ends_with_the_standings() -> None:
    code, out, errors = quintain("demo", "--seconds", "3", "--json")
    assert code == 0, errors
    told = json.loads(out.splitlines()[-1])
    assert re.search(r"Follow it at http://127\.0\.0\.1:\d+/", errors)
    assert len(told["tournaments"]) == 5
    for each in told["tournaments"]:
        assert each["state"] == "finished"
        assert [row["played"] for row in each["rows"]] == [3, 3, 3, 3]


@pytest.mark.slow
def test_a_demo_that_is_interrupted_leaves_nothing_behind(tmp_path: Path) -> None:
    import os
    import signal

    places = os.pathsep.join((str(ROOT), str(ROOT / "clients/python")))
    demo = subprocess.Popen(
        [sys.executable, "-m", "server", "demo"],
        env=os.environ | {"PYTHONPATH": places, "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert demo.stdout is not None
    assert demo.stdout.readline().startswith("Follow it at")
    demo.send_signal(signal.SIGINT)
    demo.communicate(timeout=HANG)
    assert demo.returncode == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_name_that_came_without_a_token_is_released_or_bound_by_a_command(
    host: Served, desk: Callable[..., tuple[int, str, str]]
) -> None:
    assert desk("tournament", "create", "seats", "--game", "santorini")[0] == 0
    with socket.create_connection(("127.0.0.1", host.tcp), HANG) as bot:
        bot.sendall(b"ann\n")
        while not json.loads(desk("tournament", "show", "seats", "--json")[1])["entrants"]:
            pass
        done, told, _ = desk("tournament", "release", "seats", "ann")
        assert (done, "seats" in told) == (0, True)
        done, _, why = desk("tournament", "release", "seats", "ann")
        assert (done, "ann belongs to nobody" in why) == (1, True)
        done, told, _ = desk("tournament", "release", "seats", "ann", "--bind", "--json")
        assert (done, json.loads(told)["name"]) == (0, "ann")
        done, token, _ = desk("tournament", "release", "seats", "ann", "--bind")
        assert (done, len(token.strip()) >= 16) == (0, True)
