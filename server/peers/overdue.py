"""Renewing leases that the event loop is late to renew, from a thread.

When strangers connect as fast as they can, a round of the event loop may take half a second, and a renewal
takes several rounds. Bots wait that long, as at a host that shares nothing. But when its leases lapse, others
take over, and the host ends. So this thread renews what is overdue. It takes nothing over. If leases have
changed hands, it leaves the rest to the event loop. If that has asked for nothing for long, it hangs, and the
leases lapse.
"""

import threading
from collections.abc import Callable
from contextlib import suppress

import trio

from server.exits import Unavailable
from server.peers.leases import EVERY, Leases, since_boot

LATE = 0.2  # seconds by which the event loop may be late: what is left of a lease is enough for the database
HANGS = 5.0  # seconds without a request by the event loop: no flood keeps it that long


class Overdue:
    def __init__(
        self, leases: Leases, hold: Callable[[int], int], now: Callable[[], float] = since_boot
    ) -> None:
        """`hold` renews the leases of a host, and returns how often leases have changed hands."""
        self._leases = leases
        self._hold = hold
        self._now = now
        self._ended = threading.Event()

    async def run(self) -> None:
        """Renew what is overdue until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(trio.to_thread.run_sync, self._renew)
            try:
                await trio.sleep_forever()
            finally:
                self._ended.set()

    def step(self) -> float:
        """Renew if that is overdue; returns the seconds until it has to be looked at again."""
        leases, now = self._leases, self._now()
        due = leases.asked + LATE + EVERY
        if now < due:
            return due - now
        if now < leases.asked + HANGS:
            with suppress(Unavailable):  # the event loop will ask as well, and say so
                leases.still_held(now, self._hold(leases.host))
        return EVERY

    # Within

    def _renew(self) -> None:
        while not self._ended.wait(self.step()):
            pass
