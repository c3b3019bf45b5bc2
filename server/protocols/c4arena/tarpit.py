"""A tarpit: answers that come later and later, for a peer that keeps making the same mistake.

A client in use answers each refusal with something that is refused as well, at full
speed and for ever. The first two answers in a row are given at once, and then each
takes twice as long as the one before, up to a second.

Views and news keep the order. A *view* is a state that a bot asked for: it comes
after the answers that wait, so that asking does not hurry them. *News* comes
unasked and waits for nothing: the answers that wait are given before it, and the
views that wait are dropped, because it says the same and more. So there is never a
view of anything but the latest news.

The caller decides how many answers may wait.
"""

from typing import NamedTuple

import trio

from server.net.guard import Spawner
from server.net.outbox import Say

AT_ONCE = 2  # answers in a row
FIRST, LONGEST = 0.1, 1.0  # seconds for the next answer, and at most for any


class Late(NamedTuple):
    due: float
    message: bytes
    is_view: bool


class Tarpit:
    """One peer's answers, views and news. A task sleeps for it while something waits, and only then."""

    __slots__ = ("_alarm", "_awaited", "_late", "_say", "_spawner", "row", "waiting")

    def __init__(self, say: Say, spawner: Spawner) -> None:
        self.row = 0  # answers in a row; the caller sets it to 0 when the row is broken
        self.waiting = 0  # answers that are not given yet
        self._say = say
        self._spawner = spawner
        self._late: list[Late] = []  # few, by the caller's limits: an empty deque takes 624 bytes
        self._awaited = False  # whether there is a task …
        self._alarm: trio.CancelScope | None = None  # … and this ends its sleep

    @property
    def ends_with_a_view(self) -> bool:
        """Whether the last that waits is a view, which will serve a peer that asks for another one."""
        return bool(self._late) and self._late[-1].is_view

    def say(self, news: bytes, urgent: bool = True) -> None:
        """Send news now."""
        while self._late:
            late = self._next()
            if not late.is_view:
                self._say(late.message, urgent)
        self._say(news, urgent)

    def answer(self, message: bytes) -> None:
        """Send an answer in its time."""
        self.row += 1
        self._say_later(message, _delay(self.row), False)

    def show(self, view: bytes, delay: float = 0.0) -> None:
        """Send a view this many seconds after all that waits."""
        self._say_later(view, delay, True)

    def stop(self) -> None:
        """Stop: there is nobody to tell any more."""
        self._late.clear()
        self.waiting = 0
        self._say = _nobody  # or the dialect and this would keep each other alive
        if self._alarm is not None:
            self._alarm.cancel()

    def _say_later(self, message: bytes, delay: float, is_view: bool) -> None:
        if not delay and not self._late:
            self._say(message, True)
            return
        now = trio.current_time()
        due = (max(self._late[-1].due, now) if self._late else now) + delay
        self._late.append(Late(due, message, is_view))
        self.waiting += not is_view
        if not self._awaited:
            self._awaited = True
            self._spawner.start_soon(self._wait)
        elif len(self._late) == 1 and self._alarm is not None:
            self._alarm.deadline = due  # the message for which it slept was sent early

    def _next(self) -> Late:
        late = self._late.pop(0)
        self.waiting -= not late.is_view
        return late

    async def _wait(self) -> None:
        while self._late:
            with trio.CancelScope(deadline=self._late[0].due) as self._alarm:
                await trio.sleep_forever()
            now = trio.current_time()
            while self._late and self._late[0].due <= now:
                self._say(self._next().message, True)
        self._awaited = False


def _nobody(message: bytes, urgent: bool) -> None:
    """Hears nothing: the peer is gone."""


def _delay(row: int) -> float:
    """Seconds until the last of this many answers in a row."""
    if row <= AT_ONCE:
        return 0.0
    return min(FIRST * 2 ** min(row - AT_ONCE - 1, 10), LONGEST)
