"""When a tournament starts by itself, and who has checked in by then.

It starts at its time, if it has one, or else when it is full. Whoever is here while entrants check in has
checked in. A host that was away in that time waits for those who had no chance to: they have to come back.
"""

from collections.abc import Callable, Sequence
from math import inf

import trio
from msgspec import UNSET

from tournament.check_in import PUNCTUAL, opens_at, unchecked
from tournament.facts import CheckedIn, State
from tournament.presence import Presence
from tournament.record import Record
from tournament.timekeeper import Timekeeper


class Starting:
    def __init__(
        self,
        record: Record,
        presence: Presence,
        timekeeper: Timekeeper,
        wall: Callable[[], float],
        resume_seconds: float,
    ) -> None:
        """`resume_seconds` is how long those have to come back who had no chance to check in."""
        self._record = record
        self._presence = presence
        self._timekeeper = timekeeper
        self._wall = wall
        self._resume_seconds = resume_seconds
        self._checking_in = False  # whether entrants check in
        self._back_by = -inf  # until when those who may have had no chance to do so can come back
        self._ahead = inf  # seconds by which the wall clock is ahead of the time for which the host ran

    @property
    def awaits_the_invited(self) -> bool:
        """Whether somebody was invited who is not here.

        Where it is by invitation, that is everybody: a name is entered before its bot has come.
        """
        record, absent = self._record, self._presence.absent
        awaited = absent if record.opened.by_invitation else absent & record.invited
        return any(name not in record.out for name in awaited)

    def check_in(self) -> tuple[Sequence[CheckedIn], float]:
        """The entrants who are here and have yet to check in, and the seconds until they can."""
        record, opens = self._record, opens_at(self._record.opened)
        if opens is None or record.state is not State.REGISTERING:
            return (), inf
        if (wait := opens - self._wall()) > 0:
            return (), wait
        came, slept = self._presence.arrived(), self._slept()
        if not self._checking_in:
            came = record.entrants.keys() - self._presence.absent
            self._checking_in = True
            slept = self._wall() > opens + PUNCTUAL
        if slept and any(unchecked(record)):  # who may have had no chance to do so
            self._back_by = self._unstalled() + self._resume_seconds
        return [CheckedIn(name) for name in sorted(came - record.checked_in - record.out)], inf

    @property
    def seconds(self) -> float:
        """Seconds until it starts by itself; inf: not before another entrant comes or somebody starts it."""
        record = self._record
        if record.state is not State.REGISTERING:
            return inf
        if (start := record.opened.start) is not None:
            checks = record.opened.check_in is not UNSET
            ready = len(record.checked_in - record.out) if checks else record.contestants
            return max(start - self._wall(), self._back_in()) if ready >= record.format.entrants else inf
        full = record.contestants == record.opened.entrants
        return 0.0 if full and not self.awaits_the_invited else inf

    def _back_in(self) -> float:
        """Seconds for which those who have yet to check in may still come back."""
        wait = self._back_by - self._unstalled()
        return wait if wait > 0 and any(unchecked(self._record)) else 0.0

    def _slept(self) -> bool:
        """Whether the host has slept or stood still since the last look, longer than it waits for bots."""
        before, self._ahead = self._ahead, self._wall() - self._unstalled()
        return self._ahead - before > self._resume_seconds

    def _unstalled(self) -> float:
        """A time that stands still while the host does, or lets nobody in."""
        return trio.current_time() - self._timekeeper.stalled
