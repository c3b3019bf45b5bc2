"""What worker 0 has to do with another worker: one that hangs, and the time between two of its processes."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from math import inf
from typing import Any, cast

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Handed
from server.net.admission import Admission
from server.net.limits import Limits
from server.net.sockets import SocketWire, readiness
from server.net.wire import Piece
from server.show.conduit import PACKET, Conduit
from server.show.hanging import LOOK, processor_time
from server.show.lending import Lending
from server.workers.messages import Drain, Drained, FromWorker, Gone, Key, Ready, Several, ToWorker
from server.workers.starting import conduit_pair
from server.workers.worker import Worker
from tests.hang import HANG, wait_for
from tests.server.windowed import windowed_pair

LIMITS = Limits()


def worker_0_has(used: Callable[[int], float] = processor_time) -> Worker:
    admission = Admission(LIMITS)
    lending = Lending(LIMITS, admission)

    def nothing(number: int, said: str) -> None: ...

    return Worker(1, cast(Any, None), nothing, nothing, lending, None, admission, LIMITS, used=used)


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does nothing until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as found:
        yield found
        found.kill()


async def test_a_process_that_says_nothing_any_more_is_killed(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    worker = worker_0_has()
    worker._take(Ready(), None)
    begun = trio.current_time()
    with trio.fail_after(HANG):
        await worker._watch(child)
    assert child.wait(HANG) != 0
    assert trio.current_time() - begun <= LIMITS.worker_seconds + 2 * LOOK


async def test_a_process_that_does_nothing_any_more_before_it_is_ready_is_killed(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    """Catches tournaments that nobody went on with, and bots that waited at the door for ever."""
    worker = worker_0_has(used=lambda process: 1.0)
    begun = trio.current_time()
    with trio.fail_after(HANG):
        await worker._watch(child)
    assert child.wait(HANG) != 0
    assert trio.current_time() - begun <= LIMITS.worker_seconds + 2 * LOOK


def test_messages_of_the_same_moment_are_taken_in_their_order() -> None:
    worker, known = worker_0_has(), list[str]()
    worker._know = lambda key, number: known.append(key)
    worker._take(Several((Key("one"), Ready(), Key("other"))), None)
    assert worker.ready
    assert known == ["one", "other"]


def test_a_process_that_works_uses_processor_time() -> None:
    before = processor_time(os.getpid())
    wait_for(lambda: processor_time(os.getpid()) > before, "processor time")
    assert processor_time(-1) == 0.0


async def test_a_process_that_is_starting_or_says_something_now_and_then_is_not_killed(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    worker, seconds = worker_0_has(used=lambda process: trio.current_time()), LIMITS.worker_seconds
    with trio.fail_after(20 * HANG):
        async with trio.open_nursery() as nursery:

            async def expect_alive() -> None:
                await worker._watch(child)
                raise AssertionError("it was killed")

            nursery.start_soon(expect_alive)
            await trio.sleep(3 * seconds)
            for _ in range(5):
                worker._take(Ready(), None)
                await trio.sleep(seconds - 2 * LOOK)
            nursery.cancel_scope.cancel()


async def test_a_process_that_is_starting_when_the_host_is_told_to_stop_hears_of_it_once() -> None:
    """Catches a worker that ended with a traceback, and whose bots nobody told goodbye."""
    worker = worker_0_has()
    ours, theirs = conduit_pair()
    theirs.setblocking(False)
    heard = msgspec.msgpack.Decoder(ToWorker)
    for ready_first in (False, True):
        with trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                worker._end_all()
                worker._conduit, worker._draining = Conduit(ours, FromWorker, inf), False
                if ready_first:
                    worker._take(Ready(), None)
                nursery.start_soon(worker.drain)
                await trio.testing.wait_all_tasks_blocked()
                if not ready_first:
                    worker._take(Ready(), None)
                assert heard.decode(theirs.recv(PACKET)[1:]) == Drain()
                with pytest.raises(BlockingIOError):
                    theirs.recv(PACKET)
                worker._take(Drained(), None)
    ours.close()
    theirs.close()


async def test_whoever_comes_while_a_process_ends_waits_for_the_next_one_and_no_longer(
    autojump_clock: MockClock,
) -> None:
    worker = worker_0_has()
    wire, _ = windowed_pair()
    handed = Handed("tcp", wire, "", [(b"{}\n", 0.0)], lambda: None)
    back: list[object] = []

    async def come() -> None:
        pieces: tuple[Piece, ...] = tuple(await worker.take(handed))
        back.append(pieces)

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            worker._end_all()  # its connections end as soon as the link has …
            nursery.start_soon(come)
            await trio.testing.wait_all_tasks_blocked()
            worker._end_all()  # … and what is still there when the process has
            worker._take(Ready(), None)
    assert back == [()], "there is no process any more: the connection ends"


@pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on")
async def test_a_connection_that_has_ended_at_a_worker_is_over_here_as_soon_as_its_peer_has_gone() -> None:
    """Catches connections that counted as here, for their address too, until they had lingered in vain."""
    worker = worker_0_has()
    ours, theirs = conduit_pair()
    bot, connected = socket.socketpair()
    wire = SocketWire(connected, "192.0.2.7", readiness())
    with ours, theirs, bot, trio.fail_after(HANG):
        worker._conduit = Conduit(ours, FromWorker, inf)
        worker._take(Ready(), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.take, Handed("tcp", wire, "", [(b"ann\n", 0.0)], lambda: None))
            await trio.testing.wait_all_tasks_blocked()
            bot.close()
            worker._take(Gone(0), None)
        await wire.pump(lambda received: None)
    wire.close()
