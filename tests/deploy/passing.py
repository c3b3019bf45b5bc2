"""What has to pass through a proxy: pages, event streams, long polls, held requests, websockets and lines.

A client comes from 127.0.0.2, so a host can tell it from the proxy, which comes from 127.0.0.1.
"""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.debian import libraries
from tests.hang import HANG, wait_for
from tests.server.served import Served

DEPLOY = Path(__file__).parents[2] / "docs/deploy"
CLIENT = "127.0.0.2"
PAGES, BOTS = "bots.example.org", "arena.example.org"
GAME = "tic-tac-toe"
KEEPALIVE, MINUTE = "02", 6000  # a timer of a connection, and how long it has to go, in /proc/net/tcp

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has 127.0.0.2 without setting it up")


class Proxied:
    """Hosts, a proxy in front of them, and what the hosts have logged."""

    def __init__(
        self,
        logged: list[dict[str, Any]],
        web: int,
        tcp: int | None,
        direct: int,
        *,
        tells: bool = True,
        asks: bool = True,
    ) -> None:
        """`tcp` is where bots over TCP come through it, and `direct` where they come to a host without it.

        `tells` is whether the host hears of a hang-up before it answers, and `asks` whether clients that say
        nothing are asked whether they are there more often than the system asks by itself.
        """
        self.web = web
        self.tells = tells
        self.asks = asks
        self.tcp = tcp
        self.direct = direct
        self._logged = logged

    def named(self, kind: str) -> str:
        """A bot that comes through this proxy and no other."""
        return f"{kind}-{self.web}"

    def peer(self, name: str) -> str:
        """Where a bot came from, as the host has it."""
        return self.logged("came", name)["peer"]

    def logged(self, event: str, name: str) -> dict[str, Any]:
        """The line of the log that says that of a bot, once it is there."""
        found: list[dict[str, Any]] = []

        def look() -> bool:
            found.extend(
                each for each in self._logged if (each["event"], each.get("player")) == (event, name)
            )
            return bool(found)

        wait_for(look, f"{event}, of {name}, in the log")
        return found[0]

    def connect(self, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), HANG, source_address=(CLIENT, 0))

    @contextmanager
    def asking(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Generator[http.client.HTTPConnection]:
        """A request that may be held."""
        connection = http.client.HTTPConnection("127.0.0.1", self.web, HANG, source_address=(CLIENT, 0))
        with closing(connection):
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Host": PAGES, **headers})
            yield connection

    @contextmanager
    def asked(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Generator[http.client.HTTPResponse]:
        with self.asking(method, path, body, **headers) as connection, connection.getresponse() as response:
            yield response

    def read(self, *request: Any, status: int = 200) -> Any:
        with self.asked(*request) as response:
            assert response.status == status
            return json.loads(response.read())


def followed(host: Served, logged: list[dict[str, Any]]) -> None:
    """Have all that a host logs from now on added to these."""

    def listen() -> None:
        assert host.process.stderr is not None
        logged.extend(json.loads(line) for line in host.process.stderr if line.startswith("{"))

    threading.Thread(target=listen, daemon=True).start()


@contextmanager
def running(folder: Path, command: Sequence[str], port: int) -> Generator[None]:
    """A proxy, which keeps what it has to keep in that folder, from when it listens."""
    own = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(folder))
    environment = os.environ | own | {"LD_LIBRARY_PATH": libraries()}
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=folder, env=environment, stdout=log, stderr=log, process_group=0
        )
        try:
            wait_for(lambda: listens(port) or process.poll() is not None, "the proxy")
            assert process.poll() is None, (folder / "log").read_text()
            yield
        finally:
            with suppress(ProcessLookupError):  # it has not begun
                os.killpg(process.pid, signal.SIGKILL)  # Apache has children, which would live on
            process.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def everything(proxied: Proxied) -> None:
    """All that has to pass, and hosts know who comes."""
    pages(proxied)
    streams_and_long_polls(proxied)
    held_requests(proxied)
    battles(proxied)
    if proxied.tells:
        hang_ups(proxied)
    websockets(proxied)
    if proxied.tcp is not None:
        lines(proxied, proxied.tcp)


