"""When something that many ask for is worked out anew: once for all who wait, seldom, and with rests.

It is worked out when somebody asks and it is out of date, at most once in so many seconds and with as
much rest as work. Whoever owns the result decides whether it is out of date, and works it out.
"""

import trio


class Remaking:
    """One thing that is worked out again and again."""

    def __init__(self, every: float) -> None:
        """`every` is how many seconds lie between the starts of two computations, at the least."""
        self.news = trio.Event()  # set when it has been worked out, or could not be
        self._every = every
        self._making = False
        self._rested = 0.0  # when the next computation may begin
        self._took = 0.0  # seconds, the last time

    def begin(self) -> bool:
        """Whether nobody works it out yet: then the caller does, with `rest` first and `over` at last."""
        begins, self._making = not self._making, True
        return begins

    async def rest(self) -> None:
        """Wait until it may be worked out again."""
        await trio.sleep_until(self._rested)

    @property
    def seconds(self) -> float:
        """How long whoever asks now waits at the least, if it takes as long as the last time."""
        resting = self._rested - trio.current_time()
        if self._making and resting <= 0:  # what is under way may be out of date, and then another rest comes
            return 2 * self._took
        return max(resting, 0) + self._took

    def over(self, begun: float) -> None:
        """The computation that began then is over, or has failed."""
        now = trio.current_time()
        self._took = now - begun
        self._rested = max(begun + self._every, now + self._took)
        self._making = False
        self.news.set()
        self.news = trio.Event()
