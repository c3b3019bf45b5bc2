"""What worker 0 has to do with another worker: one that hangs, and the time between two of its processes."""

import errno
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, pairwise
from math import inf
from typing import Any, TypeVar, cast

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Handed
from server.host.visits import Key as Name
from server.host.visits import Present
from server.net.admission import Admission
from server.net.limits import Limits
from server.net.readiness import readiness
from server.net.sockets import SocketWire
from server.net.wire import Piece
from server.show.conduit import PACKET, Conduit
from server.show.hanging import LOOK, processor_time
from server.show.lending import RELAYED, Lending
from server.show.process import LASTED, PAUSES
from server.workers.messages import (
    Back,
    Begin,
    Drain,
    Drained,
    FromWorker,
    Gone,
    Hand,
    Key,
    Known,
    Moved,
    Ready,
    Several,
    Status,
    Stop,
    ToWorker,
)
from server.workers.pulse import BEAT
from server.workers.starting import Started, conduit_pair, started
from server.workers.worker import Worker
from tests.hang import HANG, wait_for
from tests.server.at_once import TIMES
from tests.server.windowed import windowed_pair
from tests.server.workers.linked import linked, only_on_linux

LIMITS = Limits()


W = TypeVar("W", bound=Worker)


def worker_0_has(
    used: Callable[[int], float] = processor_time,
    kind: type[W] = Worker,
    files: float = inf,
    start: Callable[[], Started] = started,
) -> W:
    """`files` may be open beside those that every host needs."""
    admission = Admission(LIMITS, LIMITS.spare_files + files)
    lending = Lending(LIMITS, admission)

    def nothing(number: int, said: str) -> None: ...

    return kind(
        1, cast(Any, None), nothing, nothing, lending, None, admission, LIMITS, used=used, start=start
    )


def handed(stack: ExitStack, path: str, known: Callable[[], None] = lambda: None) -> Handed:
    """A connection that is to be served by another process."""
    _, connected = (stack.enter_context(each) for each in socket.socketpair())
    wire = SocketWire(connected, "192.0.2.7", readiness())
    return Handed("websocket", wire, path, [(b"{}\n", 0.0)], known)


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does nothing until it is killed."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as found:
        yield found
        found.kill()


