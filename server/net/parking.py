"""Which connections to park (`Wire.park`): those that have been waited for long enough.

A task takes a third of what is kept of a bot that waits. Ending it, and starting another one for the
bot's end, takes as long as half a move: too long for a bot that comes anew for each match.
"""

from collections import deque
from typing import Protocol

import trio

LONG_ENOUGH = 1.0  # seconds
AT_ONCE = 16  # connections; more come in no turn of the event loop


class Waiting(Protocol):
    """A connection for which a task waits."""

    def settled(self) -> None:
        """It has been waited for long enough."""
        ...


class Parking:
    """Tells connections when they have been waited for long enough, some between two turns of other tasks."""

    def __init__(self) -> None:
        self._arriving: deque[tuple[float, Waiting]] = deque()

    def arrives(self, connection: Waiting) -> None:
        """It is waited for from now on."""
        if not self._arriving:
            trio.lowlevel.spawn_system_task(self._tell)
        self._arriving.append((trio.current_time() + LONG_ENOUGH, connection))

    async def _tell(self) -> None:
        while self._arriving:
            await trio.sleep_until(self._arriving[0][0])
            now = trio.current_time()
            for _ in range(AT_ONCE):
                if self._arriving and self._arriving[0][0] <= now:
                    self._arriving.popleft()[1].settled()
