"""The two clocks of a match. They are told the time and never ask for it.

What runs is the time of the seat to move. Whether a move came in time is
decided by comparing its arrival with `deadline`, never by which task ran first.
"""

from math import inf

from games.game import Pace


class Clock:
    __slots__ = ("_bank", "_most", "_paused", "_turn", "deadline", "pace", "running", "since")

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.running: int | None = None
        self._bank = [inf if pace.bank is None else pace.bank] * 2
        self._turn = inf if pace.turn is None else pace.turn
        self._most = inf  # seconds that the running seat had when it was started
        self.since = 0.0  # when what runs was started
        self._paused: float | None = None
        self.deadline = inf  # the last instant at which the running seat may answer, if one runs

    def start(self, seat: int, at: float) -> None:
        self.running = seat
        bank, turn = self._bank[seat], self._turn
        self._most = bank if bank < turn else turn
        self._run_since(at)

    def stop(self, at: float) -> float:
        """The running seat answered in time: what it spent comes off, what it gains goes on."""
        seat = self.running
        spent = self.halt(at)
        if seat is not None and self.pace.gain:
            self._bank[seat] += self.pace.gain
        return spent

    def halt(self, at: float) -> float:
        """Nobody's time runs any more, and nothing is gained: the match is over, or waits for somebody."""
        seat = self.running
        if seat is None:
            return 0.0
        spent = self.spent(at)
        left = self._bank[seat] - spent
        self._bank[seat] = left if left > 0.0 else 0.0
        self.running = None
        self.deadline = inf
        return spent

    def spent(self, at: float) -> float:
        """How long the running seat has been thinking. An arrival stamped before the start spent nothing."""
        if self.running is None:
            return 0.0
        if self._paused is not None and self._paused < at:
            at = self._paused
        return at - self.since if at > self.since else 0.0

    def left(self, seat: int, at: float) -> float | None:
        """Seconds that a seat has, or would have if it were to move; None means without end."""
        bank, turn = self._bank[seat], self._turn
        left = bank if bank < turn else turn
        if seat == self.running:
            left = max(0.0, left - self.spent(at))
        return None if left == inf else left

    def credit(self, seconds: float, at: float) -> None:
        """Give back time that the host took: never more than has been charged."""
        if self.running is not None and self._paused is None:
            self._run_since(self.since + min(seconds, max(0.0, at - self.since)))

    def extend(self, until: float) -> None:
        """Let the running seat answer until then at least."""
        if self.deadline < until:
            self._run_since(self.since + until - self.deadline)

    def pause(self, at: float) -> None:
        if self._paused is None:
            self._paused = at
            self.deadline = inf

    def resume(self, at: float) -> None:
        if self._paused is not None:
            since = self.since + max(0.0, at - max(self.since, self._paused))
            self._paused = None
            self._run_since(since)

    def _run_since(self, at: float) -> None:
        """What runs, if anything does, was started then."""
        self.since = at
        self.deadline = inf if self.running is None or self._paused is not None else at + self._most
