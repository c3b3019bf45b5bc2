"""A link between two hosts, while it lasts: one connection for all bots and requests that are relayed.

Messages are sent as soon as the connection takes them. Those that wait are bounded by the
credit of the channels. Both sides say now and then that they are here. A link on which nothing
is heard for a while counts as cut, and everything that it carried ends with it.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import structlog
import trio

from server.host.abroad import Handed, OutOfReach
from server.http.exchange import Exchange
from server.http.head import RETRY_SOON, HttpError
from server.net.elsewhere import ROUNDS, Listening
from server.net.guard import Guard, Waiting, start_in_turn
from server.peers.asking import LOST, Answering, Asking
from server.peers.channel import Channel, FarEnd, NearEnd
from server.peers.messages import (
    ADDED,
    REQUESTS,
    Arranged,
    Ask,
    BadLink,
    Beat,
    Board,
    Closed,
    Forgets,
    Knows,
    Listen,
    Listened,
    Message,
    News,
    Open,
    Sitting,
    StoodStill,
    TokenReplaced,
    ToldEnd,
    Unframed,
    Watch,
    framed,
)
from tournament.timekeeper import Timekeeper

EVERY = 0.5  # seconds between two beats
SILENCE = 2.0  # seconds after which a link on which nothing was heard is cut
READ = 1 << 16  # bytes taken in one go
CHANNELS = 20_000  # at once
OUT_OF_REACH = "the host that holds this cannot be reached: come again later"

Serve = Callable[[FarEnd, Open], None]  # has a bot served over this wire
Reply = Callable[[Answering], None]  # has a request answered
Hear = Callable[[int, News], None]  # hears what a host says to this host as a whole

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Link:
    def __init__(
        self,
        stream: trio.abc.Stream,
        peer: int,
        serve: Serve,
        *,
        dialled: bool,
        reply: Reply = lambda answering: answering.lost(),
        hear: Hear = lambda peer, news: None,
        token: str = "",
        timekeeper: Timekeeper | None = None,
    ) -> None:
        """`peer` is the other host's number, and `dialled` whether this one has begun the link.

        `token` is the organiser's at this host, and `timekeeper` knows when this host stands still.
        """
        self.peer = peer
        self.begun = trio.current_time()
        self._reply = reply
        self._hear = hear
        self._token = token
        self._timekeeper = timekeeper or Timekeeper()
        self._stream = stream
        self._serve = serve
        self._next = 1 if dialled else 2  # the two sides open channels of different numbers
        self._channels: dict[int, Channel] = {}
        self._said = bytearray()
        self._something = trio.Event()  # set when something is said
        self._heard = trio.current_time()
        self._lenient: bool | None = None  # whether the other ignores what it does not know; None: unheard of
        self._unsure: list[Message] = []  # what only such a host is told, until that is heard
        self._listening = Listening(lambda: self.say(Listen(REQUESTS)))
        self._asked = trio.Event()  # set when the other host wants to hear which requests have come
        self._open = True

    async def run(self) -> None:
        """Serve the link until either side is gone, or until cancelled."""
        try:
            async with self._stream, trio.open_nursery() as nursery:
                nursery.start_soon(self._send)
                nursery.start_soon(self._beat)
                nursery.start_soon(self._tell_when_read)
                with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
                    await self._receive()
                nursery.cancel_scope.cancel()
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        finally:
            self._open = False
            silent = trio.current_time() - self._heard
            for channel in self._channels.values():
                channel.lost(silent)
            if silent > EVERY:  # more than between two beats: as far as anybody here knows, it stood still
                self._hear(self.peer, StoodStill(silent))

    @property
    def waiting(self) -> int:
        """Bytes that the connection has not taken yet."""
        return len(self._said)

    async def take(self, handed: Handed, tournament: str = "", *, again: bool = False) -> None:
        """Have the other host serve a connection, to its end; its bot plays in that tournament.

        `again`: the connection came from another host, which was mistaken. Raises `OutOfReach` if the other
        host cannot be asked.
        """
        if not self._open or len(self._channels) >= CHANNELS:
            raise OutOfReach(OUT_OF_REACH)
        number, self._next = self._next, self._next + 2
        channel = self._channels[number] = NearEnd(
            number, self.say, handed, tournament, self._timekeeper, again=again
        )
        try:
            await channel.relay()
        finally:
            self._channels.pop(number, None)

    async def ask(self, exchange: Exchange, *, organiser: bool, again: bool = False) -> None:
        """Have the other host answer a request; raises `HttpError` if that cannot be.

        `again`: another host had asked this one, which was mistaken.
        """
        if not self._open or len(self._channels) >= CHANNELS:
            raise HttpError(503, LOST, RETRY_SOON)
        self._timekeeper.catch_up(trio.current_time())  # a standstill is told before what comes after it
        number, self._next = self._next, self._next + 2
        channel = self._channels[number] = Asking(
            number, self.say, exchange, organiser=organiser, again=again
        )
        try:
            await channel.relay()
        finally:
            self._channels.pop(number, None)

    def may_lack(self, by: float, now: float) -> bool:
        """Whether a request that had come to the other host by then may not be here yet."""
        return self._open and self._listening.may_lack(by, now)

    def say(self, message: Message) -> None:
        """Send a message without waiting. It goes nowhere after the end, or to a host too old to read it."""
        if isinstance(message, Closed):
            self._channels.pop(message.channel, None)
        if isinstance(message, ADDED) and not self._lenient:
            if self._lenient is None:
                self._unsure.append(message)
        elif self._open:
            self._said += framed(message)
            self._something.set()

    # Within

    async def _send(self) -> None:
        while True:
            await self._something.wait()
            self._something = trio.Event()
            said, self._said = self._said, bytearray()
            await self._stream.send_all(said)

    async def _beat(self) -> None:
        heard, late = self._heard, 0.0
        while trio.current_time() < heard + late + SILENCE:
            self.say(Beat(lenient=True))
            wake = trio.current_time() + EVERY
            await trio.sleep_until(wake)
            # This host stood still for as long as it is late: what the other has said may not have been read.
            late = trio.current_time() - wake + (late if self._heard == heard else 0.0)
            heard = self._heard
        log.warning("a link between hosts is silent, and is cut", host=self.peer)
        await trio.aclose_forcefully(self._stream)

    async def _tell_when_read(self) -> None:
        """Tell, whenever the other host asks, that all requests that had come by then were passed on."""
        while True:
            await self._asked.wait()
            self._asked = trio.Event()
            await trio.sleep_until(self._timekeeper.listens_until)
            for _ in range(ROUNDS):
                await trio.lowlevel.checkpoint()
            self.say(Listened(REQUESTS))

    async def _receive(self) -> None:
        unframed = Unframed()
        try:
            while received := await self._stream.receive_some(READ):
                self._heard = trio.current_time()
                for message in unframed.receive(bytes(received)):
                    self._take(message)
        except BadLink as error:
            log.error("a link between hosts is cut", host=self.peer, why=str(error))

    def _take(self, message: Message) -> None:
        match message:
            case Beat(lenient=lenient):
                self._lenient, unsure, self._unsure = lenient, self._unsure, []
                for each in unsure:
                    self.say(each)
            case Knows() | Forgets() | Sitting() | ToldEnd() | TokenReplaced() | Arranged() | StoodStill():
                self._hear(self.peer, message)
            case Watch() | Board():
                self._hear(self.peer, message)
            case Listen(channel=number) if number == REQUESTS:
                self._timekeeper.catch_up(trio.current_time())
                self._asked.set()
            case Listened(channel=number) if number == REQUESTS:
                self._listening.hear()
                self._timekeeper.look_again()
            case Open(channel=number) | Ask(channel=number):
                if number % 2 == self._next % 2 or number in self._channels:
                    raise BadLink(f"channel {number} is not the other side's to open")
                if len(self._channels) >= CHANNELS:
                    self.say(Closed(number))
                    return
                if isinstance(message, Ask):
                    self._channels[number] = answering = Answering(message, self.say, self._token)
                    self._reply(answering)
                else:
                    self._channels[number] = wire = FarEnd(message, self.say)
                    self._serve(wire, message)
            case _:
                channel = self._channels.get(message.channel)  # it may have ended here meanwhile
                if channel is not None:
                    channel.hear(message)
                    if isinstance(message, Closed):
                        self._channels.pop(message.channel, None)


def attended(guard: Guard, attend: Callable[[FarEnd, Open], Awaitable[object]]) -> Serve:
    """Serve each bot in a task of its own, which ends the channel; they begin in the order of coming."""
    opened_now: Waiting = deque()

    async def serve(wire: FarEnd, opened: Open) -> None:
        try:
            await attend(wire, opened)
        finally:
            wire.close()

    return lambda wire, opened: start_in_turn(guard, opened_now, partial(serve, wire, opened))
