"""The TCP port: lines. The first line that a bot sends says which dialect it speaks.

The dialect decides what lines mean; `server/protocols/catalogue.py` finds the
dialects.
"""

from math import inf

import trio

from server.host.host import STOPPING, Host
from server.net.lines import Lines, LineTooLong
from server.net.listening import Visitor
from server.net.outbox import Outbox
from server.net.wire import Wire
from server.protocols.catalogue import lines
from server.protocols.common.states import State
from server.protocols.dialect import Channel, Talk


async def attend(host: Host, wire: Wire, visitor: Visitor) -> None:
    """Serve one connection to its end. Closing the wire is left to whoever opened it."""
    await Connection(host, wire, visitor).attend()


class Connection:
    """One connection: bytes in, lines to its dialect, and an orderly end."""

    __slots__ = ("_host", "_known", "_lines", "_outbox", "_over", "_reading", "_talk", "_visitor", "_wire")

    def __init__(self, host: Host, wire: Wire, visitor: Visitor) -> None:
        self._host = host
        self._wire = wire
        self._visitor = visitor
        self._talk: Talk | None = None
        self._lines = Lines(host.limits.json_line_bytes)
        self._outbox = Outbox(wire, host.guard, host.limits)
        self._reading = trio.CancelScope()
        self._known = False  # the bot has been in
        self._over = False  # we have hung up

    async def attend(self) -> None:
        self._host.on_stop[self] = self._say_goodbye
        try:
            await self._listen()
        except Exception as error:
            if self._talk is not None:
                self._talk.attendance.failed(error)
            self._gone()
            raise
        finally:
            del self._host.on_stop[self]
        self._gone()  # but not when the host stops, which cancels us: that is no bot's fault
        self._outbox.finish()
        with trio.move_on_after(self._host.limits.linger_seconds):
            await self._wire.pump(lambda received: None)  # closed with something unread, it would be reset

    async def _listen(self) -> None:
        """Read until either side hangs up, or a bot is not in by its time, unless the host is slow."""
        while not self._over:
            seconds = inf if self._known else self._host.limits.hello_seconds
            with trio.move_on_after(seconds) as self._reading:
                await self._wire.pump(self._take)
                return
            if not self._known and not self._arriving:
                return

    @property
    def _arriving(self) -> bool:
        return self._talk is not None and self._talk.attendance.state is State.ARRIVING

    def _take(self, received: bytes) -> None:
        talk, at = self._talk, self._wire.arrived
        asked = 0 if talk is None else talk.attendance.asked
        try:
            for line in self._lines.receive(received):
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

    def _gone(self) -> None:
        talk, self._talk = self._talk, None  # it says things through this: they would keep each other
        if talk is not None:
            talk.gone()

    def _say_goodbye(self) -> None:
        if self._talk is not None:
            self._talk.give_up(STOPPING)
        else:
            self._hang_up(STOPPING)

    def _begin(self, line: bytes) -> Talk:
        """Begin with the first line, by which the dialect is recognised."""
        way = next(way for way in lines() if way.recognises is None or way.recognises(line))
        self._lines.most = way.longest(self._host.limits)
        return way.speak(
            Channel(self._host, self._outbox.put, self._hang_up, self._wire.peer, self._authenticated)
        )

    def _hang_up(self, reason: str) -> None:
        self._over = True
        self._reading.cancel()

    def _authenticated(self) -> None:
        self._known = True
        self._reading.deadline = inf
        self._visitor.authenticated()
