"""Wires: real sockets with and without the shared epoll, streams as wires, and wires as streams."""

import socket
import ssl
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import cast

import pytest
import trio
import trio.testing
import trio_websocket
import trustme

from server.net.guard import PEER_GONE
from server.net.stream_wire import StreamWire, WireStream
from server.net.wire import READ
from tests.hang import HANG
from tests.server.connected import connected, everything, send, wires
from tests.server.windowed import windowed_pair


@wires
async def test_what_one_side_says_the_other_reads_both_ways_at_once(kind: str) -> None:
    there, back = bytes(range(256)) * 8000, bytes(range(255, -1, -1)) * 8000
    async with connected(kind) as (wire, client, nursery):

        async def speak() -> None:
            await client.send_all(there)
            await client.send_eof()

        async def answer() -> None:
            await send(wire, back)
            wire.finish()

        got = bytearray()
        nursery.start_soon(speak)
        nursery.start_soon(answer)
        nursery.start_soon(wire.pump, got.extend)
        assert await everything(client.receive_some) == back
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert bytes(got) == there


@wires
async def test_after_the_peers_end_it_can_still_be_answered(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        await client.send_all(b"a question")
        await client.send_eof()
        assert await wire.receive() == b"a question"
        assert await wire.receive() == b""
        assert await wire.receive() == b""
        await send(wire, b"an answer")
        wire.finish()
        assert await everything(client.receive_some) == b"an answer"


@wires
async def test_no_piece_is_longer_than_the_promise(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        await client.send_all(b"x" * 3 * READ)
        await client.send_eof()
        sizes: list[int] = []
        await wire.pump(lambda received: sizes.append(len(received)))
        assert sum(sizes) == 3 * READ
        assert max(sizes) <= READ


@wires
async def test_a_reset_breaks_reading_and_sending(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        await client.aclose()
        with pytest.raises(trio.BrokenResourceError):
            await wire.receive()
        with pytest.raises(trio.BrokenResourceError):
            await send(wire, b"x" * 100)


@wires
async def test_closing_wakes_whoever_reads_and_whoever_sends(kind: str) -> None:
    woken: list[type[BaseException]] = []

    async def notes(waits: Callable[[], Awaitable[object]]) -> None:
        try:
            await waits()
        except PEER_GONE as error:
            woken.append(type(error))

    async with connected(kind) as (wire, client, nursery):
        nursery.start_soon(notes, wire.receive)
        nursery.start_soon(notes, lambda: send(wire, b"x" * 50_000_000))
        await trio.testing.wait_all_tasks_blocked(0.01)
        wire.close()
        wire.close()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert len(woken) == 2
        with pytest.raises(trio.ClosedResourceError):
            await wire.receive()
        with pytest.raises(trio.BrokenResourceError):
            wire.send_now(b"x")
        wire.finish()
        with pytest.raises(trio.BrokenResourceError):
            await client.send_all(b"x" * 50_000_000)


@wires
async def test_only_one_task_may_read(kind: str) -> None:
    async with connected(kind) as (wire, _, nursery):
        nursery.start_soon(wire.pump, bytes)
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await wire.receive()
        with pytest.raises(trio.BusyResourceError):
            await wire.pump(bytes)
        nursery.cancel_scope.cancel()


@wires
async def test_a_reader_that_gives_up_loses_nothing(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        for _ in range(3):
            with trio.move_on_after(0):
                await wire.receive()
            with trio.move_on_after(0):
                await wire.pump(bytes)
        await client.send_all(b"for later")
        assert await wire.receive() == b"for later"


@wires
async def test_a_reader_that_is_interrupted_goes_on_where_it_was(kind: str) -> None:
    """Interrupted while it waits, from within what it takes, or before it begins: each time once."""
    async with connected(kind) as (wire, client, _):
        got = bytearray()

        def take(received: bytes) -> None:
            got.extend(received)
            wire.interrupt()

        ended: list[bool] = []

        async def pump(times: int) -> None:
            nonlocal ended
            ended += [await wire.pump(take) for _ in range(times)]

        async with trio.open_nursery() as nursery:
            nursery.start_soon(pump, 1)
            await trio.testing.wait_all_tasks_blocked()
            wire.interrupt()
            wire.interrupt()
        wire.interrupt()
        await client.send_all(b"said ")
        await pump(2)
        assert (ended, got) == ([False, False, False], b"said ")
        await client.send_all(b"later")
        await client.send_eof()
        await pump(1)
        assert (ended, got) == ([False] * 4, b"said later")
        wire.interrupt()
        await pump(2)
        assert ended == [False] * 5 + [True]


@wires
async def test_what_came_is_stamped(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        before = trio.current_time()
        await client.send_all(b"x")
        await wire.receive()
        assert before <= wire.arrived <= trio.current_time()


@wires
async def test_tls_runs_over_a_wire_and_is_a_wire_again(kind: str) -> None:
    authority = trustme.CA()
    server, client = (
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER),
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT),
    )
    authority.issue_cert("localhost").configure_cert(server)
    authority.configure_trust(client)
    async with connected(kind) as (raw, stream, nursery):
        secure = trio.SSLStream(WireStream(raw), server, server_side=True)
        wire = StreamWire(secure, nursery, peer=raw.peer, secure=True)
        theirs = trio.SSLStream(stream, client, server_hostname="localhost")

        async def echo() -> None:
            got = bytearray()
            while len(got) < 300_000:
                got += await wire.receive()
            await send(wire, bytes(got))
            wire.finish()

        nursery.start_soon(echo)
        nursery.start_soon(theirs.send_all, bytes(300_000))
        assert await everything(theirs.receive_some) == bytes(300_000)


@wires
async def test_a_websocket_library_runs_over_a_wire(kind: str) -> None:
    async with connected(kind) as (wire, stream, nursery):

        async def serve() -> None:
            request = await trio_websocket.wrap_server_stream(nursery, WireStream(wire))
            socket = await request.accept()
            await socket.send_message(await socket.get_message())
            await socket.aclose()

        nursery.start_soon(serve)
        client = await trio_websocket.wrap_client_stream(nursery, stream, "127.0.0.1", "/")
        await client.send_message("x" * 50_000)
        assert await client.get_message() == "x" * 50_000
        with pytest.raises(trio_websocket.ConnectionClosed):
            await client.get_message()


async def test_a_stream_over_a_wire_gives_no_more_than_is_asked_for() -> None:
    server, client = windowed_pair()
    stream = WireStream(server)
    await stream.wait_send_all_might_not_block()
    await client.send_all(b"abcdefg")
    assert [await stream.receive_some(3), await stream.receive_some(3)] == [b"abc", b"def"]
    assert await stream.receive_some() == b"g"
    await stream.send_eof()
    await stream.send_eof()
    with pytest.raises(trio.ClosedResourceError):
        await stream.send_all(b"x")
    assert await client.receive_some() == b""
    await client.send_all(b"h")
    assert await stream.receive_some(3) == b"h"
    await stream.aclose()
    with pytest.raises(trio.ClosedResourceError):
        await stream.receive_some(3)


async def test_a_stream_over_a_wire_lets_one_task_send() -> None:
    server, _ = windowed_pair()
    stream = WireStream(server)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(stream.send_all, bytes(100_000))
        await trio.testing.wait_all_tasks_blocked()
        with pytest.raises(trio.BusyResourceError):
            await stream.send_all(b"x")
        nursery.cancel_scope.cancel()


async def test_before_anything_is_passed_on_to_another_process_whoever_has_to_say_something_does() -> None:
    lay_there = list[bytes]()
    here, there = socket.socketpair()
    here.setblocking(False)
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(here))
    with there, trio.fail_after(HANG):
        async with stream, trio.open_nursery() as nursery:

            def say() -> None:
                with suppress(BlockingIOError):
                    lay_there.append(theirs.recv(READ, socket.MSG_PEEK))

            wire = StreamWire(stream, nursery, before_passing_on=say)
            theirs = cast("socket.socket", wire.let_go())
            nursery.start_soon(wire.pump, bytearray().extend)
            for word in (b"one", b"other"):
                there.sendall(word)
                await trio.testing.wait_all_tasks_blocked(0.01)
            assert lay_there == [b"one"]
            assert theirs.recv(READ) == b"oneother"
            wire.close()
            nursery.cancel_scope.cancel()


async def test_to_say_the_end_to_one_that_is_gone_is_no_mistake() -> None:
    here, there = socket.socketpair()
    with there:
        here.setblocking(False)
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(here))
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:  # whatever a task of the wire raises is raised here
                wire = StreamWire(stream, nursery)
                await stream.aclose()
                wire.finish()
        with pytest.raises(trio.ClosedResourceError):
            await stream.send_eof()
