"""Several processes that play, as their users meet them: real processes, sockets and bots."""

import json
import os
import select
import signal
import socket
import sys
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from games.catalogue import catalogue
from server.host.opening import OPEN
from server.host.unwelcome import STOPPING
from server.store.data_folder import JOURNAL
from server.store.sqlite_reader import SqliteReader
from tests.blackbox.ends import Stream, ask
from tests.hang import HANG, wait_for
from tests.server.run import quintain
from tests.server.served import Served
from tests.server.store import postgresql
from tests.server.test_matrix import TRANSPORTS, Tcp, Websocket, open_tournament, play

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

AWAY = "the journal cannot be read, and this process ends"
SOON = 4  # seconds until a worker that hangs is noticed: no worker is as slow, on a busy machine either

CUPS = {
    "one": ("connect-4", "tcp", "websocket"),
    "two": ("connect-4", "http", "tcp"),
    "three": ("santorini", "websocket", "http"),
    "four": ("tic-tac-toe", "http", "http"),
}


class Host(Served):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "--workers", "2", "--show", "1")
        self.token = (self.data / "organiser-token").read_text().strip()

    @property
    def worker(self) -> int:
        """The process of the worker that is not this."""
        return next(
            each for each in children(self) if Path(f"/proc/{each}/comm").read_text() == "quintain-worker\n"
        )

    def order(self, tournament: str, order: str, **body: Any) -> tuple[int, Any]:
        content = json.dumps(body)
        return self.ask(
            f"POST /api/tournaments/{tournament}/{order} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Length: {len(content)}\r\n\r\n{content}"
        )

    def figure(self, name: str) -> float:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http}/metrics") as answer:
            lines = answer.read().decode().splitlines()
        return sum(float(line.split()[1]) for line in lines if line.startswith((f"{name} ", f"{name}{{")))


def children(host: Served) -> list[int]:
    """The processes that a host has started."""
    there = Path(f"/proc/{host.process.pid}/task/{host.process.pid}/children")
    return [int(each) for each in there.read_text().split()]


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """One for all tests that can do with whatever another has left there, and in the end told to stop."""
    served = Host(tmp_path_factory.mktemp("host"))
    yield served
    served.kill()


def test_whoever_is_refused_leaves_no_open_table_behind_in_any_worker(host: Host) -> None:
    for game in catalogue():
        for talk in (Tcp(host), Websocket(host)):
            talk.say({"type": "hello", "name": "ann", "game": game, "against": "ann"})
            assert "a bot cannot play itself" in talk.hear()["reason"]
            talk.close()
        order = f"POST /api/tournaments/{OPEN}{game}/pause HTTP/1.1\r\nHost: localhost\r\n"
        assert host.ask(f"{order}Content-Length: 0\r\nConnection: close\r\n\r\n")[0] == 401
    with closing(SqliteReader(host.data / JOURNAL)) as journal:
        assert [row.tournament for row in journal.kept()] == []


def test_tournaments_are_played_in_both_and_shown_ordered_and_counted_as_one(host: Host) -> None:
    for name, (game, *_) in CUPS.items():
        open_tournament(host, name, game)
        assert host.order(name, "freeze")[0] == 200
        assert host.order(name, "unfreeze")[0] == 200
    with ThreadPoolExecutor(2 * len(CUPS)) as threads:
        bots = {
            name: [
                threads.submit(play, TRANSPORTS[transport](host), f"{seat}.{name}", name, game)
                for seat, transport in zip("ab", transports, strict=True)
            ]
            for name, (game, *transports) in CUPS.items()
        }
        ends = {name: [bot.result(HANG) for bot in pair] for name, pair in bots.items()}
    plies = 0
    for name, (one, other) in ends.items():
        assert one == other
        wait_for(lambda name=name: host.get(f"/api/tournaments/{name}")[1]["state"] == "finished", name)
        record = host.get(f"/api/matches/{one[0]['match']}")[1]
        assert (record["ending"], record["why"]) == ("played", one[0]["why"])
        plies += len(record["moves"])
    wait_for(lambda: host.figure("quintain_moves_total") == plies, "the figures of both")
    assert host.figure("quintain_matches_over_total") == len(CUPS)
    assert host.order("one", "delete")[0] == 200
    open_tournament(host, "one", "connect-4")
    assert host.order("one", "delete")[0] == 200  # what comes to the tables is not to go there


