"""The websocket port: each path has its dialect (`server/protocols/catalogue.py`).

One connection from its handshake (`handshake.py`) to its end. Frames
(`server/net/frames.py`) and dialects do no I/O, so a message goes from the
socket through the referee and out of both sockets within one call: there is no
task in between, and nobody waits for anybody. A bot that says far more than is
worth a reply is not cut for it: backpressure slows it down.

A connection is ended by a close frame with a reason, whoever ends it; then the
peer has a moment to take that in. The host sends no pings: some clients block for
minutes in their own input, and the clocks show who is not there.

`Origin` may be anything and missing. There are no cookies, so a page in
somebody's browser can do no more here than any other stranger.
"""

from collections.abc import Callable
from functools import partial

import structlog
import trio

from server.host.host import STOPPING, Host
from server.net.frames import (
    GOING_AWAY,
    POLICY,
    PONG,
    BadFrame,
    Close,
    Frames,
    Ping,
    Pong,
    closing,
    framed,
)
from server.net.guard import PEER_GONE
from server.net.limits import Bucket
from server.net.listening import Visitor
from server.net.outbox import Outbox
from server.net.wire import Wire
from server.protocols.catalogue import frames, spoken
from server.protocols.dialect import Channel, Talk
from server.protocols.handshake import Refused, shake_hands

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def attend(host: Host, wire: Wire, visitor: Visitor) -> None:
    """Serve one connection until it has ended."""
    outbox = Outbox(wire, host.guard, host.limits)
    handshake = await shake_hands(wire, spoken(), host.limits, visitor.objection)
    outbox.put(handshake.answer)
    try:
        if isinstance(handshake, Refused):
            outbox.finish()
            with trio.move_on_after(host.limits.linger_seconds):
                await wire.pump(_drop)
        else:
            wire.peer = visitor.client(handshake.forwarded)  # one bot's, even behind a proxy
            connection = _Connection(host, wire, outbox, handshake.path, visitor.authenticated)
            await connection.run(handshake.rest)
    except PEER_GONE:
        pass  # it has been dealt with


class _Connection:
    def __init__(
        self, host: Host, wire: Wire, outbox: Outbox, path: str, authenticated: Callable[[], None]
    ) -> None:
        self._wire = wire
        self._outbox = outbox
        self._limits = host.limits
        self._frames = Frames(host.limits)
        self._controls = Bucket(host.limits.control_frames, trio.current_time())
        self._unheard = Bucket(host.limits.messages, trio.current_time())
        self._reading = trio.CancelScope()  # until it is paused
        self._linger = trio.CancelScope()  # with a peer that is to go
        way = frames()[path]
        self._host = host
        # None: it is over, and this and the dialect would keep each other.
        self._talk: Talk | None = None
        self._talk = way.speak(
            Channel(host, self._say, partial(self._close, way.code), wire.peer, authenticated)
        )

    async def run(self, begun: bytes) -> None:
        self._host.on_stop[self] = partial(self._close, GOING_AWAY, STOPPING)
        try:
            self._take(begun)
            with self._linger:
                await self._read()
            # A stopping host cancels this task: a bot whose end comes just then did not leave its match.
            await trio.lowlevel.checkpoint_if_cancelled()
        except Exception as error:
            if self._talk is not None:
                self._talk.attendance.failed(error)
            self._gone()
            raise
        finally:
            del self._host.on_stop[self]
        self._gone()

    async def _read(self) -> None:
        """Take what comes, with pauses where it is a flood, until the peer has said its last."""
        while True:
            with self._reading:
                await self._wire.pump(self._take)
                return
            await trio.sleep(self._limits.flood_pause_seconds)
            self._reading = trio.CancelScope()

    def _say(self, message: bytes, urgent: bool) -> None:
        self._outbox.put(framed(message), urgent)

    def _take(self, received: bytes) -> None:
        if (talk := self._talk) is None:
            return  # it goes on talking until it has heard that we hung up
        at, here = self._wire.arrived, talk.attendance
        asked, unheard = here.asked, here.unheard
        try:
            for item in self._frames.receive(received):
                match item:
                    case bytes():
                        here.tape.heard(item, at)
                        talk.hear(item, at, here.asked == asked)
                    case Ping(payload=payload):
                        self._control(at)
                        self._outbox.put(framed(payload, PONG))
                    case Pong():
                        self._control(at)
                    case Close(code=code):
                        self._close(code)
        except BadFrame as error:
            self._close(error.code, str(error))
        if unheard != here.unheard and not self._unheard.take(at, here.unheard - unheard):
            self._reading.cancel()

    def _control(self, at: float) -> None:
        rate = self._limits.control_frames
        if not self._controls.take(at):
            raise BadFrame(POLICY, f"pings and pongs may come {rate.credits} times in {rate.seconds:g} s")

    def _close(self, code: int | None, why: str = "") -> None:
        """Say goodbye, and give the peer a moment to do the same."""
        if self._talk is not None:
            log.debug("closed", peer=self._wire.peer, code=code, why=why)
            self._outbox.put(closing(code, why))
            self._outbox.finish()
            self._linger.deadline = trio.current_time() + self._limits.linger_seconds
            self._gone()

    def _gone(self) -> None:
        talk, self._talk = self._talk, None
        if talk is not None:
            talk.gone()


def _drop(received: bytes) -> None:
    """Ignore what a peer says that has been refused."""
