"""Attacks on a host's ports, over real sockets: each does its worst and says what should not have happened.

Each connection comes from an address of its own, unless it is the point of the
attack that it does not. Bounded in count, in bytes and in time, and for loopback
only.
"""

import socket
import struct
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import count, repeat

import trio
from msgspec import Struct
from msgspec.structs import astuple

from server.net.frames import CLOSE, CONTINUATION, FINAL, PING, POLICY, TEXT, TOO_BIG
from server.net.limits import Limits
from tests.fuzz.websocket import frame, handshake
from tests.hang import HANG

LIMITS = Limits()  # those of the host
LATE = b"HTTP/1.1 408"  # they share this process: on a busy machine some come late to their words
SLOW = HANG / 30  # seconds between two bytes of one that is slow
LINE = 20_000_000  # bytes: no buffers between the two hold as much
LITTLE = 1  # byte that the system is asked to keep for one who does not read: it keeps a few thousand
CROWD = 100  # connections to each door in a flood
RUSH = 0.03  # seconds between two of them: an honest bot has 2.5 to say its name before strangers go


class Ports(Struct, frozen=True):
    """Those of the host."""

    tcp: int
    websocket: int
    http: int


Attack = Callable[[Ports], Awaitable[None]]

BYE = frame(b"", CLOSE | FINAL)
NAME = b'{"type":"hello","name":"mallory","game":"quoridor"}\n'
GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
TLS = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(509)
HTTP2 = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00"
SSH = b"SSH-2.0-OpenSSH_9.9\r\n"

ADDRESSES = (f"127.{1 + number // 62_500}.{number // 250 % 250}.{1 + number % 250}" for number in count())


async def connected(port: int, addresses: Iterator[str] = ADDRESSES) -> trio.SocketStream:
    return await trio.open_tcp_stream("127.0.0.1", port, local_address=next(addresses))


async def gone(port: int, content: bytes) -> None:
    """Say that, and drop the connection without a word of farewell."""
    stream = await connected(port)
    await stream.send_all(content)
    stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await trio.aclose_forcefully(stream)


async def told(stream: trio.SocketStream, seconds: float = HANG) -> bytes:
    """All that the host says until it hangs up, which has to be so soon."""
    said = b""
    with trio.move_on_after(seconds) as deadline, suppress(trio.BrokenResourceError):  # also a way to hang up
        while received := await stream.receive_some():
            said += received
    assert not deadline.cancelled_caught, f"the host does not hang up; it said {said[:100]!r}"
    return said


async def says(port: int, content: bytes, seconds: float = HANG) -> bytes:
    """What the host answers to that, before it hangs up; it may have had enough before the end."""
    async with await connected(port) as stream:
        with suppress(trio.BrokenResourceError):
            await stream.send_all(content)
        return await told(stream, seconds)


async def together(*attacks: Callable[[], Awaitable[object]]) -> None:
    async with trio.open_nursery() as nursery:
        for attack in attacks:
            nursery.start_soon(attack)


# Websocket


async def bad_host(host: Ports) -> None:
    for name in (b"\xff", b"\xc3\xa4", b"a\x00b", b"xn--\xff", b"a" * 5000):
        answer = await says(host.websocket, handshake("/").replace(b"localhost", name) + BYE)
        assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 421", LATE), answer


