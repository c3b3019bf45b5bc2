"""Wires over TCP sockets, and what is set on each socket.

On Linux they are read by `server/net/readiness.py`. Where there is no epoll, a wire waits as trio does.
"""

import select
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from contextvars import Context
from struct import pack

import trio
from msgspec import Struct

from server.net.readiness import Readiness
from server.net.round_trip import round_trip
from server.net.still_there import USUAL, still_there, unanswered
from server.net.tcp_use import tcp_taken, tcp_use
from server.net.wire import READ, Wire

# How much the kernel keeps unsent for a peer. Without this limit it would keep up to 4 MiB for one that reads
# nothing. What is under way does not count, so whoever reads gets as much a second as before.
UNSENT = 131_072  # bytes

# A move is sent at once. A peer whose machine has gone is noticed, by the kernel, within two minutes. Routers
# that forget whoever is silent for a minute hear something before, even if one packet is lost.
OPTIONS = [
    (level, getattr(socket, name), value)
    for level, name, value in (
        (socket.IPPROTO_TCP, "TCP_NODELAY", 1),
        (socket.IPPROTO_TCP, "TCP_NOTSENT_LOWAT", UNSENT),
        (socket.SOL_SOCKET, "SO_KEEPALIVE", 1),
        (socket.IPPROTO_TCP, "TCP_KEEPIDLE", USUAL[0]),
        (socket.IPPROTO_TCP, "TCP_KEEPALIVE", USUAL[0]),  # what macOS calls the same
        (socket.IPPROTO_TCP, "TCP_KEEPINTVL", USUAL[1]),
        (socket.IPPROTO_TCP, "TCP_KEEPCNT", 6),
        (socket.IPPROTO_TCP, "TCP_USER_TIMEOUT", 120_000),  # milliseconds, after something was sent
    )
    if hasattr(socket, name)
]
INHERITED = sys.platform == "linux"  # elsewhere what is accepted may have some of them, and not others


def set_options(of: socket.socket) -> None:
    """Set the `OPTIONS` of a connection, or of a listening socket: on Linux, what it accepts has them, too.

    So most connections have them already, and finding that out takes a sixth of the time.
    """
    with suppress(OSError):  # a pair of Unix sockets has no such options
        if not INHERITED or not of.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY):
            for level, option, value in OPTIONS:
                of.setsockopt(level, option, value)


class Mark(Struct, frozen=True):
    """How much had been written and read when a socket was let go of; None: not known."""

    use: tuple[int, int] | None


