"""Bots that play Connect-4 in the c4-arena's JSON over a websocket."""

from collections import defaultdict
from random import Random
from time import perf_counter

from tests.bench.crowd import Crowd, scripts

MASK = bytes.fromhex("37fa213d")
REQUEST = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
MINE = tuple(b'{"type":"state","turn":%d,"you":%d,' % (seat, seat) for seat in (1, 2))
MOVES, END = b'"moves":[', b'{"type":"end"}'


def masked(payload: bytes) -> bytes:
    """A short text frame of a client."""
    hidden = bytes(byte ^ MASK[n % 4] for n, byte in enumerate(payload))
    return bytes([0x81, 0x80 | len(payload)]) + MASK + hidden


def answers() -> dict[bytes, list[bytes]]:
    """What may be answered to the moves so far, as a state has them."""
    found = defaultdict[bytes, list[bytes]](list)
    for match in scripts("connect-4", 256):
        for ply, move in enumerate(match):
            so_far = ",".join(map(str, match[:ply])).encode()
            found[so_far].append(masked(b'{"type":"move","move":%d}' % move))
    return found


ANSWERS = answers()
OPENINGS = ANSWERS[b""]


class Bot:
    def __init__(self, crowd: Crowd, name: str) -> None:
        self._crowd = crowd
        self._start = masked(b'{"type":"start","id":"%b"}' % name.encode())
        self._random = Random(name)
        self._rest = b""
        self._open = False
        self._asked: float | None = None  # when it sent the move that it waits to hear of
        self._send = crowd.connect(self._take)
        self._send(REQUEST)

    def _take(self, received: bytes) -> None:
        rest = self._rest + received
        if not self._open:
            head, ended, rest = rest.partition(b"\r\n\r\n")
            if not ended:
                self._rest = head
                return
            self._open = True
            self._send(self._start)
        while len(rest) >= 4:
            size, at = rest[1], 2
            if size == 126:
                size, at = int.from_bytes(rest[2:4], "big"), 4
            if len(rest) < at + size:
                break
            self._hear(rest[at : at + size])
            rest = rest[at + size :]
        self._rest = rest

    def _hear(self, message: bytes) -> None:
        if self._asked is not None:
            self._crowd.made(self._asked)
            self._asked = None
        if message.startswith(MINE):
            begins = message.index(MOVES) + len(MOVES)
            so_far = message[begins : message.index(b"]", begins)]
            self._asked = perf_counter()
            self._send(self._random.choice(ANSWERS.get(so_far, OPENINGS)))  # a relay's match stands still
        elif message == END:
            self._send(self._start)
        elif not message.startswith(b'{"type":"state"'):
            raise RuntimeError(f"a bot that plays by the rules was told {message!r}")
