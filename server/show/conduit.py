"""Conduits: what two processes say to each other about connections, and the sockets between them.

A message is one packet, or several if it is long; the last of them carries a descriptor, if one is
passed on. Neither end ever waits to say something: packets that the kernel does not take are kept, by
play within bounds. Times are those of trio's clock, which is the same in both.
"""

import array
import errno
import math
import select
import socket
from collections import Counter, deque
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

import msgspec
import structlog
import trio
from msgspec import Struct

from server.net.wire import Piece

PACKET = 32768  # bytes of a message in one packet: nearly all messages are one, and a buffer holds several
BUFFER = 1 << 20  # bytes asked for as the kernel's buffer; it may grant fewer
SHARE = 4  # of the packets that may wait, one address may have one in so many
TURN = 32  # packets read before other tasks get their turn
MORE, LAST = b"+", b"."  # the first byte of a packet: whether the message goes on in the next
POSSIBLE = hasattr(socket, "MSG_CMSG_CLOEXEC") and hasattr(select, "epoll")  # that is, on Linux
DESCRIPTOR = array.array("i").itemsize
SPACE = socket.CMSG_SPACE(DESCRIPTOR) if POSSIBLE else 0


# What play says.


class Lend(Struct, tag="lend", frozen=True, array_like=True):
    """A connection, with its descriptor: serve it from these bytes on."""

    number: int  # the connection's name for both; never used twice
    peer: str  # the client's address
    secure: bool
    pieces: tuple[Piece, ...]


class Drain(Struct, tag="drain", frozen=True, array_like=True):
    """The host stops: end every connection after its answer."""

    why: str


# What show says, each about a connection that it was lent.


class Back(Struct, tag="back", frozen=True, array_like=True):
    """It asks for something that show does not answer. Everything before these bytes is answered."""

    number: int
    pieces: tuple[Piece, ...]


class Gone(Struct, tag="gone", frozen=True, array_like=True):
    """The connection has ended."""

    number: int


class NoRoom(Struct, tag="no room", frozen=True, array_like=True):
    """Show cannot have another connection open. This one was not touched."""

    number: int


class Known(Struct, tag="known", frozen=True, array_like=True):
    """The connection's client has shown who it is."""

    number: int


class Feed(Struct, tag="feed", frozen=True, array_like=True):
    """A socket at which one more process that plays tells what happens, and asks for draws."""


ToShow = Lend | Drain | Feed
ToPlay = Back | Gone | NoRoom | Known

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

Heard = TypeVar("Heard")
Take = Callable[[Heard, int | None], None]  # a message, and the descriptor that came with it


class Unsaid(Struct, frozen=True, eq=False):
    """A packet, and the descriptor that goes with it."""

    packet: bytes
    passed: socket.socket | None = None
    give: bool = False  # whether to close the descriptor here when it has been sent
    whose: str = ""  # the network of the client that it is about; "" where that is not counted


class Conduit(Generic[Heard]):
    """One end of a conduit. It hears messages of the types `hears`; `most` packets may wait to be sent."""

    def __init__(self, connected: socket.socket, hears: object, most: float) -> None:
        connected.setblocking(False)
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER)
        self._socket = connected
        self._decoder: msgspec.msgpack.Decoder[Heard] = msgspec.msgpack.Decoder(hears)
        self._encoder = msgspec.msgpack.Encoder()
        self._most = most
        self._unsaid: deque[Unsaid] = deque()
        self._of = Counter[str]()  # how many of these there are of each network
        self._news = trio.Event()  # set when there is something unsent
        self._heard = bytearray()  # the part of an incomplete message

    @property
    def full(self) -> bool:
        return self.waiting >= self._most

    def has_enough(self, whose: str) -> bool:
        """Whether so many packets of that network wait that more would keep others out."""
        return whose != "" and self._of[whose] >= max(1, self._most // SHARE)

    @property
    def waiting(self) -> int:
        """How many packets are still to be sent."""
        return len(self._unsaid)

    def say(
        self, message: Struct, passed: socket.socket | None = None, *, give: bool = False, whose: str = ""
    ) -> None:
        """Send a message as soon as the other end takes it, without the descriptor if that is closed by then.

        With `give`, the descriptor is closed here when it has been sent. `whose` is the client's network.
        """
        content, start = self._encoder.encode(message), 0
        while len(content) - start > PACKET:
            self._put(Unsaid(MORE + content[start : start + PACKET], whose=whose))
            start += PACKET
        self._put(Unsaid(LAST + content[start:], passed, give, whose))

    async def hear(self, take: Take[Heard]) -> None:
        """Call `take` with every message and the descriptor that came with it, until the other end closes."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._say_later)
            while not self.hear_now(take, TURN):
                await trio.lowlevel.wait_readable(self._socket)
            nursery.cancel_scope.cancel()

    def hear_now(self, take: Take[Heard], most: float = math.inf) -> bool:
        """Like `hear`, for at most `most` packets that have come already; True: the other end is closed."""
        while most > 0:
            try:
                packet, beside, _, _ = self._socket.recvmsg(PACKET + 1, SPACE, socket.MSG_CMSG_CLOEXEC)
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not packet:
                return True
            most -= 1
            self._heard += packet[1:]
            if packet.startswith(LAST):
                content, self._heard = self._heard, bytearray()
                try:
                    message = self._decoder.decode(content)
                except msgspec.DecodeError as error:  # perhaps from another version; play goes on without it
                    log.error("a message of the other process cannot be read", why=str(error))
                    return True
                take(message, _descriptor(beside))
        return False

    def _put(self, unsaid: Unsaid) -> None:
        if self._unsaid or not self._said(unsaid):
            self._unsaid.append(unsaid)
            self._of[unsaid.whose] += 1
            self._news.set()

    async def _say_later(self) -> None:
        while True:
            await self._news.wait()
            self._news = trio.Event()
            while self._unsaid:
                if self._said(unsaid := self._unsaid[0]):
                    self._unsaid.popleft()
                    self._of[unsaid.whose] -= 1
                    if not self._of[unsaid.whose]:
                        del self._of[unsaid.whose]
                else:
                    await trio.lowlevel.wait_writable(self._socket)

    def _said(self, unsaid: Unsaid) -> bool:
        """Try to send a packet; one that nobody can get any more counts as sent."""
        said = self._sent(unsaid.packet, unsaid.passed)
        if said and unsaid.give and unsaid.passed is not None:
            unsaid.passed.close()
        return said

    def _sent(self, packet: bytes, passed: socket.socket | None) -> bool:
        beside: list[tuple[int, int, array.array[int]]] = []
        if passed is not None and passed.fileno() >= 0:
            beside = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [passed.fileno()]))]
        try:
            self._socket.sendmsg([packet], beside)
        except BlockingIOError:
            return False
        except OSError as error:
            if error.errno == errno.ETOOMANYREFS and beside:
                return self._sent(packet, None)  # without a descriptor, it knows that it has no room
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)  # both ends hear it: nothing that was sent is missed
        return True


def _descriptor(beside: list[tuple[int, int, bytes]]) -> int | None:
    """The descriptor that came; None if there is none, or there was no room for it."""
    for level, kind, content in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS) and len(content) >= DESCRIPTOR:
            return array.array("i", content[:DESCRIPTOR])[0]
    return None
