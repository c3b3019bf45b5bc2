"""The websocket door: handshakes, frames as they come over a connection, and how connections end.

What is said over them is tested with the protocols, and how frames are read in `test_frames.py`.
"""

import socket
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from functools import partial
from time import process_time
from typing import Any

import msgspec
import pytest
import trio
import trio.testing
from hypothesis import given
from structlog.testing import capture_logs
from trio.testing import MockClock
from trio_websocket import ConnectionRejected, open_websocket_url, wrap_client_stream
from wsproto.connection import Connection, ConnectionType
from wsproto.events import CloseConnection, Event, Pong, TextMessage

from server.host.host import Host
from server.net.admission import NO_PROXIES, Admission
from server.net.frames import CLOSE, PING, PONG, TEXT
from server.net.hosts import Hosts
from server.net.limits import Limits, Rate
from server.net.listening import listeners, serve
from server.net.proxies import Proxies
from server.net.wire import READ
from server.protocols.websocket import attend
from tests.effort import tries
from tests.hang import HANG
from tests.server.cutting import cut, places
from tests.server.ends import LOST, in_memory
from tests.server.net.test_frames import FORBIDDEN, frame, part
from tests.server.protocols.fours import table
from tests.server.protocols.room import SlowToEnter
from tests.server.transcripts import hosting
from tests.server.windowed import End, Weather, windowed_pair
from tournament.causes import Disconnected
from tournament.events import Fault
from tournament.facts import State, Turned
from tournament.match import Match
from tournament.store import Store

Connect = Callable[[], Coroutine[Any, Any, "Client"]]

KEY = b"dGhlIHNhbXBsZSBub25jZQ=="
ACCEPTED = b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # what RFC 6455 answers to that key
LINES = {
    "request": b"GET / HTTP/1.1",
    "host": b"Host: localhost",
    "upgrade": b"Upgrade: websocket",
    "connection": b"Connection: Upgrade",
    "key": b"Sec-WebSocket-Key: " + KEY,
    "version": b"Sec-WebSocket-Version: 13",
}


def head(*more: bytes, **lines: bytes | None) -> bytes:
    """A handshake, with some lines in other words, or without them."""
    kept = [line for line in (LINES | lines).values() if line is not None]
    return b"\r\n".join((*kept, *more, b"", b""))


def said(type: str, **more: Any) -> bytes:
    return frame(msgspec.json.encode({"type": type, **more}))


