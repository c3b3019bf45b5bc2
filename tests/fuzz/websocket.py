"""The websocket door: the c4-arena at `/`, the house protocol at `/play`, and every kind of frame."""

from functools import partial
from random import Random
from struct import pack

from games.catalogue import catalogue
from server.host.host import Host
from server.net.frames import BINARY, CLOSE, CONTINUATION, FINAL, MASKED, PING, PONG, RESERVED, TEXT
from server.protocols import websocket
from tests.fuzz.ground import Attended, Door, Served
from tests.fuzz.line import HOUSE_ALSO, hello, moves
from tests.fuzz.sessions import Hear, Leave, Say, Step, Tongue


def frame(payload: bytes, opcode: int = TEXT | FINAL, mask: bytes = b"\x00\x00\x00\x00") -> bytes:
    """As a client sends it."""
    size = len(payload)
    if size < 126:
        head = pack(">BB", opcode, MASKED | size)
    elif size < 1 << 16:
        head = pack(">BBH", opcode, MASKED | 126, size)
    else:
        head = pack(">BBQ", opcode, MASKED | 127, size)
    return head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))


def packed(message: bytes, random: Random) -> bytes:
    """Mostly as every client does, and sometimes as none does, but rightly."""
    mask = random.randbytes(4)
    match random.randrange(12):
        case 0:
            half = random.randrange(len(message) + 1)
            ping = frame(b"?", PING | FINAL) if random.randrange(2) else b""
            return (
                frame(message[:half], TEXT, mask) + ping + frame(message[half:], CONTINUATION | FINAL, mask)
            )
        case 1:
            return frame(message, BINARY | FINAL, mask)
        case _:
            return frame(message, mask=mask if len(message) < 5000 else bytes(4))


def handshake(path: str, *headers: str) -> bytes:
    lines = (
        f"GET {path} HTTP/1.1",
        "Host: localhost:8001",
        "Connection: Upgrade",
        "Upgrade: websocket",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *headers,
    )
    return "\r\n".join((*lines, "", "")).encode("latin-1")


def shaken(path: str, *headers: str) -> tuple[Step, ...]:
    return Say(handshake(path, *headers), raw=True), Hear()


ODD_HANDSHAKES = (
    shaken("/", "Sec-WebSocket-Protocol: \xff"),
    shaken("/", "Sec-WebSocket-Protocol: a, b", "Origin: null", "Cookie: a=b"),
    shaken("/", "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits"),
    shaken("/", "Sec-WebSocket-Version: 12"),
    shaken("/", "Transfer-Encoding: chunked"),
    shaken("/nowhere"),
    shaken("/play?a=b"),
    shaken("http://\xff/"),
    (Say(handshake("/").replace(b"localhost", b"\xff"), raw=True), Leave("reset")),
    (Say(handshake("/").replace(b": 13", b": 7"), raw=True), Leave("reset")),
    (Say(handshake("/"), raw=True), Leave("reset")),
    (Say(handshake("/")[:-2], raw=True), Leave("finish")),
    (Say(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", raw=True), Hear()),
    (Say(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", raw=True), Hear()),
)
ODD_FRAMES = tuple(
    Say(sent, raw=True)
    for sent in (
        frame(b"", PING | FINAL),
        frame(b"x" * 125, PING | FINAL) * 30,
        frame(b"", PONG | FINAL) * 30,
        frame(b"x" * 126, PING | FINAL),
        frame(b"", PING),
        frame(b"", TEXT),
        frame(b"", TEXT) + frame(b"", CONTINUATION) * 100,
        frame(b"", CONTINUATION | FINAL),
        frame(b"a", TEXT) + frame(b"b"),
        frame(b"\xc3", TEXT) + frame(b"\xa4", CONTINUATION | FINAL),
        frame(b"\xff"),
        frame(b"\xed\xa0\x80"),
        frame(b"", 0x3 | FINAL),
        frame(b"", TEXT | FINAL | RESERVED),
        b"\x81\x02{}",  # not masked
        b"\x81\xff" + b"\xff" * 8,
        b"\x81\xff" + pack(">Q", 1 << 40) + bytes(4),
        b"\x81\xfe" + pack(">H", 3) + bytes(4) + b"abc",  # in more bytes than it needs
        frame(b"x" * 70_000),
        frame(b"x" * 40_000, BINARY) + frame(b"x" * 40_000, CONTINUATION | FINAL),
        frame(b"", CLOSE | FINAL),
        frame(b"\x03\xe8bye", CLOSE | FINAL),
        frame(b"\x03", CLOSE | FINAL),
        frame(b"\x03\xee", CLOSE | FINAL),
        frame(b"\x03\xe8\xff", CLOSE | FINAL),
        frame(b"\x03\xe8", CLOSE | FINAL) + frame(b'{"type":"state_request"}') * 3,
    )
)

START = Say(b'{"type":"start","id":"$name$","against":null}')
CHALLENGE = Say(b'{"type":"start","id":"$name$","against":"random"}')
ALSO = (
    START,
    Say(b'{"type":"start","id":"$name$"}'),
    CHALLENGE,
    Say(b'{"type":"start","id":"$name$","against":"$rival$"}'),
    Say(b'{"type":"start","id":"random"}'),
    Say(b'{"type":"start"}'),
    Say(b'{"type":"state_request"}'),
    Say(b'{"type":"state_request"}', times=4),
    Say(b'{"type":"move","move":3}'),
    Say(b'{"type":"move","move":[3]}'),
    Say(b"junk"),
)


def arena(start: Say, enter: tuple[Step, ...] = shaken("/")) -> Tongue:
    return Tongue(
        game="connect-4",
        enter=(*enter, start, Hear()),
        answers=(Say(b'{"type":"move","move":$move$}', asked=True), Say(b'{"type":"move","move":$move$}')),
        also=(*ALSO * 3, *ODD_FRAMES),
    )


def house(game: str) -> Tongue:
    return Tongue(
        game=game,
        enter=(*shaken("/play"), hello(game), Hear()),
        answers=moves(),
        also=(*HOUSE_ALSO * 3, *ODD_FRAMES),
    )


def serve(host: Host) -> Served:
    return Served(partial(websocket.attend, host), waits)


def waits(attended: Attended) -> bool:
    """Whoever has shaken hands may be silent for as long as he likes: clients block in their own input."""
    _, end = attended.ends
    return attended.stranger.greetings.get(end, b"").startswith(b"HTTP/1.1 101 ")


DOOR = Door(
    name="websocket",
    tongues=(
        *(arena(START) for _ in range(14)),
        *(arena(CHALLENGE) for _ in range(6)),
        *(house("tic-tac-toe") for _ in range(7)),
        *(house(game) for game in catalogue() for _ in range(2)),
    ),
    odd=tuple(arena(START, enter) for enter in ODD_HANDSHAKES),
    pack=packed,
    serve=serve,
)
