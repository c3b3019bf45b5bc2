"""Connections that are parked: no task waits for them, and everything else is as if one did."""

import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from socket import SO_LINGER, SOL_SOCKET, create_connection, socket

import pytest
import trio
from msgspec import Struct, field

from server.net import parking
from server.net.admission import Admission
from server.net.guard import Guard, open_guard
from server.net.limits import Limits
from server.net.listening import listeners, serve
from server.net.parking import AT_ONCE, LONG_ENOUGH, Parking
from server.net.wire import Served, Wire
from tests.hang import HANG
from tests.server.connected import linux
from tests.server.net.test_listening import connect
from tests.server.protocols.test_nothing_left import uncollected

pytestmark = linux


@pytest.fixture(autouse=True)
def parked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parking, "LONG_ENOUGH", 0.0)


class Heard(Struct):
    """What happened to one connection whose wire is parked whenever that is possible."""

    words: list[bytes] = field(default_factory=list[bytes])
    ends: list[object] = field(default_factory=list[object])  # what `pump` returned or raised
    parked: int = 0  # how often
    fails: Exception | None = None  # what taking something raises
    wire: Wire | None = None

    def attend(self, wire: Wire, visitor: object) -> Awaitable[Served | None]:
        self.wire = wire
        return self._go_on(wire)

    async def _go_on(self, wire: Wire) -> Served | None:
        while True:
            if wire.park(self._take):
                self.parked += 1
                return partial(self._go_on, wire)
            try:
                self.ends.append(await wire.pump(self._take))
            except Exception as error:
                self.ends.append(error)
                return None
            if self.ends[-1]:
                return None

    def _take(self, received: bytes) -> None:
        self.words.append(received)
        if self.fails is not None:
            raise self.fails


class Here(Struct):
    """What listens, and who is there."""

    listener: socket
    guard: Guard
    admission: Admission
    counts: list[int]


@asynccontextmanager
async def listening(heard: Heard) -> AsyncIterator[Here]:
    (listener,) = await listeners("127.0.0.1", 0, Limits())
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            here = Here(listener, Guard(nursery), Admission(Limits()), [])
            serving = partial(serve, guard=here.guard, admission=here.admission, limits=Limits())
            nursery.start_soon(partial(serving, listener, heard.attend, count=here.counts.append))
            yield here
            nursery.cancel_scope.cancel()
    assert not here.guard.caught


async def until(happened: Callable[[], object]) -> None:
    while not happened():
        await trio.lowlevel.checkpoint()


def tasks() -> int:
    return trio.lowlevel.current_statistics().tasks_living


async def test_whoever_waits_has_no_task_and_is_heard() -> None:
    """Catches a waiting bot that takes half as much memory again, and one that is no longer read."""
    heard = Heard()
    async with listening(heard) as here:
        await trio.testing.wait_all_tasks_blocked()
        before = tasks()
        async with await connect(here.listener) as client:
            await until(lambda: heard.parked)
            await until(lambda: tasks() <= before)
            for word in (b"one", b"two", b"three"):
                await client.send_all(word)
                await until(lambda word=word: word in heard.words)
                assert tasks() <= before
            assert (heard.ends, here.counts, len(here.admission)) == ([False], [1], 1)
        await until(lambda: not len(here.admission))
        assert (heard.ends, here.counts) == ([False, True], [1, -1])


async def test_what_interrupts_it_is_seen_by_a_task_and_it_is_parked_again() -> None:
    heard = Heard()
    async with listening(heard) as here, await connect(here.listener) as client:
        await until(lambda: heard.parked)
        assert heard.wire is not None
        heard.wire.interrupt()
        heard.wire.interrupt()
        await until(lambda: heard.parked == 2)
        assert heard.ends == [False, False]
        await client.send_all(b"and on")
        await until(lambda: heard.words)
        assert here.counts == [1]


@pytest.mark.parametrize("closes", [True, False])
async def test_what_taking_something_raises_is_raised_in_the_next_task(closes: bool) -> None:
    """Catches a bot that stays in its match because the fault was lost with the task that was not there."""
    heard = Heard()

    def closing(received: bytes) -> None:
        if closes and heard.wire is not None:
            heard.wire.close()
        raise fault

    fault = ValueError("what is that?")
    heard.fails = fault
    async with listening(heard) as here, await connect(here.listener) as client:
        await until(lambda: heard.parked)
        await client.send_all(b"hello")
        await until(lambda: not len(here.admission))
    assert heard.ends == [False, fault]


