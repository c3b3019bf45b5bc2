"""The client for bot authors against a real host, over each transport, and against hosts that misbehave."""

import ast
import base64
import contextlib
import errno
import hashlib
import io
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import quintain_bot
import trustme
from quintain_bot import Leave, Refused, Unreachable

from tests.clients.relay import Relay
from tests.clients.script import to_be_reset
from tests.clients.starters import as_a_user_that_the_system_does_not_know
from tests.hang import HANG
from tests.loopback import ipv6
from tests.ports import refusing
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow

SOURCE = ROOT / "clients/python/quintain_bot.py"
FIELDS = ("NW", "N", "NE", "W", "C", "E", "SW", "S", "SE")
TRANSPORTS = ("tcp", "ws", "http")
FACES = "\U0001f600" * 500  # as long as a note may be
numbers = count(1)


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    served = Served(tmp_path_factory.mktemp("host"))
    yield served
    served.kill()


@pytest.fixture(autouse=True)
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where tokens are remembered."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path


class Bots:
    """Bots that run in threads of their own, which a test that fails does not wait for."""

    def submit(self, run: Callable[..., Any], *arguments: Any, **named: Any) -> "Future[Any]":
        future: Future[Any] = Future()

        def play() -> None:
            try:
                future.set_result(run(*arguments, **named))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=play, daemon=True).start()
        return future


@pytest.fixture
def pool() -> Bots:
    return Bots()


def port(host: Served, scheme: str) -> int:
    return {"tcp": host.tcp, "ws": host.websocket, "http": host.http}[scheme]


def url(host: Served, scheme: str = "tcp") -> str:
    return f"{scheme}://127.0.0.1:{port(host, scheme)}"


def opened(host: Served, game: str, entrants: int = 2) -> str:
    """A tournament of its own for each test."""
    name = f"cup-{next(numbers)}"
    assert ordered(host, "/api/tournaments", name=name, game=game, entrants=entrants) == 201
    return name