class Client:
    """The far end of a connection: bytes out, and whatever comes back."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        assert isinstance(stream, End)
        self.end = stream
        self.answer = b""  # to the handshake
        self.over = False  # the door has said its last
        self.heard: deque[Event] = deque()
        self._frames = Connection(ConnectionType.CLIENT)

    async def listen(self) -> None:
        try:
            while received := await self.end.receive_some():
                if b"\r\n\r\n" in self.answer:
                    self._read(received)
                    continue
                self.answer += received
                if self.answer.startswith(b"HTTP/1.1 101"):
                    whole, found, frames = self.answer.partition(b"\r\n\r\n")
                    self.answer = whole + found
                    self._read(frames)
        except LOST:
            pass
        self.over = True

    def _read(self, received: bytes) -> None:
        self._frames.receive_data(received)
        self.heard.extend(self._frames.events())

    async def send(self, *pieces: bytes) -> None:
        for piece in pieces:
            await self.end.send_all(piece)
            await trio.testing.wait_all_tasks_blocked()

    async def say(self, type: str, **more: Any) -> None:
        await self.send(said(type, **more))

    def messages(self) -> list[dict[str, Any]]:
        """The messages since the last look; nothing else may have come."""
        heard, self.heard = self.heard, deque()
        assert all(isinstance(event, TextMessage) for event in heard), heard
        return [msgspec.json.decode(event.data) for event in heard]

    @property
    def code(self) -> int:
        """With which the door has closed, as the last thing that it did."""
        closed = self.heard[-1]
        assert isinstance(closed, CloseConnection), closed
        return int(closed.code)


@asynccontextmanager
async def door(
    limits: Limits | None = None,
    weather: Weather | None = None,
    proxies: Proxies = NO_PROXIES,
    hosts: Hosts | None = None,
    settings: Mapping[str, str] | None = None,
    store: Store | None = None,
) -> AsyncIterator[tuple[Host, Connect]]:
    """A host, and how clients connect to its door."""
    async with hosting(settings or {}, limits, store) as (host, nursery):
        admission = Admission(host.limits, proxies=proxies, hosts=hosts)
        connect = in_memory(host, attend, Client, weather=weather, admission=admission)

        async def come(*, deaf: bool = False) -> Client:
            client = await connect()
            assert isinstance(client, Client)
            if not deaf:
                nursery.start_soon(client.listen)
            return client

        yield host, come


async def come_in(connect: Connect, path: bytes = b"/") -> Client:
    client = await connect()
    await client.send(head(request=b"GET " + path + b" HTTP/1.1"))
    assert client.answer.startswith(b"HTTP/1.1 101 ")
    return client


async def pair(connect: Connect) -> tuple[Client, Client]:
    """Two that have begun a match of Connect-4; the one that is to move first."""
    ann, bob = await come_in(connect), await come_in(connect)
    await ann.say("start", id="Ann")
    await bob.say("start", id="Bob")
    return (ann, bob) if ann.messages()[0]["you"] < bob.messages()[0]["you"] else (bob, ann)


# Handshakes


@pytest.mark.parametrize("path", [b"/", b"/play", b"/?", b"/?name=ann", b"/play?x=/"])
@pytest.mark.parametrize(
    "more",
    [
        (),
        (b"Origin: https://somewhere.else",),
        (b"Origin: null",),
        (b"Cookie: session=stolen",),
        (b"Sec-WebSocket-Protocol: chat, superchat",),
        (b"Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits",),
    ],
    ids=lambda lines: lines[0].decode()[:30] if lines else "as it is",
)
async def test_a_handshake_is_accepted_and_nothing_that_is_offered_is(
    path: bytes, more: tuple[bytes, ...], autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        client = await connect()
        await client.send(head(*more, request=b"GET " + path + b" HTTP/1.1"))
        status, *lines = client.answer.removesuffix(b"\r\n\r\n").split(b"\r\n")
        assert status == b"HTTP/1.1 101 Switching Protocols"
        assert sorted(line.lower().split(b":")[0] for line in lines) == [
            b"connection",
            b"sec-websocket-accept",
            b"upgrade",
        ]
        assert any(line.endswith(ACCEPTED) for line in lines)


REFUSED = {
    "no websocket": (head(upgrade=None, connection=None, key=None, version=None), 400),
    "no upgrade": (head(upgrade=None), 400),
    "another upgrade": (head(upgrade=b"Upgrade: h2c"), 400),
    "no connection": (head(connection=None), 400),
    "no key": (head(key=None), 400),
    "no version": (head(version=None), 400),
    "an old version": (head(version=b"Sec-WebSocket-Version: 8"), 426),
    "no host": (head(host=None), 400),
    "two hosts": (head(b"Host: elsewhere"), 400),
    "a host that is no ASCII": (head(host=b"Host: \xff"), 400),
    "a host in broken punycode": (head(host=b"Host: xn--\x7f"), 400),
    "a host in punycode that is cut off": (head(host=b"Host: xn--999999999"), 400),
    "a subprotocol that is no ASCII": (head(b"Sec-WebSocket-Protocol: \xff"), 400),
    "no connection to be upgraded": (head(b"Connection: close", connection=b"Connection: keep-alive"), 400),
    "a connection that is no ASCII": (head(connection=b"Connection: \xff"), 400),
    "an extension that is no ASCII": (head(b"Sec-WebSocket-Extensions: \xff"), 400),
    "a host that is too long": (head(host=b"Host: " + b"x" * 513), 400),
    "a path that is no ASCII": (head(request=b"GET /\xff HTTP/1.1"), 400),
    "a POST": (head(request=b"POST / HTTP/1.1"), 400),
    "a method that is none": (head(request=b"GE\x00T / HTTP/1.1"), 400),
    "a header without a name": (head(b": x"), 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
    "two blank lines": (b"\r\n\r\n", 400),
    "two blank lines and a request": (b"\r\n\r\n" + head(), 400),
    "noise": (bytes(range(256)) + b"\r\n\r\n", 400),
    "another path": (head(request=b"GET /chat HTTP/1.1"), 404),
    "another path below": (head(request=b"GET /play/ HTTP/1.1"), 404),
    "a path with all kinds of things": (head(request=b'GET /<script>alert("x")</script> HTTP/1.1'), 404),
    "too long a head": (head(b"X: " + b"x" * 20_000), 431),
    "many headers": (head(*[b"X: x"] * 5000), 431),
    "no end": (b"X" * 100_000, 431),
}


@pytest.mark.parametrize(("content", "status"), REFUSED.values(), ids=list(REFUSED))
async def test_whatever_else_comes_is_refused_in_a_sentence_and_nothing_fails(
    content: bytes, status: int, autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        client = await connect()
        await client.send(content)
        assert client.answer.startswith(b"HTTP/1.1 %d " % status)
        top, _, body = client.answer.partition(b"\r\n\r\n")
        assert b"Content-Length: %d" % len(body) in top
        assert b"Sec-WebSocket-Version: 13" in top
        assert body.isascii()
        assert len(body.splitlines()) == 1
        assert client.over


@pytest.mark.parametrize(
    ("one", "other"), [(b"Upgrade", b"keep-alive"), (b"keep-alive", b"upgrade"), (b" a ,Upgrade ", b"")]
)
async def test_the_options_of_a_connection_may_come_in_several_lines(
    one: bytes, other: bytes, autojump_clock: MockClock
) -> None:
    """As RFC 9110 (5.3) says of every header that is a list: a proxy may add one of its own."""
    async with door() as (_, connect):
        client = await connect()
        await client.send(head(b"connection:" + other, connection=b"Connection: " + one) + frame(b"!", PING))
        assert client.answer.startswith(b"HTTP/1.1 101 ")
        assert [*client.heard] == [Pong(b"!")]


@pytest.mark.parametrize(
    "line",
    [
        b"Host: x" + b" " * 15_000 + b"x",
        b"Host: xn--" + b"x" * 15_000 + b"y",
        b"X: x\r\nConnection: x" + b" " * 15_000 + b"x",
    ],
    ids=["blanks in a host", "punycode", "blanks in a connection"],
)
async def test_a_handshake_takes_no_longer_for_what_its_headers_say(
    line: bytes, autojump_clock: MockClock
) -> None:
    """Catches one packet of anybody's that held up all matches for two seconds."""

    async def cost(content: bytes) -> float:
        async with door() as (_, connect):
            client, began = await connect(), process_time()
            await client.send(content)
            assert client.answer
            return process_time() - began

    usual = min([await cost(head(b"X: " + b"x" * 15_000)) for _ in range(3)])
    found = min([await cost(head(host=line)) for _ in range(3)])
    assert found < 100 * usual


