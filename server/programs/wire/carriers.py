"""Carriers of messages over one connection, bytes in and messages out: lines, or websocket frames.

No I/O. Over HTTP a bot has many connections: see `sessions.py`.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha1
from typing import Protocol

from server.net.escaping import in_quotes
from server.net.frames import PONG, BadFrame, Close, Frames, Ping, Pong, closing, framed
from server.net.limits import Limits
from server.net.lines import Lines, LineTooLong

LIMITS = Limits()
PATH = "/play"
KEY = re.compile(rb"^sec-websocket-key:[ \t]*(\S+)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"  # RFC 6455, section 1.3
ACCEPTED = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"


class Malformed(Exception):
    """The client broke the rules of the carrier of its messages."""


class Carrier(Protocol):
    reply: bytearray  # what the carrier itself has to send over the connection

    def receive(self, received: bytes) -> Iterable[bytes]:
        """The messages that this completes; raises `Malformed`, or `EOFError` when the client hangs up."""
        ...

    def written(self, messages: Sequence[bytes]) -> bytes: ...

    def closing(self, why: str) -> bytes:
        """The last bytes before the host hangs up."""
        ...


class OverTcp:
    """A message a line."""

    def __init__(self) -> None:
        self.reply = bytearray()
        self._lines = Lines(LIMITS.json_line_bytes)

    def receive(self, received: bytes) -> Iterator[bytes]:
        try:
            yield from self._lines.receive(received)
        except LineTooLong as error:
            raise Malformed(str(error)) from None

    def written(self, messages: Sequence[bytes]) -> bytes:
        return b"".join(message + b"\n" for message in messages)

    def closing(self, why: str) -> bytes:
        return b""


class OverWebsocket:
    """A handshake, and then a message a text frame."""

    def __init__(self) -> None:
        self.reply = bytearray()
        self._head: bytes | None = b""  # what has come of the handshake; None once it is over
        self._frames = Frames(LIMITS)

    def receive(self, received: bytes) -> Iterator[bytes]:
        if self._head is not None:
            self._head += received
            head, ended, received = self._head.partition(b"\r\n\r\n")
            if not ended:
                if len(head) > LIMITS.head_bytes:
                    raise Malformed(f"the head of a request has {LIMITS.head_bytes} bytes at most")
                return
            self._shake_hands(head)
            self._head = None
        try:
            for item in self._frames.receive(received):
                match item:
                    case bytes():
                        yield item
                    case Ping(payload=payload):
                        self.reply += framed(payload, PONG)
                    case Pong():
                        pass
                    case Close(code=code):
                        self.reply += closing(code)
                        raise EOFError
        except BadFrame as error:
            raise Malformed(str(error)) from None

    def written(self, messages: Sequence[bytes]) -> bytes:
        return b"".join(map(framed, messages))

    def closing(self, why: str) -> bytes:
        return closing(1000, why)

    def _shake_hands(self, head: bytes) -> None:
        line = head.partition(b"\r\n")[0].decode("latin-1")
        key = KEY.search(head)
        if key is None or line.split("?")[0].split(" ")[:2] != ["GET", PATH]:
            raise Malformed(f"expected a websocket handshake for GET {PATH}, and got {in_quotes(line)}")
        accept = b64encode(sha1(key[1] + MAGIC).digest()).decode()  # noqa: S324 - as the RFC has it
        self.reply += f"{ACCEPTED}Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