def pages(proxied: Proxied) -> None:
    with proxied.asked("GET", "/", Accept="text/html") as page:
        assert (page.status, page.headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert b"<html" in page.read()


def streams_and_long_polls(proxied: Proxied) -> None:
    """What happens arrives while the stream goes on, so nobody keeps it back."""
    with proxied.asked("GET", "/api/events") as stream:
        assert stream.headers["Content-Type"].startswith("text/event-stream")
        long_polls(proxied)
        assert any(proxied.named("poller").encode() in stream.readline() for _ in range(20))


def long_polls(proxied: Proxied) -> None:
    """One that is held is answered when something happens."""
    hello = {"type": "hello", "name": proxied.named("poller"), "game": GAME}
    session = proxied.read("POST", "/play", hello, status=201)["session"]
    heard: list[Any] = []

    def poll() -> None:
        while not heard:  # an answer without messages may come first
            heard.extend(proxied.read("GET", f"/play/{session}?after=1"))

    held = threading.Thread(target=poll, daemon=True)
    held.start()
    with proxied.connect(proxied.direct) as other:
        other.sendall(json.dumps(hello | {"name": proxied.named("other")}).encode() + b"\n")
        held.join(HANG)
    assert heard[0]["type"] == "begin"
    assert proxied.peer(proxied.named("poller")) == CLIENT


def held_requests(proxied: Proxied) -> None:
    """Two bots of Hexagon Dots, each of which is answered when it is its turn."""
    with proxied.asked("POST", "/", {"rows": 3, "cols": 3}) as made:
        game = made.headers["Location"]
        assert (made.status, game[:3]) == (201, "/g/")

    def join(kind: str, turns: list[Any]) -> None:
        with proxied.asked("POST", f"{game}/players", {"name": proxied.named(kind)}) as turn:
            turns.append((turn.headers["X-Turn-Token"], json.loads(turn.read())))

    joined = both(join, ("dots", "dashes"))
    token, seen = joined.next()
    assert token
    assert seen["lines"] == []
    line = [{"row": 0, "col": 0}, {"row": 0, "col": 1}]
    with proxied.asking("POST", f"{game}/moves", line, **{"X-Turn-Token": token}):
        assert len(joined.next()[1]["lines"]) == 1


def battles(proxied: Proxied) -> None:
    """Two bots of the Arena, whose streams have each event as it comes and nothing else."""

    def join(kind: str, battles: list[str]) -> None:
        battles.append(proxied.read("POST", "/quoridor/join", {"name": proxied.named(kind)})["battleId"])

    joined = both(join, ("one", "two"))
    with ExitStack() as stack:
        streams: dict[str, tuple[str, http.client.HTTPResponse]] = {}
        for battle in (joined.next(), joined.next()):
            stream = stack.enter_context(proxied.asked("GET", f"/quoridor/start/{battle}"))
            assert stream.headers["Content-Type"] == "text/event-stream"
            streams[event(stream)["youAre"]] = battle, stream
        move = {"action": "move", "position": "e2"}
        proxied.read("POST", f"/quoridor/play/{streams['first'][0]}", move)
        for _, stream in streams.values():
            assert event(stream) == {"player": "first"} | move


def event(stream: http.client.HTTPResponse) -> Any:
    """The next of a stream in which each is exactly one line and an empty one."""
    line, empty = stream.readline(), stream.readline()
    assert (line[:6], empty) == (b"data: ", b"\n")
    return json.loads(line[6:])


def hang_ups(proxied: Proxied) -> None:
    """A bot whose request is held is gone when it hangs up, and is dealt no match.

    It makes no difference to the proxy whether the request has come at once or bit by bit.
    """
    for name in (proxied.named("quitter"), proxied.named("deserter")):
        body = json.dumps({"name": name})
        head = f"POST /quoridor/join HTTP/1.1\r\nHost: {PAGES}\r\nContent-Length: {len(body)}\r\n\r\n"
        with proxied.connect(proxied.web) as connection:
            for part in (head, body) if "quitter" in name else (head + body,):
                connection.sendall(part.encode())
            proxied.logged("came", name)
        proxied.logged("left", name)


class Both(list[Any]):
    """What two clients that wait at the same time are answered, in the order in which it comes."""

    def next(self) -> Any:
        wait_for(lambda: self, "an answer")
        return self.pop(0)


def both(ask: Callable[[str, list[Any]], None], kinds: tuple[str, str]) -> Both:
    answers = Both()
    for kind in kinds:
        threading.Thread(target=ask, args=[kind, answers], daemon=True).start()
    return answers


def websockets(proxied: Proxied) -> None:
    head = (
        f"GET /play HTTP/1.1\r\nHost: {BOTS}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    )
    with proxied.connect(proxied.web) as connection, connection.makefile("rb") as heard:
        connection.sendall(head.encode())
        assert heard.readline().startswith(b"HTTP/1.1 101")
        while heard.readline() != b"\r\n":
            pass
        hello = {"type": "hello", "name": proxied.named("framed"), "game": "connect-4"}
        connection.sendall(masked(json.dumps(hello)))
        frame = heard.read(2)
        length = frame[1] if frame[1] < 126 else int.from_bytes(heard.read(2))
        assert json.loads(heard.read(length))["type"] == "welcome"
        if proxied.asks:
            asked_whether_it_is_there(connection, proxied.web)
    assert proxied.peer(proxied.named("framed")) == CLIENT


def lines(proxied: Proxied, port: int) -> None:
    with proxied.connect(port) as connection, connection.makefile("rb") as heard:
        hello = {"type": "hello", "name": proxied.named("liner"), "game": "connect-4"}
        connection.sendall(json.dumps(hello).encode() + b"\n")
        assert json.loads(heard.readline())["type"] == "welcome"
        asked_whether_it_is_there(connection, port)
    assert proxied.peer(proxied.named("liner")) == CLIENT


def asked_whether_it_is_there(client: socket.socket, port: int) -> None:
    """Catches a bot that a proxy takes to be there for hours after its machine has lost its power."""
    ends = f":{port:04X}", f":{client.getsockname()[1]:04X}"

    def is_asked() -> bool:
        for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
            _, local, remote, _, _, timer, *_ = line.split()
            if (local[-5:], remote[-5:]) == ends:
                kind, when = timer.split(":")
                return kind == KEEPALIVE and int(when, 16) <= MINUTE
        return False

    wait_for(is_asked, "a question whether the client is there, within a minute")


def masked(text: str) -> bytes:
    """A text frame of a client's, with a mask that changes nothing."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text.encode()
