"""Who can make the host call whom: an internal service beside it counts how often it is posted to."""

import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from tests.blackbox.ends import Answer, Frames, Wire, ask, form, fresh, request
from tests.blackbox.forked import ForkedHost
from tests.blackbox.inspected import Inspected
from tests.hang import wait_for
from tests.ports import refusing

pytestmark = pytest.mark.slow

SETTINGS = """
proxies = ["127.0.0.1"]
hosts = ["arena.example"]
origins = ["https://club.example"]
"""
STRANGERS = {  # what proxies add, and those who pretend to be one
    "X-Forwarded-For": "203.0.113.5",
    "x_forwarded_for": "127.0.0.1",
    "Forwarded": "for=203.0.113.5",
    "Via": "1.1 proxy",
    "X-Real-IP": "203.0.113.5",
    "X-Forwarded-Proto": "https",
    "CF-Connecting-IP": "203.0.113.5",
}
FOREIGN = (
    "https://evil.example",
    "http://evil.example:8080",
    "null",
    "http://localhost.evil.example",
    "",
    "x",
)
REBOUND = (
    "evil.example",
    "evil.example:8080",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "10.0.0.1",
)
SENT_AS = ("application/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data")


class Internal:
    """A service on loopback that is nobody's business."""

    def __init__(self) -> None:
        self.posts: list[str] = []
        service = self

        class Endpoint(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                service.posts.append(self.path)
                self.send_error(500)

            def log_message(self, format: str, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self._stack = ExitStack()
        self.closed = f"http://127.0.0.1:{self._stack.enter_context(refusing())}"  # where nothing listens
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.05,))
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()
        self._stack.close()


@contextmanager
def untouched() -> Generator[Internal]:
    """One that nobody has posted to at the end."""
    service = Internal()
    try:
        yield service
        assert service.posts == []
    finally:
        service.close()


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """A host on its defaults, for bots that are called and never come: somebody might be dealt to them."""
    with ForkedHost(tmp_path_factory.mktemp("plain"), "--data", "kept") as started:
        yield started


@pytest.fixture(scope="module")
def set_up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Inspected]:
    """A host with a proxy in front, under a name of its own, and with a site that may do more."""
    folder = tmp_path_factory.mktemp("set-up")
    (folder / "quintain.toml").write_text(SETTINGS)
    with ForkedHost(folder, "--data", "kept", QUINTAIN_SHOW="1") as started:
        yield started


def evaluate(host: Inspected, url: str, **headers: str) -> Answer:
    return ask(host.http, "POST", "/tic-tac-toe/evaluate", {"teamUrl": url}, **headers)


def join(host: Inspected, url: str, **headers: str) -> Answer:
    body = {"name": fresh("called"), "teamUrl": url}
    return ask(host.http, "POST", "/tic-tac-toe/join", body, **headers)


Calls = Callable[..., Answer]


@pytest.mark.parametrize("call", [evaluate, join])
@pytest.mark.parametrize("header", STRANGERS)
def test_a_stranger_behind_a_proxy_has_nobody_called_and_learns_nothing(
    host: Inspected, set_up: Inspected, header: str, call: Calls
) -> None:
    with untouched() as internal:
        for each in (host, set_up):
            anywhere = (internal.url, internal.closed, "http://localhost:1", "http://no-such.example", "junk")
            answers = [call(each, url, **{header: STRANGERS[header]}) for url in anywhere]
            assert len({(answer.status, answer.body) for answer in answers}) == 1, "an oracle"
            assert (answers[0].status, b"evaluation.networks" in answers[0].body) == (403, True)


def test_a_proxy_that_adds_nothing_is_known_by_its_old_http_or_by_its_name(set_up: Inspected) -> None:
    """By default nginx speaks HTTP/1.0 to what is behind it; told otherwise, it can pass on the name."""
    with untouched() as internal:
        asked = request("POST", "/tic-tac-toe/evaluate", set_up.http, {"teamUrl": internal.url})
        old = asked.replace(b" HTTP/1.1", b" HTTP/1.0", 1)
        named = request(
            "POST", "/tic-tac-toe/evaluate", set_up.http, {"teamUrl": internal.url}, Host="arena.example"
        )
        for sent in (old, named.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1)):
            with Wire(set_up.http) as wire:
                wire.send(sent)
                assert wire.rest().startswith(b"HTTP/1.1 403 ")


def test_nobody_has_the_score_sent_where_it_may_not_have_a_bot_called(host: Inspected) -> None:
    with untouched() as internal:
        asked = {"teamUrl": internal.url, "callbackUrl": internal.url}
        answer = ask(host.http, "POST", "/quoridor/evaluate", asked, Via="1.1 proxy")
        assert answer.status == 403


@pytest.mark.parametrize("call", [evaluate, join])
@pytest.mark.parametrize("origin", FOREIGN)
def test_no_page_of_another_site_has_anybody_called(host: Inspected, origin: str, call: Calls) -> None:
    with untouched() as internal:
        for kind in SENT_AS:
            for url in (internal.url, internal.closed):
                answer = call(host, url, Origin=origin, Content_Type=kind)
                assert (answer.status, b"origins" in answer.body) == (403, True)
        body = form(teamUrl=internal.url, name=fresh())
        for path in ("/tic-tac-toe/join", "/Tic-Tac-Toe/Join/", "/quoridor/evaluate", "/QUORIDOR/evaluate/"):
            assert ask(host.http, "POST", path, body, Origin=origin).status == 403