@pytest.mark.parametrize("cut", [0, 1, 2, 3])
async def test_one_empty_line_before_a_handshake_is_skipped(cut: int, autojump_clock: MockClock) -> None:
    """As RFC 9112 (2.2) asks of every server, however it comes."""
    async with door() as (_, connect):
        client = await connect()
        content = b"\r\n" + head() + frame(b"!", PING)
        await client.send(content[:cut])
        await client.send(content[cut:])
        assert client.answer.startswith(b"HTTP/1.1 101 ")
        assert [*client.heard] == [Pong(b"!")]


@pytest.mark.parametrize(
    ("target", "host", "status"),
    [
        (b"http://localhost/play?name=ann", b"localhost", 101),
        (b"HTTP://localhost:80", b"localhost", 101),
        (b"http://localhost/nowhere", b"localhost", 404),
        (b"http://evil.example/", b"localhost", 421),
        (b"http://localhost/", b"evil.example", 101),
    ],
)
async def test_a_handshake_may_ask_for_a_whole_address_whose_host_then_counts(
    target: bytes, host: bytes, status: int, autojump_clock: MockClock
) -> None:
    """RFC 6455 (4.2.1) allows it; RFC 9112 (3.2.2) says which of the two names counts."""
    async with door(hosts=Hosts()) as (_, connect):
        client = await connect()
        await client.send(head(request=b"GET " + target + b" HTTP/1.1", host=b"Host: " + host))
        assert client.answer.startswith(b"HTTP/1.1 %d " % status)


