"""An HTTP server in a test, over simulated connections, and a client that understands what h11 does."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import h11
import trio
import trio.testing
from msgspec import Struct

from server.http.exchange import App, Chunks, Exchange
from server.http.service import Http
from server.http.wire import Response
from server.net.admission import Visitor
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.stream_wire import StreamWire
from server.net.wire import Wire
from tests.server.windowed import End, Weather, windowed_pair

TRIED, STREAM = "a wire that can be tried", "a stream"  # what a connection of the server is over


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: "


def get(path: str = "/", *headers: str, version: str = "1.1", method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {path} HTTP/{version}", "Host: a", *headers, "", ""]).encode()


def post(body: bytes, *headers: str) -> bytes:
    return get("/", f"Content-Length: {len(body)}", *headers, method="POST") + body


def echo(exchange: Exchange) -> None:
    """Answers with the path and the body."""
    exchange.respond(Response(body=exchange.request.path.encode() + exchange.request.body))


class Holds:
    """Keeps every exchange, and what became of its client."""

    def __init__(self) -> None:
        self.exchanges: list[Exchange] = []
        self.gone: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        self.exchanges.append(exchange)
        exchange.on_gone(lambda: self.gone.append(exchange.request.path))


class Streams:
    """Opens a stream for everybody."""

    def __init__(self, *headers: tuple[str, str]) -> None:
        self.headers = headers
        self.streams: list[Chunks] = []
        self.gone: list[str] = []

    def __call__(self, exchange: Exchange) -> None:
        self.streams.append(exchange.stream(200, self.headers))
        exchange.on_gone(lambda: self.gone.append(exchange.request.path))


class Answer(Struct, frozen=True):
    """What a client understood."""

    status: int
    headers: dict[str, str]
    body: bytes


class Client:
    """One client's end of a connection."""

    def __init__(self, end: End) -> None:
        self.end = end
        self.over = b""  # was read, and belongs to the next answer

    async def ask(self, content: bytes, method: str = "GET") -> Answer:
        """Send a request and read the answer."""
        await self.end.send_all(content)
        return await self.answer(method)

    async def answer(self, method: str = "GET") -> Answer:
        """The next answer, whole; `method` is what it answers."""
        connection = h11.Connection(h11.CLIENT)
        connection.send(h11.Request(method=method, target="/", headers=[("Host", "a")]))
        connection.send(h11.EndOfMessage())
        if self.over:
            connection.receive_data(self.over)
        body, answered = b"", None
        while True:
            match connection.next_event():
                case h11.NEED_DATA:
                    connection.receive_data(await self.end.receive_some())
                case h11.Response() as answered:
                    pass
                case h11.Data() as piece:
                    body += bytes(piece.data)
                case h11.EndOfMessage() if answered is not None:
                    self.over, _ = connection.trailing_data
                    headers = {name.decode(): value.decode() for name, value in answered.headers}
                    return Answer(answered.status_code, headers, body)
                case other:
                    raise AssertionError(f"expected an answer, not {other}")

    async def rest(self) -> bytes:
        """All until the server ends the connection, to the byte."""
        got = bytearray(self.over)
        while received := await self.end.receive():
            got += received
        return bytes(got)

    async def now(self) -> bytes:
        """What has come when nothing more happens, to the byte."""
        await trio.testing.wait_all_tasks_blocked()
        got, self.over = self.over + self.end.here(), b""
        return got


class Server:
    """An application that is served."""

    def __init__(self, http: Http, guard: Guard) -> None:
        self.http = http
        self.guard = guard

    def connect(
        self,
        weather: Weather | None = None,
        *,
        kind: str = TRIED,
        seed: int = 0,
        visitor: Visitor | None = None,
        peer: str = "192.0.2.1",
    ) -> Client:
        end, client = windowed_pair(weather, seed=seed, peer=peer)
        wire: Wire = StreamWire(end, self.guard, peer=end.peer) if kind == STREAM else end
        self.guard.start_soon(self.http.attend, wire, visitor)
        return Client(client)


@asynccontextmanager
async def serving(app: App, limits: Limits | None = None) -> AsyncIterator[Server]:
    """An application, served until the end of the block. What it raises is the test's to look at."""
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        yield Server(Http(app, guard, limits or Limits()), guard)
        nursery.cancel_scope.cancel()