def test_whoever_is_first_at_an_open_table_in_any_worker_has_it_opened(host: Host) -> None:
    for game in catalogue():
        talk = Tcp(host)
        talk.say({"type": "hello", "name": "ann", "game": game, "against": "first"})
        assert [talk.hear()["type"] for _ in range(2)] == ["welcome", "begin"]
        talk.close()
        assert host.order(OPEN + game, "pause")[1]["state"] == "paused"


def test_told_to_stop_it_ends_all_its_processes_well(host: Host) -> None:
    host.process.send_signal(signal.SIGTERM)
    assert host.end()[0] == 0


def test_told_to_stop_while_a_worker_hangs_it_says_goodbye_to_the_bots_of_the_others(tmp_path: Path) -> None:
    """Catches a host that waited for that worker for as long as it had to say anything."""
    host = Host(tmp_path)
    try:
        bots = [Tcp(host), Tcp(host)]
        for bot, game in zip(bots, ("connect-4", "santorini"), strict=True):  # each at a worker of its own
            bot.say({"type": "hello", "name": "ann", "game": game})
            assert bot.hear()["type"] == "welcome"
        os.kill(host.worker, signal.SIGSTOP)
        host.process.send_signal(signal.SIGTERM)
        assert bots[1].hear() == {"type": "refused", "reason": STOPPING}
        assert host.end()[0] == 0
        for bot in bots:
            bot.close()
    finally:
        host.kill()


def test_told_to_stop_it_says_so_over_the_event_streams_of_every_worker(tmp_path: Path) -> None:
    """Catches a worker that ended them before it said goodbye to their bots."""
    host = Host(tmp_path)
    try:
        address = "127.0.0.1", host.http
        streams: list[Stream] = []
        for game in ("connect-4", "santorini"):  # each at a worker of its own
            session = ask(address, "POST", "/play", {"type": "hello", "name": "ann", "game": game})
            streams.append(Stream(address, session.headers["location"]))
            assert b'"welcome"' in streams[-1].chunk()
        host.process.send_signal(signal.SIGTERM)
        for stream in streams:
            with stream:
                said = stream.chunk()
                assert f'data: {{"type":"refused","reason":"{STOPPING}"'.encode() in said
                assert stream.over()
        assert host.end()[0] == 0
    finally:
        host.kill()


@pytest.mark.parametrize(
    "befalls",
    [
        pytest.param(signal.SIGKILL, id="killed"),
        # It is killed: test_worker.py.
        pytest.param(signal.SIGSTOP, id="hanging", marks=pytest.mark.campaign),
    ],
)
def test_when_a_worker_is_killed_or_hangs_its_matches_go_on_and_those_of_others_notice_nothing(
    tmp_path: Path, befalls: signal.Signals
) -> None:
    (tmp_path / "quintain.toml").write_text(f"limits = {{ worker_seconds = {SOON} }}\n")
    host = Host(tmp_path)
    try:
        let_it_befall(host, befalls)
    finally:
        host.kill()


def let_it_befall(host: Host, befalls: signal.Signals) -> None:
    cups = ("one", "two")
    for name in cups:
        open_tournament(host, name, "connect-4")
    seats = {f"{seat}.{name}": Seated(host, f"{seat}.{name}", name) for name in cups for seat in "ab"}
    for seat in seats.values():
        seat.until("turn")
    for _ in range(2):
        for name in cups:
            next(seat for seat in (seats[f"a.{name}"], seats[f"b.{name}"]) if seat.is_asked).move()
        for seat in seats.values():
            seat.until("turn")
    os.kill(host.worker, befalls)
    wait_for(lambda: sum(seat.is_lost for seat in seats.values()) == 2, "the end of two connections")
    lost = {name for name, seat in seats.items() if seat.is_lost}
    assert lost in ({"a.one", "b.one"}, {"a.two", "b.two"})
    for name in lost:
        seats[name].come_back()
    for name in lost:
        seats[name].until("turn")
    with ThreadPoolExecutor(len(seats)) as threads:
        ends = dict(zip(seats, threads.map(Seated.play_on, seats.values()), strict=True))
    for name in cups:
        assert ends[f"a.{name}"] == ends[f"b.{name}"]
        assert ends[f"a.{name}"]["ending"] == "played"
        wait_for(lambda name=name: host.get(f"/api/tournaments/{name}")[1]["state"] == "finished", name)
        matches = host.get(f"/api/tournaments/{name}/matches")[1]["matches"]
        assert [(each["match"], each["ending"], each["plies"]) for each in matches] == [
            (f"{name}-1", "played", 7)
        ]


