"""The outbox: nobody waits for a slow reader, all that is read comes in order, and a deaf peer is cut."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from server.net.guard import Guard
from server.net.limits import Limits
from server.net.outbox import PIECE, Outbox
from server.net.stream_wire import StreamWire
from server.net.wire import Wire
from tests.server.windowed import End, Weather, on_virtual_time, windowed_pair

LIMITS = Limits(outbox_messages=8, outbox_bytes=1000, outbox_seconds=10.0)
SMALL = Weather(window=100)
STREAM, TRIED = "a stream", "a wire that can be tried"

wires = pytest.mark.parametrize("kind", [STREAM, TRIED])


@asynccontextmanager
async def connected(
    kind: str = TRIED, weather: Weather = SMALL, limits: Limits = LIMITS
) -> AsyncIterator[tuple[Outbox, Wire, End]]:
    """An outbox, its wire, and the client's end."""
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        server, client = windowed_pair(weather)
        wire: Wire = StreamWire(server, guard) if kind == STREAM else server
        yield Outbox(wire, guard, limits), wire, client
        nursery.cancel_scope.cancel()
    assert not guard.caught


async def everything(client: End) -> bytes:
    """What the client reads until the end, or until it was cut off."""
    got = bytearray()
    try:
        while received := await client.receive():
            got += received
    except trio.BrokenResourceError:
        pass
    return bytes(got)


@wires
@given(
    messages=st.lists(st.binary(max_size=300), max_size=40),
    window=st.integers(1, 400),
    piece=st.integers(1, 64),
    latency=st.floats(0, 1),
)
def test_all_that_was_put_arrives_once_and_in_order(
    messages: list[bytes], window: int, piece: int, latency: float, kind: str
) -> None:
    weather = Weather(window=window, piece=piece, latency=latency, jitter=latency)
    roomy = Limits(outbox_messages=100, outbox_bytes=20_000, outbox_seconds=1e6)

    @on_virtual_time
    async def _() -> None:
        async with connected(kind, weather, roomy) as (outbox, _, client):
            for message in messages:
                outbox.put(message)
            outbox.finish()
            outbox.put(b"after the end")
            assert await everything(client) == b"".join(messages)
            assert outbox.cut_reason is None
            assert outbox.empty


async def test_what_the_wire_takes_is_sent_within_the_call() -> None:
    async with connected() as (outbox, _, client):
        with trio.testing.assert_no_checkpoints():
            outbox.put(b"x" * 60)
            assert outbox.empty
            outbox.put(b"y" * 60)
            assert not outbox.empty
        assert await client.receive() == b"x" * 60 + b"y" * 40
        assert await outbox.drained(inf)
        assert await client.receive() == b"y" * 20


@wires
@pytest.mark.parametrize(
    ("put", "why"),
    [([b"x"] * 400, "it left 9 messages of"), ([b"x" * 400] * 4, "it left 3 messages of 1100 bytes unread")],
    ids=["messages", "bytes"],
)
async def test_a_peer_that_does_not_read_is_cut_at_the_bound(kind: str, put: list[bytes], why: str) -> None:
    async with connected(kind) as (outbox, wire, client):
        with capture_logs() as logs:
            for message in put:
                outbox.put(message)
            if outbox.cut_reason is None and kind == STREAM:
                await trio.testing.wait_all_tasks_blocked()  # it could take nothing before
                outbox.put(b"x")
        assert outbox.cut_reason is not None
        if kind == TRIED:
            assert outbox.cut_reason.startswith(why)
        assert outbox.too_slow == outbox.cut_reason
        assert outbox.empty
        assert [(entry["event"], entry["why"]) for entry in logs] == [("cut", outbox.cut_reason)]
        with pytest.raises(trio.ClosedResourceError):
            await wire.receive()
        await everything(client)


