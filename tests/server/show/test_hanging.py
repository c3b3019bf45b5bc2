"""A process for pages that hangs is killed, which is an end like any other; one that lives is not."""

import errno
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, cast

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host.host import Host
from server.net.guard import Guard
from server.net.limits import Limits
from server.show.draws import TIMEOUT, Drawing
from server.show.feed import Begun, Drawn, say
from server.show.hanging import LOOK
from server.show.lending import Lending
from server.show.process import PAUSES, Show
from server.workers.starting import conduit_pair
from tests.hang import HANG
from tests.no_files import no_files_left
from tournament.format import Pairing

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only there another process shows")


@pytest.fixture
def child() -> Iterator["subprocess.Popen[bytes]"]:
    """A process that does nothing until it is killed: it has stopped itself, or its start would be work."""
    stop = "import os, signal; os.kill(os.getpid(), signal.SIGSTOP)"
    with subprocess.Popen([sys.executable, "-c", stop]) as found:
        os.waitid(os.P_PID, found.pid, os.WSTOPPED)
        yield found
        found.kill()


def play() -> Show:
    return Show(Host(), lambda: 0, Lending(Limits()), cast("Any", None))


async def test_a_process_for_pages_that_does_nothing_before_it_is_ready_is_killed(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    begun = trio.current_time()
    with trio.fail_after(2 * TIMEOUT):
        await play()._watch(child)
    assert child.wait(HANG) != 0
    assert trio.current_time() - begun <= TIMEOUT + 2 * LOOK


async def test_a_process_for_pages_is_killed_as_soon_as_it_gives_no_sign_of_life_and_no_sooner(
    child: "subprocess.Popen[bytes]", autojump_clock: MockClock
) -> None:
    """Catches pages that waited for ever."""
    show, alive = play(), trio.CancelScope()
    to_play, replies = trio.testing.memory_stream_one_way_pair()
    ours, theirs = conduit_pair()
    with ours, theirs, trio.fail_after(10 * TIMEOUT):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(show.lending.connect, ours)
            nursery.start_soon(show._draws.hear, replies)

            async def live() -> None:
                with alive:
                    await Drawing(cast("Any", Seen(nursery)), to_play).tell_alive()

            async def stop() -> None:
                await trio.sleep(3 * TIMEOUT)
                assert child.poll() is None
                alive.cancel()

            nursery.start_soon(live)
            nursery.start_soon(stop)
            await show._watch(child)
            assert alive.cancelled_caught
            nursery.cancel_scope.cancel()
    assert child.wait(HANG) != 0


async def test_a_sign_of_life_does_not_mean_that_it_draws(autojump_clock: MockClock) -> None:
    """Catches rounds that wait, each of them, for a process that lives and has never answered one."""
    draws = play()._draws
    to_play, replies = trio.testing.memory_stream_one_way_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(draws.hear, replies)
        nursery.start_soon(Drawing(cast("Any", Seen(nursery)), to_play).tell_alive)
        assert await draws.rank(cast("Any", Named())) is None
        begun = trio.current_time()
        assert await draws.rank(cast("Any", Named())) is None
        assert trio.current_time() == begun
        nursery.cancel_scope.cancel()


async def test_a_draw_that_has_begun_may_take_as_long_as_it_likes(autojump_clock: MockClock) -> None:
    """Catches a process that plays and draws, though another had all but done it."""
    draws, drawn = play()._draws, (Pairing(1, 1, "ann", "bob"),)
    to_play, replies = trio.testing.memory_stream_one_way_pair()

    async def slow() -> None:
        await say(to_play, [Begun(0)])
        await trio.sleep(10 * TIMEOUT)
        await say(to_play, [Drawn(0, drawn)])

    def here() -> tuple[Pairing, ...]:
        raise AssertionError("play has drawn, and show was only slow")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(draws.hear, replies)
        await trio.testing.wait_all_tasks_blocked()
        nursery.start_soon(slow)
        assert (*await draws.draw(cast("Any", Named()), here),) == drawn
        nursery.cancel_scope.cancel()


async def test_one_that_the_system_does_not_start_is_tried_again_and_costs_nothing_else(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that ends, with all matches, because there is no room for another process just then."""
    show = play()
    with capture_logs() as logs, no_files_left():
        async with trio.open_nursery() as nursery:
            await nursery.start(show.run, lambda: cast("Any", None))
            await trio.sleep(sum(PAUSES) + 1.0)
            nursery.cancel_scope.cancel()
    assert [each["pause"] for each in logs] == [*PAUSES, PAUSES[-1]]
    assert {each["event"] for each in logs} == {"the process for pages cannot be started"}
    assert {each["why"] for each in logs} == {os.strerror(errno.EMFILE)}


class Seen:
    """As much of a mirror as a sign of life tells of."""

    def __init__(self, nursery: trio.Nursery) -> None:
        self.guard = Guard(nursery)


class Named:
    """As much of a record as a question holds."""

    name = "cup"
