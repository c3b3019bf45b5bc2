"""How far away a peer is, by the kernel's own measure."""

import socket
from contextlib import ExitStack
from time import perf_counter

import pytest
import structlog.testing
import trio
from trio.testing import MockClock

from server.net.round_trip import round_trip
from tests.hang import HANG, SLOWLY
from tests.server.connected import linux
from tests.server.doors import memory, sockets
from tests.server.ends import FrameEnd
from tests.server.transcripts import Doors, hosting

HELLO = '{"type":"hello","name":"ann","game":"connect-4"}'


@linux
def test_it_is_no_longer_than_connecting_took_and_what_a_peer_waits_is_not_in_it() -> None:
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        before = perf_counter()
        client = stack.enter_context(socket.create_connection(listener.getsockname()))
        server = stack.enter_context(listener.accept()[0])
        took = perf_counter() - before
        trips = [round_trip(server)]
        for _ in range(10):
            server.send(b"?")
            assert client.recv(1) == b"?"
            client.send(b"!")
            assert server.recv(1) == b"!"
            trips.append(round_trip(server))
        assert all(trip is not None and 0 < trip <= took for trip in trips)


def test_it_is_not_known_of_what_is_no_tcp_or_is_closed() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert round_trip(one) is None
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
    client.close()
    assert round_trip(client) is None


async def trips(doors: Doors, door: str) -> dict[str, float | None]:
    """What the log says of a bot that comes and leaves, by event."""
    with structlog.testing.capture_logs() as logs, trio.fail_after(HANG * SLOWLY):
        async with hosting({}) as (host, nursery):
            end = await (await doors(host, nursery))[door]()
            if isinstance(end, FrameEnd):
                await end.shake_hands()
            await end.say(HELLO)
            assert await end.hear()
            await end.say('{"type":"bye"}')
            while await end.hear():
                pass
            await end.close()
    return {line["event"]: line.get("round_trip") for line in logs if line.get("player") == "ann"}


@linux
@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_the_log_says_how_far_away_a_bot_is_that_comes_or_leaves(
    door: str, slow_clock: MockClock
) -> None:
    said = await trips(sockets, door)
    assert said.keys() == {"came", "left"}
    assert all(trip is not None and trip < HANG for trip in said.values())


@pytest.mark.parametrize("door", ["tcp", "websocket"])
async def test_it_says_nothing_where_that_is_not_known(door: str, autojump_clock: MockClock) -> None:
    assert await trips(memory, door) == {"came": None, "left": None}
