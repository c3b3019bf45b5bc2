"""How much one bot may say before its connection ends.

The caller tells the time, and decides what to do when the budget runs out. Moves
that a referee refuses are counted by the referee, and not here.
"""

from server.net.limits import Bucket, BudgetLeft, Limits


class TalkBudget:
    __slots__ = ("_answered", "_junk", "_junk_left", "_limits", "_messages", "_owed", "_since")

    def __init__(self, limits: Limits, now: float) -> None:
        self._limits = limits
        self._since = now
        self._messages: Bucket | None = None  # made when needed, like the other: most bots only answer
        self._junk: Bucket | None = None
        self._junk_left = limits.junk_total
        self._owed = False
        self._answered = False  # and no empty message has come since

    @property
    def left(self) -> BudgetLeft | None:
        """What another process has to know that serves the bot from now on; None if nothing was spent."""
        messages, junk = self._messages, self._junk
        if messages is None and junk is None:
            return None
        return BudgetLeft(messages and messages.left, junk and junk.left, self._junk_left)

    def go_on(self, left: BudgetLeft | None) -> None:
        """Go on from what another process has left."""
        if left is not None:
            self._messages = left.messages and Bucket(self._limits.messages, *left.messages)
            self._junk = left.junk and Bucket(self._limits.junk, *left.junk)
            self._junk_left = left.junk_left

    def asked(self) -> None:
        """The bot was asked something: its next message is the answer, which costs nothing."""
        self._owed = True

    def message(self, at: float, *, empty: bool = False) -> bool:
        """Whether one more message, which arrived at `at`, is within the budget.

        An `empty` one answers nothing. Some bots end each of their lines twice: so after each answer,
        one of these costs nothing either.
        """
        if empty and self._answered:
            self._answered = False
            return True
        if self._owed and not empty:
            self._owed, self._answered = False, True
            return True
        return self.unasked(at)

    def unasked(self, at: float) -> bool:
        """Whether one more message that answers nothing is within the budget."""
        if self._messages is None:
            self._messages = Bucket(self._limits.messages, self._since)
        return self._messages.take(at)

    def junk(self, at: float, *, in_all: bool = True) -> bool:
        """Whether one more message that cannot be read, or comes out of turn, is within the budget.

        Not `in_all`: however many there were over the life of the connection.
        """
        self._junk_left -= in_all
        if self._junk is None:
            self._junk = Bucket(self._limits.junk, self._since)
        return self._junk_left >= 0 and self._junk.take(at)
