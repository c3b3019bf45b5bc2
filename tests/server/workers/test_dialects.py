"""Every dialect sits down with several workers: over sockets, in requests, under TLS, and at the desk."""

import json
import re
import socket
import ssl
import sys
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import trustme

from games.santorini import short
from tests.bench.crowd import scripts
from tests.hang import HANG, wait_for
from tests.server.peers.test_serving import everybody
from tests.server.run import quintain
from tests.server.served import Served
from tests.server.test_certificate import issue
from tests.server.test_matrix import Tcp, Websocket, open_tournament

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on"),
]

ORDER = ("models", "arena", "sockets", "dots", "memo", "polls")  # each third is held by worker 0
SCRIPT = [short(move) for move in scripts("santorini", 1)[0]]


class Line(Tcp):
    """Lines that need not be JSON."""

    def say_plainly(self, text: str) -> None:
        self._socket.sendall(text.encode() + b"\n")


def play_memo(host: Served, name: str) -> None:
    """Santorini as the memo has it: whoever is named has to move, and both know the script."""
    line = Line(host)
    line.say_plainly(name)
    for move in SCRIPT:
        told: Any = line.hear()
        if told[1] == name:
            line.say_plainly(move)
    over: Any = line.hear()
    assert over[0] == "gameOver"
    line.close()


def everybody_at(host: Served) -> dict[str, tuple[str, list[Callable[[], object]]]]:
    memo = "santorini", [lambda: play_memo(host, "ann"), lambda: play_memo(host, "bob")]
    found = {**everybody([host, host]), "memo": memo}
    return {name: found[name] for name in ORDER}


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Served]:
    served = Served(tmp_path, "--workers", "3", "--show", "1")
    yield served
    served.kill()


class AtDesk:
    """A browser at the desk."""

    def __init__(self, host: Served) -> None:
        words = ("admin-link", "--url", f"http://127.0.0.1:{host.http}", "--data", str(host.data))
        code, out, errors = quintain(*words, QUINTAIN_TOKEN="")
        assert code == 0, errors
        self._port = host.http
        self._cookie = ""
        _, headers, _ = self._ask("POST", "/admin/login", secret=out.strip().partition("secret=")[2])
        self._cookie = headers["Set-Cookie"].partition(";")[0]

    def order(self, tournament: str, order: str) -> int:
        _, _, page = self._ask("GET", f"/admin/tournaments/{tournament}")
        found = re.search(r'name="form_token" value="([^"]+)"', page)
        assert found is not None, page
        return self._ask("POST", f"/admin/tournaments/{tournament}/{order}", form_token=found[1])[0]

    def _ask(self, method: str, path: str, **fields: str) -> tuple[int, Any, str]:
        connection = HTTPConnection("127.0.0.1", self._port, timeout=HANG)
        connection.request(method, path, urlencode(fields) or None, {"Cookie": self._cookie})
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, content


def test_bots_of_all_protocols_play_and_the_desk_orders_whichever_worker_holds_their_tournament(
    host: Served,
) -> None:
    cups, desk = everybody_at(host), AtDesk(host)
    for name, (game, bots) in cups.items():
        open_tournament(host, name, game)
        assert [desk.order(name, order) for order in ("freeze", "unfreeze")] == [303, 303]
        with ThreadPoolExecutor(len(bots)) as threads:
            for end in [threads.submit(bot) for bot in bots]:
                end.result(HANG)
    for name in cups:
        wait_for(lambda name=name: host.get(f"/api/tournaments/{name}")[1]["state"] == "finished", name)
        (match,) = host.get(f"/api/tournaments/{name}/matches")[1]["matches"]
        assert match["ending"] == "played"
        standings = host.read(f"/api/tournaments/{name}/standings")["rows"]
        assert sum(row["points"] for row in standings) == 1


class Secure(Websocket):
    """The c4-arena's protocol under TLS."""

    trust: ssl.SSLContext

    def __init__(self, host: Served, trust: ssl.SSLContext) -> None:
        self.trust = trust
        super().__init__(host, "/")

    def _connected(self, port: int) -> socket.socket:
        return self.trust.wrap_socket(super()._connected(port), server_hostname="localhost")


def play_fours(talk: Websocket, name: str) -> None:
    """Connect-4 as the c4-arena has it, from left to right."""
    talk.say({"type": "start", "id": name})
    while (told := talk.hear())["type"] == "state":
        if told["turn"] == told["you"]:
            talk.say({"type": "move", "move": len(told["moves"]) % 2})
    assert told == {"type": "end"}
    talk.close()


def test_connections_under_tls_are_relayed_to_the_worker_that_holds_their_tournament(tmp_path: Path) -> None:
    authority, trust = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(trust)
    issue(authority, tmp_path)
    cups = "".join(
        f'[[tournament]]\nname = "{name}"\ngame = "connect-4"\nentrants = 2\npace = {{ turn = {HANG} }}\n'
        for name in ("one", "two")
    )
    tls = 'tls = { certificate = "host.pem", key = "host.key" }\n'
    (tmp_path / "quintain.toml").write_text(f"{tls}{cups}")
    host = Served(tmp_path, "--workers", "2", "--show", "1")

    def get(path: str) -> Any:
        with urllib.request.urlopen(f"https://localhost:{host.http}{path}", context=trust) as answer:
            return json.load(answer)

    try:
        for name in ("one", "two"):  # one is held by each worker
            with ThreadPoolExecutor(2) as threads:
                for end in [threads.submit(play_fours, Secure(host, trust), f"{name}.{x}") for x in "ab"]:
                    end.result(HANG)
            wait_for(lambda name=name: get(f"/api/tournaments/{name}")["state"] == "finished", name)
            (match,) = get(f"/api/tournaments/{name}/matches")["matches"]
            assert (match["ending"], match["plies"]) == ("played", 7)
    finally:
        host.kill()
