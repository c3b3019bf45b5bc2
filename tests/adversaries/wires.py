"""The wires of honest bots: lines, frames and requests, over real sockets. They decide nothing."""

from typing import Any

import trio
from msgspec import Struct
from msgspec.json import decode, encode

from server.net.frames import CLOSE, FINAL, PING, PONG
from tests.fuzz.websocket import frame, handshake

OPCODE = 0x0F  # in the first byte of a frame
READ = 65536


class Gone(Exception):
    """The host has hung up, or said what no bot can go on after."""


class Wire:
    """A connection, and what was received and not used yet."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._unread = bytearray()

    async def send(self, content: bytes) -> None:
        try:
            await self.stream.send_all(content)
        except trio.BrokenResourceError:
            raise Gone("it was hung up on") from None

    async def until(self, mark: bytes) -> bytes:
        """What comes before the mark, which is dropped."""
        while (end := self._unread.find(mark)) < 0:
            await self._receive()
        found = await self.exactly(end + len(mark))
        return found[:end]

    async def exactly(self, size: int) -> bytes:
        while len(self._unread) < size:
            await self._receive()
        found = bytes(self._unread[:size])
        del self._unread[:size]
        return found

    async def _receive(self) -> None:
        try:
            received = await self.stream.receive_some(READ)
        except trio.BrokenResourceError:
            received = b""
        if not received:
            raise Gone("it was hung up on")
        self._unread += received


class Lines(Wire):
    """A JSON value a line."""

    async def say(self, message: object) -> None:
        await self.send(encode(message) + b"\n")

    async def hear(self) -> Any:
        return decode(await self.until(b"\n"))


class Frames(Wire):
    """A JSON value a text message of a websocket."""

    async def open(self, path: str, *headers: str) -> None:
        await self.send(handshake(path, *headers))
        greeting = await self.until(b"\r\n\r\n")
        if b" 101 " not in greeting[:20]:
            raise Gone(f"the handshake was answered with {greeting[:60]!r}")

    async def say(self, message: object) -> None:
        await self.send(frame(encode(message)))

    async def hear(self) -> Any:
        while True:
            first, size = await self.exactly(2)
            if size > 125:
                size = int.from_bytes(await self.exactly(2 if size == 126 else 8))
            payload = await self.exactly(size)
            if first & OPCODE == CLOSE:
                raise Gone(f"it was closed with {payload!r}")
            if first & OPCODE == PING:
                await self.send(frame(payload, PONG | FINAL))
            else:
                return decode(payload)


class Answer(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return decode(self.body)


class Requests(Wire):
    """HTTP: one request after another, and one answer to each."""

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        content = body if isinstance(body, bytes) else b"" if body is None else encode(body)
        named = {"Host": "localhost", "Content-Length": str(len(content))} | headers
        head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
        await self.send(f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content)
        status, found = await self.head()
        return Answer(status, found, await self._body(found))

    async def head(self) -> tuple[int, dict[str, str]]:
        first, *fields = (await self.until(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        named = (field.partition(": ") for field in fields)
        return int(first.split()[1]), {name.lower(): value for name, _, value in named}

    async def listen(self, path: str) -> None:
        """Open an event stream, which `event` reads."""
        await self.send(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        status, _ = await self.head()
        if status != 200:
            raise Gone(f"{path} was answered with {status}")

    async def event(self) -> Any:
        """The next event of the Arena, each of which is a chunk; None at the end of the stream."""
        chunk = await self._chunk()
        return decode(chunk.removeprefix(b"data: ")) if chunk else None

    async def _body(self, headers: dict[str, str]) -> bytes:
        if headers.get("transfer-encoding") != "chunked":
            return await self.exactly(int(headers.get("content-length", 0)))
        content = b""
        while chunk := await self._chunk():
            content += chunk
        return content

    async def _chunk(self) -> bytes:
        size = int(await self.until(b"\r\n"), 16)
        return (await self.exactly(size + 2))[:-2]
