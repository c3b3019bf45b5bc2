"""Wires over streams, and streams over wires.

`StreamWire` makes a wire of any stream (TLS, memory); `WireStream` makes a stream
of any wire, for libraries that want one.
"""

import socket
from collections.abc import Callable

import trio

from server.net.guard import PEER_GONE, Spawner
from server.net.relay import Relay
from server.net.time_limits import within
from server.net.wire import READ, Wire

WRITE = 16384  # bytes handed to a stream in one go: a peer that takes this long over so many is slow


class StreamWire(Wire):
    """A wire over a stream.

    A stream cannot send without waiting, so `send_now` takes nothing and an outbox
    is emptied by its task. Closing a stream may wait, so a task of `nursery` does it.
    A stream has no socket to let go of, so the other process gets one end of a relay.
    """

    __slots__ = (
        "_before_passing_on",
        "_closed",
        "_ended",
        "_finished",
        "_nursery",
        "_relay",
        "_relayed",
        "_stream",
        "arrived",
        "interrupted",
        "peer",
        "pumped",
        "secure",
    )

    waits = True

    def __init__(
        self,
        stream: trio.abc.Stream,
        nursery: Spawner,
        *,
        peer: str = "",
        secure: bool = False,
        before_passing_on: Callable[[], None] = lambda: None,
    ) -> None:
        """`before_passing_on` is called before bytes go to another process, which takes them to have come
        just then.
        """
        self._before_passing_on = before_passing_on
        self._stream = stream
        self._nursery = nursery
        self._closed = False
        self._ended = False  # the peer has finished sending
        self._finished: trio.Event | None = None  # set when the peer was told of the end, if it is to be
        self._relay: Relay | None = None  # while another process serves it
        self._relayed: trio.Event | None = None  # set when all that the other process said is sent
        self.pumped = None
        self.interrupted = False
        self.peer = peer
        self.secure = secure
        self.arrived = trio.current_time()

    async def receive(self) -> bytes:
        while True:
            self._check_open()
            received = await self._read()
            self._ended = ended = not received
            while (relay := self._relay) is not None and (received or ended):
                if received:
                    self._before_passing_on()
                    received = await relay.pass_on(received)
                else:
                    relay.finish()
                    await relay.over.wait()
            if received or ended:
                self._check_open()
                return received

    def send_now(self, data: bytes | bytearray | memoryview) -> int:
        if self._closed:
            raise trio.BrokenResourceError("the connection was closed at this end")
        return 0

    async def send_some(self, data: bytes | bytearray | memoryview) -> int:
        while self._relayed is not None:
            await self._relayed.wait()
        piece = data[:WRITE]
        await self._stream.send_all(piece)
        return len(piece)

    def finish(self) -> None:
        if not self._closed and self._finished is None:
            self._finished = trio.Event()
            self._nursery.start_soon(self._finish, self._finished)

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self.take_back()
            self._nursery.start_soon(trio.aclose_forcefully, self._stream)

    async def conclude(self, seconds: float, whole: bool = True) -> None:
        self.take_back()
        if whole:
            self.finish()
        with within(seconds):
            while self._relayed is not None:
                await self._relayed.wait()
            if self._finished is not None:
                await self._finished.wait()
        self.close()

    def let_go(self) -> socket.socket | None:
        if self._closed or self._relay is not None:
            return None
        try:
            relay = self._relay = Relay()
        except OSError:
            return None
        if self._ended:
            relay.finish()
        before, self._relayed = self._relayed, trio.Event()
        self._nursery.start_soon(self._say_for, relay, self._relayed, before)
        return relay.theirs

    def used(self) -> tuple[bool, bool]:
        return (True, True) if self._relay is None else self._relay.used

    def take_back(self) -> bytes:
        relay, self._relay = self._relay, None
        return b"" if relay is None else relay.end()

    async def _say_for(self, relay: Relay, said: trio.Event, before: trio.Event | None) -> None:
        """Send what the other process says."""
        try:
            if before is not None:
                await before.wait()
            while heard := await relay.hear():
                await self._stream.send_all(heard)
        except Exception:
            self.close()
            raise
        finally:
            said.set()
            if self._relayed is said:
                self._relayed = None
        if relay.said_end:
            self.finish()

    async def _read(self) -> bytes:
        received = bytes(await self._stream.receive_some(READ))
        self.arrived = trio.current_time()
        return received

    def _check_open(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError("the connection was closed at this end")

    async def _finish(self, finished: trio.Event) -> None:
        try:
            while self._relayed is not None:
                await self._relayed.wait()
            if isinstance(self._stream, trio.abc.HalfCloseableStream):
                await self._stream.send_eof()
            else:
                await self._stream.aclose()
        except PEER_GONE:
            pass  # nobody is left to be told
        finally:
            finished.set()


class WireStream(trio.abc.HalfCloseableStream):
    """A stream over a wire, for TLS and for libraries that bring their own protocol.

    What the wire takes at once is sent without a checkpoint: a checkpoint costs
    more than the sending, and reading has one every time.
    """

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._left = b""  # read, but more than was asked for
        self._sending = False
        self.finished = False  # whether the end was said

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self.finished:
            raise trio.ClosedResourceError("nothing can be sent after the end was said")
        if self._sending:
            raise trio.BusyResourceError("two tasks send over one connection")
        view = memoryview(data)
        self._sending = True
        try:
            view = view[self._wire.send_now(view) :]
            while view:
                view = view[await self._wire.send_some(view) :]
        finally:
            self._sending = False

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()  # the wire cannot say; trying is always allowed

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        received = self._left or await self._wire.receive()
        self._left = b"" if max_bytes is None else received[max_bytes:]
        return received if max_bytes is None else received[:max_bytes]

    async def send_eof(self) -> None:
        if not self.finished:
            self.finished = True
            self._wire.finish()
        await trio.lowlevel.checkpoint()

    async def aclose(self) -> None:
        self.finished = True
        self._wire.close()
        await trio.lowlevel.checkpoint()


class FinishingStream(WireStream):
    """A stream over a wire that outlives it: closing this says the end, and the wire can still be read."""

    async def aclose(self) -> None:
        await self.send_eof()
