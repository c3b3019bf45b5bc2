"""The TCP port: lines. The first line that a bot sends says which dialect it speaks.

The dialect decides what lines mean; `server/protocols/catalogue.py` finds the
dialects. A bot that plays in another process is handed over to it, when it comes
and whenever it comes again (`server/host/abroad.py`).
"""

from codecs import BOM_UTF8
from collections.abc import Coroutine, Iterator, Sequence
from math import inf

import trio

from server.host.abroad import Handed, OutOfReach
from server.host.host import Host
from server.host.unwelcome import STOPPING
from server.net.admission import Visitor
from server.net.guard import Guard
from server.net.lines import Lines, LineTooLong
from server.net.outbox import Outbox
from server.net.wire import Piece, Served, Wire
from server.protocols.catalogue import carried, lines
from server.protocols.common.states import State
from server.protocols.dialect import (
    Channel,
    KnownPeer,
    Leaves,
    Movable,
    OverTcp,
    Talk,
    leads_away,
    may_go,
    told_anew,
)
from server.protocols.passable import Passable, linger
from tournament.timekeeper import TOLERANCE

NO_END = b"a line ends with \\n, and the end of the first one did not come in time\n"


def attend(host: Host, wire: Wire, visitor: Visitor) -> Coroutine[object, object, Served | None]:
    """Serve one connection, until it has ended or is parked. The caller closes the wire."""
    return Connection(host, wire, visitor).attend()


