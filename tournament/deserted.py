"""A clock for the waits of a tournament that stands still for a while when no entrant is here at all.

If one entrant does not come, it is likely to be its own fault. If none is here, the network of a hall may
have failed, or a switch be starting again: nobody's time is saved by settling what they were to play. So the
waits stand still until somebody comes, for some minutes at the most. They do so again once a match has been
dealt: an entrant that comes and goes would put off the end for ever.
"""

from math import inf

from tournament.absences import ROUNDING

LONGER = 10  # times as long as for one entrant, who is waited for 30 seconds unless that is set


class Deserted:
    def __init__(self, grace: float) -> None:
        """`grace` is how long one entrant is waited for."""
        self._most = self._left = LONGER * grace
        self.stood = 0.0  # seconds for which it has stood still, up to the last look …
        self._since: float | None = None  # … and since when it stands still now

    def look(self, now: float, *, deserted: bool) -> bool:
        """Stand still if something is due and nobody is here; returns whether it does."""
        stood = self._standing(now)
        self.stood, self._left = self.stood + stood, self._left - stood
        self._since = now if deserted and self._left > ROUNDING else None
        return self._since is not None

    def renew(self, now: float) -> None:
        """Two entrants are here and play, or the tournament goes on after a pause."""
        self.look(now, deserted=False)
        self._left = self._most

    def now(self, now: float) -> float:
        """The time by this clock."""
        return now - self.stood - self._standing(now)

    def left(self, now: float) -> float:
        """Seconds for which it still stands, if nobody comes."""
        return 0.0 if self._since is None else self._left - self._standing(now)

    @property
    def until(self) -> float:
        """When it goes on if nobody comes; inf: it does not stand still."""
        return inf if self._since is None else self._since + self._left

    def _standing(self, now: float) -> float:
        return 0.0 if self._since is None else min(now - self._since, self._left)
