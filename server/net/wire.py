"""A connection as the doors see it: bytes both ways, and the address of the peer.

A `Wire` has what a host needs and a `trio.abc.Stream` lacks: sending that never
waits, closing that is a plain call, and the time at which the last bytes
arrived. Wires over sockets are in `server/net/sockets.py`, those over any stream in
`server/net/stream_wire.py`. Neither knows what the bytes mean.
"""

import socket
from collections.abc import Awaitable, Callable
from typing import Protocol

import trio

READ = 4096  # bytes taken in one go: a read takes no longer, and a limit is exceeded by no more

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

    def taken(self) -> int | None:
        """How many bytes the peer's machine has taken so far; None where that is not known."""
        return None

    def round_trip(self) -> float | None:
        """Seconds to the peer, or to the proxy before it, and back; None where that is not known."""
        return None

    async def still_there(self) -> bool:
        """Whether the peer's machine, or the proxy before it, answers; True where that cannot be found out.

        To find out takes a moment, and some seconds if it does not answer.
        """
        return True

    def unanswered(self) -> float:
        """Seconds since anything came from the peer's machine, or its proxy, if that is asked in vain.

        0.0 if it answers, and where nobody knows.
        """
        return 0.0

    def on_its_way(self, by: float) -> bool:
        """Whether something that the peer had said `by` that time may be received yet; then ask again soon.

        What is here, but unread, does not count: the process reads that before it decides what is late. What
        it has read, and has yet to decrypt, does.
        """
        return False

    @property
    def ended(self) -> bool:
        """Whether the peer is known to have ended its side, or to be gone, whoever reads and how far."""
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
