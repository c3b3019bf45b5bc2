"""The other ends of the wires, as bots' authors write them: lines, frames, requests and streams on sockets.

Written from the protocols alone; an inspector may not borrow the eyes of whom he inspects.
"""

import base64
import http.client
import itertools
import json
import os
import select
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

from tests.blackbox.inspected import Address
from tests.hang import HANG

SHORT = 0.15  # how long we listen where nothing must come
_numbers = itertools.count(1)


def fresh(name: str = "bot") -> str:
    """A name that nobody else in the run has."""
    return f"{name}{next(_numbers)}"


class Wire:
    """A socket and what came of it so far."""

    def __init__(self, address: Address, source: str = "127.0.0.1") -> None:
        self.socket = socket.create_connection(address, HANG, (source, 0))
        self.heard = b""

    def send(self, sent: bytes) -> None:
        self.socket.sendall(sent)

    def more(self, seconds: float = HANG) -> bool:
        """Reads what comes next; False where the other end has closed."""
        if not select.select([self.socket], [], [], seconds)[0]:
            raise TimeoutError(f"nothing came in {seconds} s, after {self.heard!r}")
        try:
            came = self.socket.recv(65536)
        except ConnectionResetError:
            return False
        self.heard += came
        return bool(came)

    def until(self, mark: bytes, seconds: float = HANG) -> bytes:
        end = time.monotonic() + seconds
        while mark not in self.heard:
            if not self.more(max(0.0, end - time.monotonic())):
                raise EOFError(f"closed after {self.heard!r}")
        found, self.heard = self.heard.split(mark, 1)
        return found

    def exactly(self, count: int, seconds: float = HANG) -> bytes:
        while len(self.heard) < count:
            if not self.more(seconds):
                raise EOFError(f"closed after {self.heard!r}")
        found, self.heard = self.heard[:count], self.heard[count:]
        return found

    def rest(self, seconds: float = HANG) -> bytes:
        """Everything until the other end closes, which it must."""
        end = time.monotonic() + seconds
        while self.more(max(0.0, end - time.monotonic())):
            pass
        found, self.heard = self.heard, b""
        return found

    def silent(self, seconds: float = SHORT) -> bool:
        """Whether nothing comes for a while, and the line stays open."""
        return not self.heard and not select.select([self.socket], [], [], seconds)[0]

    def close(self) -> None:
        self.socket.close()

    @contextmanager
    def opening(self) -> Iterator[None]:
        """Close the socket if what is done to open the conversation fails: nobody has it to close it."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()


class Lines(Wire):
    """A bot on TCP."""

    def say(self, line: object) -> None:
        text = line if isinstance(line, str) else json.dumps(line)
        self.send(text.encode() + b"\n")

    def hear(self, seconds: float = HANG) -> Any:
        return json.loads(self.until(b"\n", seconds))


def named(address: Address) -> str:
    """As it stands in an address of the web."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Frames(Wire):
    """A bot on a websocket: text frames, masked as a client's must be."""

    def __init__(self, address: Address, path: str = "/", source: str = "127.0.0.1", extra: str = "") -> None:
        super().__init__(address, source)
        key = base64.b64encode(os.urandom(16)).decode()
        self.send(
            f"GET {path} HTTP/1.1\r\nHost: {named(address)}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n"
            f"{extra}\r\n".encode()
        )
        self.greeting = self.until(b"\r\n\r\n").decode()

    def frame(self, payload: bytes, opcode: int = 1, last: bool = True, masked: bool = True) -> None:
        mask = os.urandom(4) if masked else b""
        size = len(payload)
        head = bytes([(0x80 if last else 0) | opcode])
        bit = 0x80 if masked else 0
        if size < 126:
            head += bytes([bit | size])
        elif size < 65536:
            head += bytes([bit | 126]) + struct.pack("!H", size)
        else:
            head += bytes([bit | 127]) + struct.pack("!Q", size)
        if masked:
            payload = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.send(head + mask + payload)

    def say(self, message: object) -> None:
        self.frame((message if isinstance(message, str) else json.dumps(message)).encode())

    def read(self, seconds: float = HANG) -> tuple[int, bytes]:
        """The next frame: opcode and payload."""
        first, second = self.exactly(2, seconds)
        assert first & 0x70 == 0, "reserved bits are for extensions, and none was agreed"
        assert second & 0x80 == 0, "a server masks nothing"
        size = second & 0x7F
        if size == 126:
            (size,) = struct.unpack("!H", self.exactly(2))
        elif size == 127:
            (size,) = struct.unpack("!Q", self.exactly(8))
        return first & 0x0F, self.exactly(size)

    def hear(self, seconds: float = HANG) -> Any:
        opcode, payload = self.read(seconds)
        assert opcode == 1, f"a text frame was expected; opcode {opcode}, {payload!r} came"
        return json.loads(payload)

    def closing(self, seconds: float = HANG) -> int:
        """The code that the other end closes with, whatever it says before."""
        while True:
            opcode, payload = self.read(seconds)
            if opcode == 8:
                return int.from_bytes(payload[:2], "big")


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def request(method: str, path: str, address: Address, body: object = None, **headers: str) -> bytes:
    """A request as a plain client writes it; `Content_Type` and the like name headers."""
    named = {"Host": f"{address[0]}:{address[1]}"} | {
        name.replace("_", "-"): value for name, value in headers.items()
    }
    if body is None:
        content = b""
    elif isinstance(body, bytes):
        content = body
    else:
        content = json.dumps(body, ensure_ascii=False).encode()
        named.setdefault("Content-Type", "application/json")
    if body is not None:
        named.setdefault("Content-Length", str(len(content)))
    head = "".join(f"{name}: {value}\r\n" for name, value in named.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content


def form(**fields: str) -> bytes:
    return urlencode(fields).encode()


class Asking(Wire):
    """A request on a connection of its own, whose answer may be held."""

    def __init__(
        self,
        address: Address,
        method: str,
        path: str,
        body: object = None,
        source: str = "127.0.0.1",
        **headers: str,
    ) -> None:
        super().__init__(address, source)
        self.method = method
        with self.opening():
            self.send(request(method, path, address, body, **headers))

    def answer(self, seconds: float = HANG) -> Answer:
        self.socket.settimeout(seconds)
        answer = http.client.HTTPResponse(self.socket, method=self.method)
        try:
            answer.begin()
            body = answer.read()
        finally:
            answer.close()
            self.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, body)