class SocketWire(Wire):
    """A wire over a connected TCP socket, which is the wire's from now on."""

    __slots__ = (
        "_context",
        "_failure",
        "_incomplete",
        "_mark",
        "_readiness",
        "_received",
        "_settled",
        "_socket",
        "_take",
        "_task",
        "arrived",
        "interrupted",
        "peer",
        "pumped",
        "secure",
        "unparked",
    )

    def __init__(
        self,
        connected: socket.socket,
        peer: str = "",
        watcher: Readiness | None = None,
    ) -> None:
        connected.setblocking(False)
        set_options(connected)
        self._socket = connected
        self._readiness = watcher
        self._context: Context | None = None  # of the task that reads, while it sleeps …
        self._task: trio.lowlevel.Task | None = None  # … or None, while the wire is parked
        self._take: Callable[[bytes], None] | None = None  # called with what is read meanwhile
        self.unparked: Callable[[], None] | None = None  # starts a task; None: it is never parked
        self._settled: bool | None = None  # whether to park it; None: nobody has asked
        self._received: bytes | None = None  # what was read and nobody has taken …
        self._failure: Exception | None = None  # … or why it could not be read
        self._incomplete = False  # closing resets the connection
        self._mark: Mark | None = None  # while another process serves the connection
        self.peer = peer
        self.pumped = None
        self.interrupted = False
        self.secure = False
        self.arrived = trio.current_time()

    async def receive(self) -> bytes:
        if self._readiness is not None:
            if self._sleeps(self._readiness):
                await trio.lowlevel.wait_task_rescheduled(self._give_up)
            else:
                await trio.lowlevel.checkpoint()
            return self._woken()
        while True:
            self._check_open()
            if self._received is not None:
                await trio.lowlevel.checkpoint()  # first: what a cancelled reader had taken would be lost
                return self.rest()
            await trio.lowlevel.wait_readable(self._socket)
            try:
                received = self._socket.recv(READ)
            except BlockingIOError:
                continue  # woken for nothing: the kernel may do that
            except OSError as error:
                raise _lost(error) from error
            self.arrived = trio.current_time()
            return received

    def unread(self, received: bytes) -> None:
        """Give bytes back for the next read. Nothing may have been read since, and nobody may be reading."""
        self._received = received or None

    def rest(self) -> bytes:
        """What was read and nobody has taken, when nobody reads any more."""
        received, self._received = self._received, None
        return received or b""

    async def pump(self, take: Callable[[bytes], None]) -> bool:
        readiness = self._readiness
        if readiness is None:
            return await super().pump(take)
        self._check_alone()
        self._take = take
        try:
            if self._failure is not None:  # why it is parked no more
                self._woken()
            if self._received and not self.interrupted:
                # At once, so that those who come here in order are taken in that order.
                received, self._received = self._received, None
                take(received)
            while not self.interrupted:  # not by `receive`: its frame would be kept while the peer is silent
                if self._sleeps(readiness):
                    await trio.lowlevel.wait_task_rescheduled(self._give_up)
                else:
                    await trio.lowlevel.checkpoint()
                if self.interrupted and self._failure is None:
                    break
                if not (received := self._woken()):
                    return True
                take(received)
            return False
        finally:
            self._take, self.interrupted = None, False

    def park(self, take: Callable[[bytes], None]) -> bool:
        readiness = self._readiness
        if readiness is None or self.unparked is None or self.interrupted or self._failure is not None:
            return False
        if not self._settled:
            if self._settled is None:
                self._settled = False
                readiness.parking.arrives(self)
            return False
        if self._socket.fileno() < 0 or not self._sleeps(readiness):
            return False
        self._take, self._task = take, None
        return True

    def settled(self) -> None:
        """Have whoever waits park the wire now. `Parking` calls this."""
        self._settled = True
        if self._take is not None:
            self.interrupt()

    def interrupt(self) -> None:
        if self._readiness is None:
            super().interrupt()
        else:  # without a scope, which takes more memory than all else that is kept of a silent peer
            self.interrupted = True
            self._wake(None)

    def soon(self, flush: Callable[[], None], urgent: bool) -> bool:
        readiness = self._readiness
        if readiness is None or not readiness.gathering:
            return False
        (readiness.said if urgent else readiness.mentioned).append(flush)
        return True

    def send_now(self, data: bytes | bytearray | memoryview) -> int:
        try:
            return self._socket.send(data)
        except BlockingIOError:
            return 0
        except OSError as error:
            raise trio.BrokenResourceError(f"cannot send: {error.strerror}") from error

    async def send_some(self, data: bytes | bytearray | memoryview) -> int:
        while True:
            self._check_open()
            await trio.lowlevel.wait_writable(self._socket)
            if sent := self.send_now(data):
                return sent

    def mark_incomplete(self) -> None:
        self._set_incomplete(True)

    def finish(self) -> None:
        if self._incomplete:
            self._set_incomplete(False)
        with suppress(OSError):  # it is closed, or the peer is gone
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        if (number := self._socket.fileno()) >= 0:
            if self._mark is not None:
                with suppress(OSError):  # the peer is gone
                    self._socket.shutdown(socket.SHUT_RDWR)
            if self._readiness is not None:
                self._readiness.forget(number)
                self._readiness.taken(self)
            trio.lowlevel.notify_closing(self._socket)
            self._socket.close()
            self._wake(trio.ClosedResourceError("the connection was closed at this end"))
            self.unparked = None  # it refers to this wire

    def abandon(self) -> None:
        self.unparked = None
        self.close()

    def taken(self) -> int | None:
        return tcp_taken(self._socket)

    def round_trip(self) -> float | None:
        return round_trip(self._socket)

    async def still_there(self) -> bool:
        return await still_there(self._socket)

    def unanswered(self) -> float:
        return unanswered(self._socket)

    def on_its_way(self, by: float) -> bool:
        return self._received is not None and self._context is None and self.arrived <= by

    def let_go(self, *, counted: bool = True) -> socket.socket | None:
        """As in `Wire`; only if it is `counted`, `used` knows what happened since."""
        open_, readiness = self._socket.fileno() >= 0, self._readiness
        if not open_ or readiness is None or self._received or self._failure is not None:
            return None
        readiness.forget(self._socket.fileno())
        self._mark = Mark(tcp_use(self._socket) if counted else None)
        return self._socket

    def used(self) -> tuple[bool, bool]:
        if self._mark is None or (then := self._mark.use) is None or (now := tcp_use(self._socket)) is None:
            return True, True
        return now[0] != then[0], now[1] != then[1]

    @property
    def ended(self) -> bool:
        if self._readiness is None:
            return False  # the kernel need not know how to say it
        if self._socket.fileno() < 0:
            return True
        state = select.poll()
        state.register(self._socket, select.POLLRDHUP)
        return bool(state.poll(0))

    def take_back(self) -> bytes:
        self._mark = None
        if self._context is not None and self._readiness is not None:
            self._readiness.watch(self._socket.fileno(), self)
        return b""

    def read(self, now: float) -> None:
        """Take what the kernel has, which may be the end or a failure. `Readiness` calls this."""
        if self._context is None:
            # Nobody reads just now. Since it is level-triggered, we would be told again and again.
            if self._readiness is not None:
                self._readiness.forget(self._socket.fileno())
            return
        try:
            self._received = self._socket.recv(READ)
            self.arrived = now
        except BlockingIOError:
            pass  # woken for nothing
        except OSError as error:
            self._wake(_lost(error))

    def hand_on(self) -> None:
        """Give what was read to the task that waits for it; if there is none any more, to the next reader."""
        context, received = self._context, self._received
        if context is None or received is None:
            return
        if (take := self._take) is None or not received:
            if self._readiness is not None:
                self._readiness.give(self)
            self._wake(None)
            return
        self._received = None
        try:
            context.run(take, received)
        except Exception as error:
            self._failure = error  # even if the task is awake already, because the wire was closed meanwhile
            self._wake(error)

    def _sleeps(self, watcher: Readiness) -> bool:
        """Whether to sleep until `read`, `hand_on` or `close` wakes us; False: something is there already."""
        self._check_alone()
        self._check_open()
        self._failure = None
        if self._received is not None:
            return False
        if self._mark is None:
            watcher.watch(self._socket.fileno(), self)
        self._task = task = trio.lowlevel.current_task()
        self._context = task.context
        return True

    def _woken(self) -> bytes:
        """What has been read meanwhile; raises why nothing could be."""
        received, self._received = self._received, None
        failure, self._failure = self._failure, None
        if self._readiness is not None:
            self._readiness.taken(self)
        if failure is None:
            return received or b""
        try:
            raise failure
        finally:
            del failure  # it refers to this frame: a reference cycle

    def _set_incomplete(self, incomplete: bool) -> None:
        self._incomplete = incomplete
        with suppress(OSError):  # it is closed, or the peer is gone
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, pack("ii", incomplete, 0))

    def _check_alone(self) -> None:
        if self._context is not None:
            raise trio.BusyResourceError("two tasks read from one connection")

    def _check_open(self) -> None:
        if self._socket.fileno() < 0:
            raise trio.ClosedResourceError("the connection was closed at this end")

    def _give_up(self, _: object) -> trio.lowlevel.Abort:
        self._context = self._task = None
        return trio.lowlevel.Abort.SUCCEEDED

    def _wake(self, failure: Exception | None) -> None:
        if self._context is None:
            return
        self._failure = failure
        task, self._context, self._task = self._task, None, None
        if self._readiness is not None:
            self._readiness.woken += 1
        if task is not None:
            trio.lowlevel.reschedule(task)
        elif self.unparked is not None:
            self._take = None
            self.unparked()


def _lost(error: OSError) -> trio.BrokenResourceError:
    """The exception for a reader."""
    return trio.BrokenResourceError(f"the connection is lost: {error.strerror}")