def ordered(host: Served, path: str, **order: Any) -> int:
    """Of the host, by its organiser; returns the status of the answer."""
    body = json.dumps(order)
    token = (host.data / "organiser-token").read_text().strip()
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
    head += f"Authorization: Bearer {token}"
    status, _ = host.ask(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    return status


def first_free(turn: dict[str, Any]) -> str:
    return FIELDS[turn["state"]["board"].index(None)]


def open_column(turn: dict[str, Any]) -> int:
    return next(column for column in range(7) if turn["state"][column * 6 + 5] == 0)


def test_one_file_that_needs_nothing_but_an_old_python() -> None:
    tree = ast.parse(SOURCE.read_text(), feature_version=(3, 9))
    imported = {
        alias.name if isinstance(node, ast.Import) else node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_tournament_over_each_transport_returns_its_standings(
    host: Served, pool: Bots, scheme: str
) -> None:
    cup = opened(host, "tic-tac-toe", 3)
    bots = [
        pool.submit(
            quintain_bot.run,
            first_free,
            game="tic-tac-toe",
            name=f"{cup}-{name}",
            url=url(host, scheme),
            tournament=cup,
        )
        for name in ("ann", "bob", "cid")
    ]
    for bot in bots:
        standings = bot.result(HANG)
        assert standings is not None
        assert (standings["tournament"], len(standings["rows"])) == (cup, 3)
        assert all(row["played"] == 2 for row in standings["rows"])


class Full(io.StringIO):
    """A file on a disk without room."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize("output", [Full(), None])
def test_a_disk_that_is_full_costs_no_match(
    output: io.StringIO | None, host: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches an exception in the middle of a match: the log of the bot had no room for a line.

    And one at its start, where nobody has given it a standard output, as on Windows without a console.
    """
    ends: list[str] = []

    def heard(message: dict[str, Any]) -> None:
        if message["type"] == "end":
            ends.append(message["ending"])

    monkeypatch.setattr(sys, "stdout", output)
    where = {"game": "connect-4", "name": "full", "url": url(host), "against": "first"}
    quintain_bot.run(open_column, **where, matches=1, heard=heard)
    assert ends == ["played"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no disk that is full")
def test_a_record_on_a_disk_that_is_full_costs_no_standings(host: Served, pool: Bots) -> None:
    """Catches an exception in place of what the tournament has come to: closing the file tries once more."""
    cup = opened(host, "connect-4")
    other = pool.submit(quintain_bot.run, open_column, game="connect-4", name=f"{cup}-ann", url=url(host))
    standings = quintain_bot.run(
        open_column, game="connect-4", name=f"{cup}-bob", url=url(host), record="/dev/full"
    )
    assert standings is not None
    assert standings["tournament"] == cup
    other.result(HANG)


@ipv6
@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_host_has_an_ipv6_address_too(
    host: Served, scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Over a websocket it was refused: the header `Host` had the address without its brackets."""
    name, address = f"six-{scheme}", f"{scheme}://[::1]:{port(host, scheme)}"
    quintain_bot.run(open_column, game="connect-4", name=name, url=address, against="first", matches=1)
    assert f"{name} is connected to {address}: the open table" in capsys.readouterr().out


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_bot_that_is_cut_off_comes_back_and_goes_on_with_its_match(
    host: Served, pool: Bots, scheme: str
) -> None:
    """Catches a bot that forgets its token or its place, and one that thinks twice about one question."""
    cup, relay = opened(host, "connect-4"), Relay(port(host, scheme))
    asked: list[int] = []

    def cut_off(turn: dict[str, Any]) -> int:
        asked.append(turn["ply"])
        if len(asked) in (2, 4):
            relay.cut()
        return open_column(turn)

    ann: Future[Any] = pool.submit(
        quintain_bot.run,
        cut_off,
        game="connect-4",
        name=f"{cup}-ann",
        url=f"{scheme}://127.0.0.1:{relay.port}",
    )
    quintain_bot.run(open_column, game="connect-4", name=f"{cup}-bob", url=url(host), tournament=cup)
    assert ann.result(HANG)["tournament"] == cup
    relay.close()
    _, match = host.get(f"/api/matches/{cup}-1")
    assert match["ending"] == "played"
    assert relay.connections >= 3
    assert asked == sorted(set(asked))


NO_NOTES = [
    {"line": "3 4"},
    {"book": True},
    {"score": None},
    {"x" * 33: 1},
    {"nodes": 1 << 63},
    {"seen": {3}},
    5,
]


@pytest.mark.parametrize("note", NO_NOTES, ids=repr)
def test_a_note_that_a_host_would_refuse_costs_no_move(
    host: Served, note: object, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a bot that notes what is no figure with each move, and whose moves are all refused."""
    refused: list[dict[str, Any]] = []

    def noting(turn: dict[str, Any]) -> int:
        refused.extend([turn] if "refused" in turn else [])
        turn["note"] = note if "refused" not in turn else "gives up"
        return open_column(turn)

    name = f"notes-{next(numbers)}"
    quintain_bot.run(noting, game="connect-4", name=name, url=url(host), against="random", matches=1)
    assert not refused
    assert "a note is left out" in capsys.readouterr().out


def test_a_refused_move_is_asked_for_again_with_the_reason(host: Served, pool: Bots) -> None:
    cup = opened(host, "connect-4")
    reasons: list[str] = []

    def careless(turn: dict[str, Any]) -> Any:
        if "refused" in turn:
            reasons.append(turn["refused"])
            return open_column(turn)
        return 9 if turn["ply"] < 2 else open_column(turn)

    ann = pool.submit(
        quintain_bot.run, careless, game="connect-4", name=f"{cup}-ann", url=url(host), tournament=cup
    )
    quintain_bot.run(open_column, game="connect-4", name=f"{cup}-bob", url=url(host, "ws"), tournament=cup)
    ann.result(HANG)
    assert reasons == ["there is no column 9; the columns are 0 to 6"]


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_what_no_message_can_hold_is_refused_in_words_and_a_note_of_that_kind_is_left_out(
    host: Served, pool: Bots, scheme: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Catches a bot that was hung up on, came back and said the same, or waited until its clock was out."""
    cup = opened(host, "connect-4")
    moves: list[Any] = ["x" * 5000, float("nan"), "half a \ud83d"]
    notes: list[Any] = ["x" * 501, {"score": float("inf")}, FACES]
    reasons: list[str] = []

    def careless(turn: dict[str, Any]) -> Any:
        if "refused" in turn:
            reasons.append(turn["refused"])
        if moves:
            return moves.pop(0)
        if notes:
            turn["note"] = notes.pop(0)
        return open_column(turn)

    ann = pool.submit(
        quintain_bot.run, careless, game="connect-4", name=f"{cup}-ann", url=url(host, scheme), tournament=cup
    )
    quintain_bot.run(
        open_column, game="connect-4", name=f"{cup}-bob", url=url(host), tournament=cup, quiet=True
    )
    ann.result(HANG)
    assert [reason.partition(" not ")[2][:9] for reason in reasons] == ['"xxxxxxxx', '"NaN"', '"half a \\']
    _, match = host.get(f"/api/matches/{cup}-1")
    assert [each["note"] for each in match["notes"]] == [FACES]
    out = capsys.readouterr().out
    assert out.count("a note is left out") == 2
    assert "the connection is lost" not in out


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_move_that_loses_the_match_is_not_asked_for_again(host: Served, pool: Bots, scheme: str) -> None:
    cup = opened(host, "tic-tac-toe")
    asked: list[dict[str, Any]] = []

    def rude(turn: dict[str, Any]) -> str:
        asked.append(turn)
        return "nowhere"

    ann = pool.submit(
        quintain_bot.run, rude, game="tic-tac-toe", name=f"{cup}-ann", url=url(host, scheme), tournament=cup
    )
    quintain_bot.run(first_free, game="tic-tac-toe", name=f"{cup}-bob", url=url(host), tournament=cup)
    ann.result(HANG)
    assert len(asked) == 1


def test_at_an_open_table_a_bot_plays_as_many_matches_as_it_was_told(host: Served, pool: Bots) -> None:
    ended: list[str] = []

    def heard(message: dict[str, Any]) -> None:
        if message["type"] == "end":
            ended.append(message["match"])

    ann = pool.submit(
        quintain_bot.run, first_free, game="tic-tac-toe", name="ann", url=url(host), matches=2, heard=heard
    )
    bob = pool.submit(
        quintain_bot.run, first_free, game="tic-tac-toe", name="bob", url=url(host, "http"), matches=2
    )
    assert ann.result(HANG) is bob.result(HANG) is None
    assert len(set(ended)) == 2


def test_leaving_loses_the_match_at_once(host: Served, pool: Bots) -> None:
    cup = opened(host, "tic-tac-toe")

    def leave(turn: dict[str, Any]) -> str:
        if turn["ply"] > 1:
            raise Leave
        return first_free(turn)

    ann = pool.submit(
        quintain_bot.run, leave, game="tic-tac-toe", name=f"{cup}-ann", url=url(host, "http"), tournament=cup
    )
    quintain_bot.run(first_free, game="tic-tac-toe", name=f"{cup}-bob", url=url(host), tournament=cup)
    assert ann.result(HANG) is None
    assert host.get(f"/api/matches/{cup}-1")[1]["ending"] == "left"


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_an_author_who_stops_a_bot_and_starts_it_again_goes_on_with_its_match(
    host: Served, pool: Bots, scheme: str
) -> None:
    """Catches a goodbye at Ctrl-C, by which the match was lost."""
    cup = opened(host, "tic-tac-toe")

    def stopped(turn: dict[str, Any]) -> str:
        if turn["ply"] > 1:
            raise KeyboardInterrupt
        return first_free(turn)

    way = {"game": "tic-tac-toe", "name": f"{cup}-ann", "url": url(host, scheme), "tournament": cup}
    bob = pool.submit(
        quintain_bot.run, first_free, game="tic-tac-toe", name=f"{cup}-bob", url=url(host), tournament=cup
    )
    with pytest.raises(KeyboardInterrupt):
        quintain_bot.run(stopped, **way)
    assert quintain_bot.run(first_free, **way) is not None
    bob.result(HANG)
    assert host.get(f"/api/matches/{cup}-1")[1]["ending"] == "played"


def test_a_bot_that_is_started_again_is_still_itself(host: Served, memory: Path) -> None:
    """Catches an author who is told that the name is taken, by himself."""
    tokens: list[str] = []

    def once(message: dict[str, Any]) -> None:
        tokens.append(message["token"])
        raise KeyboardInterrupt

    for scheme in TRANSPORTS:
        with pytest.raises(KeyboardInterrupt):
            quintain_bot.run(first_free, game="quoridor", name="again", url=url(host, scheme), heard=once)
    assert len(tokens) == 3
    assert len(set(tokens)) == 1
    (kept,) = (memory / "quintain-bot").iterdir()
    assert kept.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_refused_hello_says_why(host: Served, scheme: str) -> None:
    with pytest.raises(Refused, match=r"there is no game \"chess\""):
        quintain_bot.run(first_free, game="chess", name="ann", url=url(host, scheme))


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_bot_that_is_taken_over_from_does_not_fight_for_its_place(
    host: Served, pool: Bots, scheme: str
) -> None:
    token, here = "a-token-that-two-have", threading.Event()
    old = pool.submit(
        quintain_bot.run,
        first_free,
        game="quoridor",
        name="twin",
        url=url(host, scheme),
        token=token,
        heard=lambda message: here.set(),
    )
    assert here.wait(HANG)
    with socket.create_connection(("127.0.0.1", host.tcp), HANG) as other:
        hello = {"type": "hello", "name": "twin", "game": "quoridor", "token": token}
        other.sendall(json.dumps(hello).encode() + b"\n")
        with pytest.raises(Refused, match="taken over"):
            old.result(HANG)


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_a_bot_that_is_taken_out_of_its_tournament_is_told_so_and_does_not_come_back(
    host: Served, pool: Bots, scheme: str
) -> None:
    """Catches a bot that waits for ever, or goes on at the open table."""
    cup, here = opened(host, "tic-tac-toe"), threading.Event()
    bot = pool.submit(
        quintain_bot.run,
        first_free,
        game="tic-tac-toe",
        name=f"{cup}-ann",
        url=url(host, scheme),
        tournament=cup,
        heard=lambda message: here.set(),
    )
    assert here.wait(HANG)
    assert ordered(host, f"/api/tournaments/{cup}/withdraw", name=f"{cup}-ann") == 200
    with pytest.raises(Refused, match=f"^{cup}-ann was withdrawn from {cup}: ask its organiser why$"):
        bot.result(HANG)


def test_no_host_is_said_at_once() -> None:
    with refusing() as port:
        for scheme in TRANSPORTS:
            url = f"{scheme}://127.0.0.1:{port}"
            with pytest.raises(Unreachable, match=f"no host answers at {url}: .*refused"):
                quintain_bot.run(first_free, game="tic-tac-toe", name="ann", url=url)


def unreachable(scheme: str, answer: Callable[[socket.socket], None]) -> tuple[str, str]:
    """The address of what deals like that with a connection, and what a bot says of it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(HANG)
        thread = threading.Thread(target=lambda: answer(server.accept()[0]))
        thread.start()
        url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(Unreachable) as told:
            quintain_bot.run(first_free, game="tic-tac-toe", name="ann", url=url)
        thread.join(HANG)
    return url, str(told.value)


@pytest.mark.parametrize("scheme", ["wss", "https"])
def test_of_a_host_whose_certificate_is_not_trusted_nobody_says_that_it_does_not_answer(scheme: str) -> None:
    """Its author would look for the host, and not for the certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    trustme.CA().issue_cert("127.0.0.1").configure_cert(context)

    def greet(connection: socket.socket) -> None:
        with connection, contextlib.suppress(ssl.SSLError):  # it hangs up on us
            context.wrap_socket(connection, server_side=True).close()

    url, told = unreachable(scheme, greet)
    why = "unable to get local issuer certificate; SSL_CERT_FILE names a file of those that are"
    assert told == f"a host answers at {url}: its certificate is not trusted here: {why}"


def answering(answer: bytes) -> Callable[[socket.socket], None]:
    def say(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            connection.sendall(answer)
            with contextlib.suppress(OSError):  # whoever has heard enough is gone
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):  # closed sooner, it would take the answer back
                    pass

    return say


OTHER_PORT = "HTTP is spoken at this port: bots speak websocket at another one of this host"
REFUSAL = f'{{"error":"{OTHER_PORT}"}}'
PLAY = "https://bots.example.org/play"
NO_TLS = "no TLS comes about (wrong version number): a host without TLS is at ws:// or http://"


@pytest.mark.parametrize(
    ("scheme", "answer", "why"),
    [
        ("wss", "HTTP/1.1 400 Bad Request\r\n\r\n", NO_TLS),
        ("https", "HTTP/1.1 400 Bad Request\r\n\r\n", NO_TLS),
        ("ws", f"HTTP/1.1 400 Bad Request\r\nContent-Length: {len(REFUSAL)}\r\n\r\n{REFUSAL}", OTHER_PORT),
        ("ws", "HTTP/1.1 400 Bad Request\r\nContent-Length: 90\r\n\r\n", "the answer is 400 Bad Request"),
        (
            "http",
            "HTTP/1.1 400 Bad Request\r\n\r\nbots speak websocket here",
            "the answer is 400 (bots speak websocket here)",
        ),
        ("http", "HTTP/1.1 502 Bad Gateway\r\n\r\n<html>", "the answer is 502"),
        ("http", f"HTTP/1.1 308 Go\r\nLocation: {PLAY}\r\n\r\n", f"whatever answers there leads to {PLAY}"),
        ("ws", f"HTTP/1.1 301 Go\r\nLocation: {PLAY}\r\n\r\n", f"whatever answers there leads to {PLAY}"),
        ("tcp", "HTTP/1.1 400 Bad Request\r\n", "what came is not a message"),
    ],
)
def test_of_another_port_it_is_said_what_answers_there(scheme: str, answer: str, why: str) -> None:
    """Catches "no host answers", and a host's own words on the mistake that nobody was shown."""
    url, told = unreachable(scheme, answering(answer.encode()))
    assert told == f"cannot play at {url}: {why}"


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_what_is_no_web_server_is_said_in_one_line(scheme: str) -> None:
    """Such as the host's TCP port, whose words end with a line."""

    def say(connection: socket.socket) -> None:
        with connection:
            connection.recv(65536)
            connection.sendall(b"this is no web server: the first line is the name of a bot\r\n")

    url, told = unreachable(scheme, say)
    assert told == f"cannot play at {url}: this is no web server: the first line is the name of a bot"


@pytest.mark.parametrize("scheme", TRANSPORTS)
def test_what_takes_a_connection_and_says_nothing_is_no_host(
    scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over TCP a bot waited for its welcome for ever, without a word."""
    monkeypatch.setattr(quintain_bot, "ANSWER", 0.1)

    def listen(connection: socket.socket) -> None:
        with connection:
            while connection.recv(65536):
                pass

    url, told = unreachable(scheme, listen)
    assert told.startswith(f"no host answers at {url}: the host does not answer")


@pytest.mark.parametrize(
    ("url", "port"),
    [
        ("ws://127.0.0.1", 80),
        ("wss://127.0.0.1/play", 443),
        ("http://127.0.0.1", 80),
        ("https://127.0.0.1", 443),
    ],
)
def test_an_address_without_a_port_leads_to_where_a_browser_would_go(url: str, port: int) -> None:
    """Catches `wss://arena.example.org`, as pages say where a proxy is before the host: it led to 8001."""
    with pytest.raises(Unreachable, match=f"at {url.removesuffix('/play')}:{port}: "):
        quintain_bot.run(first_free, game="tic-tac-toe", name="ann", url=url)


@pytest.mark.parametrize(
    "wrong",
    [
        "localhost:8000",
        "ftp://x",
        "tcp://",
        "tcp://x:99999",
        "tcp://x:a",
        "tcp://[::1",
        "tcp://a..b",
        "ws://x/a b",
        "",
    ],
)
def test_an_address_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ValueError, match="expected an address"):
        quintain_bot.run(first_free, game="tic-tac-toe", name="ann", url=wrong)


def test_a_token_that_the_host_would_not_take_is_refused() -> None:
    """Catches a bot that was shut out of its own name by the other token that the host had given it."""
    with pytest.raises(ValueError, match="a token of 16 characters or more"):
        quintain_bot.run(first_free, game="tic-tac-toe", name="ann", token="short", url="tcp://127.0.0.1:1")


# Hosts that are started again


@pytest.mark.parametrize(
    ("scheme", "how"),
    [
        ("tcp", "killed"),
        ("ws", "asked to stop"),
        ("http", "killed"),
        pytest.param("tcp", "asked to stop", marks=pytest.mark.campaign),
        pytest.param("ws", "killed", marks=pytest.mark.campaign),
        pytest.param("http", "asked to stop", marks=pytest.mark.campaign),
    ],
)
def test_a_match_goes_on_when_its_host_is_started_again(
    serve: Callable[..., Served], pool: Bots, scheme: str, how: str
) -> None:
    flags = ("--tournament", "cup", "--game", "connect-4", "--entrants", "2")
    first = serve(*flags)
    relay = Relay(port(first, scheme))
    reached, again = threading.Event(), threading.Event()
    begun: list[dict[str, Any]] = []

    def choose(turn: dict[str, Any]) -> int:
        if turn["ply"] >= 4:
            reached.set()
            again.wait(HANG)
        return open_column(turn)

    def heard(message: dict[str, Any]) -> None:
        if message["type"] == "begin":
            begun.append(message)

    way = {"game": "connect-4", "url": f"{scheme}://127.0.0.1:{relay.port}", "heard": heard}
    bots = [pool.submit(quintain_bot.run, choose, name=name, **way) for name in ("ann", "bob")]
    assert reached.wait(HANG)
    if how == "killed":
        first.kill()
    else:
        first.process.terminate()
        assert first.end()[0] == 0
    second = serve(*flags)
    relay.lead_to(port(second, scheme))
    relay.cut()
    again.set()
    assert all(bot.result(HANG)["tournament"] == "cup" for bot in bots)
    relay.close()
    _, match = second.get("/api/matches/cup-1")
    assert match["ending"] == "played"
    assert [each["match"] for each in begun] == ["cup-1"] * len(begun)
    assert sum(each.get("restarted", False) for each in begun) == 2
    assert second.get("/api/matches/cup-1.2")[0] == 404


# Hosts that are scripts


class Script:
    """A host that does as it is told with each connection, one after another."""

    def __init__(self, *acts: Callable[[socket.socket], None]) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._listener.settimeout(HANG)
        self.port: int = self._listener.getsockname()[1]
        self.times: list[float] = []
        self._acts = acts
        self._thread = threading.Thread(target=self._play)
        self._thread.start()

    def _play(self) -> None:
        with self._listener:
            for act in self._acts:
                connection, _ = self._listener.accept()
                with connection:
                    connection.settimeout(HANG)
                    self.times.append(time.monotonic())
                    act(connection)

    def join(self) -> None:
        self._thread.join(HANG)
        assert not self._thread.is_alive()


def head(connection: socket.socket) -> str:
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65536)
    return received.decode("latin-1")


def busy(connection: socket.socket) -> None:
    head(connection)
    body = b'{"error":"too many sessions are open: come again later"}'
    answer = b"HTTP/1.1 503 Busy\r\nRetry-After: 0.4\r\nContent-Length: %d\r\n\r\n%b"
    connection.sendall(answer % (len(body), body))


REFUSAL = {"type": "refused", "reason": "there is no room for you"}


def refuse_line(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(json.dumps(REFUSAL).encode() + b"\n")


def refuse_http(connection: socket.socket) -> None:
    head(connection)
    body = json.dumps(REFUSAL).encode()
    connection.sendall(b"HTTP/1.1 403 No\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def come_later(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b'{"type":"refused","reason":"the host is about to stop: come again later"}\n')


def test_an_answer_to_what_a_restart_has_taken_back_is_thought_of_again() -> None:
    """Catches a move that was chosen for another position than the one that is asked now."""
    named = {"match": "cup-1", "state": {}, "clock": [None, None]}
    welcome = {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": "cup"}
    begin = named | {"type": "begin", "you": "first", "players": ["ann", "bob"]}

    def turn(ply: int, last: str | None) -> dict[str, Any]:
        return named | {"type": "turn", "ply": ply, "turn": ("first", "second")[ply % 2], "last": last}

    sent: list[Any] = []

    def tell(connection: socket.socket, *messages: dict[str, Any], answers: int) -> None:
        with connection.makefile("rw") as lines:
            lines.readline()
            for message in messages:
                lines.write(json.dumps(message) + "\n")
            lines.flush()
            sent.extend(json.loads(lines.readline())["move"] for _ in range(answers))

    def before(connection: socket.socket) -> None:
        tell(connection, welcome, begin, turn(0, None), turn(1, "e2"), turn(2, "e8"), answers=2)

    def after(connection: socket.socket) -> None:
        kept = begin | {"moves": ["e2"], "restarted": True}
        tell(connection, welcome, kept, turn(1, "e2"), turn(2, "d9"), answers=1)

    script = Script(before, after, refuse_line)
    way = {"game": "quoridor", "name": "ann", "url": f"tcp://127.0.0.1:{script.port}"}
    with pytest.raises(Refused):
        quintain_bot.run(lambda turn: f"after {turn['moves']}", **way)
    script.join()
    assert sent == ["after []", "after ['e2', 'e8']", "after ['e2', 'd9']"]


@pytest.mark.parametrize("fault", [ValueError("a bug"), OSError("a book that cannot be read")])
def test_what_a_bot_raises_comes_out_of_run(fault: Exception) -> None:
    """An `OSError` of the bot's own is no lost connection."""

    def ask(connection: socket.socket) -> None:
        connection.recv(65536)
        named = {"match": "friday-1", "state": {}, "clock": [None, None]}
        for message in (
            {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": None},
            named | {"type": "begin", "you": "first", "players": ["ann", "bob"]},
            named | {"type": "turn", "ply": 0, "turn": "first", "last": None},
        ):
            connection.sendall(json.dumps(message).encode() + b"\n")

    def broken(turn: dict[str, Any]) -> str:
        raise fault

    script = Script(ask)
    with pytest.raises(type(fault), match=str(fault)):
        quintain_bot.run(broken, game="quoridor", name="ann", url=f"tcp://127.0.0.1:{script.port}")
    script.join()


@pytest.mark.parametrize("scheme", ["http", "ws"])
def test_a_host_that_is_busy_is_left_alone_for_as_long_as_it_says(scheme: str) -> None:
    script = Script(busy, busy, refuse_http)
    expected: type[Exception] = Refused if scheme == "http" else Unreachable
    with pytest.raises(expected):
        quintain_bot.run(first_free, game="quoridor", name="ann", url=f"{scheme}://127.0.0.1:{script.port}")
    script.join()
    assert all(later - earlier >= 0.4 for earlier, later in zip(script.times, script.times[1:], strict=False))


def test_a_refusal_for_now_is_tried_again_and_one_for_good_is_not() -> None:
    script = Script(come_later, refuse_line)
    with pytest.raises(Refused, match="no room"):
        quintain_bot.run(first_free, game="quoridor", name="ann", url=f"tcp://127.0.0.1:{script.port}")
    script.join()


def test_websocket_messages_may_come_in_pieces_and_with_pings_between(tmp_path: Path) -> None:
    """Fragments, a ping in the middle, lengths of two and of ten bytes, all of it byte by byte."""
    long = json.dumps(REFUSAL | {"reason": "x" * 70_000})
    pongs: list[bytes] = []

    def act(connection: socket.socket) -> None:
        request = head(connection)
        assert request.startswith("GET /play HTTP/1.1\r\n")
        fields = dict(line.split(": ", 1) for line in request.split("\r\n")[1:] if line)
        key = fields["Sec-WebSocket-Key"].encode() + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key).digest())  # noqa: S324
        connection.sendall(b"HTTP/1.1 101 On\r\nSec-WebSocket-Accept: " + accept + b"\r\n\r\n")
        connection.recv(65536)  # the hello
        welcome = b'{"type":"welcome","name":"ann","token":"t","game":"quoridor","tournament":null}'
        frames = b"\x01\x05" + welcome[:5] + b"\x89\x02hi" + b"\x80" + bytes([len(welcome) - 5]) + welcome[5:]
        middling = json.dumps({"type": "news", "text": "y" * 200}).encode()
        frames += b"\x81\x7e" + len(middling).to_bytes(2, "big") + middling
        for place in range(len(frames)):
            connection.sendall(frames[place : place + 1])
        connection.sendall(b"\x81\x7f" + len(long).to_bytes(8, "big") + long.encode())
        pongs.append(connection.recv(8))
        connection.sendall(b"\x88\x19\x03\xe8somebody has taken over")

    script, heard = Script(act), []
    with pytest.raises(Refused, match="taken over"):
        quintain_bot.run(
            first_free,
            game="quoridor",
            name="ann",
            url=f"ws://127.0.0.1:{script.port}",
            heard=lambda message: heard.append(message["type"]),
        )
    script.join()
    assert heard == ["welcome", "news", "refused"]
    opcode, size, *rest = pongs[0]
    mask, payload = rest[:4], rest[4:]
    assert (opcode, size) == (0x8A, 0x82)
    assert bytes(byte ^ mask[place] for place, byte in enumerate(payload)) == b"hi"


def test_a_bot_that_thinks_while_another_takes_over_from_it_does_not_fight_for_its_place() -> None:
    """Catches a move that cannot be sent, if that makes a bot forget to read what had come by then."""
    thinks, is_cut_off = threading.Event(), threading.Event()

    def hang_up(connection: socket.socket) -> None:
        connection.recv(65536)
        welcome = {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": None}
        begin = {"type": "begin", "match": "m", "you": "first", "players": ["ann", "bob"]}
        turn = {"type": "turn", "match": "m", "ply": 0, "turn": "first", "clock": [None, None]}
        connection.sendall(b"".join(json.dumps(each).encode() + b"\n" for each in (welcome, begin, turn)))
        assert thinks.wait(HANG)
        connection.sendall(b'{"type":"refused","reason":"another connection has taken over"}\n')
        to_be_reset(connection)
        connection.close()
        is_cut_off.set()

    def think(turn: dict[str, Any]) -> str:
        thinks.set()
        assert is_cut_off.wait(HANG)
        return "e2"

    script = Script(hang_up)
    with pytest.raises(Refused, match="taken over"):
        quintain_bot.run(
            think, game="quoridor", name="ann", url=f"tcp://127.0.0.1:{script.port}", give_up_after=1.0
        )
    script.join()


@pytest.mark.parametrize("said", [b"[1]", b'"begin"', b'{"type":' + b"[" * 100_000])
@pytest.mark.parametrize(("scheme", "refuse"), [("tcp", refuse_line), ("http", refuse_http)])
def test_what_is_no_message_ends_the_connection_and_not_the_bot(
    scheme: str, refuse: Callable[[socket.socket], None], said: bytes
) -> None:
    welcome = {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": None}

    def babble(connection: socket.socket) -> None:
        connection.recv(65536)
        connection.sendall(json.dumps(welcome).encode() + b"\n" + said + b"\n")

    def babble_http(connection: socket.socket) -> None:
        greeting = json.dumps(welcome | {"session": "s"}).encode()
        for status, body in (("201 Created", greeting), ("200 OK", said)):
            head(connection)
            connection.sendall(f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)

    script = Script(babble if scheme == "tcp" else babble_http, refuse)
    with pytest.raises(Refused, match="no room"):
        quintain_bot.run(first_free, game="quoridor", name="ann", url=f"{scheme}://127.0.0.1:{script.port}")
    script.join()


@pytest.mark.parametrize(
    "odd",
    [
        {"type": "begin", "match": "cup-1", "you": [], "players": ["ann", "bob"]},
        {"type": "begin", "match": "cup-1", "you": "first", "players": None},
        {"type": "begin", "match": "cup-1", "you": "first", "players": ["ann"]},
        {"type": "begin", "match": "cup-1", "you": "first", "players": ["ann", "bob"], "moves": None},
        {"type": "begin", "match": "cup-1", "you": "first", "players": ["ann", "bob"], "options": "x"},
        {"type": "turn", "match": "cup-1", "turn": "first", "clock": [None, None]},
        {"type": "turn", "match": "cup-1", "turn": "first", "ply": 0, "clock": {}},
        {"type": "turn", "match": "cup-1", "turn": "first", "ply": 0, "clock": ["x", None]},
        {"type": "end", "match": "cup-1", "winner": []},
        {"type": "end", "match": "cup-1", "winner": None, "cause": ["x"]},
        {"type": "standings", "final": True, "tournament": "cup", "rows": 5},
    ],
    ids=str,
)
def test_a_message_that_no_host_says_ends_the_connection_and_not_the_bot(odd: dict[str, Any]) -> None:
    """Catches a bot that ended with a traceback, as if the fault were its author's."""
    heard: list[Any] = []

    def babble(connection: socket.socket) -> None:
        connection.recv(65536)
        welcome = {"type": "welcome", "name": "ann", "token": "t", "game": "quoridor", "tournament": None}
        connection.sendall(json.dumps(welcome).encode() + b"\n" + json.dumps(odd).encode() + b"\n")

    script = Script(babble, refuse_line)
    way: dict[str, Any] = {"game": "quoridor", "name": "ann", "url": f"tcp://127.0.0.1:{script.port}"}
    with pytest.raises(Refused, match="no room"):
        quintain_bot.run(first_free, heard=heard.append, **way)
    script.join()
    assert odd not in heard


@pytest.mark.skipif(not hasattr(socket, "TCP_KEEPIDLE"), reason="this system has no such option")
def test_a_host_whose_machine_has_gone_is_noticed_where_the_option_has_another_name() -> None:
    """Catches the two hours that macOS waits by itself."""
    program = (
        "import socket\n"
        "socket.TCP_KEEPALIVE = idle = vars(socket).pop('TCP_KEEPIDLE')\n"
        "import quintain_bot\n"
        "with socket.socket() as connection:\n"
        "    quintain_bot._be_quick(connection)\n"
        "    print(connection.getsockopt(socket.IPPROTO_TCP, idle))\n"
    )
    command, there = [sys.executable, "-c", program], ROOT / "clients/python"
    run = subprocess.run(command, cwd=there, capture_output=True, text=True, check=True)
    assert run.stdout == "20\n"


@pytest.mark.skipif(not hasattr(socket, "TCP_USER_TIMEOUT"), reason="this system has no such option")
def test_a_host_that_cannot_be_reached_any_more_is_noticed_within_a_minute() -> None:
    """Catches a laptop in another network, whose bot waited for a quarter of an hour and had lost by then."""
    with socket.socket() as connection:
        quintain_bot._be_quick(connection)
        names = ("TCP_KEEPIDLE", "TCP_KEEPINTVL", "TCP_KEEPCNT", "TCP_USER_TIMEOUT")
        set_to = [connection.getsockopt(socket.IPPROTO_TCP, getattr(socket, name)) for name in names]
    idle, interval, count, unconfirmed = set_to
    assert idle + interval * count < 60
    assert 10_000 < unconfirmed < 30_000, (
        "milliseconds: before the host settles the match, after a short outage"
    )


def test_without_a_home_the_token_is_kept_where_the_bot_is(tmp_path: Path) -> None:
    """As in some containers. Catches a folder that is called ~."""
    alone = (*as_a_user_that_the_system_does_not_know(), "env", "-u", "HOME", "-u", "XDG_STATE_HOME")
    play = "import quintain_bot as bot; bot.run(id, game='connect-4', name='ann', url='tcp://127.0.0.1:{}')"
    with refusing() as port:
        run = subprocess.run(
            [*alone, sys.executable, "-B", "-c", play.format(port)],  # whose bytecode would be a stranger's
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(ROOT / "clients/python")},
            capture_output=True,
            text=True,
            timeout=HANG,
        )
    assert [each.name for each in tmp_path.iterdir()] == [".local"], run
    kept = "the token is kept in ./.local/state/quintain-bot/127.0.0.1-connect-4-ann"
    assert kept in run.stdout + run.stderr