def test_processes_that_start_while_the_database_is_away_say_so_in_a_line_each_until_it_is_back(
    tmp_path: Path,
) -> None:
    """Catches a traceback of each of them, as if the host were at fault."""
    with postgresql.running() as server:
        host = Served(tmp_path, "--workers", "2", "--show", "1", "--store", server.database())
        try:
            server.stop()
            for child in children(host):
                os.kill(child, signal.SIGKILL)
            assert host.process.stderr is not None
            lines = [""]
            while sum(AWAY in line for line in lines) < 2:
                lines.append(host.process.stderr.readline())
                assert lines[-1], lines
                assert "Traceback" not in lines[-1]
            server.start()
            wait_for(lambda: host.get("/readyz")[0] == 200, "a host that is ready again")
            host.process.send_signal(signal.SIGTERM)
            code, _, errors = host.end()
        finally:
            host.kill()
    assert code == 0
    assert "Traceback" not in "".join(lines) + errors


def test_several_workers_without_the_process_that_shows_are_refused_in_one_line(tmp_path: Path) -> None:
    code, out, errors = quintain("serve", "--workers", "2", "--show", "0", folder=tmp_path)
    assert (code, out, errors.count("\n")) == (2, "", 1)
    assert "workers" in errors


class Seated:
    """A bot of the house protocol over TCP that plays Connect-4 from left to right, and comes back."""

    def __init__(self, host: Host, name: str, tournament: str) -> None:
        self._host = host
        self._hello = {"type": "hello", "name": name, "game": "connect-4", "tournament": tournament}
        self._hello["token"] = f"{name}-keeps-this-secret"
        self._you = ""
        self._last: dict[str, Any] = {}
        self._connect()

    def _connect(self) -> None:
        self._socket = socket.create_connection(("127.0.0.1", self._host.tcp), HANG)
        self._lines = self._socket.makefile("rw")
        self._say(self._hello)

    def _say(self, message: dict[str, Any]) -> None:
        self._lines.write(json.dumps(message) + "\n")
        self._lines.flush()

    def hear(self) -> dict[str, Any]:
        message = json.loads(self._lines.readline())
        match message["type"]:
            case "begin":
                self._you = message["you"]
            case _:
                pass
        self._last = message
        return message

    def until(self, kind: str) -> None:
        while self.hear()["type"] != kind:
            pass

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended, where nothing else is to come."""
        readable, _, _ = select.select([self._socket], [], [], 0)
        return bool(readable) and self._socket.recv(1, socket.MSG_PEEK) == b""

    @property
    def is_asked(self) -> bool:
        return self._last["type"] == "turn" and self._last["turn"] == self._you

    def move(self) -> None:
        """Whoever begins gets four in the first column."""
        asked = self._last
        move = asked["ply"] % 2
        self._say({"type": "move", "match": asked["match"], "ply": asked["ply"], "move": move})

    def come_back(self) -> None:
        self._close()
        self._connect()

    def play_on(self) -> dict[str, Any]:
        """To the end of the match."""
        message = self._last
        while message["type"] != "end":
            if self.is_asked:
                self.move()
            message = self.hear()
        self._close()
        return {key: message[key] for key in ("match", "winner", "ending", "why")}

    def _close(self) -> None:
        self._lines.close()
        self._socket.close()
