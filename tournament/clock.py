"""The two clocks of a match. They are told the time and never ask for it.

Only the clock of the seat to move runs. Whether a move came in time is decided
by comparing its arrival with `deadline`, never by which task ran first.
"""

from math import inf

from msgspec import Struct

from games.game import Pace


class ClockState(Struct, frozen=True):
    """The state of a clock, to be told to another process."""

    bank: tuple[float, float]
    running: int | None
    most: float
    since: float
    paused: float | None


class Clock:
    __slots__ = ("_bank", "_most", "_paused", "_turn", "deadline", "pace", "running", "since")

    def __init__(self, pace: Pace) -> None:
        self.pace = pace
        self.running: int | None = None
        self._bank = [inf if pace.bank is None else pace.bank] * 2
        self._turn = inf if pace.turn is None else pace.turn
        self._most = inf  # seconds that the running seat had when it was started
        self.since = 0.0  # when the running clock was started
        self._paused: float | None = None
        self.deadline = inf  # the last instant at which the running seat may move

    @property
    def allowed(self) -> float:
        """Seconds that the running seat had when it was started."""
        return self._most

    def start(self, seat: int, at: float) -> None:
        bank, turn = self._bank[seat], self._turn
        self.running, self.since = seat, at
        self._most = most = bank if bank < turn else turn
        self.deadline = at + most if self._paused is None else inf

    def stop(self, at: float) -> float:
        """The running seat moved in time: take off what it spent, add its gain, and return what it spent."""
        seat = self.running
        spent = self.halt(at)
        if seat is not None and self.pace.gain:
            self._bank[seat] += self.pace.gain
        return spent

    def charge(self, seat: int, spent: float) -> None:
        """Take off the time of a move that was made before this clock existed, and add the gain."""
        left = self._bank[seat] - spent
        self._bank[seat] = (left if left > 0.0 else 0.0) + self.pace.gain

    def halt(self, at: float) -> float:
        """Stop without a gain: the match is over, or waits for somebody."""
        seat = self.running
        if seat is None:
            return 0.0
        since = self.since
        spent = self.spent(at) if self._paused is not None else at - since if at > since else 0.0
        left = self._bank[seat] - spent
        self._bank[seat] = left if left > 0.0 else 0.0
        self.running = None
        self.deadline = inf
        return spent

    def spent(self, at: float) -> float:
        """How long the running seat has been thinking; nothing if its move was stamped before the start."""
        if self.running is None:
            return 0.0
        if self._paused is not None and self._paused < at:
            at = self._paused
        return at - self.since if at > self.since else 0.0

    def left(self, seat: int, at: float) -> float | None:
        """Seconds that a seat has, or would have if it were to move; None: no limit."""
        bank, turn = self._bank[seat], self._turn
        left = bank if bank < turn else turn
        if seat == self.running:
            left = max(0.0, left - self.spent(at))
        return None if left == inf else left

    def credit(self, seconds: float, at: float) -> float:
        """Give back time that the host took: never more than has been charged. Returns how much."""
        if self.running is None or self._paused is not None:
            return 0.0
        given = min(seconds, max(0.0, at - self.since))
        self._run_since(self.since + given)
        return given

    def pause(self, at: float) -> None:
        if self._paused is None:
            self._paused = at
            self.deadline = inf

    def resume(self, at: float) -> None:
        if self._paused is not None:
            since = self.since + max(0.0, at - max(self.since, self._paused))
            self._paused = None
            self._run_since(since)

    @property
    def state(self) -> ClockState:
        one, other = self._bank
        return ClockState((one, other), self.running, self._most, self.since, self._paused)

    def show(self, state: ClockState) -> None:
        """Take over the state of another clock of the same pace."""
        self._bank = [*state.bank]
        self.running, self._most, self._paused = state.running, state.most, state.paused
        self._run_since(state.since)

    def _run_since(self, at: float) -> None:
        """Take `at` as the start of the running clock, and set the deadline by it."""
        self.since = at
        self.deadline = inf if self.running is None or self._paused is not None else at + self._most
