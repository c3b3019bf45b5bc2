"""Play goes on without a process for pages, also where the machine has none to give."""

import errno
import os
from typing import Any, cast

import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.host.host import Host
from server.net.limits import Limits
from server.show.child import Started
from server.show.lending import Lending
from server.show.process import PAUSES, Show

REASONS = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE)  # no process, memory or file is left


class NoneLeft:
    """A machine on which nothing can be started, each time for another reason."""

    def __init__(self) -> None:
        self.tried: list[float] = []
        self.often = trio.Event()

    def start(self) -> Started:
        self.tried.append(trio.current_time())
        if len(self.tried) == 2 * len(PAUSES):
            self.often.set()
        why = REASONS[len(self.tried) % len(REASONS)]
        raise OSError(why, os.strerror(why))


async def test_where_none_can_be_started_play_goes_on_and_it_is_tried_again_less_and_less_often(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that ended, and all its matches with it, when its process for pages had died."""
    machine = NoneLeft()
    show = Show(Host(), lambda: 0, Lending(Limits()), cast("Any", None), machine.start)
    with capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(show.run, lambda: cast("Any", None))
            await machine.often.wait()
            nursery.cancel_scope.cancel()
    pauses = [later - earlier for earlier, later in zip(machine.tried, machine.tried[1:], strict=False)]
    assert pauses == [*PAUSES, *[PAUSES[-1]] * (len(PAUSES) - 1)]
    assert {each["why"] for each in logs} == {*map(os.strerror, REASONS)}
