"""One relayed bot, at either end of a link.

`NearEnd` is at the host to which the bot is connected: it copies between the bot's connection
and the channel. `FarEnd` is at the host where the bot plays: a `Wire` like any other, over
which the doors serve the bot, with its bytes stamped as if it had come in there.
"""

from collections import deque
from collections.abc import Callable, Sequence

import trio

from server.host.abroad import Handed
from server.net.elsewhere import LISTENING, Listening
from server.net.guard import PEER_GONE, Severed
from server.net.wire import Piece, Wire
from server.peers.messages import (
    WINDOW,
    Closed,
    Credit,
    Finished,
    Known,
    Listen,
    Listened,
    Message,
    Open,
    Said,
    Say,
)
from server.peers.stamps import ArrivalTime, Handing, Sending
from tournament.timekeeper import Timekeeper

PIECE = 1 << 14  # bytes of one bot in a message: others get their turn
LAST_WORDS = 1.0  # seconds that a bot may take over what it was told before the end


class Channel:
    """What both ends have: a way to say things, and credit."""

    def __init__(self, number: int, say: Callable[[Message], None]) -> None:
        self.number = number
        self.say = say
        self.credit: int = WINDOW  # bytes that may be sent
        self.over = False
        self._news = trio.Event()

    def hear(self, message: Message) -> None:
        """Take what the other end says. Never waits."""
        match message:
            case Credit(size=size):
                self.credit += size
            case Closed():
                self.end()
            case _:
                pass
        self.wake()

    def lost(self, silent: float = 0.0) -> None:
        """The link is gone, and the channel with it. Nothing was heard over it for that many seconds."""
        self.end()

    def end(self) -> None:
        """Nothing more is said on this channel."""
        self.over = True
        self.wake()

    def wake(self) -> None:
        news, self._news = self._news, trio.Event()
        news.set()

    async def news(self) -> None:
        await self._news.wait()


class NearEnd(Channel):
    """The bot is at this host."""

    def __init__(
        self,
        number: int,
        say: Callable[[Message], None],
        handed: Handed,
        tournament: str,
        timekeeper: Timekeeper,
        *,
        again: bool,
    ) -> None:
        """`timekeeper` knows when this host stands still: no bot is charged for that."""
        super().__init__(number, say)
        self._handed = handed
        self._wire = handed.wire
        self._timekeeper = timekeeper
        self._handing = Handing(self._running(trio.current_time()))
        self._queue: deque[bytes] = deque()  # for the bot: no more than the credit that was given
        self._last = False  # nothing more comes for the bot
        self._sending = False  # the sending task is waiting for the bot to take something
        self._telling = trio.CancelScope()  # around that task: it does not wait for ever for a bot to read
        self._asked = False  # the other end waits to hear that nothing more has come
        self._hearing = trio.CancelScope()  # around reading: cancelled to say so, once all is read
        pieces = tuple([(content, self._heard(at)) for content, at in handed.pieces])
        self.credit -= sum(len(content) for content, _ in pieces)
        say(Open(number, handed.door, handed.path, handed.wire.peer, pieces, tournament, again))

    async def relay(self) -> None:
        """Copy both ways until either side has ended.

        If this is cancelled, this host ends, which is no fault of the bot's: the end of the link says so.
        """
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._hear_the_bot)
                with self._telling:
                    await self._tell_the_bot()
                nursery.cancel_scope.cancel()
        except* PEER_GONE:
            pass
        finally:
            self._wire.close()
        self.say(Closed(self.number))

    def end(self) -> None:
        if not self.over:
            self._telling.deadline = trio.current_time() + LAST_WORDS
        super().end()

    def hear(self, message: Message) -> None:
        match message:
            case Say(content=content):
                self._queue.append(content)
                self._send_now()
            case Finished():
                self._last = True
            case Known():
                self._handed.authenticated()
            case Listen():
                self._timekeeper.look()  # what came while this host stood still is in the socket
                self._asked = True
                self._hearing.cancel()
            case _:
                pass
        super().hear(message)

    def _running(self, at: float) -> float:
        """That time by a clock that stands still while this host does."""
        self._timekeeper.catch_up(trio.current_time())
        return at - self._timekeeper.stalled

    def _heard(self, at: float) -> ArrivalTime:
        return self._handing.heard(self._running(at))

    def _send_now(self) -> None:
        """Send as much as the bot's connection takes at once, from one socket to the other in one call."""
        while self._queue and not self._sending:
            content = self._queue[0]
            try:
                sent = self._wire.send_now(content)
            except PEER_GONE:
                self.end()
                return
            self._sent(content, sent)
            if sent < len(content):
                return

    def _sent(self, content: bytes, sent: int) -> None:
        if sent:
            self._handing.hand(sent, self._running(trio.current_time()))
            self.say(Credit(self.number, sent))
        if sent == len(content):
            self._queue.popleft()
        else:
            self._queue[0] = content[sent:]

    async def _tell_the_bot(self) -> None:
        while self._queue or not self.over:
            if self._queue:
                await self._send_some()
            elif self._last:
                self._last = False
                self._wire.finish()
            else:
                await self.news()

    async def _send_some(self) -> None:
        content, self._sending = self._queue[0], True
        try:
            self._sent(content, await self._wire.send_some(content))
        finally:
            self._sending = False

    async def _hear_the_bot(self) -> None:
        try:
            while received := await self._receive():
                heard = self._heard(self._wire.arrived)
                for start in range(0, len(received), PIECE):
                    piece = received[start : start + PIECE]
                    while self.credit < len(piece):
                        await self.news()
                    self.credit -= len(piece)
                    self.say(Said(self.number, piece, heard))
            self.say(Finished(self.number))
        except PEER_GONE:
            self.end()

    async def _receive(self) -> bytes:
        """What the bot says next. The other end is told that there is nothing, if it asks and that is so."""
        while True:
            with trio.CancelScope() as self._hearing:
                if self._asked:
                    self._hearing.cancel()
                return await self._wire.receive()
            self._asked = False
            self.say(Listened(self.number))


