"""How much of one bot's talk is put up with, before its connection ends.

It is told the time and asks nobody, and it does nothing: who asks decides what
to do when it runs out. Moves that a referee refuses are not its business; they
are counted there.
"""

from server.net.limits import Bucket, Limits


class TalkBudget:
    __slots__ = ("_junk", "_junk_left", "_messages", "_owed")

    def __init__(self, limits: Limits, now: float) -> None:
        self._messages = Bucket(limits.messages, now)
        self._junk = Bucket(limits.junk, now)
        self._junk_left = limits.junk_total
        self._owed = False

    def asked(self) -> None:
        """The bot was asked something: its next message is the answer, which costs nothing."""
        self._owed = True

    def message(self, at: float) -> bool:
        """Whether one more message, which arrived at `at`, is put up with."""
        if self._owed:
            self._owed = False
            return True
        return self._messages.take(at)

    def junk(self, at: float) -> bool:
        """The same for a message that could not be read, or came out of turn."""
        self._junk_left -= 1
        return self._junk_left >= 0 and self._junk.take(at)
