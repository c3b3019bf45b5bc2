"""Bots' ends of connections to a door, in memory and over real sockets.

An end is one bot's: it says and hears messages as text, whatever they are on
the wire. Transcripts and tests speak through these.
"""

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Protocol

import trio
from wsproto import ConnectionType, WSConnection
from wsproto.events import AcceptConnection, CloseConnection, RejectConnection, Request, TextMessage

from server.host.host import Host
from server.net.admission import Admission, Visitor
from server.net.listening import listeners, serve
from server.net.wire import Served, Wire
from tests.server.windowed import Weather, windowed_pair

NEW_LINE = "⏎"  # where one bot sends several lines in one piece
LOST = (trio.BrokenResourceError, trio.ClosedResourceError)


class End(Protocol):
    """A bot's end of one connection. A message is a line of text here, whatever it is on the wire."""

    async def say(self, text: str) -> None: ...

    async def hear(self) -> str | None:
        """The next message; None once the host has hung up."""
        ...

    async def close(self) -> None: ...


class LineEnd(End):
    """The end of somebody who speaks lines."""

    def __init__(self, stream: trio.abc.Stream) -> None:
        self.stream = stream
        self._received = b""

    async def say(self, text: str) -> None:
        await self.stream.send_all(text.replace(NEW_LINE, "\n").encode() + b"\n")

    async def hear(self) -> str | None:
        try:
            while b"\n" not in self._received:
                received = await self.stream.receive_some()
                if not received:
                    assert not self._received, "the host hung up in the middle of a line"
                    return None
                self._received += received
        except LOST:
            return None
        line, _, self._received = self._received.partition(b"\n")
        return line.decode()

    async def close(self) -> None:
        await self.stream.aclose()


class FrameEnd(End):
    """The end of somebody who speaks websocket: a message is a text frame. Hearing first shakes hands."""

    def __init__(self, stream: trio.abc.Stream, path: str) -> None:
        self.stream = stream
        self._path = path
        self._frames = WSConnection(ConnectionType.CLIENT)
        self._heard: deque[str | None] = deque()
        self._text = ""  # of a message that has come in part
        self._asked = False
        self._accepted = trio.Event()

    async def say(self, text: str) -> None:
        await self._accepted.wait()
        await self.stream.send_all(self._frames.send(TextMessage(text)))

    async def hear(self) -> str | None:
        try:
            if not self._asked:
                await self.shake_hands()
            while not self._heard:
                self._receive(await self.stream.receive_some())
        except LOST:
            return None
        return self._heard.popleft()

    async def shake_hands(self) -> None:
        """Until the host has accepted or refused."""
        self._asked = True
        await self.stream.send_all(self._frames.send(Request(host="localhost", target=self._path)))
        while not (self._accepted.is_set() or self._heard):
            self._receive(await self.stream.receive_some())

    async def close(self) -> None:
        await self.stream.aclose()

    def _receive(self, received: bytes) -> None:
        self._frames.receive_data(received or None)
        for event in self._frames.events():
            match event:
                case AcceptConnection():
                    self._accepted.set()
                case TextMessage(data=text, message_finished=finished):
                    self._text += text
                    if finished:
                        self._heard.append(self._text)
                        self._text = ""
                case RejectConnection(status_code=status):
                    self._heard.extend((f"[refused {status}]", None))
                case CloseConnection():
                    self._heard.append(None)
                case _:
                    raise AssertionError(f"nobody expects {event}")


Connect = Callable[[], Awaitable[End]]
Attend = Callable[[Host, Wire, Visitor], Awaitable[Served | None]]


def in_memory(
    host: Host,
    attend: Attend,
    end: Callable[[trio.abc.Stream], End] = LineEnd,
    *,
    weather: Weather | None = None,
    admission: Admission | None = None,
) -> Connect:
    """How bots connect to a door over a simulated network."""
    admitted = Admission(host.limits) if admission is None else admission

    async def connect() -> End:
        wire, stream = windowed_pair(weather)
        visitor = admitted.admit(wire)
        assert visitor is not None
        host.guard.start_soon(_attended, host, attend, wire, visitor)
        return end(stream)

    return connect


async def _attended(host: Host, attend: Attend, wire: Wire, visitor: Visitor) -> None:
    try:
        await attend(host, wire, visitor)
    finally:
        visitor.leave()
        wire.close()


async def over_sockets(
    host: Host, nursery: trio.Nursery, attend: Attend, end: Callable[[trio.abc.Stream], End] = LineEnd
) -> Connect:
    """How bots connect to a door over real sockets, as `quintain serve` opens them."""
    (listener,) = await listeners("127.0.0.1", 0, host.limits)
    port = listener.getsockname()[1]
    nursery.start_soon(
        partial(
            serve,
            listener,
            partial(attend, host),
            guard=host.guard,
            admission=Admission(host.limits),
            limits=host.limits,
        )
    )

    async def connect() -> End:
        return end(await trio.open_tcp_stream("127.0.0.1", port))

    return connect


async def ask(connect: Connect, request: str) -> str:
    """The answer to a request over a connection of its own; of a stream, only its head."""
    end = await connect()
    await end.say(request)
    answer = await end.hear()
    await end.close()
    assert answer is not None
    return answer
