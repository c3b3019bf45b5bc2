"""A stream passed on to another process, which wants a socket: the bytes go through a pair of sockets.

Only the process that made a TLS handshake can read and write on that connection. Another process
that has to serve it gets one end of a pair, and this copies between the other end and the stream.
Both ends stay open here, so that what was not read at the one can be taken back, and what was not
sent from the other.
"""

import socket
from contextlib import suppress

import trio

PIECE = 16384  # bytes copied in one go, and about as many lie in the pair
ALL = 1 << 20  # bytes: more than can lie in the pair


class Relay:
    """Copies until `end`. `theirs` is the end for the other process, which has its own descriptor."""

    __slots__ = ("_ended", "_heard", "_ours", "_passed", "_unsent", "over", "said_end", "theirs")

    def __init__(self) -> None:
        """Raises `OSError` where no more files can be opened."""
        self._ours, self.theirs = socket.socketpair()
        for each in (self._ours, self.theirs):
            each.setblocking(False)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, PIECE)
        self._passed = 0  # bytes to the other process
        self._heard = False  # whether anything came from it
        self._unsent = b""  # bytes of theirs not sent when this ended
        self._ended = False
        self.said_end = False  # the other process has said that it says nothing more
        self.over = trio.Event()

    async def pass_on(self, received: bytes) -> bytes:
        """Pass bytes on, waiting as needed; returns those that the other process can no longer get."""
        rest = memoryview(received)
        while rest and not self._ended:
            try:
                sent = self._ours.send(rest)
            except BlockingIOError:
                with suppress(trio.ClosedResourceError):
                    await trio.lowlevel.wait_writable(self._ours)
            except OSError:
                return b""  # the other process reads no more, as it may
            else:
                self._passed += sent
                rest = rest[sent:]
        return bytes(rest)

    def finish(self) -> None:
        """The stream has ended: the other process reads all that was passed on, and then the end."""
        with suppress(OSError):
            self._ours.shutdown(socket.SHUT_WR)

    async def hear(self) -> bytes:
        """What the other process says next; b"" at the end."""
        while not self._ended:
            try:
                heard = self._ours.recv(PIECE)
            except BlockingIOError:
                with suppress(trio.ClosedResourceError):
                    await trio.lowlevel.wait_readable(self._ours)
            except OSError:
                return b""
            else:
                self._heard = True
                self.said_end = not heard
                return heard
        unsent, self._unsent = self._unsent, b""
        return unsent

    @property
    def used(self) -> tuple[bool, bool]:
        """Whether the other process has written anything, and whether it has read anything."""
        return self._heard or _lies(self._ours) > 0, self._passed > _lies(self.theirs)

    def end(self) -> bytes:
        """Stop copying; returns what the other process has not read. What it said is still heard."""
        if self._ended:
            return b""
        self._ended = True
        unread, _ = _taken(self.theirs)
        self._unsent, self.said_end = _taken(self._ours)
        for each in (self._ours, self.theirs):
            trio.lowlevel.notify_closing(each)
            each.close()
        self.over.set()
        return unread


def _lies(end: socket.socket) -> int:
    """How many bytes can be read at that end."""
    try:
        return len(end.recv(ALL, socket.MSG_PEEK))
    except OSError:
        return 0


def _taken(end: socket.socket) -> tuple[bytes, bool]:
    """All that can be read at that end, and whether nothing more follows."""
    taken = b""
    try:
        while received := end.recv(ALL):
            taken += received
    except OSError:
        return taken, False
    return taken, True