def test_a_page_of_any_site_may_play(host: Inspected) -> None:
    """Over HTTP and over a websocket; and whoever says nothing of where it is from is no browser."""
    with Frames(host.websocket, "/", extra="Origin: https://evil.example\r\n") as bot:
        assert bot.greeting.startswith("HTTP/1.1 101 ")
    created = ask(host.http, "POST", "/", {"rows": 3, "cols": 3}, Origin="https://evil.example")
    assert created.status == 201
    hello = {"type": "hello", "name": fresh(), "game": "quoridor"}
    played = ask(host.http, "POST", "/play", hello, Origin="null")
    assert played.status == 201
    left = ask(host.http, "POST", f"/play/{played.json['session']}", {"type": "bye"}, Origin="null")
    assert left.status < 300, "it would wait at the open table for another minute"


@pytest.mark.parametrize("origin", FOREIGN)
def test_no_page_of_another_site_orders_anything_even_with_the_organisers_token(
    host: Inspected, origin: str
) -> None:
    for kind in SENT_AS:
        cup = {"name": fresh("cup"), "game": "quoridor"}
        refused = ask(
            host.http, "POST", "/api/tournaments", cup, Origin=origin, Content_Type=kind, **host.organiser()
        )
        assert (refused.status, b"origins" in refused.body) == (403, True)
        assert ask(host.http, "GET", f"/api/tournaments/{cup['name']}").status == 404


def test_a_site_that_is_listed_may_do_all_of_that(set_up: Inspected) -> None:
    allowed = {"Origin": "https://club.example", "Sec-Fetch-Site": "cross-site"}
    cup = {"name": fresh("cup"), "game": "quoridor"}
    made = ask(set_up.http, "POST", "/api/tournaments", cup, **allowed, **set_up.organiser())
    assert (made.status, made.headers["access-control-allow-origin"]) == (201, "*")
    asks = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    granted = ask(set_up.http, "OPTIONS", "/api/tournaments", None, **allowed, **asks)
    assert (granted.status, "Authorization" in granted.headers["access-control-allow-headers"]) == (204, True)
    internal = Internal()
    try:
        assert evaluate(set_up, internal.url, **allowed).status == 200
        wait_for(lambda: internal.posts, "a call")
    finally:
        internal.close()


def test_whoever_is_on_the_machine_itself_has_it_called_as_ever(plain: Inspected, set_up: Inspected) -> None:
    for each in (plain, set_up):
        internal = Internal()
        try:
            assert evaluate(each, internal.url).status == 200
            assert join(each, internal.url).status in (202, 409), "a bot plays one battle at a time"
            own = f"http://{each.http[0]}:{each.http[1]}"
            assert evaluate(each, internal.closed, Origin=own).status == 200, "a page of the host itself"
            wait_for(lambda posts=internal.posts: posts, "a call")
        finally:
            internal.close()


@pytest.mark.parametrize("name", REBOUND)
def test_a_name_that_is_not_ours_leads_nowhere(host: Inspected, set_up: Inspected, name: str) -> None:
    """A page whose name has been rebound to 127.0.0.1 is of one origin with us, but the name is its own."""
    with untouched() as internal:
        for path in ("/", "/healthz", "/api/tournaments", "/admin"):
            assert ask(host.http, "GET", path, Host=name).status == 421
        same = {"Host": name, "Origin": f"http://{name}", "Sec-Fetch-Site": "same-origin"}
        for call in (evaluate, join):
            assert call(host, internal.url, **same).status == 421
        cup = {"name": fresh("cup"), "game": "quoridor"}
        refused = ask(host.http, "POST", "/api/tournaments", cup, **same, **host.organiser())
        assert (refused.status, b"`hosts`" in refused.body, b"`proxies`" in refused.body) == (421, True, True)
        assert handshake(host, name).startswith(b"HTTP/1.1 421 ")
        assert handshake(set_up, name).startswith(b"HTTP/1.1 101 "), "it is from a proxy of ours"
        assert ask(set_up.http, "GET", "/healthz", Host=name).status == 200


def handshake(host: Inspected, name: str) -> bytes:
    with Wire(host.websocket) as wire:
        wire.send(
            f"GET /play HTTP/1.1\r\nHost: {name}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        return wire.until(b"\r\n")


@pytest.mark.parametrize(
    "name", ["localhost", "LocalHost:1", "127.0.0.1", "[::1]:8080", "127.3.2.1:99", "", socket.gethostname()]
)
def test_our_own_names_lead_here_whatever_the_port(host: Inspected, name: str) -> None:
    assert ask(host.http, "GET", "/healthz", Host=name).status == 200
    assert handshake(host, name or "localhost").startswith(b"HTTP/1.1 101 ")


def test_an_old_client_without_a_host_is_served(host: Inspected) -> None:
    with Wire(host.http) as wire:
        wire.send(b"GET /healthz HTTP/1.0\r\n\r\n")
        assert wire.rest().startswith(b"HTTP/1.1 200 ")


def test_whoever_guesses_the_organisers_token_is_slowed_down_and_shuts_out_nobody_else(
    set_up: Inspected,
) -> None:
    def order(client: str, token: str) -> Answer:
        headers = {"X-Forwarded-For": client, "Authorization": f"Bearer {token}"}
        return ask(set_up.http, "POST", "/api/tournaments/none/start", **headers)

    (right,) = (value.removeprefix("Bearer ") for value in set_up.organiser().values())
    answers = [order("203.0.113.5", f"guess {number}") for number in range(15)]
    assert [answer.status for answer in answers] == [401] * 10 + [429] * 5
    assert int(answers[-1].headers["retry-after"]) > 0
    assert b"`limits.wrong_tokens`" in answers[-1].body
    assert order("203.0.113.6", "a first guess").status == 401, "somebody else's budget"
    for client in ("203.0.113.5", "203.0.113.6"):
        assert order(client, right).status == 404, "the organiser is never shut out"
