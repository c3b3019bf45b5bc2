"""A histogram: how many times something took no longer than each of its bounds.

From it, a monitor can say what the slowest hundredth took, for any stretch
of time.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

MILLISECONDS = (0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


class Histogram:
    """How often something took how many seconds."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self) -> None:
        self.bounds = tuple([each / 1000 for each in MILLISECONDS])
        self.total = 0.0  # seconds, of all that was observed
        self.counts = [0] * (len(self.bounds) + 1)  # the last counts what took longer than any bound

    def observe(self, seconds: float) -> None:
        self.total += seconds
        self.counts[bisect_left(self.bounds, seconds)] += 1

    def up_to(self) -> list[int]:
        """How many took no longer than each bound, and, last, how many there were in all."""
        return list(accumulate(self.counts))

    @classmethod
    def of(cls, counts: Sequence[int], total: float) -> "Histogram":
        """A histogram that another process has observed."""
        found = cls()
        found.counts, found.total = list(counts), total
        return found

    def plus(self, other: "Histogram") -> "Histogram":
        """The sum of two histograms."""
        counts = [mine + theirs for mine, theirs in zip(self.counts, other.counts, strict=True)]
        return Histogram.of(counts, self.total + other.total)
