"""A whole host with all that looks after it: backups, webhooks, figures, and a proxy before its doors."""

import hashlib
import hmac
import json
import signal
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from server.store.sqlite_reader import SqliteReader
from server.webhooks.positions import FILE
from tests.hang import HANG, wait_for
from tests.server.exposition import read
from tests.server.served import Served

pytestmark = pytest.mark.slow

FILE_OF_SETTINGS = """
proxies = ["127.0.0.1"]
log_format = "json"
grace = "1s"
backups = {{ every = "1d", keep = 2 }}
[[webhook]]
url = "{url}"
secret = "of both"
events = ["tournament.begun", "match.ended"]
[[tournament]]
name = "cup"
game = "tic-tac-toe"
entrants = 2
"""


class Receiver(HTTPServer):
    """Takes webhooks, but the first only at the second try."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Hook)
        self.told: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self.forged = 0
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/"


class Hook(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        signature = "sha256=" + hmac.new(b"of both", body, hashlib.sha256).hexdigest()
        self.server.forged += signature != self.headers["X-Quintain-Signature"]
        said = json.loads(body)
        if self.server.refused:
            self.server.told.append(said)
            self.send_response(204)
        else:
            self.server.refused.append(said["id"])
            self.send_response(503)
        self.end_headers()

    def log_message(self, format: str, *words: object) -> None:
        """Nothing."""


def play(host: Served, proxied: bool) -> None:
    """Ann and bob play their match; ann comes through a proxy."""
    ends = []
    for name in ("ann", "bob"):
        connection = socket.create_connection(("127.0.0.1", host.tcp), HANG)
        header = "PROXY TCP4 203.0.113.9 192.0.2.1 5 5\r\n" if name == "ann" and proxied else ""
        hello = json.dumps({"type": "hello", "name": name, "game": "tic-tac-toe"})
        connection.sendall(f"{header}{hello}\n".encode())
        ends.append((connection, connection.makefile("r")))
    seats: dict[str, Any] = {}
    for connection, lines in ends:
        while (said := json.loads(lines.readline()))["type"] != "begin":
            pass
        seats[said["you"]] = (connection, lines)
    for field, seat in zip(("NW", "N", "W", "C", "SW"), "OXOXO", strict=True):
        while json.loads(seats[seat][1].readline()).get("turn") != seat:
            pass
        seats[seat][0].sendall(json.dumps({"type": "move", "move": field}).encode() + b"\n")
    for connection, lines in ends:
        while json.loads(lines.readline())["type"] != "end":
            pass
        lines.close()
        connection.close()


@pytest.mark.parametrize("show", ["0", "1"])
def test_a_new_webhook_is_told_of_a_tournament_from_its_opening_at_the_first_start_to_the_end_of_the_host(
    tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch, show: str
) -> None:
    monkeypatch.setenv("QUINTAIN_SHOW", show)
    with Receiver() as receiver:
        settings = FILE_OF_SETTINGS.format(url=receiver.url)
        (tmp_path / "quintain.toml").write_text(
            settings.replace("events = [", 'events = ["tournament.opened", ')
        )
        host = serve("--tournament", "cup", "--game", "tic-tac-toe", "--entrants", "2", "--until-done")
        play(host, proxied=False)  # nobody stays to be told more
        code, _, _ = host.end()
        assert code == 0
        told = [(each["type"], each["tournament"]) for each in receiver.told]
        assert told == [(what, "cup") for what in ("tournament.opened", "tournament.begun", "match.ended")]
        receiver.shutdown()


@pytest.mark.parametrize("show", [pytest.param("0", marks=pytest.mark.campaign), "1"])
def test_a_host_backs_itself_up_tells_webhooks_counts_and_knows_who_is_behind_a_proxy(
    tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch, show: str
) -> None:
    monkeypatch.setenv("QUINTAIN_SHOW", show)
    with Receiver() as receiver:
        (tmp_path / "quintain.toml").write_text(FILE_OF_SETTINGS.format(url=receiver.url))
        host = serve()
        play(host, proxied=True)
        wait_for(lambda: len(receiver.told) == 2, "what webhooks are told")
        wait_for(lambda: list((host.data / "backups").glob("regular-*.sqlite")), "a backup")
        found = figures(host)
        host.process.send_signal(signal.SIGTERM)
        _, _, errors = host.end()
        told, positions = receiver.told, json.loads((host.data / FILE).read_text())
        receiver.shutdown()
    assert [(each["type"], each["tournament"]) for each in told] == [
        ("tournament.begun", "cup"),
        ("match.ended", "cup"),
    ]
    assert receiver.refused == [told[0]["id"]], "the same id at the second try"
    assert (sorted(told[1]["players"]), told[1]["ending"]) == (["ann", "bob"], "played")
    assert receiver.forged == 0
    assert list(positions.values()) != [0]
    (backup,) = (host.data / "backups").glob("regular-*.sqlite")
    SqliteReader(backup).close()
    assert found.one("quintain_matches_over_total", game="tic-tac-toe", ending="played") == 1
    assert found.one("quintain_connections_total", door="tcp") == 2
    assert found.one("quintain_backup_failures_total") == 0
    assert found.one("quintain_queue_length", queue="show") == 0
    logged = [json.loads(line) for line in errors.splitlines() if line.startswith("{")]
    came = {each["player"]: each["peer"] for each in logged if each["event"] == "came"}
    assert came == {"ann": "203.0.113.9", "bob": "127.0.0.1"}
    assert {"tournament opened", "tournament begun", "tournament finished", "backed up"} <= {
        each["event"] for each in logged
    }


def figures(host: Served) -> Any:
    with socket.create_connection(("127.0.0.1", host.http), HANG) as connection:
        connection.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = b""
        while received := connection.recv(65536):
            answer += received
    return read(answer.partition(b"\r\n\r\n")[2].decode())
