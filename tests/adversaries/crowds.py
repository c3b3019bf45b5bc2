"""Attackers with connections and bytes: mostly those of `tests/attacks`, again and again."""

from collections.abc import Awaitable, Callable
from functools import partial
from itertools import cycle, repeat
from random import Random

from tests.adversaries.ground import Ground
from tests.attacks import attacks
from tests.attacks.attacks import Attack, connected, gone, says, together, told
from tests.fuzz.websocket import frame, handshake

BOMBS = (  # JSON that is cheap to send
    b"[" * 4000,
    b'{"a":' * 500 + b"1" + b"}" * 500,
    b'{"type":"hello","name":' + b"9" * 4000 + b"}",
    b'{"type":"hello","name":"\\ud800","game":"quoridor"}',
    b'{"type":"hello","name":"x","name":"y","game":1e999}',
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b"NaN",
)
LINES = 30  # of junk on a connection, more than it may have
RARELY = 20  # goes, of which one is a hundred megabytes long
ALONE = "127.251.0.1"  # the address of those idlers who all come from one

Act = Callable[[Ground], Awaitable[None]]


def one_after_another(*chosen: Attack) -> Act:
    """Each in its turn, however many do this."""
    turns = cycle(chosen)

    async def act(ground: Ground) -> None:
        await next(turns)(ground.ports)

    return act


async def idle(ground: Ground) -> None:
    """Connect, say nothing, and come again when hung up on."""
    for port in (ground.ports.tcp, ground.ports.websocket, ground.ports.http):
        async with await connected(port) as stream:
            await told(stream)
        async with await connected(port, repeat(ALONE)) as stream:
            await told(stream)


async def junk(ground: Ground) -> None:
    """Lines, frames and bodies that mean nothing; now and then lines without an end, and other protocols."""
    if ground.tries["junk"] % RARELY == 0:
        await attacks.endless_line(ground.ports)
        await attacks.wrong_protocol(ground.ports)
    ports, random = ground.ports, Random(ground.tries["junk"])
    bomb = random.choice(BOMBS)
    noise = b"".join(
        random.randbytes(random.randrange(200)).replace(b"\n", b"") + b"\n" for _ in range(LINES)
    )
    length = f"Content-Length: {len(bomb)}\r\n\r\n".encode()
    posts = [
        f"POST {path} HTTP/1.1\r\nHost: localhost\r\n".encode() for path in ("/play", "/", "/quoridor/join")
    ]
    close = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    await together(
        partial(gone, ports.tcp, noise),
        partial(says, ports.tcp, attacks.NAME + noise),
        partial(says, ports.tcp, bomb + b"\n" + noise),
        partial(says, ports.websocket, handshake("/") + frame(bomb) * LINES + attacks.BYE),
        partial(says, ports.websocket, handshake("/play") + frame(bomb) * LINES + attacks.BYE),
        *(partial(says, ports.http, post + length + bomb + close) for post in posts),
    )


async def half_closed(ground: Ground) -> None:
    """Whoever has said all and listens on, or is gone at any byte."""

    async def half(port: int, said: bytes) -> None:
        async with await connected(port) as stream:
            await stream.send_all(said)
            await stream.send_eof()
            await told(stream)

    ports = ground.ports
    hello = b'{"type":"hello","name":"mallory%d","game":"quoridor"}\n' % ground.tries["resets"]
    await together(
        partial(half, ports.tcp, b""),
        partial(half, ports.tcp, hello),
        partial(half, ports.websocket, handshake("/play") + frame(hello)),
        partial(half, ports.http, attacks.GET),
        partial(half, ports.http, b"POST /play HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{"),
        partial(attacks.reset_at_any_byte, ports),
    )


slow = one_after_another(attacks.slow_headers, attacks.slow_body, attacks.half_a_handshake, attacks.silence)
frames = one_after_another(
    *(attacks.empty_fragments, attacks.endless_message, attacks.ping_flood),
    *(attacks.bad_host, attacks.bad_subprotocol, attacks.bad_version_and_gone),
)