class FarEnd(Channel, Wire):
    """The bot plays at this host. A wire whose bytes arrived when the bot's host says they did."""

    def __init__(self, opened: Open, say: Callable[[Message], None]) -> None:
        super().__init__(opened.channel, say)
        now = trio.current_time()
        self.peer = opened.peer
        self.secure = True
        self.arrived = now
        self._sending = Sending(now)
        self._queue: deque[Piece] = deque()  # from the bot
        self._ended = False  # the bot says nothing more
        self._closed = False
        self._severed: float | None = None  # the link is lost, after that many seconds of silence
        self._listening = Listening(lambda: self.say(Listen(self.number)))
        self.pieces: Sequence[Piece] = [
            (content, self._sending.arrived(heard, now)) for content, heard in opened.pieces
        ]
        if taken := sum(len(content) for content, _ in opened.pieces):
            say(Credit(self.number, taken))

    def known(self) -> None:
        self.say(Known(self.number))

    def lost(self, silent: float = 0.0) -> None:
        self._severed = silent
        super().lost()

    def hear(self, message: Message) -> None:
        match message:
            case Said(content=content, heard=heard):
                self._queue.append((content, self._sending.arrived(heard, trio.current_time())))
            case Finished():
                self._ended = True
            case Listened():
                self._listening.hear()
            case _:
                pass
        super().hear(message)

    # As a wire

    def on_its_way(self, by: float) -> bool:
        now = trio.current_time()
        if self._closed or now >= by + LISTENING:
            return False
        if self._queue:
            return self._queue[0][1] <= by
        if self._severed is not None:
            return True  # until whoever reads has heard of that
        if self.over or self._ended or self.arrived > by:
            return False
        return self._listening.may_lack(by, now)

    async def receive(self) -> bytes:
        while True:
            if self._closed:
                raise trio.ClosedResourceError("the connection was closed at this end")
            if self._queue:
                await trio.lowlevel.checkpoint()  # first: what a cancelled reader had taken would be lost
                if self._closed:
                    continue
                content, self.arrived = self._queue.popleft()
                self.say(Credit(self.number, len(content)))
                return content
            if self._ended:
                return b""
            if self._severed is not None:
                raise Severed(self._severed)
            if self.over:
                raise trio.BrokenResourceError("the connection is lost")
            await self.news()

    def send_now(self, data: bytes | bytearray | memoryview) -> int:
        if self._closed or self.over:
            raise trio.BrokenResourceError("the connection is lost")
        size = min(len(data), self.credit)
        if size:
            self.credit -= size
            self._sending.send(size, trio.current_time())
            self.say(Say(self.number, bytes(data[:size])))
        return size

    async def send_some(self, data: bytes | bytearray | memoryview) -> int:
        while not (sent := self.send_now(data)):
            await self.news()
        await trio.lowlevel.checkpoint()
        return sent

    def finish(self) -> None:
        if not self._closed and not self.over:
            self.say(Finished(self.number))

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if not self.over:
                self.say(Closed(self.number))
            self.wake()
