"""How long peers may take: time for which this process stood still does not count.

A process may be stopped for a minute, as when its machine is paused. Deadlines pass meanwhile, and whoever
wakes up after that would be cut off before anything is read that was sent in time. So one task looks at the
time as long as any peer is waited for. If it wakes late, the process stood still. Then everybody gets that
time back, and a little more, in which what came meanwhile is read.
"""

from collections.abc import Generator
from contextlib import contextmanager
from math import inf

import trio

BEAT = 0.1  # seconds between two looks at the time: a stall between them, which is not seen, takes no more
TOLERANCE = 0.05  # seconds by which a busy process may be late, and of grace after a stall


class TimeLimits:
    """The limits of one event loop."""

    def __init__(self) -> None:
        self._ends: dict[trio.CancelScope, float] = {}  # when each of them is over
        self._looking = False

    def add(self, scope: trio.CancelScope, seconds: float) -> None:
        """Cancel the scope after so many seconds, unless it is removed before."""
        self._ends[scope] = trio.current_time() + seconds
        if not self._looking:
            self._looking = True
            trio.lowlevel.spawn_system_task(self._look)

    def remove(self, scope: trio.CancelScope) -> None:
        self._ends.pop(scope, None)

    async def _look(self) -> None:
        try:
            while self._ends:
                wake = min(trio.current_time() + BEAT, *self._ends.values())
                await trio.sleep_until(wake)
                now = trio.current_time()
                if (late := now - wake) > TOLERANCE:
                    self._ends = {scope: end + late + TOLERANCE for scope, end in self._ends.items()}
                for scope in [scope for scope, end in self._ends.items() if end <= now]:
                    self.remove(scope)
                    scope.cancel()
        finally:
            self._looking = False


_of_this_run: trio.lowlevel.RunVar[TimeLimits] = trio.lowlevel.RunVar("time limits")


@contextmanager
def within(seconds: float) -> Generator[trio.CancelScope]:
    """Like `trio.move_on_after`, for what a peer has to do within that time."""
    with trio.CancelScope() as scope:
        if seconds == inf:
            yield scope
            return
        limits = _limits()
        limits.add(scope, seconds)
        try:
            yield scope
        finally:
            limits.remove(scope)


def _limits() -> TimeLimits:
    try:
        return _of_this_run.get()
    except LookupError:
        _of_this_run.set(found := TimeLimits())
        return found