async def test_frames_may_come_in_one_piece_with_the_handshake(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        client = await connect()
        await client.send(head() + said("start") + frame(b"!", PING))
        ignored, pong = client.heard
        assert isinstance(ignored, TextMessage)
        assert msgspec.json.decode(ignored.data)["reason"] == "You need to include an id"
        assert pong == Pong(b"!")


@pytest.mark.slow
@pytest.mark.parametrize("begun", [b"", b"\r", b"\r\n", b"\r\nGE", head()[:40], b"GET /" + b"x" * 1000])
async def test_half_a_handshake_is_held_for_5_seconds_and_after_the_peers_end_not_at_all(
    begun: bytes, autojump_clock: MockClock
) -> None:
    async with door(Limits(handshake_seconds=5.0)) as (_, connect):
        client, leaver = await connect(), await connect()
        await client.send(begun)
        await leaver.send(begun)
        await leaver.end.send_eof()
        await trio.sleep(4.9)
        assert (client.over, leaver.over) == (False, True)
        await trio.sleep(0.2)
        assert client.over
        assert (client.answer[:13], leaver.answer) == (b"HTTP/1.1 408 ", b"")


@pytest.mark.parametrize(
    ("said", "repeated"),
    [
        (b'{"type":"hello"}\n', '{"type":"hello"}'),
        (b"\r\nann\n", "ann"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", r"SSH-2.0-OpenSSH_9.2\r"),
        (b"\x16\x03\x01\x02\x00\x01", r"\x16\x03\x01\x02\x00\x01"),
    ],
)
async def test_whoever_speaks_something_else_hears_at_once_what_is_spoken_here(
    said: bytes, repeated: str, autojump_clock: MockClock
) -> None:
    """Catches a bot at the wrong port that waits five seconds to hear that a handshake takes five seconds."""
    async with door() as (_, connect):
        client = await connect()
        await client.send(said)
        told = client.answer.partition(b"\r\n\r\n")[2].decode()
        assert (client.over, client.answer[:13]) == (True, b"HTTP/1.1 400 ")
        assert told.startswith(
            f"expected a line such as GET / HTTP/1.1, not '{repeated}'; bots speak websocket here"
        )


async def test_whoever_resets_in_the_handshake_is_let_go_at_once(autojump_clock: MockClock) -> None:
    async with hosting({}) as (host, _):
        wire, end = windowed_pair()
        await end.send_all(head()[:20])
        end.reset()
        visitor = Admission(host.limits).admit(wire)
        assert visitor is not None
        await attend(host, wire, visitor)
        assert trio.current_time() == 0.0


@pytest.mark.parametrize("ours", [True, False])
async def test_behind_a_proxy_of_ours_a_bot_comes_from_where_the_proxy_says(
    ours: bool, autojump_clock: MockClock
) -> None:
    """And where it is not ours, to name another address each time helps nobody."""
    limits = Limits(wrong_tokens=Rate(1, 60.0))
    async with door(limits, proxies=Proxies(["192.0.2.1"]) if ours else NO_PROXIES) as (_, connect):

        async def told(client: bytes, token: str) -> dict[str, Any]:
            bot = await connect()
            request = b"GET /play HTTP/1.1"
            await bot.send(
                head(b"X-Forwarded-For: 192.0.2.77", b"x-forwarded-for: " + client, request=request)
            )
            await bot.say("hello", name="ann", game="quoridor", token=token)
            return msgspec.json.decode(next(each.data for each in bot.heard if isinstance(each, TextMessage)))

        assert (await told(b"203.0.113.5", "the right one, which is long"))["type"] == "welcome"
        clients = [b"203.0.113.5", b"203.0.113.5", b"203.0.113.6"]
        reasons = [(await told(client, "a wrong one"))["reason"] for client in clients]
        assert ["too many wrong tokens" in reason for reason in reasons] == [False, True, not ours]


def session(against: str) -> bytes:
    return head() + b"".join(
        (
            said("start", id="Ann", against=against),
            frame(b"still there?", PING),
            part(b'{"type":"mo', TEXT),
            frame(b"and now?", PING),
            part(b've","move":9}', final=True),
            said("nonsense", more="x" * 200),
            frame(b"\x03\xe8done", CLOSE),
        )
    )


EACH = 5  # byte after which somebody leaves: odd, as every other time the host has read by then


@pytest.mark.slow
@pytest.mark.parametrize("rudely", [False, True])
async def test_whoever_leaves_after_whichever_byte_costs_nobody_anything(
    rudely: bool, autojump_clock: MockClock
) -> None:
    """Catches what kills a server that was copied from the library's manual: a reset within the handshake."""
    async with door() as (host, connect):
        content = session("random")
        for place in range(0, len(content) + 1, tries(EACH, 1)):
            client = await connect(deaf=rudely)
            await client.end.send_all(content[:place])
            if place % 2:
                await trio.testing.wait_all_tasks_blocked()
            if rudely:
                client.end.reset()
            else:
                await client.end.aclose()
            await trio.testing.wait_all_tasks_blocked()
        await trio.sleep(10.0)
        assert list(host.lobby.players()) == []
        await pair(connect)


@pytest.mark.slow
@given(places)
async def test_however_a_session_is_cut_it_is_answered_the_same(at: list[int]) -> None:
    async with door() as (_, connect):
        whole, pieces = await connect(), await connect()
        await whole.send(session("nobody who comes"))
        await pieces.send(*cut(session("nobody who comes"), at))
        assert whole.answer == pieces.answer
        assert [*whole.heard] == [*pieces.heard]
        assert whole.code == 1000


async def test_somebody_who_never_reads_is_cut_though_it_is_still_shaking_hands(
    autojump_clock: MockClock,
) -> None:
    async with door(weather=Weather(window=50)) as (host, connect):
        client = await connect(deaf=True)
        for byte in range(0, len(head()), 50):
            await client.send(head()[byte : byte + 50])
        await trio.sleep(host.limits.outbox_seconds + 1.0)
        with pytest.raises(trio.BrokenResourceError):
            await client.send(b"x" * 100)


# Frames, and who breaks what they are held to


@pytest.mark.parametrize(("content", "code"), FORBIDDEN.values(), ids=list(FORBIDDEN))
async def test_what_the_standard_forbids_ends_the_connection_with_its_code(
    content: bytes, code: int, autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        client = await come_in(connect)
        await client.send(content + said("start", id="Ann"))
        assert client.code == code
        assert client.over


async def test_nothing_is_heard_that_comes_after_what_ended_the_connection(autojump_clock: MockClock) -> None:
    async with door() as (host, connect):
        client = await come_in(connect)
        await client.send(
            frame(b"\xff") + said("start", id="Ann"), said("start", id="Ann"), b"\xff" * 100_000
        )
        assert list(host.lobby.players()) == []
        assert [type(event) for event in client.heard] == [CloseConnection]


async def test_a_message_of_64_kib_is_heard_and_one_of_more_closes_with_1009(
    autojump_clock: MockClock,
) -> None:
    async with door(Limits(message_bytes=65536)) as (_, connect):
        client = await come_in(connect)
        await client.send(frame(b"x" * 65536))
        assert client.messages()[0]["type"] == "ignored"
        await client.send(frame(b"x" * 65537))
        assert client.code == 1009


@pytest.mark.parametrize("piece", [b"", b"x"])
async def test_whoever_sends_a_message_in_endless_parts_is_cut_off(
    piece: bytes, autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        client = await come_in(connect)
        await client.send(part(b"x", TEXT) + part(piece) * 200_000)
        assert client.code == 1008
        assert client.over


async def test_a_ping_is_answered_with_what_it_holds_also_within_a_message(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        client = await come_in(connect)
        await client.send(
            frame(b"", PING) + part(b'{"type":', TEXT) + frame(b"\x00\xff" * 62, PING) + frame(b"", PONG)
        )
        assert [*client.heard] == [Pong(b""), Pong(b"\x00\xff" * 62)]
        client.heard.clear()
        await client.send(part(b'"x"}', final=True))
        assert client.messages()[0]["msg"] == {"type": "x"}


@pytest.mark.parametrize("opcode", [PING, PONG])
async def test_pings_and_pongs_may_come_so_often_and_more_close_with_1008(
    opcode: int, autojump_clock: MockClock
) -> None:
    async with door(Limits(control_frames=Rate(20, 10.0))) as (_, connect):
        client = await come_in(connect)
        await client.send(frame(b"", opcode) * 20)
        await trio.sleep(10.0)
        await client.send(frame(b"", opcode) * 20)
        assert not client.over
        client.heard.clear()
        await client.send(frame(b"", opcode) * 2)
        assert client.code == 1008
        assert len(client.heard) == 1


async def test_a_flood_of_pings_costs_the_opponent_nothing(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        first, second = await pair(connect)
        await first.say("move", move=3)
        second.messages()
        await second.send(frame(b"x" * 125, PING) * 10_000)
        assert second.code == 1008
        assert [message["type"] for message in first.messages()] == ["state", "state", "disconnected"]


# How a connection ends


@pytest.mark.parametrize("payload", [b"", b"\x03\xe8", b"\x03\xe9going away", b"\x0f\xa0"])
async def test_a_close_is_answered_with_its_code_and_the_end(
    payload: bytes, autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        client = await come_in(connect)
        await client.send(frame(payload, CLOSE))
        assert client.code == (int.from_bytes(payload[:2], "big") or 1005)
        assert client.over


async def test_whoever_closes_in_the_middle_of_a_match_has_left_it_at_once(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        first, second = await pair(connect)
        await second.send(frame(b"\x03\xe8", CLOSE))
        assert [message["type"] for message in first.messages()] == ["state", "disconnected"]


@pytest.mark.parametrize("how", ["end", "aclose", "reset"])
async def test_so_has_whoever_leaves_without_a_word(how: str, autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        first, second = await pair(connect)
        match how:
            case "end":
                await second.end.send_eof()
            case "aclose":
                await second.end.aclose()
            case _:
                second.end.reset()
        await trio.testing.wait_all_tasks_blocked()
        assert [message["type"] for message in first.messages()] == ["state", "disconnected"]


async def test_whoever_breaks_the_standard_in_a_match_is_hung_up_on_and_that_is_kept(
    autojump_clock: MockClock,
) -> None:
    begun = list[Match]()
    async with door() as (host, connect):
        host.on_begun.append(lambda tournament, match: begun.append(match))
        first, second = await pair(connect)
        await second.send(frame(b"\xff"))
        assert [message["type"] for message in first.messages()] == ["state", "disconnected"]
        result = begun[0].result
        assert result is not None
        (cause,) = result.cause
        assert isinstance(cause, Disconnected)
        assert cause.why == "a text is UTF-8, and this one has an invalid start byte"
        assert result.fault is Fault.BOT


async def test_whoever_does_not_answer_a_close_is_waited_for_only_so_long(autojump_clock: MockClock) -> None:
    async with door(Limits(linger_seconds=2.0)) as (_, connect):
        client = await come_in(connect)
        await client.send(frame(b"\xff"))
        await trio.sleep(1.9)
        await client.send(b"still here")
        await trio.sleep(0.2)
        with pytest.raises(trio.BrokenResourceError):
            await client.send(b"and now?", b"and now?")


async def test_the_arena_closes_with_1008_on_whoever_floods_it(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        client = await come_in(connect)
        await client.send(frame(b"?") * 1000)
        assert client.code == 1008
        closed = client.heard[-1]
        assert isinstance(closed, CloseConnection)
        assert closed.reason == "too many messages"


async def test_the_arena_closes_with_1000_on_whoever_waits_when_its_tournament_is_over(
    autojump_clock: MockClock,
) -> None:
    """Client libraries raise an error for most other codes, and the bot has done nothing wrong."""
    cup = {"tournament": "cup", "game": "connect-4", "format": "round-robin", "entrants": "2"}
    async with door(settings=cup) as (host, connect):
        client = await come_in(connect)
        await client.say("start", id="Ann")
        await host.tournaments["cup"].keep(Turned(State.FINISHED))
        await trio.testing.wait_all_tasks_blocked()
        assert client.code == 1000
        closed = client.heard[-1]
        assert isinstance(closed, CloseConnection)
        assert closed.reason == "cup is over"


async def test_a_flood_out_of_turn_is_read_a_piece_at_a_time_and_holds_up_nobody(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that is kept busy by what it passes over. Whoever stops is heard again."""
    async with door(weather=Weather(window=READ)) as (host, connect):
        first, second = await pair(connect)
        flood, began = said("move", move=3) * 10_000, trio.current_time()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(second.end.send_all, flood)
            await trio.sleep(10.0)
            played = trio.current_time()
            await first.say("move", move=3)
            assert (first.messages()[-1]["moves"], trio.current_time()) == ([3], played)
        took, pieces = trio.current_time() - began, len(flood) / READ
        pause = host.limits.flood_pause_seconds
        assert (pieces - 3) * pause < took < (pieces + 3) * pause
        await trio.sleep(1.0)
        second.messages()
        now = trio.current_time()
        await first.say("move", move=3)
        await second.say("state_request")
        assert trio.current_time() == now
        assert not second.over


async def test_whoever_is_not_answered_now_and_then_is_never_left_unread(autojump_clock: MockClock) -> None:
    """Catches a legal move of a client in use that is late because others before it were not answered."""
    async with door(Limits(messages=Rate(100, 20.0))) as (_, connect):
        first, second = await pair(connect)
        for _ in range(3):
            await second.send(said("move", move=3) * 100)
            await first.say("move", move=3)
            now = trio.current_time()
            await second.say("move", move=2)
            assert (second.messages()[-1]["last-move"], trio.current_time()) == (2, now)
            await trio.sleep(20.0)


async def test_the_house_closes_with_1000_on_whoever_says_bye(autojump_clock: MockClock) -> None:
    async with door() as (_, connect):
        client = await come_in(connect, b"/play")
        await client.say("hello", name="ann", game="tic-tac-toe")
        assert client.messages()[0]["type"] == "welcome"
        await client.say("bye")
        assert client.code == 1000


async def test_the_house_waits_5_seconds_for_a_hello_that_it_can_accept_and_the_arena_for_ever(
    autojump_clock: MockClock,
) -> None:
    async with door(Limits(hello_seconds=5.0)) as (_, connect):
        silent, refused, ann = [await come_in(connect, b"/play") for _ in range(3)]
        arena = await come_in(connect)
        await trio.sleep(4.0)
        await refused.say("hello", name="Draw", game="tic-tac-toe")
        await ann.say("hello", name="ann", game="tic-tac-toe")
        assert [client.messages()[0]["type"] for client in (refused, ann)] == ["refused", "welcome"]
        await trio.sleep(1.1)
        assert (silent.code, refused.code) == (1008, 1008)
        await trio.sleep(3600.0)
        assert (silent.over, refused.over, ann.over, arena.over) == (True, True, False, False)
        await ann.say("hello", name="Draw", game="tic-tac-toe")  # for another it has any time
        await trio.sleep(3600.0)
        assert not ann.over


@pytest.mark.parametrize("before", [0, 1, 40])
async def test_whoever_shakes_hands_or_says_hello_while_the_host_stands_still_is_let_in(
    before: int, autojump_clock: MockClock
) -> None:
    """`before` that, so many bytes of the request have come."""
    async with door() as (host, connect):
        new, ann, silent = await connect(), await come_in(connect, b"/play"), await come_in(connect, b"/play")
        await new.send(head()[:before])
        autojump_clock.jump(2 * host.limits.hello_seconds)
        await trio.testing.wait_all_tasks_blocked()
        await new.send(head()[before:])
        await ann.say("hello", name="ann", game="tic-tac-toe")
        assert new.answer.startswith(b"HTTP/1.1 101 ")
        assert [message["type"] for message in ann.messages()] == ["welcome"]
        await trio.sleep(1.0)
        assert silent.code == 1008, "and whoever says nothing is not waited for"


async def test_that_the_host_is_slow_to_let_a_bot_in_is_not_the_bots_fault(autojump_clock: MockClock) -> None:
    async with door(Limits(hello_seconds=5.0), store=SlowToEnter()) as (_, connect):
        ann = await come_in(connect, b"/play")
        await ann.say("hello", name="ann", game="tic-tac-toe")
        await trio.sleep(30.0)
        assert [message["type"] for message in ann.messages()] == ["welcome"]


async def test_a_player_that_never_reads_is_cut_and_its_opponent_waits_for_nothing(
    autojump_clock: MockClock,
) -> None:
    begun = list[Match]()
    async with door(weather=Weather(window=400)) as (host, connect):
        host.on_begun.append(lambda tournament, match: begun.append(match))
        deaf, bob = await connect(deaf=True), await come_in(connect)
        await deaf.send(head() + said("start", id="Ann"))
        await bob.say("start", id="Bob", against="Ann")
        (now,) = bob.messages()
        while now["moves"] != [3, 3, 3, 3]:
            mover = bob if now["turn"] == now["you"] else deaf
            await mover.say("move", move=3)
            (now,) = bob.messages()
        assert trio.current_time() == 0.0
        await trio.sleep(host.limits.outbox_seconds + 1.0)
        assert [message["type"] for message in bob.messages()] == ["state", "disconnected"]
        result, why = begun[0].result, f"it took nothing for {host.limits.outbox_seconds:g} s"
        assert result is not None
        assert result.why == f"Ann left the match, because the host hung up on it ({why})"


@pytest.mark.parametrize("turn", [0, 1], ids=["on its turn", "while its opponent thinks"])
async def test_the_log_says_why_a_bot_was_cut_that_does_not_speak_websocket_and_not_that_it_has_left(
    turn: int, autojump_clock: MockClock
) -> None:
    async with door() as (_, connect):
        bot = (await pair(connect))[turn]
        with capture_logs() as logs:
            await bot.send(frame(b"x", mask=False))
        cause = bot.heard[-1]
        assert isinstance(cause, CloseConnection)
        (cut_off,) = [each for each in logs if each["event"] == "cut"]
        assert cut_off["why"] == cause.reason
        assert cut_off["player"] in ("Ann", "Bob")
        assert [each for each in logs if each.get("player") == cut_off["player"]] == [cut_off]


async def test_when_the_host_stops_nobody_has_left_a_match(autojump_clock: MockClock) -> None:
    begun = list[Match]()
    async with door() as (host, connect):
        host.on_begun.append(lambda tournament, match: begun.append(match))
        await pair(connect)
    assert begun[0].verdict is None


async def test_somebody_who_has_started_is_no_longer_a_stranger(autojump_clock: MockClock) -> None:
    """A flood of connections that say nothing drives out itself, and no bot."""
    async with door(Limits(unauthenticated=3)) as (_, connect):
        silent, ann = await come_in(connect), await come_in(connect)
        await ann.say("start", id="Ann")
        for _ in range(10):
            await come_in(connect)
        assert (silent.over, ann.over) == (True, False)


# Over real sockets, with the library's own client


@asynccontextmanager
async def real_door(limits: Limits | None = None) -> AsyncIterator[tuple[Host, trio.Nursery, int]]:
    with trio.fail_after(HANG):
        async with hosting({}, limits) as (host, nursery):
            (listener,) = await listeners("127.0.0.1", 0, host.limits)
            port = listener.getsockname()[1]
            admission = Admission(host.limits)
            serving = partial(serve, guard=host.guard, admission=admission, limits=host.limits)
            nursery.start_soon(serving, listener, partial(attend, host))
            yield host, nursery, port


async def test_the_librarys_own_client_plays_a_match() -> None:
    async with real_door() as (host, _, port):
        async with open_websocket_url(f"ws://127.0.0.1:{port}") as bot:
            await bot.send_message('{"type":"start","id":"Ann","against":"random"}')
            told = msgspec.json.decode(await bot.get_message())
            while told["type"] == "state":
                if told["turn"] == told["you"]:
                    column = next(c for c in range(7) if not told["state"][6 * c + 5])
                    await bot.send_message(f'{{"type":"move","move":{column}}}')
                told = msgspec.json.decode(await bot.get_message())
            assert told == {"type": "end"}
            await bot.ping()
        assert len(table(host).matches) == 1


@pytest.mark.slow
async def test_a_flood_over_a_real_socket_loses_nothing_and_its_sender_plays_on() -> None:
    async with real_door(Limits(flood_pause_seconds=0.001)) as (_, _, port):
        url = f"ws://127.0.0.1:{port}"
        async with open_websocket_url(url) as ann, open_websocket_url(url) as bob:
            await ann.send_message('{"type":"start","id":"Ann"}')
            for _ in range(3000):
                await ann.send_message('{"type":"state_request"}')
            await bob.send_message('{"type":"start","id":"Bob"}')
            while '"ignored"' in (told := await ann.get_message()):
                pass
            assert '"moves":[]' in told


async def test_the_librarys_own_client_says_hello_to_the_house() -> None:
    async with real_door() as (_, _, port), open_websocket_url(f"ws://127.0.0.1:{port}/play") as bot:
        await bot.send_message('{"type":"hello","name":"ann","game":"quoridor"}')
        assert msgspec.json.decode(await bot.get_message())["type"] == "welcome"


async def test_the_librarys_own_client_is_told_where_nothing_is() -> None:
    async with real_door() as (_, _, port), await trio.open_tcp_stream("127.0.0.1", port) as stream:
        refusals = list[ConnectionRejected]()
        try:
            async with trio.open_nursery() as nursery:
                await wrap_client_stream(nursery, stream, "localhost", "/chat")
        except* ConnectionRejected as errors:
            refusals.extend(errors.exceptions)
        (refused,) = refusals
        assert refused.status_code == 404
        assert b"the c4-arena at /" in refused.body


@pytest.mark.parametrize("place", [0, 1, 20, len(head()) - 1, len(head()), len(head()) + 3])
async def test_real_resets_cost_nobody_anything(place: int) -> None:
    async with real_door() as (host, _, port):
        async with open_websocket_url(f"ws://127.0.0.1:{port}") as bot:
            for _ in range(20):
                with socket.create_connection(("127.0.0.1", port)) as rude:
                    rude.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                    rude.sendall((head() + said("start", id="Ann"))[:place])
                await trio.lowlevel.checkpoint()
            await bot.send_message("still there?")
            assert "ignored" in await bot.get_message()
        assert not host.guard.caught
