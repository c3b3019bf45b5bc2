"""`quintain serve` on a folder that it has served from: real processes, real signals, a real disk."""

import json
import resource
import signal
import socket
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from server.store.sqlite import Sqlite
from tests.hang import HANG, wait_for
from tests.server.run import quintain
from tests.server.served import Served
from tournament import entries
from tournament.facts import Opened

pytestmark = pytest.mark.slow

CUP = ("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done", "--json")
JOURNAL = "quintain-data/quintain.sqlite"


class Bot:
    """Says hello over TCP and plays the first field that is free."""

    def __init__(self, host: Served, name: str) -> None:
        self.connection = socket.create_connection(("127.0.0.1", host.tcp), HANG)
        self.lines = self.connection.makefile("r")
        self.say({"type": "hello", "name": name, "game": "tic-tac-toe"})

    def say(self, message: dict[str, Any]) -> None:
        self.connection.sendall(json.dumps(message).encode() + b"\n")

    def hear(self, *kinds: str) -> dict[str, Any]:
        """The next message of one of these types."""
        while True:
            message: dict[str, Any] = json.loads(self.lines.readline())
            if message["type"] in kinds:
                return message

    def close(self) -> None:
        self.lines.close()
        self.connection.close()


def play(bots: list[Bot]) -> None:
    """A match that the first seat wins."""
    begun = {bot.hear("begin")["you"]: bot for bot in bots}
    for field, seat in zip(("NW", "N", "W", "C", "SW"), "OXOXO", strict=True):
        begun[seat].say({"type": "move", "move": field})
        for bot in bots:
            bot.hear("turn", "end")


def test_what_was_killed_goes_on_and_what_is_over_is_told_again(serve: Any) -> None:
    host = serve(*CUP)
    bots = [Bot(host, name) for name in ("ann", "bob")]
    for bot in bots:
        bot.hear("begin")
    host.kill()
    for bot in bots:
        bot.close()
    host = serve(*CUP)
    bots = [Bot(host, name) for name in ("ann", "bob")]
    play(bots)
    code, out, _ = host.end()
    assert code == 0
    standings = json.loads(out.splitlines()[-1])
    assert [row["points"] for row in standings["rows"]] == [1.0, 0.0]
    for bot in bots:
        bot.close()
    code, out, _ = serve(*CUP).end()
    assert code == 0
    assert json.loads(out.splitlines()[-1]) | {"as_of": standings["as_of"]} == standings


def refused(folder: Path) -> str:
    """What a host that cannot run in that folder says of it."""
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    code, _, errors = quintain("serve", *ports, folder=folder)
    assert code == 2
    return errors


def test_a_second_host_is_turned_away_in_a_line(serve: Any, tmp_path: Path) -> None:
    host = serve()
    assert refused(tmp_path).splitlines()[-1] == (
        f"quintain: quintain-data: another host (process {host.process.pid}) keeps its data here"
    )
    assert host.get("/readyz")[0] == 200


def test_a_folder_that_was_left_in_disorder_is_served_from_by_the_next_host(serve: Any) -> None:
    """Catches a lock that outlives the process that has it."""
    host = serve()
    host.kill()
    assert serve().get("/readyz")[0] == 200


def test_a_journal_that_is_none_is_said_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "quintain-data").mkdir()
    (tmp_path / JOURNAL).write_text("a letter, and no database at all\n" * 100)
    errors = refused(tmp_path)
    assert f"quintain: {JOURNAL}: this database cannot be used: file is not a database" in errors
    assert "Traceback" not in errors


def test_a_game_that_is_kept_and_gone_is_named_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "quintain-data").mkdir()
    with closing(Sqlite(tmp_path / JOURNAL)) as engine:
        engine.write([entries.entry(1, "cup", 0.0, Opened("chess", "swiss"))])
    errors = refused(tmp_path)
    why = 'a tournament of the game "chess" is kept, and the game is not installed'
    assert errors.splitlines()[-1] == f"quintain: {why}: install its package again"
    assert "Traceback" not in errors


def test_a_clean_end_leaves_one_file_of_the_journal(serve: Any) -> None:
    host = serve()
    host.process.send_signal(signal.SIGTERM)
    assert host.end()[0] == 0
    kept = sorted(path.name for path in host.data.iterdir())
    assert kept == ["lock", "organiser-token", "quintain.sqlite", "signing-key"]


@pytest.mark.slow
def test_a_disk_that_takes_no_more_is_told_of_and_waited_for(serve: Any, tmp_path: Path) -> None:
    host = serve()
    token = (host.data / "organiser-token").read_text().strip()
    body = json.dumps({"name": "friday", "game": "santorini", "options": {}})
    request = (
        "POST /api/tournaments HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n{body}"
    )
    size = (tmp_path / f"{JOURNAL}-wal").stat().st_size
    _, hard = resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (size, hard))
    answers: list[int] = []
    asking = threading.Thread(target=lambda: answers.append(host.ask(request)[0]))
    asking.start()
    try:
        wait_for(lambda: host.get("/readyz")[0] != 200)
        why = host.get("/readyz")[1]["why"]
        assert "the disk f" in why
        assert host.get("/api/status")[1]["trouble"] == why
        assert not answers
    finally:
        resource.prlimit(host.process.pid, resource.RLIMIT_FSIZE, (hard, hard))
    asking.join(HANG)
    assert answers == [201]
    assert host.get("/readyz")[0] == 200


# Signals


def test_on_a_signal_whoever_waits_is_sent_away_and_told_when_to_come_again(serve: Any) -> None:
    host = serve()
    bot = Bot(host, "ann")
    bot.hear("welcome")
    address = posted(host, "/", {"rows": 3, "cols": 3}).header("Location")
    waiting = posted(host, f"{address}/players", {"name": "waiter"})
    wait_for(lambda: "waiter" in str(host.get("/games")))
    host.process.send_signal(signal.SIGTERM)
    answer = waiting.read()
    assert answer.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nRetry-After: 5\r\n" in answer
    assert bot.hear("refused")["reason"] == "the host is about to stop: come again later"
    assert bot.lines.readline() == ""
    bot.close()
    assert host.end()[0] == 0


class Posted:
    """A request that was made, whose answer may take its time."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def read(self) -> bytes:
        with self._connection as connection:
            answer = b""
            while received := connection.recv(65536):
                answer += received
            return answer

    def header(self, name: str) -> str:
        lines = self.read().decode().split("\r\n")
        return next(line.removeprefix(f"{name}: ") for line in lines if line.startswith(f"{name}: "))


def posted(host: Served, path: str, body: dict[str, Any]) -> Posted:
    connection = socket.create_connection(("127.0.0.1", host.http), HANG)
    content = json.dumps(body)
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Content-Length: {len(content)}\r\n\r\n"
    connection.sendall((head + content).encode())
    return Posted(connection)
