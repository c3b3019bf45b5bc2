"""What strangers may use up, and what they may not get: as far as it shows on a wire."""

import contextlib
import json
import re

import pytest

from tests.blackbox.ends import Asking, Frames, Lines, Wire, ask, fresh, request
from tests.blackbox.inspected import Address, Inspected

pytestmark = pytest.mark.slow


def said(address: Address, sent: bytes) -> bytes:
    """All that comes back on a connection that is closed by the other end."""
    with Wire(address) as wire:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            wire.send(sent)
        return wire.rest()


def alive(host: Inspected) -> bool:
    return host.process.poll() is None and ask(host.http, "GET", "/healthz").status == 200


@pytest.mark.parametrize(
    ("head", "statuses"),
    [
        (b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", (400,)),
        (b"Content-Length: 5000\r\n\r\n", (413,)),
        (b"Content-Length: 99999999999999999999\r\n\r\n", (400, 413)),
        (b"Content-Length: -5\r\n\r\n", (400,)),
        (b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", (400,)),
        (b"Transfer-Encoding: chunked\r\n\r\nzz\r\n", (400,)),
        (b"Transfer-Encoding: gzip\r\n\r\n", (400, 501)),
        (b"X: " + b"y" * 17_000 + b"\r\n\r\n", (400, 431)),
        (b"".join(b"X%d: y\r\n" % number for number in range(4000)) + b"\r\n", (400, 431)),
        (b"No colon\r\n\r\n", (400,)),
    ],
    ids=[
        "TE+CL",
        "large",
        "huge",
        "negative",
        "two",
        "chunk",
        "gzip",
        "long header",
        "many headers",
        "colon",
    ],
)
def test_a_request_that_may_not_be_is_refused_and_closed(
    host: Inspected, head: bytes, statuses: tuple[int, ...]
) -> None:
    answer = said(host.http, b"POST / HTTP/1.1\r\nHost: localhost\r\n" + head)
    status = re.match(rb"HTTP/1.1 (\d+)", answer)
    assert status is None or int(status[1]) in statuses, answer
    assert answer or b"y" * 100 in head or b"X3999" in head, "a refusal may be lost where much was unread"
    assert b"Traceback" not in answer


def test_a_body_in_chunks_has_the_same_cap(host: Inspected) -> None:
    """One byte more is too many. All of it comes at once, so that no refusal is lost with what was unread."""
    head = b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    full, end = 4 * (b"400\r\n" + b"x" * 1024 + b"\r\n"), b"0\r\n\r\n"
    assert said(host.http, head + full + b"1\r\nx\r\n" + end).startswith(b"HTTP/1.1 413")
    assert said(host.http, head + full + end).startswith(b"HTTP/1.1 400"), "it is no game"


GARBAGE = {
    "nul": b"\x00" * 5000,
    "utf-16": b"\xff\xfe" * 3000,
    "all": bytes(range(256)) * 20,
    "ssh": b"SSH-2.0-OpenSSH_9.6\r\n" * 50,
    "empty lines": b"\r\n" * 3000,
}


@pytest.mark.parametrize("door", ["tcp", "websocket", "http"])
def test_garbage_ends_its_own_connection_and_nothing_else(host: Inspected, door: str) -> None:
    """Within the five seconds that whoever comes has to say who it is; they pass for all kinds at once."""
    with contextlib.ExitStack() as wires:
        sent = {kind: wires.enter_context(Wire(getattr(host, door))) for kind in GARBAGE}
        for kind, wire in sent.items():
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                wire.send(GARBAGE[kind])
            assert alive(host), kind
        for wire in sent.values():
            wire.rest()
    assert alive(host)
    assert "Traceback" not in host.said()


@pytest.mark.parametrize(
    "target",
    [
        "*",
        "http://elsewhere/healthz",
        "//healthz",
        "/%00",
        "/../../etc/passwd",
        "/g/%2e%2e",
        "/?" + "q" * 2000,
    ],
)
def test_odd_targets_are_answered_below_500(host: Inspected, target: str) -> None:
    answer = said(host.http, request("GET", target, host.http, Connection="close"))
    status = re.match(rb"HTTP/1.1 (\d+)", answer)
    assert status is not None, answer
    assert int(status[1]) < 500
    assert b"root:" not in answer


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"])
@pytest.mark.parametrize("path", ["/", "/games", "/play", "/tic-tac-toe/join", "/api/games", "/nothing"])
def test_every_method_on_every_path_is_answered_below_500(host: Inspected, method: str, path: str) -> None:
    assert ask(host.http, method, path, b"" if method != "GET" else None).status < 500


def test_old_and_terse_clients_are_served(host: Inspected) -> None:
    for sent in (
        b"GET /healthz HTTP/1.0\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
        b"GET /healthz HTTP/1.1\r\nHOST:localhost\r\nCONNECTION:Close\r\n\r\n",
    ):
        assert b" 200 " in said(host.http, sent).split(b"\r\n")[0]


def test_ten_wrong_tokens_a_minute_from_an_address_and_no_more(host: Inspected) -> None:
    """Also, whoever has the right one from elsewhere is not shut out."""
    name = fresh("guarded")
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": name, "game": "quoridor"})
        token = bot.hear()["token"]
        bot.say({"type": "state"})
        bot.hear()
        answers: list[str] = []
        for _ in range(14):
            with Lines(host.tcp, source="127.0.0.77") as stranger:
                stranger.say({"type": "hello", "name": name, "token": "x" * 22, "game": "quoridor"})
                answers.append(json.dumps(stranger.hear()))
        assert token not in "".join(answers)
        assert answers[0] == answers[9] != answers[10], "the eleventh is told something else"
        with Lines(host.tcp, source="127.0.0.77") as stranger:
            stranger.say({"type": "hello", "name": name, "token": "y" * 22, "game": "quoridor"})
            stranger.rest()
        guess = {"type": "hello", "name": name, "token": "z" * 22, "game": "quoridor"}
        answer = Asking(host.http, "POST", "/play", guess, source="127.0.0.77").answer()
        assert answer.status == 429
        with Lines(host.tcp, source="127.0.0.78") as owner:
            owner.say({"type": "hello", "name": name, "token": token, "game": "quoridor"})
            assert owner.hear()["type"] == "welcome"


def test_there_is_no_oracle_of_names(host: Inspected) -> None:
    """A wrong token for a name that is here, and no token at all, are answered alike."""
    name = fresh("here")
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": name, "game": "quoridor"})
        bot.hear()
        bot.say({"type": "state"})
        bot.hear()
        reasons: list[str] = []
        for more in ({}, {"token": "x" * 22}):
            with Lines(host.tcp, source="127.0.0.79") as stranger:
                stranger.say({"type": "hello", "name": name, "game": "quoridor", **more})
                reasons.append(stranger.hear()["reason"])
        assert reasons[0] == reasons[1]


def test_two_with_one_token_do_not_take_each_others_place_for_ever(host: Inspected) -> None:
    name = fresh("twins")
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": name, "game": "quoridor"})
        token = bot.hear()["token"]
        kinds: list[str] = []
        wires = [bot]
        for _ in range(8):
            wire = Lines(host.tcp)
            wires.append(wire)
            wire.say({"type": "hello", "name": name, "token": token, "game": "quoridor"})
            kinds.append(wire.hear()["type"])
        for wire in wires[1:]:
            wire.close()
        assert kinds[:5] == ["welcome"] * 5, "five in a minute"
        assert kinds[-1] == "refused"


def test_a_name_whose_token_was_never_acknowledged_may_be_claimed_again(host: Inspected) -> None:
    """The welcome may have been lost on its way."""
    name = fresh("lost")
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": name, "game": "quoridor"})
        bot.hear()
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": name, "game": "quoridor"})
        assert bot.hear()["type"] == "welcome"


@pytest.mark.parametrize("pair", [("Ann", "ANN"), ("Bob", "\uff22ob"), ("paul", "p\u0430ul")])
def test_names_that_look_alike_are_one(host: Inspected, pair: tuple[str, str]) -> None:
    """Under NFKC, case folding and the confusable skeleton; each in a run of its own prefix."""
    prefix = fresh("q")
    with Lines(host.tcp) as one, Lines(host.tcp) as two:
        one.say({"type": "hello", "name": prefix + pair[0], "game": "quoridor"})
        assert one.hear()["type"] == "welcome"
        one.say({"type": "state"})
        one.hear()
        two.say({"type": "hello", "name": prefix + pair[1], "game": "quoridor"})
        assert two.hear()["type"] == "refused"


def test_messages_beyond_a_hundred_in_twenty_seconds_end_the_connection(host: Inspected) -> None:
    with Lines(host.tcp) as bot:
        bot.say({"type": "hello", "name": fresh("chatty"), "game": "quoridor"})
        bot.hear()
        for _ in range(200):
            try:
                bot.say({"type": "state"})
            except (BrokenPipeError, ConnectionResetError):
                break
        bot.rest()


def test_a_fast_bot_is_not_a_chatty_one(host: Inspected) -> None:
    """The one answer to each question is free: many short matches on one connection."""
    with Lines(host.tcp) as one, Lines(host.tcp) as two:
        bots = {fresh("fast"): one, fresh("fast"): two}
        for name, bot in bots.items():
            bot.say({"type": "hello", "name": name, "game": "tic-tac-toe"})
            bot.hear()
        order = ["C", "NW", "N", "W", "S"]
        for _ in range(60):
            seats = {bot.hear()["you"]: bot for bot in bots.values()}
            for bot in bots.values():
                bot.hear()
            for ply, move in enumerate(order):
                seats["OX"[ply % 2]].say({"type": "move", "ply": ply, "move": move})
                assert [bot.hear()["type"] for bot in bots.values()] == ["turn", "turn"]
            assert [bot.hear()["type"] for bot in bots.values()] == ["end", "end"]


def test_a_bot_that_never_reads_holds_up_nobody(host: Inspected) -> None:
    with Frames(host.websocket) as deaf, Frames(host.websocket) as other:
        deaf.say({"type": "start", "id": fresh("deaf"), "against": "random"})
        try:
            for _ in range(3000):
                deaf.say({"type": "state_request"})
        except (BrokenPipeError, ConnectionResetError, TimeoutError):
            pass
        other.say({"type": "start", "id": fresh("other"), "against": "random"})
        assert other.hear()["type"] == "state"


def test_what_a_bot_is_told_is_never_more_than_twice_what_it_said_and_some(host: Inspected) -> None:
    with Frames(host.websocket) as wire:
        wire.say({"type": "x", "junk": "y" * 60_000})
        _, payload = wire.read()
        assert len(payload) < 600
        assert json.loads(payload)["type"] == "ignored"


def test_a_refusal_over_http_leaves_the_connection_usable(host: Inspected) -> None:
    with Wire(host.http) as wire:
        for _ in range(3):
            wire.send(request("POST", "/", host.http, {"rows": 4, "cols": 4}))
            head = wire.until(b"\r\n\r\n").decode().lower()
            assert "400" in head.splitlines()[0]
            size = re.search(r"content-length: (\d+)", head)
            assert size is not None
            wire.exactly(int(size[1]))


def test_the_host_called_nobody_inside_on_a_strangers_word(host: Inspected) -> None:
    """Addresses that are not loopback but private, in every spelling, are not called."""
    for url in (
        "http://10.0.0.1:8080",
        "http://169.254.169.254",
        "http://[::ffff:10.0.0.1]:8080",
        "http://user@example.org",
        "ftp://example.org",
        "http://224.0.0.1:8080",
        "http://127.0.0.1:22",
        "http://[64:ff9b::a00:1]:8080",
        "nonsense",
        "",
    ):
        answer = Asking(
            host.http, "POST", "/tic-tac-toe/evaluate", {"teamUrl": url}, source="127.0.0.80"
        ).answer()
        assert 400 <= answer.status < 500, url
        assert list(answer.json) == ["error"]