async def test_a_process_that_says_nothing_any_more_is_killed(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    """Also if it uses processor time: it has read what it had to."""
    worker = worker_0_has(used=lambda process: trio.current_time())
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


async def test_where_no_process_can_be_started_worker_0_plays_on_and_tries_again(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that ended, and all its matches with it, when one of its workers had died."""
    tried, often = count(1), trio.Event()

    def none_left() -> Started:
        if next(tried) == 2 * len(PAUSES):
            often.set()
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    worker = worker_0_has(start=none_left)
    async with trio.open_nursery() as nursery:
        await nursery.start(worker.run, lambda: cast("Any", None))
        await often.wait()
        nursery.cancel_scope.cancel()
    assert not worker.ready


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


async def test_what_a_process_has_said_counts_though_this_one_has_not_heard_it_yet(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    """Catches worker 0 that stands still for a while, and then kills all others for it."""
    worker, seconds = worker_0_has(), LIMITS.worker_seconds
    with linked(worker) as process:
        async with trio.open_nursery() as nursery:

            async def expect_alive() -> None:
                await worker._watch(child)
                raise AssertionError("it was killed")

            worker._take(Ready(), None)
            nursery.start_soon(expect_alive)
            for number in range(5):
                await trio.sleep(seconds - 2 * LOOK)
                process.say(Status(number, ()))
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


class Failing(Worker):
    """A worker whose processes end after some seconds each, without having been ready."""

    seconds: Iterator[float]
    begun: list[float]  # when
    last: trio.Event  # set when none is to follow

    async def _one(self, begin: Callable[[], Begin]) -> int:
        self.begun.append(trio.current_time())
        if (seconds := next(self.seconds, None)) is None:
            self.last.set()
            await trio.sleep_forever()
        await trio.sleep(seconds or 0.0)
        return 1


async def test_a_process_that_cannot_live_is_started_again_less_and_less_often(
    autojump_clock: MockClock,
) -> None:
    """Catches a worker that takes the processor from the others, and a host that is never ready."""
    lived = [1.0] * (len(PAUSES) + 1)
    worker = worker_0_has(kind=Failing)
    worker.seconds, worker.begun, worker.last = iter([*lived, 2 * LASTED, 1.0]), [], trio.Event()
    with trio.fail_after(HANG * HANG):
        async with trio.open_nursery() as nursery:
            await nursery.start(worker.run, cast(Any, None))
            assert trio.current_time() - worker.begun[0] == 1.0, "it has started, although it fails"
            await worker.last.wait()
            nursery.cancel_scope.cancel()
    pauses = [later - begun for begun, later in pairwise(worker.begun)]
    expected = [*(1.0 + pause for pause in (*PAUSES, PAUSES[-1])), 2 * LASTED + PAUSES[0], 1.0 + PAUSES[1]]
    assert pauses == pytest.approx(expected)


async def test_a_process_hears_again_and_again_that_this_one_does_not_stand_still(
    autojump_clock: MockClock,
) -> None:
    """Catches workers in which all clocks stand still, so that a bot may think for ever."""
    worker = worker_0_has()
    worker.let_in.set()
    with linked(worker) as process, trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker._beat)
            await trio.sleep(10 * BEAT)
            assert process.heard() == [], "it is told nothing before it is ready"
            worker._take(Ready(), None)
            for _ in range(3):
                await trio.sleep(10 * BEAT)
                assert 9 <= len(process.heard()) <= 11
            nursery.cancel_scope.cancel()


def test_when_a_process_has_ended_nobody_is_there_and_what_it_has_counted_stays_counted() -> None:
    """Catches a bot that is sent where it was, or refused, for as long as the host runs."""
    worker, here = worker_0_has(), dict[Name, Present]()

    def move(number: int, where: Name, present: Present | None) -> None:
        if present is None:
            del here[where]
        else:
            here[where] = present

    worker._moved = move
    for name in ("ann", "bob", "cas"):
        worker._take(Moved(("connect-4", name), Present("cup", "", shared=False)), None)
    worker._take(Moved(("connect-4", "ann"), None), None)
    assert here.keys() == {("connect-4", "bob"), ("connect-4", "cas")}
    worker._take(Status(7, ()), None)
    worker._end_all()
    assert not here
    for _ in range(2):  # once for the link, once for the process
        assert (worker.status, worker.past) == (None, Status(7, ()))
        worker._end_all()
    worker._take(Status(3, ()), None)
    worker._end_all()
    assert worker.past == Status(10, ())


@only_on_linux
async def test_bots_that_came_while_a_process_was_starting_are_handed_over_as_they_came() -> None:
    for _ in range(TIMES):
        worker = worker_0_has()
        with linked(worker) as process, ExitStack() as stack, trio.fail_after(HANG):
            async with trio.open_nursery() as nursery:
                for number in range(5):
                    nursery.start_soon(worker.take, handed(stack, str(number)))
                    await trio.testing.wait_all_tasks_blocked()
                assert process.heard() == []
                worker._take(Ready(), None)
                await trio.testing.wait_all_tasks_blocked()
                assert [each.path for each in process.heard() if isinstance(each, Hand)] == [*"01234"]
                nursery.cancel_scope.cancel()


@only_on_linux
async def test_a_connection_that_a_worker_has_takes_one_task_here() -> None:
    """Catches two for each, which was most of what worker 0 kept of a bot that plays elsewhere."""
    worker = worker_0_has()
    with linked(worker), ExitStack() as stack, trio.fail_after(HANG):
        worker._take(Ready(), None)
        async with trio.open_nursery() as nursery:
            tasks = list[int]()
            for number in range(3):
                nursery.start_soon(worker.take, handed(stack, str(number)))
                await trio.testing.wait_all_tasks_blocked()
                tasks.append(trio.lowlevel.current_statistics().tasks_living)
            assert [more - fewer for fewer, more in pairwise(tasks)] == [1, 1]
            nursery.cancel_scope.cancel()


@only_on_linux
async def test_when_a_process_has_ended_the_connections_that_it_had_are_over() -> None:
    """Catches bots that wait for an answer for ever: this process has their connections, too."""
    worker = worker_0_has()
    with linked(worker), ExitStack() as stack, trio.fail_after(HANG):
        worker._take(Ready(), None)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.take, handed(stack, ""))
            await trio.testing.wait_all_tasks_blocked()
            worker._end_all()


@only_on_linux
async def test_a_connection_over_tls_takes_files_while_a_worker_has_it_and_ends_if_there_are_none() -> None:
    """It is relayed. Catches a host out of files, at which everything fails that opens one."""
    worker = worker_0_has(files=2 * RELAYED)
    admission = worker._admission
    with linked(worker) as process, ExitStack() as stack, trio.fail_after(HANG):
        worker._take(Ready(), None)
        async with trio.open_nursery() as nursery:
            for secure, served, files in (
                (True, 1, RELAYED),
                (False, 1, RELAYED),
                (True, 1, 2 * RELAYED),
                (True, 0, 2 * RELAYED),
                (False, 1, 2 * RELAYED),
            ):
                bot = handed(stack, "")
                bot.wire.secure = secure
                nursery.start_soon(worker.take, bot)
                await trio.testing.wait_all_tasks_blocked()
                assert (len(process.heard()), admission.files_beside) == (served, files)
            worker._end_all()
        assert admission.files_beside == 0


class Living(Worker):
    """A worker whose process is ready at once, and goes on."""

    async def _one(self, begin: Callable[[], Begin]) -> int:
        self._take(Ready(), None)
        await trio.sleep_forever()
        return 0


async def test_a_host_waits_for_a_worker_until_its_process_is_ready(autojump_clock: MockClock) -> None:
    worker = worker_0_has(kind=Living)
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            await nursery.start(worker.run, cast(Any, None))
            assert worker.ready
            nursery.cancel_scope.cancel()


async def test_nothing_is_started_again_once_a_host_stops(autojump_clock: MockClock) -> None:
    """And whoever waits for what a process had to do first waits no longer than for the process."""
    worker = worker_0_has(kind=Failing)
    worker.seconds, worker.begun, worker.last = iter([5.0, 5.0]), [], trio.Event()
    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker.run, cast(Any, None))
            await trio.sleep(1.0)
            with linked(worker) as process:
                nursery.start_soon(worker.drain)
                nursery.start_soon(worker.stop)
                await trio.testing.wait_all_tasks_blocked()
                assert process.heard() == [Stop()], "it is told to drain only when it is ready"
    assert len(worker.begun) == 1
    assert trio.current_time() - worker.begun[0] == 5.0


@only_on_linux
async def test_a_connection_that_a_worker_gives_back_is_served_from_where_it_was() -> None:
    """Its bot has shown who it is, and nobody makes room for another by hanging up on it."""
    worker, known = worker_0_has(), list[str]()
    rest: Piece = (b'{"type":"hello"}\n', 1.0)
    with linked(worker), ExitStack() as stack, trio.fail_after(HANG):
        worker._take(Ready(), None)
        back: list[Piece] = []

        async def take() -> None:
            back.extend(await worker.take(handed(stack, "ann", lambda: known.append("ann"))))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(take)
            await trio.testing.wait_all_tasks_blocked()
            worker._take(Known(0), None)
            assert known == ["ann"]
            assert not back
            worker._take(Back(0, (rest,)), None)
        assert back == [rest]
        worker._take(Known(0), None)
        assert known == ["ann"], "nobody has that number any more"


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


@only_on_linux
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
