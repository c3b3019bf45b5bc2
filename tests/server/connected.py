"""Wires over real connections, of every kind there is, with the client's end of each."""

import ctypes
import select
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from struct import pack

import pytest
import trio

from server.net.guard import Guard
from server.net.readiness import readiness
from server.net.sockets import SocketWire
from server.net.stream_wire import StreamWire
from server.net.wire import Wire
from tests.hang import HANG

EPOLL, PLAIN, STREAM = "the shared epoll", "trio's own waiting", "a stream"
SO_ATTACH_FILTER = 26  # of Linux
linux = pytest.mark.skipif(not hasattr(select, "epoll"), reason="there is no epoll on this system")
sockets = pytest.mark.parametrize("kind", [pytest.param(EPOLL, marks=linux), PLAIN])
wires = pytest.mark.parametrize("kind", [pytest.param(EPOLL, marks=linux), PLAIN, STREAM])


def connection(nursery: trio.Nursery, kind: str) -> tuple[Wire, trio.SocketStream]:
    """A wire over a real connection, and the client's end."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    client.setblocking(False)
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(client))
    if kind == STREAM:
        server.setblocking(False)
        theirs = trio.SocketStream(trio.socket.from_stdlib_socket(server))
        return StreamWire(theirs, Guard(nursery)), stream
    return SocketWire(server, "127.0.0.1", readiness() if kind == EPOLL else None), stream


def vanish(client: socket.socket) -> None:
    """Have the kernel drop whatever comes for it from now on, as if its machine had lost its power.

    By a filter in BPF, whose only instruction says how much of each packet to keep.
    """
    nothing = ctypes.create_string_buffer(pack("HBBI", 0x06, 0, 0, 0))
    client.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, pack("HL", 1, ctypes.addressof(nothing)))


@asynccontextmanager
async def connected(kind: str) -> AsyncIterator[tuple[Wire, trio.SocketStream, trio.Nursery]]:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            wire, client = connection(nursery, kind)
            async with client:
                try:
                    yield wire, client, nursery
                finally:
                    wire.close()
            nursery.cancel_scope.cancel()


async def everything(receive: Callable[[], Awaitable[bytes]]) -> bytes:
    got = bytearray()
    while received := await receive():
        got += received
    return bytes(got)


async def send(wire: Wire, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[wire.send_now(rest) or await wire.send_some(rest) :]
