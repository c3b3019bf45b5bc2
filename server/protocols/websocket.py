"""The websocket port: each path has its dialect (`server/protocols/catalogue.py`).

One connection from its handshake (`handshake.py`) to its end. Frames
(`server/net/frames.py`) and dialects do no I/O, so a message goes from the
socket through the referee and out of both sockets within one call: there is no
task in between, and nobody waits for anybody. A bot that says far more than is
worth a reply is not cut for it: backpressure slows it down.

Either side ends a connection with a close frame that has a reason; then the peer has a
moment to take that in. The host sends no pings: some clients block for minutes in
their own input, and the clocks show who is not there. Only a dialect that says so
expects its bots to be in at once, and the host hangs up on those that are not.

A bot that plays in another process is handed over to it after the handshake, when it
comes and whenever it comes again (`server/host/abroad.py`).

`Origin` may be anything or missing. There are no cookies, so a page in somebody's
browser can do no more here than any other stranger.
"""

from collections.abc import Callable, Iterator, Sequence
from math import inf

import structlog
import trio

from server.host.abroad import Handed, OutOfReach
from server.host.host import Host
from server.host.unwelcome import STOPPING
from server.net.admission import Visitor
from server.net.frames import (
    GOING_AWAY,
    POLICY,
    PONG,
    BadFrame,
    Close,
    Frames,
    Item,
    Ping,
    Pong,
    closing,
    framed,
    repeated,
)
from server.net.guard import PEER_GONE
from server.net.limits import Bucket
from server.net.outbox import Outbox
from server.net.wire import Piece, Served, Wire
from server.protocols.catalogue import frames, spoken
from server.protocols.common.states import State
from server.protocols.dialect import Channel, Leaves, Talk, leads_away, may_go, told_anew
from server.protocols.handshake import Refused, shake_hands
from server.protocols.passable import Passable, linger
from tournament.timekeeper import TOLERANCE

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def attend(host: Host, wire: Wire, visitor: Visitor) -> Served | None:
    """Serve one connection, until it has ended or is parked."""
    try:
        connection = await _accepted(host, wire, visitor)
    except PEER_GONE:
        return None
    return None if connection is None else await connection.attend()


async def _accepted(host: Host, wire: Wire, visitor: Visitor) -> "Connection | None":
    """Shake hands; None if there is nothing to serve. A request is not kept while its connection lasts."""
    outbox = Outbox(wire, host.guard, host.limits)
    handshake = await shake_hands(wire, spoken(), host.limits, visitor.objection)
    outbox.put(handshake.answer)
    if isinstance(handshake, Refused):
        outbox.finish()
        await linger(wire, host.limits)
        return None
    wire.peer = visitor.client(handshake.forwarded)  # the bot's own, even behind a proxy
    ahead = [(handshake.rest, wire.arrived)] if handshake.rest else ()
    return Connection(host, wire, outbox, handshake.path, visitor.authenticated, ahead)


