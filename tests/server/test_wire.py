"""Wires: real sockets with and without the shared epoll, streams as wires, and wires as streams."""

import contextvars
import select
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
import trio_websocket
import trustme

from server.guard import PEER_GONE, Guard
from server.sockets import Readiness, SocketWire, readiness
from server.wire import READ, StreamWire, Wire, WireStream
from tests.server.windowed import windowed_pair

EPOLL, PLAIN, STREAM = "the shared epoll", "trio's own waiting", "a stream"
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


@asynccontextmanager
async def connected(kind: str) -> AsyncIterator[tuple[Wire, trio.SocketStream, trio.Nursery]]:
    with trio.fail_after(10):
        async with trio.open_nursery() as nursery:
            wire, client = connection(nursery, kind)
            async with client:
                try:
                    yield wire, client, nursery
                finally:
                    wire.close()
            nursery.cancel_scope.cancel()


async def everything(receive: Callable[[], object]) -> bytes:
    got = bytearray()
    while received := await receive():  # type: ignore[misc]
        got += received
    return bytes(got)


async def send(wire: Wire, content: bytes) -> None:
    rest = memoryview(content)
    while rest:
        rest = rest[wire.send_now(rest) or await wire.send_some(rest) :]


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

    async def notes(waits: Callable[[], object]) -> None:
        try:
            await waits()  # type: ignore[misc]
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


@sockets
async def test_what_nobody_reads_waits_and_costs_no_time(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        await client.send_all(b"one")
        assert await wire.receive() == b"one"
        await client.send_all(b"two")
        await trio.testing.wait_all_tasks_blocked(0.01)  # never comes to an end while a task spins
        assert await wire.receive() == b"two"
        await client.send_eof()
        await trio.testing.wait_all_tasks_blocked(0.01)
        assert await wire.receive() == b""


@wires
async def test_what_the_taker_raises_is_raised_where_it_was_set_to_work(kind: str) -> None:
    def take(received: bytes) -> None:
        raise ValueError(received)

    async with connected(kind) as (wire, client, _):
        await client.send_all(b"x")
        with pytest.raises(ValueError, match="b'x'"):
            await wire.pump(take)
        await client.send_all(b"y")
        assert await wire.receive() == b"y"


@wires
async def test_the_taker_may_close_the_wire(kind: str) -> None:
    taken: list[bytes] = []
    async with connected(kind) as (wire, client, _):

        def take(received: bytes) -> None:
            taken.append(received)
            wire.close()

        await client.send_all(b"x")
        with pytest.raises(trio.ClosedResourceError):
            await wire.pump(take)
        assert taken == [b"x"]


@wires
async def test_a_mistake_of_the_taker_is_raised_also_when_it_closed_the_wire(kind: str) -> None:
    async with connected(kind) as (wire, client, _):

        def take(received: bytes) -> None:
            wire.close()
            raise ValueError(received)

        await client.send_all(b"x")
        with pytest.raises(ValueError, match="b'x'"):
            await wire.pump(take)


@wires
async def test_the_taker_runs_in_the_context_of_its_task(kind: str) -> None:
    name: contextvars.ContextVar[str] = contextvars.ContextVar("name", default="nobody's")
    seen: list[str] = []
    async with connected(kind) as (wire, client, _):
        name.set("the reader's")
        await client.send_all(b"x")
        await client.send_eof()
        await wire.pump(lambda _: seen.append(name.get()))
    assert seen == ["the reader's"]


@wires
async def test_what_came_is_stamped(kind: str) -> None:
    async with connected(kind) as (wire, client, _):
        before = trio.current_time()
        await client.send_all(b"x")
        await wire.receive()
        assert before <= wire.arrived <= trio.current_time()


@wires
async def test_one_that_floods_takes_no_turns_from_another(kind: str) -> None:
    async def shout(stream: trio.SocketStream) -> None:
        while True:
            await stream.send_all(b"x" * READ)

    async with connected(kind) as (loud, shouts, nursery), connected(kind) as (quiet, asks, _):
        nursery.start_soon(shout, shouts)
        nursery.start_soon(loud.pump, bytes)
        for _ in range(20):
            await asks.send_all(b"a question")
            assert await quiet.receive() == b"a question"
        nursery.cancel_scope.cancel()


@linux
async def test_a_sweep_reads_what_lies_there_without_waiting() -> None:
    taken: list[bytes] = []
    async with connected(EPOLL) as (wire, client, nursery):
        watcher = readiness()
        assert watcher is not None
        nursery.start_soon(wire.pump, taken.append)
        await trio.testing.wait_all_tasks_blocked()
        await client.send_all(b"in time")
        with trio.testing.assert_no_checkpoints():
            watcher.sweep()
        assert taken == [b"in time"]
        nursery.cancel_scope.cancel()


@linux
async def test_a_taker_that_sweeps_and_closes_meets_nobody_twice_and_no_closed_wire() -> None:
    taken: list[str] = []
    async with connected(EPOLL) as (one, first, nursery), connected(EPOLL) as (two, second, others):
        watcher = readiness()
        assert watcher is not None

        def take(name: str, other: Wire) -> Callable[[bytes], None]:
            def taking(_: bytes) -> None:
                taken.append(name)
                watcher.sweep()
                other.close()

            return taking

        async def reads(wire: Wire, name: str, other: Wire) -> None:
            with pytest.raises(trio.ClosedResourceError):
                await wire.pump(take(name, other))
            taken.append(f"{name} was closed")

        nursery.start_soon(reads, one, "one", two)
        others.start_soon(reads, two, "two", one)
        await trio.testing.wait_all_tasks_blocked()
        await first.send_all(b"x")
        await second.send_all(b"x")
        with trio.testing.assert_no_checkpoints():
            watcher.sweep()
        await trio.testing.wait_all_tasks_blocked()
        assert taken in (["one", "two was closed"], ["two", "one was closed"])
        one.close()
        two.close()
        await trio.testing.wait_all_tasks_blocked()


@linux
def test_each_event_loop_has_an_epoll_of_its_own() -> None:
    seen: list[Readiness | None] = []

    async def look() -> None:
        assert readiness() is readiness()
        seen.append(readiness())

    for _ in range(2):
        trio.run(look)
    assert seen[0] is not seen[1]


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
    await client.send_all(b"abcdefg")
    assert [await stream.receive_some(3), await stream.receive_some(3)] == [b"abc", b"def"]
    assert await stream.receive_some() == b"g"
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
