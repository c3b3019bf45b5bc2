"""What the host measures of itself: how late its event loop is, and how long moves and commits take.

A histogram counts in how many cases something took no longer than each of its bounds, so
a monitor can say what the slowest hundredth took, of any stretch of time.
"""

from bisect import bisect_left
from itertools import accumulate

import trio

from server.net.sockets import readiness

MILLISECONDS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
EVERY = 0.05  # seconds between two looks at how late the event loop is


class Histogram:
    """How often something took how many seconds."""

    __slots__ = ("_counts", "bounds", "total")

    def __init__(self) -> None:
        self.bounds = tuple(each / 1000 for each in MILLISECONDS)
        self.total = 0.0  # seconds, of all that was observed
        self._counts = [0] * (len(self.bounds) + 1)  # the last: what took longer than any bound

    def observe(self, seconds: float) -> None:
        self.total += seconds
        self._counts[bisect_left(self.bounds, seconds)] += 1

    def up_to(self) -> list[int]:
        """How many took no longer than each bound, and last, how many there were in all."""
        return list(accumulate(self._counts))


class Measures:
    def __init__(self) -> None:
        self.lag = Histogram()  # from when the event loop should have looked to when it did
        self.moves = Histogram()  # from the arrival of a move to its being told; of some moves
        self.commits = Histogram()  # from handing facts to the thread that writes until they are safe


def time_move(moves: Histogram, arrived: float) -> None:
    """Measure a move that has just been played: until what is said about it has been sent."""

    def sent() -> None:
        moves.observe(trio.current_time() - arrived)

    sockets = readiness()
    if sockets is not None and sockets.sweeping:
        sockets.said.append(sent)
    else:
        sent()


async def watch_lag(lag: Histogram) -> None:
    """Measure, until cancelled, how late a task runs that is due: everybody else's is as late."""
    while True:
        due = trio.current_time() + EVERY
        await trio.sleep_until(due)
        lag.observe(max(0.0, trio.current_time() - due))