class Connection(Passable):
    """One connection, after its handshake."""

    __slots__ = (
        "_authenticated",
        "_controls",
        "_expected_by",
        "_floods",
        "_frames",
        "_host",
        "_limits",
        "_lingers_until",
        "_settled",
        "_unheard",
        "_way",
    )

    door = "websocket"

    def __init__(
        self,
        host: Host,
        wire: Wire,
        outbox: Outbox,
        path: str,
        authenticated: Callable[[], None],
        ahead: Sequence[Piece] = (),
        *,
        settled: bool = False,
        words: str | None = None,
    ) -> None:
        """`ahead` was read before; `settled`: another process has found that the bot that begins plays here.

        With `words`, that process has let the bot in, and the bot goes on here from what they say.
        """
        super().__init__(wire, outbox, ahead)
        self._limits = host.limits
        self._frames = Frames(host.limits)
        self._controls: Bucket | None = None  # made when needed, like the other: most bots send none
        self._unheard: Bucket | None = None
        self._lingers_until = inf  # a peer that has to go
        self._expected_by = inf  # a bot that is not in by then has to go
        self._floods = False  # it is not read for a moment
        self._way = frames()[path]
        self._host = host
        self._authenticated = authenticated
        self._settled = settled
        self._begin(words)

    def _begin(self, words: str | None = None) -> None:
        way, peer = self._way, self._wire.peer
        channel = Channel(self._host, self._say, self._hang_up, peer, self._let_in, self._cut)
        if words is not None and way.goes_on is not None:
            self._talk = way.goes_on(channel, words)
            self._talk.attendance.wire = self._wire
            return
        if way.at_once:
            self._expected_by = trio.current_time() + self._limits.hello_seconds
        talk = self._talk = way.speak(channel)
        talk.attendance.wire = self._wire
        if way.goes_on is not None:
            talk.attendance.connection = self

    @property
    def talk(self) -> Talk | None:
        """The talk over this connection; None if it is over."""
        return self._talk

    @property
    def _unread(self) -> bytes:
        return self._frames.unread

    @property
    def _dialect(self) -> tuple[str, str] | None:
        return None if self._way.goes_on is None else ("", self._way.path)

    async def serve(self) -> bytes | None:
        """Serve until called back; returns what has come of the next message, or None at the end."""
        await self.run()
        return None if self._talk is None else self._unread

    async def attend(self) -> Served | None:
        """Serve it to its end; if it is parked before, returns this method, which goes on then."""
        try:
            if await self.run():
                return self.attend
            await self._wire.conclude(self._limits.linger_seconds)
        except PEER_GONE:
            pass  # the failure has been dealt with
        return None

    async def attend_handed(self) -> Served | None:
        """The same, where the process that the connection came to concludes it."""
        return self.attend_handed if await self.run() else None

    async def run(self) -> bool:
        """Serve until the peer has said its last word, or has to go; True: it is parked before."""
        self._host.on_stop.add(self)
        parked = False
        try:
            while not (self._called_back or self._is_late()):
                leaves = None
                try:
                    self._take_ahead()
                    until = min(self._lingers_until, self._expected_by)
                    if parked := self._parked(until):
                        return True
                    if await self._pump(until):
                        break
                except Leaves as raised:
                    leaves = raised.with_traceback(None)  # what led to it would be kept while it is away
                if leaves is not None and not await self._hand_over(leaves):
                    break
                if self._floods:
                    self._floods = False
                    await trio.sleep(self._limits.flood_pause_seconds)
            # A stopping host cancels this task: a bot whose end comes just then did not leave its match.
            await trio.lowlevel.checkpoint_if_cancelled()
        except Exception as error:
            if self._talk is not None:
                self._talk.attendance.failed(error)
            self._gone()
            raise
        finally:
            if not parked:
                self._host.on_stop.remove(self)
        if not await self._is_called_back(self._limits):
            self._gone()
        return False

    def _say(self, message: bytes, urgent: bool) -> None:
        self._outbox.put(framed(message), urgent)

    def _take(self, received: bytes) -> None:
        if (talk := self._talk) is None:
            return  # the peer goes on talking until it has heard that we hung up
        at, here = self._wire.arrived, talk.attendance
        asked, unheard = here.asked, here.unheard
        try:
            found = iter(self._frames.receive(received))
            for item in found:
                if self._talk is not talk:
                    return  # one of the messages before this was the last
                match item:
                    case bytes():
                        if self._host.abroad is not None:
                            self._expect_here(item, found)
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
            log.info("cut", peer=self._wire.peer, player=here.name, why=str(error))
            here.note_cut(str(error))
            here.hang_up()
            self._close(error.code, str(error))
        if unheard != here.unheard and not self._may_go_unheard(at, here.unheard - unheard):
            self._floods = True
            self._wire.interrupt()

    def _is_late(self) -> bool:
        """Whether the peer was told goodbye long ago, as a bot is that is not in by its time."""
        now, seconds = trio.current_time(), self._limits.hello_seconds
        if now >= self._expected_by:
            if self._talk is not None and self._talk.attendance.state is State.ARRIVING:
                self._expected_by = now + seconds  # the host is slow to let it in
            elif now - self._expected_by > TOLERANCE:  # the host stood still: its hello may lie unread
                self._expected_by = now + TOLERANCE
            else:
                self._expected_by = inf
                self._close(POLICY, f"a bot says hello within {seconds:g} s")
        return now >= self._lingers_until

    def _let_in(self) -> None:
        if self._expected_by != inf:
            self._expected_by = inf
            self._wire.interrupt()  # to wait for ever
        self._authenticated()

    def _may_go_unheard(self, at: float, count: int) -> bool:
        if self._unheard is None:
            self._unheard = Bucket(self._limits.messages, at)
        return self._unheard.take(at, count)

    def _expect_here(self, message: bytes, following: Iterator[Item]) -> None:
        """Raise `Leaves` if the bot that comes with this message plays in another process."""
        settled, self._settled = self._settled, False
        if settled:
            return
        holder = leads_away(self._host, self._way.wanted, self._wire.peer, self._talk, message)
        if holder is None:
            return
        unread = b"".join(map(repeated, (told_anew(self._talk, message), *following))) + self._frames.unread
        raise Leaves(holder, unread, self._wire.arrived, self._host.leaving.take())

    async def _hand_over(self, leaves: Leaves) -> bool:
        """Have another process serve the connection; False if it has ended."""
        over = self._talk is None
        if not await may_go(leaves, self._begin_anew, self._outbox, self._limits, over=over):
            return over  # the peer has a moment to say goodbye
        wire, path = self._wire, self._way.path
        handed = Handed("websocket", wire, path, leaves.pieces, self._authenticated)
        try:
            self._ahead = await leaves.holder.take(handed)
        except OutOfReach as reason:
            self._begin()
            self._close(GOING_AWAY, str(reason))
            return True
        self._settled = self._ahead is leaves.pieces
        if self._ahead:
            self._begin()
        return bool(self._ahead)

    def _begin_anew(self) -> None:
        """Serve nobody, until the connection is given back with a first message."""
        self._gone()
        self._frames = Frames(self._limits)

    def _control(self, at: float) -> None:
        rate = self._limits.control_frames
        if self._controls is None:
            self._controls = Bucket(rate, at)
        if not self._controls.take(at):
            raise BadFrame(POLICY, f"pings and pongs may come {rate.credits} times in {rate.seconds:g} s")

    def _hang_up(self, why: str) -> None:
        self._close(self._way.code, why)

    def _cut(self, why: str) -> None:
        self._close(POLICY, why)

    def say_goodbye(self) -> None:
        self._close(GOING_AWAY, STOPPING)

    def _close(self, code: int | None, why: str = "") -> None:
        """Say goodbye, and give the peer a moment to do the same."""
        if self._talk is not None:
            log.debug("closed", peer=self._wire.peer, code=code, why=why)
            self._outbox.put(closing(code, why))
            self._outbox.finish()
            self._lingers_until = trio.current_time() + self._limits.linger_seconds
            self._wire.interrupt()  # to wait no longer than that
            self._gone()