async def test_a_parked_wire_that_is_closed_or_reset_has_ended() -> None:
    """Catches a connection that counts as here after it was driven out, or its peer switched off."""
    heard, other = Heard(), Heard()
    async with listening(heard) as here, await connect(here.listener) as client:
        await until(lambda: heard.parked)
        assert heard.wire is not None
        heard.wire.close()
        await until(lambda: not len(here.admission))
        assert [type(end) for end in heard.ends[1:]] == [trio.ClosedResourceError]
        assert await client.receive_some() == b""
    async with listening(other) as here:
        client = await connect(here.listener)
        await until(lambda: other.parked)
        client.socket.setsockopt(SOL_SOCKET, SO_LINGER, struct.pack("ii", 1, 0))
        await client.aclose()
        await until(lambda: not len(here.admission))
        assert [type(end) for end in other.ends[1:]] == [trio.BrokenResourceError]


async def test_a_wire_that_another_process_serves_is_read_again_when_it_is_back() -> None:
    heard = Heard()
    async with listening(heard) as here, await connect(here.listener) as client:
        await until(lambda: heard.parked)
        assert heard.wire is not None
        passed = heard.wire.let_go()
        assert passed is not None
        await client.send_all(b"for the other one")
        passed.setblocking(True)
        assert passed.recv(100) == b"for the other one"
        passed.setblocking(False)
        assert not heard.words
        heard.wire.take_back()
        await client.send_all(b"back")
        await until(lambda: heard.words)
        assert heard.words == [b"back"]


async def test_nothing_of_it_is_left_for_the_collector() -> None:
    """Catches a circle between a wire and what goes on with it: each connection would leave one behind."""
    async with listening(Heard()) as here:
        with uncollected() as garbage:
            for ends in (1, 2, 3):
                async with await connect(here.listener):
                    await until(lambda: len(here.admission))
                await until(lambda ends=ends: here.counts == [1, -1] * ends)
    assert not garbage


def test_whoever_is_parked_when_the_host_ends_is_hung_up_on() -> None:
    """Catches sockets that stay open until the collector finds them."""
    heard, clients = Heard(), list[socket]()

    async def come() -> None:
        async with listening(heard) as here:
            clients.append(create_connection(here.listener.getsockname()))
            await until(lambda: heard.parked)

    trio.run(come)
    (client,) = clients
    with client:
        client.setblocking(False)
        assert client.recv(1) == b""


async def test_whoever_hangs_up_when_no_task_starts_any_more_is_hung_up_on() -> None:
    """Catches sockets of bots that leave while their host ends, and stay open until the collector comes."""
    heard, admission, limits = Heard(), Admission(Limits()), Limits()
    (listener,) = await listeners("127.0.0.1", 0, limits)
    with trio.fail_after(HANG):
        async with open_guard() as guard, trio.open_nursery() as nursery:
            nursery.start_soon(
                partial(serve, listener, heard.attend, guard=guard, admission=admission, limits=limits)
            )
            client = await connect(listener)
            await until(lambda: heard.parked)
            nursery.cancel_scope.cancel()
        async with client:
            await client.send_eof()
            assert await client.receive_some() == b""


async def test_a_wire_is_not_parked_before_it_was_waited_for_long_enough(
    autojump_clock: trio.testing.MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a bot that comes anew for each match, and costs a task more each time."""
    monkeypatch.undo()
    told = list[float]()

    class One:
        def settled(self) -> None:
            told.append(trio.current_time())

    waiting = Parking()
    began = trio.current_time()
    waiting.arrives(One())
    await trio.sleep(LONG_ENOUGH / 2)
    for _ in range(2 * AT_ONCE + 1):
        waiting.arrives(One())
    await trio.sleep(10 * LONG_ENOUGH)
    waiting.arrives(One())
    await trio.sleep(2 * LONG_ENOUGH)
    assert [time - began for time in told] == pytest.approx([1.0, *(2 * AT_ONCE + 1) * [1.5], 11.5])
