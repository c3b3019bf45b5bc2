"""The file for coding assistants: short, true, and with the host's own addresses when the host serves it."""

import re
import socket
import subprocess
import sys
from html import unescape
from pathlib import Path

import msgspec
import pytest

from server.host.unwelcome import wait_for_next
from server.net.limits import Rate
from server.pages.addressed import ASSISTANTS, addressed
from server.protocols.house import messages
from tests.clients.script import Script
from tests.docs.test_lists import OURS
from tests.hang import HANG
from tests.server.served import Served

LINES = 400  # that an assistant reads at once
BOT = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
USUAL = {
    "host": "127.0.0.1",
    "tcp": "8000",
    "url": "tcp://127.0.0.1:8000",
    "websocket": "ws://127.0.0.1:8001",
    "http": "http://127.0.0.1:8080",
}
SAID = re.compile(r"`(\{\"type\":\"(?:hello|move)\".*?\})`")


def test_it_is_short() -> None:
    assert ASSISTANTS.count("\n") <= LINES


@pytest.mark.parametrize("name", OURS)
def test_it_has_the_rules_the_seats_and_the_cost_of_an_illegal_move_of_each_game(name: str) -> None:
    game = OURS[name]
    _, _, section = ASSISTANTS.partition(f"### {game.title}: `{name}`\n")
    section, _, _ = section.partition("\n##")
    assert game.rules.strip() in section
    assert all(f"`{seat}`" in section for seat in game.seats)
    cost = "An illegal move loses" if game.faults == "forfeit" else "An illegal move is refused"
    assert cost in section


def test_what_it_says_that_a_bot_says_is_understood() -> None:
    said = SAID.findall(ASSISTANTS)
    assert len(said) >= 2
    for message in said:
        messages.read(message.encode(), 4096)
    for kind in msgspec.json.schema_components((messages.Said,))[1].values():
        assert f"`{kind['properties']['type']['enum'][0]}`" in ASSISTANTS


def test_addresses_are_those_by_which_the_reader_came() -> None:
    connect = {
        "host": "games.example",
        "tcp": "9000",
        "url": "tcp://games.example:9000",
        "websocket": "wss://games.example:9001",
        "http": "https://games.example",
    }
    text = addressed(ASSISTANTS, connect)
    assert "127.0.0.1" not in text
    assert "wss://games.example:9001/play" in text
    assert 'HOST, PORT, GAME = "games.example", 9000, "connect-4"' in text


def read(served: Served, path: str) -> str:
    with socket.create_connection(("127.0.0.1", served.http), HANG) as connection:
        head = f"Host: 127.0.0.1:{served.http}\r\nConnection: close"
        connection.sendall(f"GET {path} HTTP/1.1\r\n{head}\r\n\r\n".encode())
        return b"".join(iter(lambda: connection.recv(65536), b"")).decode()


@pytest.mark.slow
@pytest.mark.parametrize("is_welcome", [True, False])
def test_the_bot_in_it_stays_away_when_it_is_not_wanted(is_welcome: bool, tmp_path: Path) -> None:
    """It said hello again for ever."""
    script = Script()
    (bot,) = BOT.findall(addressed(ASSISTANTS, {**USUAL, "tcp": str(script.port)}))
    (tmp_path / "bot.py").write_text(bot)
    ran = subprocess.Popen([sys.executable, tmp_path / "bot.py"], stderr=subprocess.PIPE, text=True)
    try:
        script.accept()
        script.hear()
        if is_welcome:
            script.say({"type": "welcome", "name": "my-bot", "token": "t", "game": "connect-4"})
        why = "my-bot was withdrawn from cup: ask its organiser why" if is_welcome else "the name is taken"
        script.say({"type": "refused", "reason": why})
        assert ran.communicate(timeout=HANG) == (None, f"refused: {why}\n")
        assert ran.returncode == 0
    finally:
        ran.kill()
        script.close()


@pytest.mark.slow
@pytest.mark.parametrize("limit", [Rate(10, 60.0), Rate(1, 3600.0)], ids=["a minute", "an hour"])
def test_the_bot_in_it_comes_again_when_it_is_told_for_how_long_to_wait(limit: Rate, tmp_path: Path) -> None:
    """It stayed away where an organiser had set limits that take longer than a minute."""
    script = Script()
    (bot,) = BOT.findall(addressed(ASSISTANTS, {**USUAL, "tcp": str(script.port)}))
    (tmp_path / "bot.py").write_text(bot)
    ran = subprocess.Popen([sys.executable, tmp_path / "bot.py"], stderr=subprocess.DEVNULL)
    try:
        script.accept()
        script.hear()
        script.say({"type": "refused", "reason": f"the name my-bot is taken: {wait_for_next(limit)}"})
        script.hang_up()
        script.accept()
        assert script.hear()["type"] == "hello"
    finally:
        ran.kill()
        ran.wait()
        script.close()


@pytest.mark.slow
def test_whoever_runs_the_bot_in_it_under_one_name_does_not_take_the_place_of_another(tmp_path: Path) -> None:
    """Catches a token that is on the page: of a class that copied it, each threw out the one before."""
    told: list[dict[str, str]] = []
    for folder in (tmp_path / "one", tmp_path / "two", tmp_path / "one"):
        script = Script()
        folder.mkdir(exist_ok=True)
        (bot,) = BOT.findall(addressed(ASSISTANTS, {**USUAL, "tcp": str(script.port)}))
        (folder / "bot.py").write_text(bot)
        ran = subprocess.Popen([sys.executable, folder / "bot.py", "a/b"], stderr=subprocess.DEVNULL)
        try:
            script.accept()
            told.append(script.hear())
        finally:
            ran.kill()
            ran.wait()
            script.close()
    one, two, again = told
    assert one == again
    assert one | {"token": two["token"]} == two
    assert one["token"] != two["token"]


@pytest.mark.slow
def test_the_bot_in_it_plays_as_it_stands_on_the_host_that_serves_it(tmp_path: Path) -> None:
    served = Served(tmp_path, "--tournament", "t", "--game", "connect-4", "--entrants", "2", "--until-done")
    try:
        text = read(served, "/for-assistants.md")
        own = f"http://127.0.0.1:{served.http}/mcp"
        for page in ("/games/connect-4", "/protocols/mcp"):
            assert f'"url": "{own}"' in unescape(read(served, page)), "what adds the host to an agent"
        (bot,) = BOT.findall(text)
        (tmp_path / "bot.py").write_text(bot)
        bots = [
            subprocess.Popen(
                [sys.executable, "bot.py", name], cwd=tmp_path, stdout=subprocess.PIPE, text=True
            )
            for name in ("ann", "bob")
        ]
        told = [bot.communicate(timeout=HANG)[0] for bot in bots]
        assert [bot.returncode for bot in bots] == [0, 0]
        assert sum("won\n" in each.replace("not won", "") for each in told) <= 1
        assert served.end()[0] == 0
    finally:
        served.kill()
