"""A little of the cluster in the suite; `python -m tests.cluster` has as much of it as there is time for."""

from functools import partial

import pytest
import trio

from tests.cluster.balancer import Balancer
from tests.cluster.campaign import FAULTS, campaign
from tests.hang import HANG
from tests.ports import refusing
from tests.server.store.postgresql import running


@pytest.mark.slow
def test_hosts_that_die_or_are_cut_off_lose_nothing_that_was_told() -> None:
    with running() as server:
        found = trio.run(partial(campaign, unhurried=True), server, ("cut", "kill"), 1, 2)
    assert found.verdict.complaints == []
    assert found.verdict.told > 4
    assert len(found.resumed["kill"]) == 1


@pytest.mark.campaign
def test_each_fault_by_itself_loses_nothing_that_was_told() -> None:
    with running() as server:
        found = trio.run(partial(campaign, unhurried=True), server, FAULTS, 2)
    assert found.verdict.complaints == []
    assert set(found.faults) == set(FAULTS)


async def answers(name: bytes, nursery: trio.Nursery) -> int:
    """A target that says its name and whatever it is told; returns its port."""

    async def serve(stream: trio.SocketStream) -> None:
        async with stream:
            await stream.send_all(name)
            async for part in stream:
                await stream.send_all(part)

    listeners = await trio.open_tcp_listeners(0, host="127.0.0.1")
    nursery.start_soon(trio.serve_listeners, serve, listeners)
    return listeners[0].socket.getsockname()[1]


async def told(port: int, size: int) -> bytes:
    async with await trio.open_tcp_stream("127.0.0.1", port) as stream:
        received = b""
        while len(received) < size and (more := await stream.receive_some(size)):
            received += more
        return received


async def test_a_balancer_takes_targets_in_turn_and_passes_over_one_that_is_not_there() -> None:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            ports = [await answers(b"one", nursery), await answers(b"two", nursery)]
            balancer = Balancer(lambda: ports)
            await nursery.start(balancer.run)
            assert {await told(balancer.port, 3) for _ in range(2)} == {b"one", b"two"}
            with refusing() as ports[0]:
                assert [await told(balancer.port, 3) for _ in range(4)] == [b"two"] * 4
            nursery.cancel_scope.cancel()


async def test_a_balancer_that_is_restarted_has_cut_everything_and_listens_where_it_did() -> None:
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            port = await answers(b"one", nursery)
            balancer = Balancer(lambda: [port])
            await nursery.start(balancer.run)
            async with await trio.open_tcp_stream("127.0.0.1", balancer.port) as stream:
                await stream.send_all(b"!")
                heard = b""
                while heard != b"one!":
                    heard += await stream.receive_some(4)
                balancer.restart(0.0)
                assert await stream.receive_some(1) == b""
            while True:
                try:
                    assert await told(balancer.port, 3) == b"one"
                    break
                except OSError:
                    await trio.sleep(0.01)
            nursery.cancel_scope.cancel()
