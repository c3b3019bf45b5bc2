"""What a client says and is told while it is there, over any carrier; and how it is told."""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import pairwise
from selectors import EVENT_READ, BaseSelector
from socket import IPPROTO_TCP, SHUT_WR, TCP_NODELAY, socket
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

TAKE = 65536  # bytes that are read at once
SEND_TIMEOUT = 10.0  # seconds for a client to take what it is sent: a host cuts it off after as many
GAP = 0.01  # seconds between two pieces: enough for most clients to read the first by itself


class Manner(Struct, frozen=True, kw_only=True):
    """How messages are sent, beside what they say."""

    joined: bool = False  # all messages at once
    pieces: int = 1  # how many pieces they come in
    pause: float = GAP  # seconds between two pieces
    more: bytes = b""  # extra fields of each message: `"name":value,`


PLAIN = Manner()


class Talk(Protocol):
    """One client, from its first word to its last."""

    door: str
    heard: deque[bytes]  # messages that nobody has looked at yet
    gone: bool  # whether it has hung up

    def say(self, messages: Sequence[bytes], manner: Manner = PLAIN) -> None: ...

    def hang_up(self, why: str) -> None:
        """Hang up when the client has taken what it was told."""
        ...


class Connection:
    """A socket of the client: what comes goes to `receive`, and b"" when nothing more does."""

    def __init__(self, end: socket, selector: BaseSelector, receive: "Callable[[bytes], None]") -> None:
        self._end, self._selector, self._receive = end, selector, receive
        self.open = True
        end.settimeout(SEND_TIMEOUT)
        end.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)  # each piece has to travel by itself
        selector.register(end, EVENT_READ, self.read)

    def read(self) -> None:
        try:
            received = self._end.recv(TAKE)
        except OSError:
            received = b""
        if not received:
            self.close()
        self._receive(received)

    def send(self, content: bytes, manner: Manner = PLAIN) -> None:
        """Send content in the pieces that `manner` asks for. A client that is gone misses it."""
        try:
            for number, piece in enumerate(pieces(content, manner.pieces)):
                if number:
                    time.sleep(manner.pause)
                if self.open:
                    self._end.sendall(piece)
        except OSError:
            pass  # what it said before it went can still be read

    def finish(self) -> None:
        """Send nothing more, and ignore what comes until the client hangs up as well."""
        self._receive = _drop
        try:
            self._end.shutdown(SHUT_WR)
        except OSError:
            self.close()

    def close(self) -> None:
        """End the connection at once, as when a network fails."""
        if self.open:
            self.open = False
            self._selector.unregister(self._end)
            self._end.close()


def pieces(content: bytes, count: int) -> Iterator[bytes]:
    """A text in two pieces, or more: then a letter of several bytes is cut, and the last byte is alone."""
    cuts = {len(content) * number // count for number in range(1, count)}
    if count > 2:
        cuts |= {place + 1 for place, byte in enumerate(content) if byte >= 0xC0}
        cuts |= {len(content) - 1}
    places = [0, *sorted(cuts - {0, len(content)}), len(content)]
    return (content[start:end] for start, end in pairwise(places))


def _drop(received: bytes) -> None:
    """Ignore what a client says after the goodbye."""
