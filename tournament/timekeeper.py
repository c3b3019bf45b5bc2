"""One task that watches the clocks of all matches.

It sleeps until the next deadline of any of them, and never longer than a beat,
so that it notices when it wakes late: then the host was stopped or stalled, and
every player who was thinking, or has sent a move that was not read yet, gets that
time back. A little more than that is given back, so that a move that lies unread in
a socket is read before anybody's flag can fall, and whoever came meanwhile is heard
before it is said not to have come.

It looks at all matches once in several beats, not at every beat: there may be
thousands, and moves put their deadlines off.
"""

from collections.abc import Callable
from math import inf

import trio

from tournament.match import Match

BEAT = 0.1  # seconds between two looks at the time
BEATS = 10  # between two looks at all matches, if none of them has a deadline
TOLERANCE = 0.05  # seconds of lateness that a busy host may have, and of grace after a stall
LATE = 0.001  # seconds after a deadline at which a flag falls: a move at the deadline itself is in time
AGAIN = 0.02  # seconds between two looks at a player that is late, while its move may be on its way


class Timekeeper:
    def __init__(self, beat: float = BEAT) -> None:
        self._stalled = 0.0  # seconds given back so far, or for which all clocks were paused before
        self.listens_until = -inf  # after a stall: whoever came meanwhile has been heard by then
        self.look: Callable[[], None] = lambda: None  # reads what came meanwhile, before anybody is flagged
        self.stood_still: Callable[[float], None] = lambda seconds: None  # called after a stall
        self.moves = 0  # how many were played, in all matches
        self.wake = inf  # when the task has to wake: until then there is nothing to catch up with
        self.due = inf  # when the task has to look at the matches: none has a deadline before that
        self.now = trio.current_time  # the same in fewer calls, once the task runs
        self.time_move: Callable[[str, float], None] = lambda game, arrived: None  # called for some moves
        # What to raise when somebody moves: the host has stopped. None: it has not.
        self.too_late: Callable[[], Exception] | None = None
        self._beat = beat
        self._matches: dict[Match, None] = {}  # in the order of their beginning
        self._sleep: trio.CancelScope | None = None
        self._looked = -inf  # when it has looked at all matches
        self._paused: float | None = None  # since when …
        self._reasons: set[str] = set()  # … and why

    @property
    def stalled(self) -> float:
        """Seconds given back so far, or for which all clocks were paused."""
        return self._stalled + (0.0 if self._paused is None else trio.current_time() - self._paused)

    @property
    def paused(self) -> bool:
        """Whether all clocks stand still."""
        return self._paused is not None

    @property
    def idle(self) -> bool:
        """Whether no match is in play."""
        return not self._matches

    @property
    def playing(self) -> int:
        """How many matches are in play, wherever they are played."""
        return len(self._matches)

    def watch(self, match: Match) -> None:
        self._matches[match] = None
        now = trio.current_time()
        if self._paused is not None:
            match.pause(now)
        else:
            match.resume(now)  # it may come from a process in which clocks stood still
        self.expect(match.deadline)

    def forget(self, match: Match) -> None:
        """Stop watching a match that is over or goes on in another process."""
        self._matches.pop(match, None)

    def pause(self, why: str = "", late: float = 0.0) -> None:
        """Stop the clocks of all matches in play, and of those that begin meanwhile, until `resume`.

        The time by which this comes too `late` is given back.
        """
        self._reasons.add(why)
        if self._paused is None:
            now = trio.current_time()
            self.catch_up(now)  # otherwise a stall just before this would stay charged to the mover
            if late > 0.0:
                self._give_back(late, now)
            self._paused = now
            for match in self._matches:
                match.pause(now)

    def resume(self, why: str = "") -> None:
        """Let clocks go on, unless there is another reason why they stand still."""
        self._reasons.discard(why)
        if self._paused is not None and not self._reasons:
            now = trio.current_time()
            self._stalled += now - self._paused
            self._paused = None
            for match in tuple(self._matches):
                match.resume(now)
                self.expect(match.deadline)

    def expect(self, deadline: float) -> None:
        """Be awake at this deadline, which some match has now."""
        if deadline + LATE < self.due:
            self.due = deadline + LATE
        if self.due < self.wake:
            self.wake = self.due
            if self._sleep is not None:
                self._sleep.deadline = self.wake

    def catch_up(self, now: float) -> None:
        """Give back the time for which the host stalled, if it did. Call it before deciding what is late."""
        stall = now - self.wake
        if stall > TOLERANCE:
            self.wake = now
            self.stood_still(stall)
            if self._paused is None:
                self._give_back(stall, now)

    def _give_back(self, seconds: float, now: float) -> None:
        self._stalled += seconds
        self.listens_until = now + TOLERANCE
        for match in self._matches:
            match.credit(seconds + TOLERANCE, now)

    def look_again(self) -> None:
        """Look at all matches at once: a move that might have been on its way is here, or there is none."""
        self.expect(trio.current_time() - LATE)

    def excuse(self, seconds: float, excused: Callable[[Match], bool]) -> None:
        """Give time back in some matches: another host stood still, and their moves pass through it."""
        now = trio.current_time()
        for match in filter(excused, self._matches):
            match.credit(seconds + TOLERANCE, now)

    async def run(self) -> None:
        looked, self.now = self._stalled, trio.lowlevel.current_clock().current_time
        while True:
            now = trio.current_time()
            self.catch_up(now)
            if self._stalled > looked:  # noticed here, or when a seat's move was read
                looked = self._stalled
                self.look()
            if now >= self.due or now - self._looked >= BEATS * self._beat:
                self._look_at_all(now)
            self.wake = min(now + self._beat, self.due)
            with trio.CancelScope(deadline=self.wake) as self._sleep:
                await trio.sleep_forever()

    def _look_at_all(self, now: float) -> None:
        """Flag players who are late, and forget matches that are over."""
        self._looked = now
        for match in tuple(self._matches):
            if match.deadline + LATE <= now:
                match.flag(now)
            if match.verdict is not None:
                self.forget(match)
        due = min((match.deadline for match in self._matches), default=inf) + LATE
        self.due = due if due > now else now + AGAIN
