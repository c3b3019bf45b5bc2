"""Answers that come later and later, to those who get the same one again and again.

A client in use answers whatever is refused with something that is refused as
well, at full speed and for ever. The first two answers in a row are given at
once, and then each takes twice as long as the one before, up to a second. Only
they wait. Whatever else is to be said is said at once, after all that waits, so
that nothing ever comes out of order.
"""

from collections import deque

import trio

from server.guard import Spawner
from server.outbox import Say

AT_ONCE = 2  # answers in a row
FIRST, LONGEST = 0.1, 1.0  # seconds that the next one takes, and that any takes


class Hesitation:
    __slots__ = ("_late", "_most", "_say", "_spawner", "row")

    def __init__(self, say: Say, spawner: Spawner, most: int) -> None:
        self.row = 0  # answers in a row; whoever knows better sets it to 0
        self._say = say
        self._spawner = spawner
        self._most = most
        self._late: deque[tuple[float, bytes]] = deque()  # when it is due, and what

    def say(self, message: bytes, urgent: bool = True) -> None:
        """Say it now, after all that waits."""
        while self._late:
            self._say(self._late.popleft()[1], urgent)
        self._say(message, urgent)

    def answer(self, message: bytes) -> bool:
        """Say it in its time. False, and nothing is said, where too many answers wait already."""
        self.row += 1
        delay = _delay(self.row)
        if not delay and not self._late:
            self._say(message, True)
        elif len(self._late) >= self._most:
            return False
        else:
            now = trio.current_time()
            due = (max(self._late[-1][0], now) if self._late else now) + delay
            self._late.append((due, message))
            self._spawner.start_soon(self._wait, due)
        return True

    def stop(self) -> None:
        """There is nobody to be told any more."""
        self._late.clear()

    async def _wait(self, due: float) -> None:
        await trio.sleep_until(due)
        while self._late and self._late[0][0] <= due:
            self._say(self._late.popleft()[1], True)


def _delay(row: int) -> float:
    """Seconds that the last answer of so many in a row takes."""
    if row <= AT_ONCE:
        return 0.0
    return min(FIRST * 2 ** min(row - AT_ONCE - 1, 10), LONGEST)
