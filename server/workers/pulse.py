"""Noticing in a worker that worker 0 stands still.

Bots come through worker 0, and over HTTP most moves do. What was sent in time may wait there, so nobody's
clock runs meanwhile, and what was charged since worker 0 was last heard is given back.
"""

import trio

from tournament.timekeeper import Timekeeper

BEAT = 0.1  # seconds between two signs of life of worker 0, and between two looks for them
MISSED = 3  # looks without any after which clocks stand still
WHY = "worker 0 says nothing"


class Pulse:
    def __init__(self, timekeeper: Timekeeper) -> None:
        self._timekeeper = timekeeper
        self._missed = 0  # in looks, not in seconds: a stall of this process is no fault of worker 0
        self._felt_at = trio.current_time()

    def feel(self) -> None:
        """Worker 0 has said something."""
        self._missed = 0
        self._felt_at = trio.current_time()

    async def run(self) -> None:
        while True:
            await trio.sleep(BEAT)
            if self._missed == 0:
                self._timekeeper.resume(WHY)
            elif self._missed == MISSED:
                self._timekeeper.pause(WHY, late=trio.current_time() - self._felt_at)
            self._missed += 1
