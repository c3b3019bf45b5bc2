"""The configurations of HAProxy and Caddy in `docs/deploy/` for several hosts work: both are run.

Two real hosts share a database. The third of the addresses is a host that is not ready: to that nobody may be
sent. Only addresses and ports are changed, and as whom HAProxy runs, which only root can choose.
"""

import json
import re
import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from tests.deploy.debian import tool
from tests.deploy.passing import (
    BOTS,
    DEPLOY,
    PAGES,
    Proxied,
    everything,
    followed,
    linux,
    running,
)
from tests.hang import wait_for
from tests.lacking import lacking
from tests.ports import free_ports
from tests.server.served import Served
from tests.server.store.postgresql import Server

pytestmark = pytest.mark.slow

ADDRESSES = ("127.0.0.1", "127.0.0.3")
UNREADY = "127.0.0.4"
TOKEN = "a-token-of-the-organiser"
REQUESTS = 12  # that could have gone to a host that is not ready
NOT_READY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


class Unready:
    """A host that drains: it says so, and counts how often it was asked that, and what else came."""

    def __init__(self, port: int) -> None:
        self.asked = 0
        self.others = 0
        self._socket = socket.create_server((UNREADY, port))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                if connection.recv(65536).startswith(b"GET /readyz "):
                    self.asked += 1
                    connection.sendall(NOT_READY)
                else:
                    self.others += 1

    def close(self) -> None:
        self._socket.close()


class Cluster(Struct):
    hosts: list[Served]
    unready: Unready
    port: int  # of HTTP, the same at all addresses
    logged: list[dict[str, Any]]

    def addressed(self, text: str) -> str:
        """With the addresses of these hosts."""
        for number, (address, host) in enumerate(zip(ADDRESSES, self.hosts, strict=True), 1):
            for port, real in ((8000, host.tcp), (8001, host.websocket), (8080, self.port)):
                text = text.replace(f"10.0.0.{number}:{port}", f"{address}:{real}")
        text = re.sub(r"10\.0\.0\.3:\d+", f"{UNREADY}:{self.port}", text)
        return text.replace("health_port 8080", f"health_port {self.port}")


@pytest.fixture(scope="module")
def cluster(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    (port,), url = free_ports(1), server.database()
    logged: list[dict[str, Any]] = []
    with pytest.MonkeyPatch.context() as environment, ExitStack() as stack:
        environment.setenv("QUINTAIN_PROXIES", '["127.0.0.1"]')
        environment.setenv("QUINTAIN_TOKEN", TOKEN)
        environment.setenv("QUINTAIN_HOSTS", json.dumps([PAGES, BOTS]))

        def start(address: str, folder: Path) -> Served:
            flags = ("--bind", address, "--peers", f"{address}:0", "--show", "1", "--store", url)
            host = Served(folder, *flags, "--log-format", "json", http=port)
            stack.callback(host.kill)
            followed(host, logged)
            return host

        folders = [tmp_path_factory.mktemp("host") for _ in ADDRESSES]
        with ThreadPoolExecutor() as pool:
            hosts = [*pool.map(start, ADDRESSES, folders)]
        unready = Unready(port)
        stack.callback(unready.close)
        yield Cluster(hosts, unready, port, logged)


def haproxy(folder: Path, cluster: Cluster) -> tuple[list[str], int, int | None]:
    if (program := tool("haproxy")) is None:
        lacking("there is no haproxy: tests/prepare.sh fetches Debian's")
    web, tcp = free_ports(2)
    text = cluster.addressed((DEPLOY / "haproxy.cfg").read_text())
    text = re.sub(r"^    (user|group) haproxy\n", "", text, flags=re.MULTILINE)
    for usual, port in ((80, web), (4000, tcp)):
        text = text.replace(f"bind :{usual} ", f"bind 127.0.0.1:{port} ")
    (folder / "haproxy.cfg").write_text(text)
    return [program, "-db", "-f", str(folder / "haproxy.cfg")], web, tcp


def caddy(folder: Path, cluster: Cluster) -> tuple[list[str], int, int | None]:
    if (program := tool("caddy")) is None:
        lacking("there is no caddy: tests/prepare.sh fetches Debian's")
    (web,) = free_ports(1)
    text = cluster.addressed((DEPLOY / "Caddyfile.hosts").read_text())
    text = re.sub(
        r"^(\S+\.example\.org) \{", rf"http://\1:{web} {{\n\tbind 127.0.0.1", text, flags=re.MULTILINE
    )
    (folder / "Caddyfile").write_text("{\n\tadmin off\n}\n" + text)
    return [program, "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")], web, None


Balancer = Callable[[Path, Cluster], tuple[list[str], int, int | None]]


@linux
@pytest.mark.parametrize("balancer", [haproxy, caddy], ids=lambda balancer: balancer.__name__)
def test_bots_and_requests_come_to_whichever_host_is_ready_and_hosts_know_who_comes(
    balancer: Balancer, cluster: Cluster, tmp_path: Path
) -> None:
    command, web, tcp = balancer(tmp_path, cluster)
    asked = cluster.unready.asked
    cluster.logged.clear()
    with running(tmp_path, command, web):
        wait_for(lambda: cluster.unready.asked > asked + 2, "what asks hosts whether they are ready")
        others = cluster.unready.others
        proxied = Proxied(cluster.logged, web, tcp, cluster.hosts[0].tcp)
        everything(proxied)
        turns(proxied)
        changes(proxied, balancer.__name__)
        if tcp is not None:
            pairs(proxied, tcp)
    assert cluster.unready.others == others


def turns(proxied: Proxied) -> None:
    """Whoever shows no token comes to all hosts, and all say the same of each other."""
    asked = [proxied.read("GET", "/api/hosts")["hosts"] for _ in range(REQUESTS)]
    assert {host["host"] for hosts in asked for host in hosts if host["this"]} == {1, 2}
    assert {tuple(host["host"] for host in hosts) for hosts in asked} == {(1, 2)}


def changes(proxied: Proxied, name: str) -> None:
    """What an organiser has just changed is there for the organiser's next request, at whatever host."""
    shown = {"Authorization": f"Bearer {TOKEN}"}
    for number in range(REQUESTS // 3):
        cup = f"{name}-{number}"
        with proxied.asked("POST", "/api/tournaments", {"name": cup, "game": "connect-4"}, **shown) as opened:
            assert opened.status == 201, opened.read()
        with proxied.asked("POST", f"/api/tournaments/{cup}/invite", {"name": cup}, **shown) as invited:
            assert invited.status in (200, 201), invited.read()
        for path in ("", f"/{cup}"):
            with proxied.asked("GET", f"/api/tournaments{path}", **shown) as found:
                assert f'"{cup}"' in found.read().decode()


def pairs(proxied: Proxied, port: int) -> None:
    """Bots that come in the same moment meet, wherever each of them comes in, also if they are the first."""
    for number in range(REQUESTS // 3):
        bots = [proxied.connect(port) for _ in range(2)]
        try:
            for side, bot in zip("ab", bots, strict=True):
                hello = {"type": "hello", "name": f"pair-{number}{side}", "game": "santorini"}
                bot.sendall(json.dumps(hello).encode() + b"\n")
            for bot in bots:
                with bot.makefile("rb") as heard:
                    told = [json.loads(heard.readline())["type"] for _ in range(2)]
                    assert told == ["welcome", "begin"]
        finally:
            for bot in bots:
                bot.close()
