"""Whether something that came to another process by some time may not be here yet: that process is asked."""

from collections.abc import Callable
from math import inf

LISTENING = 2.0  # seconds that the other process may take to say what has come: a link is silent no longer
ROUNDS = 8  # of the event loop in which a connection that waits is accepted, read and passed on


class Listening:
    """Asks another process for all that was said there by some time, and knows whether it is here."""

    def __init__(self, ask: Callable[[], None]) -> None:
        self._ask = ask
        self._asked = -inf  # when that process was asked what had been said by then …
        self._heard = -inf  # … and the time by which everything that was said is here

    def hear(self) -> None:
        """The process has said what there was when it was asked."""
        self._heard = self._asked

    def may_lack(self, by: float, now: float) -> bool:
        """Whether something that was said by then may not be here: then it is asked for, if it was not."""
        if self._heard >= by:
            return False
        if self._asked == self._heard:
            self._asked = now
            self._ask()
        return now < self._asked + LISTENING
