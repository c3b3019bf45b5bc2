"""A connection as the doors see it: bytes both ways, and the address of the peer.

A `Wire` has what a host needs and a `trio.abc.Stream` lacks: sending that never
waits, closing that is a plain call, and the time at which the last bytes
arrived. `StreamWire` makes a wire of any stream (TLS, memory); `WireStream`
makes a stream of any wire, for libraries that want one. Wires over sockets are
in `server/net/sockets.py`. This file does not know what the bytes mean.
"""

import socket
import ssl
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

from server.net.budgets import address_of
from server.net.elsewhere import before_passing_on
from server.net.failed_handshake import last_words
from server.net.guard import PEER_GONE, Spawner
from server.net.relay import Relay
from server.net.time_limits import within
from server.net.tls import untie
from server.net.turns import InTurn, OneARound

READ = 4096  # bytes taken in one go: a read takes no longer, and a limit is exceeded by no more
WRITE = 16384  # bytes handed to a stream in one go: a peer that takes this long over so many is slow

Piece = tuple[bytes, float]  # what was read in one go, and when, on trio's clock


class Served(Protocol):
    """What serves a connection: to its end, or until it is parked, and then it returns what goes on later."""

    def __call__(self) -> "Awaitable[Served | None]": ...


class Wire(Protocol):
    """Bytes both ways. One task reads; all writing goes through one `Outbox`."""

    __slots__ = ()

    peer: str  # the address of the other end, without the port; "" when it is not known
    secure: bool  # whether it is encrypted
    arrived: float  # when the bytes that were read last arrived, on trio's clock
    pumped: trio.CancelScope | None = None  # around the `pump` that runs, if it needs one
    interrupted: bool = False  # `pump` is to return
    waits: bool = False  # whether sending anything takes a task, even where the peer would take it at once
    relayed: bool = False  # whether another process reads what comes, and passes it on

    async def receive(self) -> bytes:
        """The next bytes; b"" once the peer has finished sending.

        Raises `trio.BrokenResourceError` when the connection is lost and
        `trio.ClosedResourceError` when it was closed at this end.
        """
        ...

    async def pump(self, take: Callable[[bytes], None]) -> bool:
        """Call `take` with everything that comes, until the peer has finished sending; False if interrupted.

        What `take` raises is raised here, and so is what `receive` raises.
        """
        if self.pumped is not None:
            raise trio.BusyResourceError("two tasks read from one connection")
        try:
            with trio.CancelScope() as self.pumped:
                while not self.interrupted:
                    if not (received := await self.receive()):
                        return True
                    take(received)
        finally:
            self.pumped, self.interrupted = None, False
        return False

    def park(self, take: Callable[[bytes], None]) -> bool:
        """Have `take` called with everything that comes, while no task waits for it; False: call `pump`.

        It is too early at first; as soon as it no longer is, `pump` is interrupted. When `pump` would
        return or raise, another task is started, for which it then does so at once.
        """
        return False

    def interrupt(self) -> None:
        """Have `pump` return, or the next one if none runs. What was read and not taken yet stays."""
        self.interrupted = True
        if self.pumped is not None:
            self.pumped.cancel()

    def soon(self, flush: Callable[[], None], urgent: bool) -> bool:
        """Have `flush` called when some others have been read too, before any task runs; False: do it now.

        Waking a peer costs more than the bytes: if they are told a little later, many peers have
        something to do at once. What is not `urgent` waits until nobody has anything more to say, some
        ten milliseconds at the most: by then there may be more for the same peer.
        """
        return False

    def send_now(self, data: bytes | bytearray | memoryview) -> int:
        """Send as much as can be sent without waiting; returns how many bytes that was.

        Raises `trio.BrokenResourceError` when the connection is lost or closed.
        """
        ...

    async def send_some(self, data: bytes | bytearray | memoryview) -> int:
        """Wait until some of `data`, which is not empty, is sent; returns how many bytes.

        Raises as `send_now` does, or `trio.ClosedResourceError` if the wire is closed meanwhile.
        """
        ...

    def finish(self) -> None:
        """Say that nothing more will be sent. If the transport can end one way alone, the peer may go on."""
        ...

    def mark_incomplete(self) -> None:
        """Until `finish`, have closing look like a failure to the peer, also when this process is killed.

        Under TLS it does anyway.
        """

    def close(self) -> None:
        """Drop the connection at once and wake whoever waits for it. A second call does nothing."""
        ...

    async def conclude(self, seconds: float, whole: bool = True) -> None:
        """Close, but not before the peer was sent what another process has said, which may take `seconds`.

        If what it was told is `whole`, it is told that this is the end. All that was put into an outbox has
        to be sent already.
        """
        if whole:
            self.finish()
        self.close()

    def round_trip(self) -> float | None:
        """Seconds to the peer, or to the proxy before it, and back; None where that is not known."""
        return None

    def on_its_way(self, by: float) -> bool:
        """Whether something that the peer had said `by` that time may be received yet; then ask again soon.

        What is here, but unread, does not count: the process reads that before it decides what is late. What
        it has read, and has yet to decrypt, does.
        """
        return False

    # Another process may serve the connection for a while, with its own descriptor.

    def let_go(self) -> socket.socket | None:
        """Neither read nor write until `take_back`; `pump` goes on then. None if that cannot be.

        The other process reads from and writes to the socket that is returned. It stays this wire's:
        closing the wire ends the connection for the other process as well.
        """
        return None

    def used(self) -> tuple[bool, bool]:
        """Whether the other process has written anything since then, and read anything; True if not known."""
        return True, True

    def take_back(self) -> bytes:
        """Read and write again; returns bytes of the peer's that the other process has not read, if any."""
        return b""


