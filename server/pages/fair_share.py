"""Work for pages, limited to a fair share: one thing at a time, and not all the time.

A page that takes long to make, or a thousand requests for quick ones, must cost the
players nothing. So boards are drawn one after the other, each in a turn of its own.
Tables are made in a thread, one after the other, with a rest after each: nine times as long
as it took where matches are played, and less in a process that only shows them. Clients that
ask for more wait longer.
"""

from collections.abc import Callable
from typing import Any

import trio

from server.host.boards import Run, Work, to_the_end

REST = 9.0  # seconds of rest for each second that a thread has worked …
ALONE = 1.0  # … in a process in which nothing is played


class FairShare:
    """Turns, served in the order of arrival."""

    def __init__(self, run: Run, rest: float) -> None:
        self.short = trio.Lock()  # held for work of a few milliseconds that waits for nothing
        self._long = trio.Lock()
        self._rested = 0.0
        self._run = run
        self._rest = rest

    async def aside(self, begin: Callable[[], Work]) -> Any:
        """Do long work. `begin` copies what it needs of things that may change, and returns the work."""
        async with self._long:
            await trio.sleep_until(self._rested)
            begun = trio.current_time()
            try:
                return await to_the_end(self._run, begin())
            finally:
                now = trio.current_time()
                self._rested = now + self._rest * (now - begun)
