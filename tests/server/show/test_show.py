"""Two processes as their users meet them: what either may do without the other, and what it may not."""

import http.client
import json
import os
import re
import signal
import socket
import sqlite3
import ssl
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from tests.effort import tries
from tests.hang import HANG, wait_for
from tests.server.served import Served
from tests.server.test_certificate import issue
from tests.server.test_serve import Bot, hello

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists the children of a process in /proc"),
]


class Shown(Served):
    """A host with a process for pages."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "--show", "1")
        self.token = (self.data / "organiser-token").read_text().strip()

    @property
    def children(self) -> list[int]:
        number = self.process.pid
        return [int(each) for each in Path(f"/proc/{number}/task/{number}/children").read_text().split()]

    @property
    def show(self) -> int:
        """The process for pages."""
        (number,) = self.children
        return number

    def head(self, path: str, method: str = "GET", body: str = "") -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.http, timeout=HANG)
        headers = {"Authorization": f"Bearer {self.token}"} if method == "POST" else {}
        connection.request(method, path, body or None, headers)
        answer = connection.getresponse()
        found = answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read()
        connection.close()
        return found

    def hold(self, name: str, game: str = "tic-tac-toe") -> int:
        wanted = {"name": name, "game": game, "format": "round-robin", "entrants": 2}
        return self.head("/api/tournaments", "POST", json.dumps(wanted))[0]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """A host for all tests that let it live, and for the one that tells it to stop."""
    host = Shown(tmp_path_factory.mktemp("host"))
    yield host
    host.kill()


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Shown]:
    host = Shown(tmp_path)
    yield host
    host.kill()


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """As if it had got stuck."""
    os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def until_gone(process: int) -> None:
    """Of a process that is nobody's child here."""
    words = Path(f"/proc/{process}/cmdline")
    wait_for(lambda: not (words.exists() and words.read_bytes()), "its end, for its parent is gone")


def hear(bot: Bot, kind: str) -> Any:
    """The next message of that kind."""
    while (message := bot.hear())["type"] != kind:
        pass
    return message


def play(host: Shown, *names: str) -> list[Any]:
    """A game between two bots; returns what they were told of its end."""
    bots = [Bot(host.tcp, hello(name)) for name in names or ("ann", "bob")]
    begun = {hear(bot, "begin")["you"]: bot for bot in bots}
    for field, seat in zip(("NW", "N", "W", "C", "SW"), "OXOXO", strict=True):
        while hear(begun[seat], "turn")["turn"] != seat:
            pass
        begun[seat].say(json.dumps({"type": "move", "move": field}))
    ends = [hear(bot, "end") for bot in bots]
    for bot in bots:
        bot.close()
    return ends


def over(host: Shown) -> int:
    """How many games have been played to their end, as play says without show."""
    (found,) = re.findall(
        rb'matches_over_total{game="tic-tac-toe",ending="played"} (\d+)\n', host.head("/metrics")[2]
    )
    return int(found)


def test_whoever_changes_something_and_then_looks_sees_the_change(shared: Shown) -> None:
    for number in range(tries(5, 20)):
        assert shared.hold(f"cup-{number}", "connect-4") == 201
        assert shared.head(f"/api/tournaments/cup-{number}")[0] == 200
        assert shared.head(f"/tournaments/cup-{number}")[0] == 200


def test_a_game_is_shown_with_its_result_as_soon_as_its_bots_have_it(shared: Shown) -> None:
    assert shared.hold("cup") == 201
    first, _ = play(shared)
    shown = json.loads(shared.head(f"/api/matches/{first['match']}")[2])
    assert (shown["winner"], shown["ending"], shown["plies"]) == (0, "played", 5)
    rows = shared.read("/api/tournaments/cup/standings")["rows"]
    assert [row["points"] for row in rows] == [1.0, 0.0]
    assert b"ann" in shared.head(f"/matches/{first['match']}")[2]


def test_a_stuck_show_keeps_nobody_from_playing_and_no_organiser_from_organising(shared: Shown) -> None:
    before = over(shared)
    with stopped(shared.show):
        assert shared.hold("stuck") == 201
        ends = play(shared, "cas", "dot")
        assert {end["ending"] for end in ends} == {"played"}
        assert shared.head("/healthz")[0] == shared.head("/readyz")[0] == 200
        assert over(shared) == before + 1

    def caught_up() -> bool:
        return json.loads(shared.head("/api/tournaments/stuck")[2])["state"] == "finished"

    wait_for(caught_up, "the end that was kept after the bots had theirs")


