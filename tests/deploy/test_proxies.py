"""The configurations of nginx and Caddy in `docs/deploy/` work: both are run, in front of a real host.

Only ports are changed, and where nginx finds its module and keeps its temporary files. A client comes from
127.0.0.2, so the host can tell it from the proxy, which comes from 127.0.0.1.
"""

import http.client
import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.deploy.debian import UNPACKED, tool
from tests.hang import HANG, wait_for
from tests.lacking import lacking
from tests.server.served import Served

DEPLOY = Path(__file__).parents[2] / "docs/deploy"
CLIENT = "127.0.0.2"
PAGES, BOTS = "bots.example.org", "arena.example.org"
GAME = "tic-tac-toe"

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has 127.0.0.2 without setting it up")


class Proxied:
    """A host, a proxy in front of it, and what the host has logged."""

    def __init__(self, host: Served, web: int, tcp: int | None) -> None:
        self.host = host
        self.web = web
        self.tcp = tcp
        self.logged: list[dict[str, Any]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.host.process.stderr is not None
        for line in self.host.process.stderr:
            if line.startswith("{"):
                self.logged.append(json.loads(line))

    def peer(self, name: str) -> str:
        """Where a bot came from, as the host has it."""
        came = lambda: [each for each in self.logged if (each["event"], each.get("player")) == ("came", name)]  # noqa: E731
        wait_for(came, f"{name} in the log")
        return came()[0]["peer"]

    def connect(self, port: int) -> socket.socket:
        return socket.create_connection(("127.0.0.1", port), HANG, source_address=(CLIENT, 0))

    @contextmanager
    def asked(
        self, method: str, path: str, body: Any = None, **headers: str
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.web, HANG, source_address=(CLIENT, 0))
        with closing(connection):
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Host": PAGES, **headers})
            with connection.getresponse() as response:
                yield response

    def read(self, *request: Any, status: int = 200) -> Any:
        with self.asked(*request) as response:
            assert response.status == status
            return json.loads(response.read())


def free_ports(count: int) -> list[int]:
    """For servers that cannot say which they got. Nobody else is given them so soon."""
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


def addressed(text: str, host: Served) -> str:
    """With the ports of this host."""
    for port, real in ((8000, host.tcp), (8001, host.websocket), (8080, host.http)):
        text = text.replace(f"127.0.0.1:{port}", f"127.0.0.1:{real}")
    return text


def nginx(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program = tool("nginx")
    module = next(Path("/").glob("usr/lib/nginx/modules/ngx_stream_module.so"), None) or next(
        UNPACKED.glob("usr/lib/nginx/modules/ngx_stream_module.so"), None
    )
    if program is None or module is None:
        lacking("there is no nginx with its stream module: tests/deploy/prepare.sh fetches Debian's")
    web, tcp = free_ports(2)
    text = addressed((DEPLOY / "nginx.conf").read_text(), host)
    text = text.replace("modules/ngx_stream_module.so", str(module))
    text = text.replace("listen 80;", f"listen 127.0.0.1:{web};").replace(
        "listen 4000;", f"listen 127.0.0.1:{tcp};"
    )
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    places = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    text = text.replace("http {\n", f"http {{\naccess_log off;\n{places}", 1)
    (folder / "nginx.conf").write_text(text)
    settings = f"daemon off; master_process off; pid {folder}/pid; error_log stderr;"
    return [program, "-p", str(folder), "-e", "stderr", "-c", "nginx.conf", "-g", settings], web, tcp


def caddy(folder: Path, host: Served) -> tuple[list[str], int, int | None]:
    program = tool("caddy")
    if program is None:
        lacking("there is no caddy: tests/deploy/prepare.sh fetches Debian's")
    (web,) = free_ports(1)
    text = addressed((DEPLOY / "Caddyfile").read_text(), host)
    text = re.sub(
        r"^(\S+\.example\.org) \{", rf"http://\1:{web} {{\n\tbind 127.0.0.1", text, flags=re.MULTILINE
    )
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], web, None


@pytest.fixture(params=[nginx, caddy], ids=lambda proxy: proxy.__name__)
def proxied(
    request: Any, tmp_path: Path, serve: Callable[..., Served], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Proxied]:
    monkeypatch.setenv("QUINTAIN_PROXIES", '["127.0.0.1"]')
    host = serve("--log-format", "json")
    folder = tmp_path / "proxy"
    folder.mkdir()
    command, web, tcp = request.param(folder, host)
    environment = os.environ | {
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
    }
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=log, stderr=log)
        try:
            wait_for(lambda: listens(web) or process.poll() is not None, "the proxy")
            assert process.poll() is None, (folder / "log").read_text()
            yield Proxied(host, web, tcp)
        finally:
            process.kill()
            process.wait()


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def masked(text: str) -> bytes:
    """A text frame of a client's, with a mask that changes nothing."""
    return bytes([0x81, 0x80 | len(text)]) + bytes(4) + text.encode()


@linux
def test_pages_streams_long_polls_websockets_and_lines_pass_and_the_host_knows_who_comes(
    proxied: Proxied,
) -> None:
    pages(proxied)
    streams_and_long_polls(proxied)
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
        assert any(b"poller" in stream.readline() for _ in range(20))


def long_polls(proxied: Proxied) -> None:
    """One that is held is answered when something happens."""
    hello = {"type": "hello", "name": "poller", "game": GAME}
    session = proxied.read("POST", "/play", hello, status=201)["session"]
    heard: list[Any] = []

    def poll() -> None:
        while not heard:  # an answer without messages may come first
            heard.extend(proxied.read("GET", f"/play/{session}?after=1"))

    held = threading.Thread(target=poll, daemon=True)
    held.start()
    with proxied.connect(proxied.host.tcp) as other:
        other.sendall(json.dumps(hello | {"name": "other"}).encode() + b"\n")
        held.join(HANG)
    assert heard[0]["type"] == "begin"
    assert proxied.peer("poller") == CLIENT


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
        connection.sendall(masked(json.dumps({"type": "hello", "name": "framed", "game": "connect-4"})))
        frame = heard.read(2)
        length = frame[1] if frame[1] < 126 else int.from_bytes(heard.read(2))
        assert json.loads(heard.read(length))["type"] == "welcome"
    assert proxied.peer("framed") == CLIENT


def lines(proxied: Proxied, port: int) -> None:
    with proxied.connect(port) as connection, connection.makefile("rb") as heard:
        connection.sendall(b'{"type":"hello","name":"liner","game":"connect-4"}\n')
        assert json.loads(heard.readline())["type"] == "welcome"
    assert proxied.peer("liner") == CLIENT