class Connection(Passable):
    """One connection: bytes in, lines to its dialect, and an orderly end."""

    __slots__ = ("_expected_by", "_handed", "_host", "_lines", "_over", "_settled", "_visitor", "_way")

    door = "tcp"

    def __init__(
        self,
        host: Host,
        wire: Wire,
        visitor: KnownPeer,
        ahead: Sequence[Piece] = (),
        *,
        settled: bool = False,
    ) -> None:
        """`ahead` was read by another process; `settled`: which found that its bot plays here."""
        super().__init__(wire, Outbox(wire, host.guard, host.limits), ahead)
        self._host = host
        self._visitor = visitor
        self._way: OverTcp | None = None  # how its talk is carried
        self._lines = Lines(host.limits.json_line_bytes)
        self._settled = settled
        self._expected_by = trio.current_time() + host.limits.hello_seconds  # infinite once the bot is in
        self._over = False  # whether we have hung up
        self._handed = False  # whether another process serves it, from which it may come back

    async def attend(self) -> Served | None:
        """Serve it to its end; if it is parked before, returns this method, which goes on then."""
        self._host.on_stop.add(self)
        parked = False
        try:
            while not (self._over or self._called_back or self._is_late()):
                leaves = None
                try:
                    self._take_ahead()
                    if parked := self._parked(self._expected_by):
                        return self.attend
                    if await self._pump(self._expected_by):
                        break
                except Leaves as raised:
                    leaves = raised.with_traceback(None)  # what led to it would be kept while it is away
                if leaves is not None and not await self._hand_over(leaves):
                    break
        except Exception as error:
            if self._talk is not None:
                self._talk.attendance.failed(error)
            self._gone()
            raise
        finally:
            if not parked:
                self._host.on_stop.remove(self)
        if await self._is_called_back(self._host.limits):
            return None
        self._gone()  # but not when the host stops, which cancels us: that is no bot's fault
        self._outbox.finish()
        await linger(self._wire, self._host.limits)
        return None

    def seat(self, dialect: str, words: str) -> Movable:
        """Go on with a bot that was let in elsewhere, from what its dialect remembers; then call `serve`."""
        way = self._way = next(way for each, way in carried(OverTcp) if each.name == dialect)
        if way.goes_on is None:
            raise ValueError(f"bots of {dialect} stay where they came in")
        self._lines.most, self._expected_by = way.longest(self._host.limits), inf
        talk = self._talk = way.goes_on(self._channel, words)
        self._introduce(talk)
        return talk

    async def serve(self) -> bytes | None:
        """Serve until called back; returns what has come of the next message, or None at the end."""
        await self.attend()
        return None if self._talk is None else self._unread

    @property
    def _unread(self) -> bytes:
        return self._lines.unread

    @property
    def _dialect(self) -> tuple[str, str] | None:
        way = self._way
        if way is None or way.goes_on is None or self._over:
            return None
        return next(dialect.name for dialect, each in carried(OverTcp) if each is way), ""

    def _is_late(self) -> bool:
        """Whether the bot is not in by its time, which is longer if the host is slow to let it in."""
        if (now := trio.current_time()) < self._expected_by:
            return False
        if self._arriving:
            self._expected_by = now + self._host.limits.hello_seconds
            return False
        if now - self._expected_by > TOLERANCE:  # the host stood still: what came in time may lie unread
            self._expected_by = now + TOLERANCE
            return False
        if self._talk is None and self._lines.unread:
            self._outbox.put(NO_END)
        return True

    @property
    def _arriving(self) -> bool:
        return self._talk is not None and self._talk.attendance.state is State.ARRIVING

    def _take(self, received: bytes) -> None:
        talk, at = self._talk, self._wire.arrived
        asked = 0 if talk is None else talk.attendance.asked
        try:
            found = iter(self._lines.receive(received))
            for line in found:
                if talk is None:
                    line = line.removeprefix(BOM_UTF8)  # some libraries send it first by themselves
                if self._host.abroad is not None:
                    self._expect_here(line, found)
                if talk is None:
                    talk = self._talk = self._begin(line)
                here = talk.attendance
                here.tape.heard(line, at)
                talk.hear(line, at, here.asked == asked)
                if self._over:
                    return
        except LineTooLong as error:
            if talk is None:
                self._outbox.put(b"%b\n" % str(error).encode())
                self._hang_up(str(error))
            else:
                talk.give_up(str(error))

    def _expect_here(self, line: bytes, following: Iterator[bytes]) -> None:
        """Raise `Leaves` if the bot that comes with this line plays in another process."""
        settled, self._settled = self._settled, False
        way = self._way or _way(line, self._host.guard)
        if settled or self._over or (self._way is not None and not way.comes_again):
            return
        if (holder := leads_away(self._host, way.wanted, self._wire.peer, self._talk, line)) is not None:
            unread = (
                b"".join(b"%b\n" % each for each in (told_anew(self._talk, line), *following))
                + self._lines.unread
            )
            raise Leaves(holder, unread, self._wire.arrived, self._host.leaving.take())

    async def _hand_over(self, leaves: Leaves) -> bool:
        """Have another process serve the connection; False if it has ended."""
        self._handed = True
        if not await may_go(leaves, self._begin_anew, self._outbox, self._host.limits, over=self._over):
            return False
        handed = Handed("tcp", self._wire, "", leaves.pieces, self._authenticated)
        try:
            self._ahead = await leaves.holder.take(handed)
        except OutOfReach as reason:
            self._handed = False
            self._turn_away(leaves, str(reason))
            return False
        self._handed, self._settled = False, self._ahead is leaves.pieces
        if self._expected_by != inf:
            self._expected_by = trio.current_time() + self._host.limits.hello_seconds
        return bool(self._ahead)

    def _turn_away(self, leaves: Leaves, reason: str) -> None:
        """Tell a bot, in the words of its dialect, that nobody serves it now."""
        (unread, _), *_ = leaves.pieces
        line, _, _ = unread.partition(b"\n")
        self._talk = self._begin(line)
        self._talk.give_up(reason)

    def _begin_anew(self) -> None:
        """Serve nobody, until the connection is given back with a first line."""
        self._gone()
        self._way, self._lines = None, Lines(self._host.limits.json_line_bytes)

    def say_goodbye(self) -> None:
        if self._talk is not None:
            self._talk.give_up(STOPPING)
        else:
            self._hang_up(STOPPING)

    def _begin(self, line: bytes) -> Talk:
        """Begin with the first line, by which the dialect is recognised."""
        way = self._way = _way(line, self._host.guard)
        self._lines.most = way.longest(self._host.limits)
        talk = way.speak(self._channel)
        self._introduce(talk)
        if way.goes_on is not None:
            talk.attendance.connection = self
        return talk

    def _introduce(self, talk: Talk) -> None:
        """Let it know what only the connection can tell of its bot."""
        talk.attendance.wire = self._wire
        talk.attendance.lines = self._lines

    @property
    def _channel(self) -> Channel:
        return Channel(self._host, self._outbox.put, self._hang_up, self._wire.peer, self._authenticated)

    def _hang_up(self, reason: str) -> None:
        self._over = True
        self._look_again()

    def _authenticated(self) -> None:
        self._expected_by = inf
        self._look_again()  # to wait for ever
        self._visitor.authenticated()

    def _look_again(self) -> None:
        """Have the task that serves the connection see what has changed; another process is not disturbed."""
        if not self._handed:
            self._wire.interrupt()


def _way(line: bytes, guard: Guard) -> OverTcp:
    return next(way for way in lines() if _is_recognised(line, way, guard))


def _is_recognised(line: bytes, way: OverTcp, guard: Guard) -> bool:
    """Whether a dialect recognises a line. If it fails, the others are asked: most bots are theirs."""
    try:
        return way.recognises is None or way.recognises(line)
    except Exception as error:
        guard.report(error)
        return False