def test_a_show_that_was_killed_is_started_again_and_until_then_whoever_looks_is_asked_to_wait(
    shared: Shown,
) -> None:
    assert shared.hold("killed") == 201
    before = shared.show
    os.kill(before, signal.SIGKILL)
    until_gone(before)
    statuses: list[int] = []
    while 200 not in statuses:
        status, headers, body = shared.head("/api/tournaments/killed")
        statuses.append(status)
        if status != 200:
            assert (status, headers["retry-after"]) == (503, "1"), body
            assert shared.head("/healthz")[0] == 200
    assert 503 in statuses
    assert shared.show != before
    assert {end["ending"] for end in play(shared, "eve", "fay")} == {"played"}


def test_everybody_is_told_of_a_journal_that_is_damaged_under_a_host_and_play_goes_on(host: Shown) -> None:
    """Catches pages that ended with a traceback, and again after each start, while all seemed well."""
    match, before = play(host, "ada", "bob")[0]["match"], host.show
    table = match.rpartition("-")[0]
    assert host.read(f"/api/matches/{match}")["ending"] == "played"
    wait_for(
        lambda: host.read(f"/api/tournaments/{table}")["playing"] == [], "that both have left the next match"
    )
    # Whoever sees this knows that the pages have read everything before it.
    assert (host.hold("later", "connect-4"), host.read("/api/tournaments/later")["entrants"]) == (201, [])
    with closing(sqlite3.connect(host.data / "quintain.sqlite", timeout=HANG)) as connection:
        connection.execute("UPDATE journal SET body = substr(body, 1, 9) WHERE kind = 'concluded'")
        connection.commit()
    for path in (f"/matches/{match}", f"/api/matches/{match}"):
        status, headers, body = host.head(path)
        assert (status, "retry-after" in headers) == (503, True), body
        assert b"journal is damaged" in body
    wait_for(lambda: "damaged" in host.get("/readyz")[1], "that it is told")
    status, said = host.get("/readyz")
    assert (status, said["ready"]) == (200, True), "it takes bots"
    assert f"end of match {match}" in said["damaged"]
    # Until the standings are computed, their page asks to come again.
    wait_for(lambda: host.head(f"/tournaments/{table}")[0] == 200, "the page of its tournament")
    assert host.show == before
    os.kill(before, signal.SIGKILL)  # the next one cannot read the journal
    until_gone(before)
    wait_for(lambda: b"journal is damaged" in host.head(f"/tournaments/{table}")[2], "that no pages come")
    assert {end["ending"] for end in play(host, "eve", "fay")} == {"played"}
    host.process.send_signal(signal.SIGTERM)
    code, _, errors = host.end()
    assert code == 0, errors
    assert errors.count("what is kept is damaged") == 1
    assert "Traceback" not in errors


def test_told_to_stop_a_host_ends_its_streams_and_its_show(shared: Shown) -> None:
    show = shared.show
    with socket.create_connection(("127.0.0.1", shared.http), HANG) as stream:
        stream.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert stream.recv(15) == b"HTTP/1.1 200 OK"
        shared.process.send_signal(signal.SIGTERM)
        while stream.recv(65536):
            pass
    code, _, errors = shared.end()
    assert code == 0, errors
    assert "Traceback" not in errors
    until_gone(show)


def test_when_the_host_is_killed_show_ends_with_it(host: Shown) -> None:
    show = host.show
    host.kill()
    until_gone(show)


def test_ctrl_c_reaches_both_and_ends_neither_badly(host: Shown) -> None:
    """A terminal sends it to every process that runs in it."""
    os.kill(host.show, signal.SIGINT)
    assert host.head("/api/tournaments")[0] == 200
    host.process.send_signal(signal.SIGINT)
    code, _, errors = host.end()
    assert code == 130
    assert "Traceback" not in errors


def test_under_tls_pages_are_shown_as_well_and_one_connection_serves_both_processes(tmp_path: Path) -> None:
    authority, trust = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    issue(authority, tmp_path)
    (tmp_path / "quintain.toml").write_text('tls = { certificate = "host.pem", key = "host.key" }\n')
    host = Shown(tmp_path)
    try:
        connection = http.client.HTTPSConnection("localhost", host.http, timeout=HANG, context=trust)
        for path, said in (
            ("/api/games", b"quoridor"),
            ("/healthz", b"alive"),
            ("/games/quoridor", b"<html"),
        ) * 3:
            connection.request("GET", path)
            answer = connection.getresponse()
            assert answer.status == 200
            assert said in answer.read()
        connection.close()
    finally:
        host.kill()