@wires
async def test_a_peer_that_takes_nothing_is_cut_at_the_deadline(
    kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected(kind) as (outbox, wire, _):
        for _ in range(5):
            outbox.put(b"x" * 50)
        begun = trio.current_time()
        with pytest.raises(trio.ClosedResourceError):
            await wire.receive()
        assert trio.current_time() - begun == pytest.approx(LIMITS.outbox_seconds)
        assert outbox.cut_reason == outbox.too_slow == "it took nothing for 10 s"
        assert outbox.empty


@wires
async def test_time_for_which_the_host_stands_still_is_not_charged_to_a_peer_that_is_behind(
    kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    """Catches peers that would have read on, and are cut off after their host's machine was paused."""
    async with connected(kind) as (outbox, _, client):
        outbox.put(b"x" * 300)
        await trio.sleep(9.0)
        autojump_clock.jump(60.0)
        assert await client.receive() + await client.receive() + await client.receive() == b"x" * 300
        assert await outbox.drained(1.0)
        assert outbox.cut_reason is None


@wires
async def test_a_message_by_itself_may_be_longer_than_all_that_is_kept(
    kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    """Catches bots that were cut off, instead of being told the standings of an event of ten thousand."""
    async with connected(kind) as (outbox, _, client):
        outbox.put(b"x" * 5000)
        outbox.finish()
        assert await everything(client) == b"x" * 5000
        assert outbox.cut_reason is None


@wires
async def test_whoever_reads_may_be_told_any_number_of_things_at_once(kind: str) -> None:
    """Catches bots that were cut off, over TLS alone, when they were told all of a long match again."""
    async with connected(kind, Weather()) as (outbox, _, client):
        for _ in range(10 * LIMITS.outbox_messages):
            outbox.put(b"x" * 10)
        outbox.finish()
        assert await everything(client) == b"x" * 100 * LIMITS.outbox_messages
        assert outbox.cut_reason is None


@pytest.mark.parametrize("room", [1, 10])
async def test_a_peer_that_reads_slowly_is_not_cut(room: int, autojump_clock: trio.testing.MockClock) -> None:
    """Catches readers over slow links who take something all the time, while the kernel has us wait."""
    weather = Weather(window=20, room=room, piece=1)
    async with connected(weather=weather) as (outbox, _, client):
        outbox.put(b"x" * 100)
        got = b""
        while len(got) < 100:
            await trio.sleep(9.0)
            got += await client.receive()
            assert outbox.cut_reason is None
        assert trio.current_time() > 200


async def test_a_deaf_peer_costs_nobody_else_anything(autojump_clock: trio.testing.MockClock) -> None:
    async with connected() as (deaf, _, _), connected() as (hears, _, client):
        with capture_logs():
            for number in range(1000):
                message = b"%06d\n" % number
                deaf.put(message)
                hears.put(message)
                assert await client.receive() == message
        assert deaf.cut_reason is not None
        assert hears.cut_reason is None
        assert trio.current_time() == 0


@wires
async def test_a_reset_cuts_the_peer_without_a_word(
    kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected(kind) as (outbox, wire, client):
        with capture_logs() as logs:
            outbox.put(b"x" * 150)
            client.reset()
            outbox.put(b"y")
            assert not await outbox.drained(1.0)
            outbox.put(b"z")
        assert outbox.cut_reason == "the peer is gone"
        assert not logs
        with pytest.raises((trio.ClosedResourceError, trio.BrokenResourceError)):
            await wire.receive()


async def test_one_that_is_gone_is_noticed_when_something_is_put() -> None:
    async with connected() as (outbox, _, client):
        client.reset()
        outbox.put(b"x")
        assert outbox.cut_reason == "the peer is gone"


async def test_messages_of_all_sizes_come_whole() -> None:
    sizes = [PIECE // 3] * 7 + [1] * 50 + [2 * PIECE] * 2
    roomy = Limits(outbox_bytes=10 * PIECE)
    async with connected(weather=Weather(window=PIECE // 2), limits=roomy) as (outbox, _, client):
        for number, size in enumerate(sizes):
            outbox.put(bytes([number]) * size)
        outbox.finish()
        assert await everything(client) == b"".join(
            bytes([number]) * size for number, size in enumerate(sizes)
        )


@wires
async def test_waiting_for_the_last_bytes_ends_with_them_or_with_the_time(
    kind: str, autojump_clock: trio.testing.MockClock
) -> None:
    async with connected(kind) as (outbox, _, client):
        assert await outbox.drained(0.0) or kind == STREAM
        outbox.put(b"x" * 150)
        assert not await outbox.drained(3.0)
        assert trio.current_time() == pytest.approx(3.0)
        assert await client.receive_some(150)
        assert await outbox.drained(3.0)
        assert trio.current_time() == pytest.approx(3.0)


async def test_the_end_is_said_after_what_was_kept_and_the_peer_may_go_on_talking() -> None:
    async with connected() as (outbox, wire, client):
        outbox.put(b"x" * 150)
        outbox.finish()
        outbox.finish()
        assert await everything(client) == b"x" * 150
        await client.send_all(b"still here")
        assert await wire.receive() == b"still here"


async def test_a_peer_that_reads_is_not_cut_however_much_is_put_before_it_has_read_all_of_it() -> None:
    async with connected() as (outbox, _, client):
        outbox.put(b"x" * 300)
        for _ in range(50):
            outbox.put(b"y" * 100)
            assert len(await client.receive()) == 100
            await trio.testing.wait_all_tasks_blocked()
            assert outbox.behind
        assert outbox.cut_reason is None
