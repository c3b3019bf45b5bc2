"""What is on its way to one peer. News is put here, and nobody ever waits.

`put` tries the wire at once, or at the end of the round in which other sockets are
read as well (`Wire.soon`), and keeps whatever the wire did not take. What it keeps is
bounded in messages, in bytes and in time without progress. Beyond any bound the peer
is cut off: its wire is closed, which wakes whoever is reading from it. A spectator
that does not read loses its connection and costs nobody else anything.
"""

from collections import deque
from collections.abc import Callable

import structlog
import trio

from server.net.guard import PEER_GONE, Spawner
from server.net.limits import Limits
from server.net.time_limits import within
from server.net.wire import Wire

PIECE = 65536  # bytes joined for one try while there is a queue

Bytes = bytes | bytearray | memoryview
Say = Callable[[bytes, bool], None]  # how dialects send: a message, and whether it is urgent

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Outbox:
    """The way out to one peer. If it was cut, `cut_reason` says why; `too_slow` only if it did not read."""

    __slots__ = (
        "_drained",
        "_finishing",
        "_limits",
        "_nursery",
        "_queue",
        "_said",
        "_size",
        "_tried",
        "_wire",
        "cut_reason",
        "too_slow",
    )

    def __init__(self, wire: Wire, nursery: Spawner, limits: Limits) -> None:
        self._wire = wire
        self._nursery = nursery
        self._limits = limits
        self._queue: deque[Bytes] | None = None  # most peers never need one
        self._said: bytes | bytearray = b""  # put in this round, and sent at its end
        self._size = 0
        self._tried = False  # whether the wire could take what is kept, and has not
        self._finishing = False
        self._drained: trio.Event | None = None
        self.cut_reason: str | None = None
        self.too_slow = ""

    @property
    def empty(self) -> bool:
        """Whether nothing is kept: the wire has taken all that was put."""
        return self._queue is None and not self._said

    @property
    def behind(self) -> bool:
        """Whether the wire has not taken all that it was given."""
        return self._queue is not None

    def put(self, data: bytes, urgent: bool = True) -> None:
        """Send `data`, now or as soon as it can be. After a cut or `finish` it goes nowhere.

        A message that the peer need not answer is not `urgent`: it may wait a little, until others have
        been read.
        """
        if self._finishing or self.cut_reason is not None or not data:
            return
        if self._queue is not None:
            self._keep(data)
        elif said := self._said:
            if isinstance(said, bytes):
                said = self._said = bytearray(said)
            said += data
            if len(said) > PIECE:
                self._send_said()
            elif urgent and not self._wire.soon(self._send_said, urgent):
                self._send_said()  # all of it: what was said before may not be urgent
        else:
            self._said = data
            if not self._wire.soon(self._send_said, urgent):
                self._send_said()

    def hold(self) -> None:
        """Keep what is put from now until `release`: another process writes. Nothing may be kept before."""
        self._queue, self._tried = deque(), True

    def release(self) -> None:
        """Send what was kept meanwhile, and go on."""
        if not (queue := self._queue):
            self._emptied()
            if self._finishing:
                self._wire.finish()
        else:
            self._nursery.start_soon(self._flush, queue)

    def _send_said(self) -> None:
        said, self._said = self._said, b""
        if not said:
            return
        try:
            sent = self._wire.send_now(said)
        except PEER_GONE:
            self.cut("the peer is gone")
        else:
            if sent < len(said):
                self._tried = not self._wire.waits
                self._keep(memoryview(said)[sent:] if sent else said)

    def finish(self) -> None:
        """End the sending side after all that was put."""
        if not self._finishing:
            self._send_said()
            self._finishing = True
            if self._queue is None:
                self._wire.finish()

    async def drained(self, seconds: float) -> bool:
        """Wait until nothing is kept; False if that takes longer than `seconds`, or the peer is cut off."""
        if self.empty:
            return self.cut_reason is None  # a scope costs more than all the rest, and matches end often
        with within(seconds):
            while self._queue is not None:
                if self._drained is None:
                    self._drained = trio.Event()
                await self._drained.wait()
        return self._queue is None and self.cut_reason is None

    def cut(self, reason: str) -> None:
        """Drop the peer, and all that is kept for it."""
        self._send_said()
        if self.cut_reason is None:
            self.cut_reason = reason
            self._emptied()
            self._wire.close()

    def _keep(self, data: Bytes) -> None:
        if self._queue is None:
            self._queue = deque()
            self._nursery.start_soon(self._flush, self._queue)
        self._queue.append(data)
        self._size += len(data)
        limits = self._limits
        # A message by itself may be longer: the standings of ten thousand are.
        if (self._size > limits.outbox_bytes and len(self._queue) > 1) or (
            self._tried and len(self._queue) > limits.outbox_messages
        ):
            self._cut_as_slow(f"it left {len(self._queue)} messages of {self._size} bytes unread")

    async def _flush(self, queue: deque[Bytes]) -> None:
        """Empty the queue. There is such a task only while there is a queue."""
        self._tried = True
        while self._queue is queue:
            sent = 0
            # A kernel has us wait until it has sent half of what it keeps: a minute, over a slow link.
            with within(self._limits.outbox_seconds, Taking(self._wire)):
                try:
                    sent = await self._wire.send_some(_piece(queue))
                except Exception:
                    self.cut("the peer is gone")
                    raise
            if self._queue is not queue:
                return  # cut off while we waited
            if not sent:
                self._cut_as_slow(f"it took nothing for {self._limits.outbox_seconds:g} s")
                return
            self._size -= sent
            _drop(queue, sent)
            if not queue:
                self._emptied()
                if self._finishing:
                    self._wire.finish()

    def _cut_as_slow(self, reason: str) -> None:
        log.info("cut", peer=self._wire.peer, why=reason)
        if self.cut_reason is None:
            self.too_slow = reason
        self.cut(reason)

    def _emptied(self) -> None:
        self._queue = None
        self._size = 0
        if self._drained is not None:
            self._drained.set()
            self._drained = None


class Taking:
    """Whether a peer has taken anything since this was asked last."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._taken = wire.taken()

    def __call__(self) -> bool:
        before, self._taken = self._taken, self._wire.taken()
        return self._taken is not None and self._taken != before


def _piece(queue: deque[Bytes]) -> Bytes:
    """What to try next: as much of the queue as is worth joining."""
    first = queue[0]
    if len(queue) == 1 or len(first) >= PIECE:
        return first
    parts: list[Bytes] = []
    size = 0
    for message in queue:
        parts.append(message)
        size += len(message)
        if size >= PIECE:
            break
    return b"".join(parts)


def _drop(queue: deque[Bytes], sent: int) -> None:
    """Forget the first `sent` bytes of the queue."""
    while sent:
        first = queue[0]
        if sent < len(first):
            queue[0] = memoryview(first)[sent:]
            return
        sent -= len(first)
        queue.popleft()