async def bad_subprotocol(host: Ports) -> None:
    for offered in ("\xff", "\x80, a", ",", "a" * 5000):
        answer = await says(host.websocket, handshake("/", f"Sec-WebSocket-Protocol: {offered}") + BYE)
        assert answer[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 101", LATE), answer


async def bad_version_and_gone(host: Ports) -> None:
    for _ in range(20):
        await gone(host.websocket, handshake("/").replace(b": 13", b": 7"))


async def half_a_handshake(host: Ports) -> None:
    async def wait() -> None:
        assert b" 408 " in await says(host.websocket, handshake("/")[:60])

    async def end() -> None:
        async with await connected(host.websocket) as stream:
            await stream.send_all(handshake("/")[:60])
            await stream.send_eof()
            await told(stream)

    await together(*[wait] * 10, *[end] * 10)


async def empty_fragments(host: Ports) -> None:
    flood = frame(b"", TEXT) + frame(b"", CONTINUATION) * 200_000
    assert closed_with(await says(host.websocket, handshake("/") + flood), POLICY)


async def endless_message(host: Ports) -> None:
    flood = frame(b"x" * 30_000, TEXT) + frame(b"x" * 30_000, CONTINUATION) * 100
    assert closed_with(await says(host.websocket, handshake("/") + flood), TOO_BIG)


async def ping_flood(host: Ports) -> None:
    answer = await says(host.websocket, handshake("/play") + frame(b"x" * 100, PING | FINAL) * 10_000)
    assert closed_with(answer, POLICY)
    assert answer.count(b"x" * 100) <= LIMITS.control_frames.credits, "it answers too many pings"


def closed_with(answer: bytes, code: int) -> bool:
    """Or without: what was sent to a host that has hung up can cost its last words, and some come late."""
    return struct.pack(">H", code) in answer or not answer or answer.startswith(LATE)


# HTTP


async def slow_headers(host: Ports) -> None:
    async def drip(stream: trio.SocketStream) -> None:
        with suppress(trio.BrokenResourceError):
            for byte in b"GET /healthz HTTP/1.1\r\nHost: aaaaaa":
                await stream.send_all(bytes((byte,)))
                await trio.sleep(SLOW)

    async def trickle() -> None:
        async with await connected(host.http) as stream, trio.open_nursery() as nursery:
            nursery.start_soon(drip, stream)
            await told(stream)  # it should not wait as long for headers
            nursery.cancel_scope.cancel()

    await together(*[trickle] * 10)


async def slow_body(host: Ports) -> None:
    head = b"POST /play HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"
    assert b" 408 " in await says(host.http, head)


async def smuggled(host: Ports) -> None:
    """A length and chunks at once: where the one ends is another request's beginning."""
    both = (b"Content-Length: 4", b"Transfer-Encoding: chunked")
    for first, second in (both, both[::-1]):
        head = b"\r\n".join((b"POST /play HTTP/1.1", b"Host: localhost", first, second, b"\r\n"))
        answer = await says(host.http, head + b"0\r\n\r\n" + GET)
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert answer.count(b"HTTP/1.1 ") == 1


async def huge_headers(host: Ports) -> None:
    answer = await says(host.http, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"X: y\r\n" * 100_000)
    assert answer[:12] in (b"HTTP/1.1 431", b""), answer


# Any door


async def reset_at_any_byte(host: Ports) -> None:
    """And right after the last one."""
    said = ((host.websocket, handshake("/")), (host.websocket, handshake("/play")), (host.http, GET))
    for port, whole in (*said, (host.tcp, NAME)):
        for size in range(len(whole) + 1):
            await gone(port, whole[:size])


async def silence(host: Ports) -> None:
    """Nothing, or the first letter."""
    await together(*(partial(says, port, begun) for port in astuple(host) for begun in (b"", b"G")))


async def wrong_protocol(host: Ports) -> None:
    strange = [(port, said) for port in astuple(host) for said in (TLS, HTTP2, SSH, bytes(range(256)))]
    strange += [(host.tcp, GET), (host.tcp, handshake("/")), (host.websocket, GET)]
    strange += [(host.websocket, NAME), (host.http, NAME)]
    await together(*(partial(says, port, said) for port, said in strange))


async def endless_line(host: Ports) -> None:
    """Megabytes without an end, to each port."""

    async def pour(port: int, begun: bytes) -> None:
        async with await connected(port) as stream:
            with trio.move_on_after(HANG) as deadline, suppress(trio.BrokenResourceError):
                await stream.send_all(begun)
                for _ in range(LINE >> 20):
                    await stream.send_all(bytes(1 << 20))
                await told(stream)
        assert not deadline.cancelled_caught, "it should hang up on so long a line"

    await together(*(partial(pour, port, begun) for port in astuple(host) for begun in (b"", b"{", b"GET /")))


async def deaf_readers(host: Ports) -> None:
    """They ask for ever more, and read nothing of it."""

    async def ask(port: int, hello: bytes, asked: bytes) -> None:
        async with await connected(port) as stream:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LITTLE)
            with trio.move_on_after(HANG) as deadline, suppress(trio.BrokenResourceError):
                await stream.send_all(hello)
                while True:
                    await stream.send_all(asked)
        assert not deadline.cancelled_caught, "it should be cut"

    await together(
        partial(ask, host.http, b"", b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50),
        partial(ask, host.tcp, NAME, b'{"type":"state"}\n' * 50),
        partial(ask, host.websocket, handshake("/"), frame(b"junk") * 50),
    )


async def deaf_spectators(host: Ports) -> None:
    """They may stay: it is no fault of theirs that little happens. But nobody waits for them."""

    async def watch() -> None:
        async with await connected(host.http) as stream:
            stream.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, LITTLE)
            await stream.send_all(b"GET /api/events?after=0 HTTP/1.1\r\nHost: localhost\r\n\r\n")
            await trio.sleep(LIMITS.outbox_seconds)

    await together(*[watch] * 30)


ATTACKS: tuple[Attack, ...] = (
    *(bad_host, bad_subprotocol, bad_version_and_gone, half_a_handshake),
    *(empty_fragments, endless_message, ping_flood),
    *(slow_headers, slow_body, smuggled, huge_headers),
    *(reset_at_any_byte, silence, wrong_protocol, endless_line, deaf_readers, deaf_spectators),
)


# Floods of connections, in which the oldest strangers are thrown out: nothing else can be seen meanwhile


async def flood_from_one_address(host: Ports) -> None:
    await _flood(host, repeat("127.250.0.1"), LIMITS.connections_per_address)


async def flood_from_everywhere(host: Ports) -> None:
    await _flood(host, ADDRESSES, LIMITS.unauthenticated)


async def _flood(host: Ports, addresses: Iterator[str], most: int) -> None:
    """Connect and say nothing. So many may stay, in a host with time for strangers; the others have to go."""
    staying, few = CROWD * len(astuple(host)), trio.Event()

    async def wait(stream: trio.SocketStream) -> None:
        nonlocal staying
        async with stream:
            await told(stream)
        staying -= 1
        if staying <= most:
            few.set()

    async with trio.open_nursery() as nursery:
        for _ in range(CROWD):
            for port in astuple(host):
                nursery.start_soon(wait, await connected(port, addresses))
            await trio.sleep(RUSH)
        with trio.move_on_after(HANG):
            await few.wait()
        assert few.is_set(), f"{staying} connections stay, and {most} may"
        nursery.cancel_scope.cancel()


FLOODS: tuple[Attack, ...] = (flood_from_one_address, flood_from_everywhere)