class StreamWire(Wire):
    """A wire over a stream.

    A stream cannot send without waiting, so `send_now` takes nothing and an outbox
    is emptied by its task. Closing a stream may wait, so a task of `nursery` does it.
    A stream has no socket to let go of, so the other process gets one end of a relay.
    """

    __slots__ = (
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
        self, stream: trio.abc.Stream, nursery: Spawner, *, peer: str = "", secure: bool = False
    ) -> None:
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
                    before_passing_on.get()()
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


class TlsWire(StreamWire):
    """The server's end of TLS over another wire.

    TLS cannot end one way alone. If the socket were closed with it, whatever the peer is still sending would
    reset the connection, and the peer might never read what it was told last. So after its end the socket
    stays open, and what comes is dropped.
    """

    __slots__ = ("_beneath", "_in_turn", "_tls", "_way")

    def __init__(self, beneath: Wire, context: ssl.SSLContext, nursery: Spawner) -> None:
        self._beneath = beneath
        self._way = FinishingStream(beneath)
        self._in_turn = InTurn(self._way)
        self._tls = trio.SSLStream[trio.abc.Stream](self._in_turn, context, server_side=True)
        super().__init__(self._tls, nursery, peer=beneath.peer, secure=True)

    async def shake_hands(self, turns: OneARound) -> None:
        """Raises `trio.BrokenResourceError` where no TLS comes about, once the peer has been told why.

        A step of it takes a millisecond or two, and hundreds of strangers may take theirs at once. So each
        waits for one of these `turns`.
        """
        self._in_turn.turns, self._in_turn.whose = turns, address_of(self.peer)
        try:
            await self._tls.do_handshake()
        except trio.BrokenResourceError as failure:
            if words := last_words(self._tls, failure):
                await self._way.send_all(words)
                await self._way.send_eof()
                await self._drop_rest()
            raise
        finally:
            self._in_turn.turns = None
            untie(self._tls)

    def close(self) -> None:
        super().close()
        self._beneath.close()

    def round_trip(self) -> float | None:
        return self._beneath.round_trip()

    def on_its_way(self, by: float) -> bool:
        return self._beneath.on_its_way(by)

    async def _read(self) -> bytes:
        try:
            received = await super()._read()
            self.arrived = self._beneath.arrived  # the host may have been busy with others since
            return received
        except PEER_GONE:
            if not self._way.finished:
                raise
        await self._drop_rest()
        return b""

    async def _drop_rest(self) -> None:
        while await self._beneath.receive():
            pass  # it cannot be read any more


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
