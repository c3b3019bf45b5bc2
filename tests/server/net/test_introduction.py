"""Connections through proxies that say for whom they connect: over real sockets, on loopback."""

import os
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.net.admission import Admission, Visitor
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.listening import listeners, serve, where
from server.net.proxies import Proxies
from server.net.proxy_header import SECOND
from server.net.wire import Wire
from tests.hang import HANG
from tests.server.at_once import TIMES, connections, say_in_order
from tests.server.connected import linux

HEADER = b"PROXY TCP4 203.0.113.9 192.0.2.1 56324 8000\r\n"
BINARY = SECOND + b"\x21\x11\x00\x0c" + bytes([203, 0, 113, 9, 192, 0, 2, 1]) + b"\x12\x34\x1f\x40"


async def echoes(wire: Wire, visitor: Visitor) -> None:
    """Says who it takes the client for, and then what the client has said."""
    heard = b""
    while b"\n" not in heard and (received := await wire.receive()):
        heard += received
    wire.send_now(f"{wire.peer} ".encode() + heard)


@asynccontextmanager
async def door(limits: Limits, *proxies: str, headers: bool = True) -> AsyncIterator[Any]:
    (listener,) = await listeners("127.0.0.1", 0, limits)
    address = where(listener)
    admission = Admission(limits, proxies=Proxies(proxies))
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        nursery.start_soon(
            partial(serve, listener, echoes, guard=guard, admission=admission, limits=limits, headers=headers)
        )
        host, port = address.split(":")
        yield partial(trio.open_tcp_stream, host, int(port))
        assert not guard.caught
        nursery.cancel_scope.cancel()


async def said_to(connect: Any, *pieces: bytes) -> bytes:
    """What the door answers when these pieces come one after the other."""
    with trio.fail_after(HANG):
        return await _said_to(connect, *pieces)


async def _said_to(connect: Any, *pieces: bytes) -> bytes:
    async with await connect() as stream:
        for piece in pieces:
            await stream.send_all(piece)
            await trio.testing.wait_all_tasks_blocked(0.01)
        heard = b""
        while received := await stream.receive_some():
            heard += received
        return heard


@pytest.mark.parametrize("begin", [HEADER, BINARY], ids=["first", "second"])
@pytest.mark.parametrize("pieces", [1, 2, 7])
async def test_a_listed_proxy_says_for_whom_it_connects_however_it_comes(begin: bytes, pieces: int) -> None:
    said = begin + b"Ann\n"
    size = -(-len(said) // pieces)
    async with door(Limits(), "127.0.0.1") as connect:
        heard = await said_to(connect, *(said[at : at + size] for at in range(0, len(said), size)))
    assert heard == b"203.0.113.9 Ann\n"


@pytest.mark.parametrize("begin", [HEADER, BINARY], ids=["first", "second"])
async def test_from_anybody_else_and_at_other_doors_it_is_no_header(begin: bytes) -> None:
    line = begin.partition(b"\n")[0] + b"\n"
    async with door(Limits()) as connect:
        assert (await said_to(connect, begin)).startswith(b"127.0.0.1 " + line)
    async with door(Limits(), "10.0.0.0/8") as connect:
        assert (await said_to(connect, begin)).startswith(b"127.0.0.1 " + line)
    async with door(Limits(), "127.0.0.1", headers=False) as connect:
        assert (await said_to(connect, begin)).startswith(b"127.0.0.1 " + line)


@pytest.mark.parametrize("name", [b"Ann\n", b"P\n", b"PROXYANN\n", b"\n"])
async def test_a_bot_on_the_proxys_machine_comes_without_a_header(name: bytes) -> None:
    async with door(Limits(), "127.0.0.1") as connect:
        assert await said_to(connect, name) == b"127.0.0.1 " + name
        assert await said_to(connect, *(name[at : at + 1] for at in range(len(name)))) == b"127.0.0.1 " + name


@pytest.mark.parametrize("said", [b"PROXY ann\r\n", SECOND + b"\x21\x99\x00\x00"])
async def test_a_proxy_that_says_what_is_no_header_is_cut_and_the_log_says_why(said: bytes) -> None:
    with capture_logs() as logs:
        async with door(Limits(), "127.0.0.1") as connect:
            assert await said_to(connect, said) == b""
    assert [(line["event"], line["peer"], "expected" in line["why"]) for line in logs] == [
        ("cut", "127.0.0.1", True)
    ]


async def test_half_a_header_is_not_waited_for(autojump_clock: MockClock) -> None:
    with capture_logs() as logs:
        async with door(Limits(), "127.0.0.1") as connect:
            assert await said_to(connect, HEADER[:20]) == b""
            assert trio.current_time() == pytest.approx(Limits().handshake_seconds, abs=0.5)
    assert len(logs) == 1


async def test_a_header_that_came_while_the_host_stood_still_is_read(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot whose first line is taken to be the proxy's."""
    async with door(Limits(), "127.0.0.1") as connect:
        stream = await connect()
        await trio.sleep(0.1)
        with socket.socket(fileno=os.dup(stream.socket.fileno())) as at_once:
            at_once.send(HEADER + b"Ann\n")
        autojump_clock.jump(2 * Limits().handshake_seconds)
        with trio.fail_after(HANG):
            assert await stream.receive_some() == b"203.0.113.9 Ann\n"
        await stream.aclose()


async def test_one_address_has_no_more_connections_through_a_proxy_than_without(
    autojump_clock: MockClock,
) -> None:
    """Its oldest stranger goes, as everywhere; another address behind the same proxy is not concerned."""
    other = HEADER.replace(b"203.0.113.9", b"203.0.113.8")
    async with door(Limits(connections_per_address=2), "127.0.0.1") as connect:
        streams = [await connect() for _ in range(4)]
        for stream, begin in zip(streams, (other, HEADER, HEADER, HEADER), strict=True):
            await stream.send_all(begin)
            await trio.sleep(0.1)
        assert await streams[1].receive_some() == b"", "the oldest of that address"
        for stream in (streams[0], streams[2], streams[3]):
            await stream.send_all(b"Ann\n")
            assert (await stream.receive_some()).endswith(b" Ann\n")
        for stream in streams:
            await stream.aclose()


@linux
@pytest.mark.slow
async def test_bots_behind_a_proxy_are_served_in_the_order_in_which_what_they_say_came() -> None:
    """One connection of the proxy that says nothing holds up nobody."""
    heard: list[bytes] = []

    async def listens(wire: Wire, visitor: Visitor) -> None:
        await wire.pump(heard.append)

    names = [b"Ann\n", b"Bob\n", b"Cas\n", b"Dee\n"]
    said = [HEADER + names[0], names[1], BINARY + names[2], HEADER + names[3]]
    limits = Limits()
    (listener,) = await listeners("127.0.0.1", 0, limits)
    admission = Admission(limits, proxies=Proxies(["127.0.0.1"]))
    async with trio.open_nursery() as nursery:
        serving = partial(serve, listener, listens, guard=Guard(nursery), admission=admission, limits=limits)
        nursery.start_soon(partial(serving, headers=True))
        port = listener.getsockname()[1]
        with connections(port, 1):
            for _ in range(TIMES):
                heard.clear()
                with connections(port, len(names)) as clients:
                    await say_in_order([*reversed(clients)], said)
                assert heard == names
        nursery.cancel_scope.cancel()
