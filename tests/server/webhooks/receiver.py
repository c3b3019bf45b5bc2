"""A service that takes webhooks, over real sockets, and can be dead, slow or wrong."""

import hashlib
import hmac
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import trio
import trio.testing

SECRET = "a secret of both"


class Receiver:
    """What it was told; it answers as the test says."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.answer = b"HTTP/1.1 204 No Content\r\n\r\n"
        self.rest = b""  # of the answer, once the other side has read what came before
        self.told: list[dict[str, Any]] = []  # what it has taken
        self.tries: list[dict[str, Any]] = []  # what it was offered
        self.heads: list[str] = []
        self.forged = 0

    async def attend(self, stream: trio.SocketStream) -> None:
        async with stream:
            head, body = await _request(stream)
            self.heads.append(head)
            sign = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            self.forged += f"x-quintain-signature: sha256={sign}" not in head.lower().splitlines()
            said = msgspec.json.decode(body)
            self.tries.append(said)
            if self.answer.startswith(b"HTTP/1.1 2"):
                self.told.append(said)
            await stream.send_all(self.answer)
            if self.rest:
                await trio.testing.wait_all_tasks_blocked(0.01)
                await stream.send_all(self.rest)

    @property
    def types(self) -> list[str]:
        return [each["type"] for each in self.told]


async def _request(stream: trio.SocketStream) -> tuple[str, bytes]:
    received = b""
    while b"\r\n\r\n" not in received:
        received += await stream.receive_some()
    head, _, body = received.partition(b"\r\n\r\n")
    length = next(int(line[15:]) for line in head.decode().splitlines() if line.startswith("Content-Length:"))
    while len(body) < length:
        body += await stream.receive_some()
    return head.decode(), body


@asynccontextmanager
async def receiving() -> AsyncIterator[Receiver]:
    (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
    receiver = Receiver(f"http://127.0.0.1:{listener.socket.getsockname()[1]}/hook?room=1")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(trio.serve_listeners, receiver.attend, [listener])
        yield receiver
        nursery.cancel_scope.cancel()
