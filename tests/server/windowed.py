"""A simulated TCP connection for tests on a virtual clock, seeded: the same seed, the same history.

trio's memory streams take whatever they are given, so nothing written against
them ever meets a slow reader. Here each direction has a window; bytes take
their time, arrive in pieces of any size, and are lost late (`stall`) or for
good (`pull`). An `End` is a `Wire` and a `trio.abc.Stream` alike.

Closing is as in TCP: an end that is closed with something unread, or sent
something later, resets the connection, and what was under way is lost.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from random import Random

import trio
import trio.testing
from msgspec import Struct

from server.net.still_there import LONGEST
from server.net.wire import READ, Wire
from tests.deterministic import take_turns_by


class Weather(Struct, frozen=True, kw_only=True):
    """What the network is like: bytes and seconds."""

    window: int = 65536  # sent and not yet read, in each direction
    latency: float = 0.0
    jitter: float = 0.0  # added to the latency, at most; order is kept
    room: int = 1  # of the window, for which a writer waits when it was full: kernels wait until half is free
    piece: int | None = None  # the most that is read in one go, by chance less; None joins whatever is there


class Way:
    """One direction: what was sent, and not yet read."""

    def __init__(self, weather: Weather, seed: str) -> None:
        self.weather = weather
        self.delays = Random(f"{seed} delays")  # two, so that who reads when changes no delay
        self.pieces = Random(f"{seed} pieces")
        self.flying: deque[tuple[float, bytes]] = deque()  # when it arrives, and what; b"" is the end
        self.taken = 0  # of the window
        self.read_so_far = 0
        self.latest = 0.0  # nothing overtakes this
        self.pulled = False  # nothing arrives any more
        self.ended = False  # the end was sent
        self.news = trio.lowlevel.ParkingLot()  # who waits for something to read
        self.room = trio.lowlevel.ParkingLot()  # who waits for room in the window

    def send(self, content: bytes) -> int:
        sent = min(len(content), self.weather.window - self.taken)
        if sent:
            self.taken += sent
            self._fly(content[:sent])
        return sent

    def end(self) -> None:
        if not self.ended:
            self.ended = True
            self._fly(b"")

    def read(self, most: int) -> bytes | None:
        """What has arrived; b"" at the end, None where there is nothing yet."""
        now, arrived = trio.current_time(), bytearray()
        if self.weather.piece is not None and self.flying and self.flying[0][0] <= now:
            most = min(most, self.pieces.randint(1, self.weather.piece))
        while len(arrived) < most and self.flying and self.flying[0][0] <= now:
            when, content = self.flying[0]
            if not content and not arrived:
                return b""
            if not content:
                break
            fits = most - len(arrived)
            arrived += content[:fits]
            self.flying.popleft()
            if content[fits:]:
                self.flying.appendleft((when, content[fits:]))
        self.taken -= len(arrived)
        self.read_so_far += len(arrived)
        if arrived and self.weather.window - self.taken >= self.weather.room:
            self.room.unpark_all()
        return bytes(arrived) or None

    def wake(self) -> None:
        self.news.unpark_all()
        self.room.unpark_all()

    def _fly(self, content: bytes) -> None:
        delay = self.weather.latency + self.weather.jitter * self.delays.random()
        self.latest = max(self.latest, trio.current_time() + delay)
        if not self.pulled:
            self.flying.append((self.latest, content))
            self.news.unpark_all()


class End(Wire, trio.abc.HalfCloseableStream):
    """One end of a connection."""

    def __init__(self, out: Way, back: Way, peer: str) -> None:
        self.peer = peer
        self.secure = False
        self.arrived = trio.current_time()
        self.other: End = self  # until they are paired
        self._out = out
        self._back = back
        self._closed = False
        self._broken = False
        self._receiving = False
        self._sending = False

    @property
    def open(self) -> bool:
        """It was not closed."""
        return not self._closed

    async def receive(self) -> bytes:
        return await self.receive_some(READ)

    async def receive_some(self, max_bytes: int | None = None) -> bytes:
        if self._receiving:
            raise trio.BusyResourceError("two tasks read from one end")
        await trio.lowlevel.checkpoint()
        self._receiving = True
        try:
            while True:
                self._check()
                received = self._back.read(max_bytes or READ)
                if received is not None:
                    self.arrived = trio.current_time()
                    return received
                flying = self._back.flying
                with trio.move_on_at(flying[0][0] if flying else float("inf")):
                    await self._back.news.park()
        finally:
            self._receiving = False

    def here(self) -> bytes:
        """What has arrived already, without waiting."""
        return self._back.read(self._back.weather.window) or b""

    def send_now(self, data: bytes | memoryview) -> int:
        if self._closed or self._broken or self._out.ended:
            raise trio.BrokenResourceError("cannot send")
        sent = self._out.send(bytes(data))
        if self.other._closed and not self._out.pulled:  # it learns of it the next time
            self._break()
        return sent

    async def send_some(self, data: bytes | memoryview) -> int:
        while not (sent := self.send_now(data)):
            await self._out.room.park()
        return sent

    async def send_all(self, data: bytes | bytearray | memoryview) -> None:
        if self._sending:
            raise trio.BusyResourceError("two tasks send from one end")
        await trio.lowlevel.checkpoint()
        self._sending = True
        try:
            self._check()
            rest = memoryview(data)
            while rest:
                rest = rest[await self.send_some(rest) :]
        finally:
            self._sending = False

    async def wait_send_all_might_not_block(self) -> None:
        await trio.lowlevel.checkpoint()

    def finish(self) -> None:
        if not self._closed:
            self._out.end()

    async def send_eof(self) -> None:
        self.finish()
        await trio.lowlevel.checkpoint()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            if self._back.taken:
                self._break()
            else:
                self._out.end()
            self._out.wake()
            self._back.wake()

    async def aclose(self) -> None:
        self.close()
        await trio.lowlevel.checkpoint()

    def reset(self) -> None:
        """Drop the connection without a word, and all that is under way."""
        self._break()
        self.close()

    def stall(self, seconds: float) -> None:
        """What is sent from now on arrives only after `seconds`: it was lost and had to be sent again."""
        self._out.latest = max(self._out.latest, trio.current_time() + seconds)

    def pull(self) -> None:
        """Pull the cable: nothing arrives any more, at either end, and nobody is told."""
        for way in (self._out, self._back):
            way.pulled = True
            way.flying.clear()

    def taken(self) -> int:
        return self._out.read_so_far

    async def still_there(self) -> bool:
        if self._back.pulled:
            await trio.sleep(LONGEST)
        return not self._back.pulled

    def _check(self) -> None:
        if self._closed:
            raise trio.ClosedResourceError("this end was closed")
        if self._broken:
            raise trio.BrokenResourceError("the connection was reset")

    def _break(self) -> None:
        for end in (self,) if self._out.pulled else (self, self.other):
            end._broken = True
            end._out.flying.clear()
            end._out.wake()


def windowed_pair(
    weather: Weather | None = None, *, seed: int = 0, peer: str = "192.0.2.1"
) -> tuple[End, End]:
    """A server's end, whose peer has that address, and the client's."""
    weather = weather or Weather()
    there, back = Way(weather, f"{seed} there"), Way(weather, f"{seed} back")
    server, client = End(there, back, peer), End(back, there, "192.0.2.254")
    server.other, client.other = client, server
    return server, client


def on_virtual_time(test: Callable[[], Awaitable[None]]) -> None:
    """Run a test that has other tests within it (examples, seeds): time passes when all wait for it.

    Tasks take turns in the same order each time.
    """
    take_turns_by(0)
    trio.run(test, clock=trio.testing.MockClock(autojump_threshold=0))
