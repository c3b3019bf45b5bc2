"""Whether anybody watches matches: while nobody does, play need not tell what happens in them.

Telling takes a twentieth of play's time, and at most hosts nobody looks most of the time. So show
says when somebody begins to look and when the last one has gone. The first to come waits until play
has told what happened meanwhile.
"""

from collections.abc import Awaitable, Callable
from itertools import count

import trio

from server.show.feed import Latest, Look

LINGER = 5.0  # seconds for which a client that asked for something and is gone counts as looking
EVERY = 1.0  # seconds between two checks whether everybody is gone
LATE = 1.0  # seconds that the first to look waits for play: it may be stuck; then what is known is shown


class Attention:
    def __init__(self) -> None:
        self._numbers = count(1)
        self._number = next(self._numbers)  # of the latest beginning of looking; 0: nobody looks
        self._looked = trio.current_time()
        self._changed = trio.Event()
        self._all_told = trio.Event()
        self._told: dict[object, int] = {}  # processes that play, and the number up to which all is told

    async def look(self) -> None:
        """Count somebody as looking, and wait until all that has happened by now is told."""
        self._looked = trio.current_time()
        if not self._number:
            self._all_told = trio.Event()
            self._set(next(self._numbers))
            self._look_who_has_told()
        with trio.move_on_after(LATE):
            await self._all_told.wait()

    async def run(self, anybody: Callable[[], bool]) -> None:
        """Notice, until cancelled, when nobody looks any more; `anybody` says whether somebody is here."""
        self._looked = -LINGER
        while True:
            if self._number and not anybody() and trio.current_time() >= self._looked + LINGER:
                self._set(0)
            await trio.sleep(EVERY)

    async def tell(self, teller: object, say: Callable[[Look], Awaitable[None]]) -> None:
        """Tell one process that plays whether somebody looks, until cancelled.

        The process tells everything until it hears that nobody looks.
        """
        known = self._told[teller] = self._number or next(self._numbers)
        self._look_who_has_told()
        try:
            while True:
                changed = self._changed
                if known != self._number:
                    known = self._number
                    await say(Look(known))
                else:
                    await changed.wait()
        finally:
            del self._told[teller]
            self._look_who_has_told()

    def heard(self, teller: object, latest: Latest) -> None:
        if teller in self._told:
            self._told[teller] = latest.number
            self._look_who_has_told()

    def _set(self, number: int) -> None:
        self._number = number
        self._changed.set()
        self._changed = trio.Event()

    def _look_who_has_told(self) -> None:
        if all(number >= self._number for number in self._told.values()):
            self._all_told.set()
