"""How long peers may take: time for which this process stood still does not count.

A process may be stopped for a minute, as when its machine is paused. Deadlines pass meanwhile, and whoever
wakes up after that would be cut off before anything is read that was sent in time. So one task looks at the
time as long as any peer is waited for. If it wakes late, the process stood still. Then everybody gets that
time back, and a little more, in which what came meanwhile is read.
"""

from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import contextmanager
from math import inf

import trio

BEAT = 0.1  # seconds between two looks at the time: a stall between them, which is not seen, takes no more
TOLERANCE = 0.05  # seconds by which a busy process may be late, and of grace after a stall


class TimeLimits:
    """The limits of one event loop. What a limit costs does not grow with how many there are."""

    def __init__(self) -> None:
        # By their length, of which there are few: when each is over, by a clock that stands still whenever
        # the process does. Those of one length end in the order in which they begin.
        self._ends: dict[float, OrderedDict[trio.CancelScope, float]] = {}
        self._going_on: dict[trio.CancelScope, Callable[[], bool]] = {}  # for the few that may begin anew
        self._stood_still = 0.0
        self._looking = False

    def add(self, scope: trio.CancelScope, seconds: float, goes_on: Callable[[], bool] | None = None) -> None:
        """Cancel the scope after so many seconds, unless it is removed before, or `goes_on` then."""
        if goes_on is not None:
            self._going_on[scope] = goes_on
        ends = self._ends.setdefault(seconds, OrderedDict())
        ends[scope] = trio.current_time() - self._stood_still + seconds
        if not self._looking:
            self._looking = True
            trio.lowlevel.spawn_system_task(self._look)

    def remove(self, scope: trio.CancelScope, seconds: float) -> None:
        self._going_on.pop(scope, None)
        if (ends := self._ends.get(seconds)) is not None:
            ends.pop(scope, None)
            if not ends:
                del self._ends[seconds]

    async def _look(self) -> None:
        try:
            while self._ends:
                first = min(next(iter(ends.values())) for ends in self._ends.values())
                wake = min(trio.current_time() + BEAT, first + self._stood_still)
                await trio.sleep_until(wake)
                if (late := trio.current_time() - wake) > TOLERANCE:
                    self._stood_still += late + TOLERANCE
                self._cancel_all_over()
        finally:
            self._looking = False

    def _cancel_all_over(self) -> None:
        now = trio.current_time()
        for seconds, ends in tuple(self._ends.items()):
            while ends and next(iter(ends.values())) + self._stood_still <= now:
                scope = next(iter(ends))
                goes_on = self._going_on.get(scope)
                self.remove(scope, seconds)
                if goes_on is not None and goes_on():
                    self.add(scope, seconds, goes_on)
                else:
                    scope.cancel()


_of_this_run: trio.lowlevel.RunVar[TimeLimits] = trio.lowlevel.RunVar("time limits")


@contextmanager
def within(seconds: float, goes_on: Callable[[], bool] | None = None) -> Generator[trio.CancelScope]:
    """Like `trio.move_on_after`, for what a peer has to do within that time.

    When it is over, a peer for which `goes_on` returns True has as much time again.
    """
    with trio.CancelScope() as scope:
        if seconds == inf:
            yield scope
            return
        limits = _limits()
        limits.add(scope, seconds, goes_on)
        try:
            yield scope
        finally:
            limits.remove(scope, seconds)


def _limits() -> TimeLimits:
    try:
        return _of_this_run.get()
    except LookupError:
        _of_this_run.set(found := TimeLimits())
        return found