def ask(address: Address, method: str, path: str, body: object = None, **headers: str) -> Answer:
    """One request and its answer."""
    return Asking(address, method, path, body, **headers).answer()


class Stream(Wire):
    """An answer that goes on: its head, then chunk by chunk."""

    def __init__(self, address: Address, path: str, method: str = "GET", body: object = None, **headers: str):
        super().__init__(address)
        with self.opening():
            self.send(request(method, path, address, body, **headers))
            head = self.until(b"\r\n\r\n").decode()
        first, *named = head.split("\r\n")
        self.status = int(first.split()[1])
        self.version = first.split()[0]
        self.headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in named)}

    def chunk(self, seconds: float = HANG) -> bytes:
        """The next chunk; empty is the end."""
        size = int(self.until(b"\r\n", seconds), 16)
        found = self.exactly(size + 2)
        assert found.endswith(b"\r\n")
        return found[:-2]

    def event(self, seconds: float = HANG) -> Any:
        """The next event, which must be one chunk of exactly `data: {json}` and two line ends."""
        came = self.chunk(seconds)
        assert (came[:7], came[-3:]) == (b"data: {", b"}\n\n"), came
        assert came.count(b"\n") == 2, came
        return json.loads(came[6:-2])

    def over(self, seconds: float = HANG) -> bool:
        return self.chunk(seconds) == b""
