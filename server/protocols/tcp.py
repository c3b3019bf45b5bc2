"""The TCP door: lines. Its first line says which dialect a bot speaks.

A JSON object is the hello of the house protocol (`house.py`), for any game; a
name alone is Santorini's memo (`memo.py`). What lines mean is decided there.
"""

from math import inf
from typing import Protocol

import trio

from server.host.host import STOPPING, Host
from server.net.lines import Lines, LineTooLong
from server.net.listening import Visitor
from server.net.outbox import Outbox
from server.net.wire import Wire
from server.protocols.house.talk import House
from server.protocols.santorini_memo import Memo


class Dialect(Protocol):
    """What a connection asks of either dialect."""

    asked: int  # how many questions the bot has been asked
    arriving: bool  # it has said who it is, and is about to be let in or refused

    def hear(self, message: bytes, at: float, fresh: bool) -> None: ...
    def give_up(self, reason: str) -> None: ...
    def gone(self) -> None: ...


async def attend(host: Host, wire: Wire, visitor: Visitor) -> None:
    """Serve one connection to its end. Closing the wire is left to whoever opened it."""
    await Connection(host, wire, visitor).attend()


class Connection:
    """Bytes in, lines to whoever understands them; and a decent end."""

    __slots__ = ("_bot", "_host", "_known", "_lines", "_outbox", "_over", "_reading", "_visitor", "_wire")

    def __init__(self, host: Host, wire: Wire, visitor: Visitor) -> None:
        self._host = host
        self._wire = wire
        self._visitor = visitor
        self._bot: Dialect | None = None
        self._lines = Lines(host.limits.json_line_bytes)
        self._outbox = Outbox(wire, host.guard, host.limits)
        self._reading = trio.CancelScope()
        self._known = False  # it is in
        self._over = False  # we have hung up

    async def attend(self) -> None:
        self._host.farewells[self] = self._say_goodbye
        try:
            await self._listen()
        except Exception:
            self._gone()
            raise
        finally:
            del self._host.farewells[self]
        self._gone()  # but not when the host stops, which cancels us: that is no bot's fault
        self._outbox.finish()
        with trio.move_on_after(self._host.limits.linger_seconds):
            await self._wire.pump(lambda received: None)  # closed with something unread, it would be reset

    async def _listen(self) -> None:
        """Until either side hangs up. Who is not in in time is shown out, unless it is we who are slow."""
        while not self._over:
            seconds = inf if self._known else self._host.limits.hello_seconds
            with trio.move_on_after(seconds) as self._reading:
                await self._wire.pump(self._take)
                return
            if not self._known and (self._bot is None or not self._bot.arriving):
                return

    def _take(self, received: bytes) -> None:
        bot, at = self._bot, self._wire.arrived
        asked = 0 if bot is None else bot.asked
        try:
            for line in self._lines.receive(received):
                if bot is None:
                    bot = self._bot = self._begin(line)
                else:
                    bot.hear(line, at, bot.asked == asked)
                if self._over:
                    return
        except LineTooLong as error:
            if bot is None:
                self._say(str(error).encode())
                self._hang_up(str(error))
            else:
                bot.give_up(str(error))

    def _gone(self) -> None:
        if self._bot is not None:
            self._bot.gone()

    def _say_goodbye(self) -> None:
        if self._bot is not None:
            self._bot.give_up(STOPPING)
        else:
            self._hang_up(STOPPING)

    def _begin(self, line: bytes) -> Dialect:
        """The first line: who speaks, and how."""
        if line.lstrip()[:1] == b"{":
            house = House(self._host, self._say, self._hang_up, self._wire.peer, self._authenticated)
            house.hear(line, self._wire.arrived)
            return house
        self._lines.most = self._host.limits.line_bytes
        memo = Memo(self._host, self._outbox.put, self._hang_up, self._wire.peer, self._authenticated)
        memo.arrive(line)
        return memo

    def _say(self, message: bytes, urgent: bool = True) -> None:
        self._outbox.put(message + b"\n", urgent)

    def _hang_up(self, reason: str) -> None:
        self._over = True
        self._reading.cancel()

    def _authenticated(self) -> None:
        self._known = True
        self._reading.deadline = inf
        self._visitor.authenticated()
