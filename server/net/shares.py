"""Places for a limited number at once: those who want many of them do not keep others from one."""

from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio


class SharedPlaces:
    """Places. One that becomes free goes to whoever waits and has the fewest, or else came first."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._taken: Counter[str] = Counter()  # places, by who has them
        self._waiting: dict[trio.Event, str] = {}  # who waits, in the order of coming

    @asynccontextmanager
    async def one(self, whose: str) -> AsyncGenerator[None]:
        """Wait for a place, and have it while this is entered."""
        if self._free > 0:
            self._free -= 1
            self._taken[whose] += 1
        else:
            await self._turn(whose)
        try:
            yield
        finally:
            self._leave(whose)

    async def _turn(self, whose: str) -> None:
        given = trio.Event()
        self._waiting[given] = whose
        try:
            await given.wait()
        except BaseException:
            if given.is_set():
                self._leave(whose)
            else:
                del self._waiting[given]
            raise

    def _leave(self, whose: str) -> None:
        self._taken[whose] -= 1
        if not self._taken[whose]:
            del self._taken[whose]
        if not self._waiting:
            self._free += 1
            return
        given = min(self._waiting, key=lambda each: self._taken[self._waiting[each]])
        self._taken[self._waiting.pop(given)] += 1
        given.set()
