"""How long a tournament that settles waits for each of the absent, and which of their pairings are over.

Somebody absent who has something to play is waited for: 30 s at first, then 10 s. After two matches
in a row for which it did not come, nobody waits for it: it loses one match after another, about as fast
as it would have played them, and only to opponents who have nothing else to play just now. So whoever is
a minute late has most of its matches to play, and the others finish as if it were there. When nothing is
being played and nobody is waited for, all such pairings that are left are over at once.

`tournament/presence.py` knows who is here, and the tournament closes pairings. Times are by a clock that
stands still whenever the host does.
"""

from collections.abc import Collection, Container
from heapq import heappop, heappush
from itertools import islice
from math import inf

from msgspec import Struct

from tournament.format import Pairing
from tournament.waiting import START, Sought, Waiting

AGAIN = 10.0  # seconds: once it has missed a match, the others need not wait for long to know that it is gone
MISSES = 2  # matches in a row that an entrant may miss before nobody waits for it any more
SLOWER = 2  # matches that others play for each that an absent entrant loses
ROUNDING = 1e-6  # seconds: more than is lost to rounding where times of two clocks are added and subtracted
AT_A_TIME = 50  # pairings that are settled before other tasks get their turn …
PIECE = 100  # … and waits that are looked at: those of all who do not come to a round end at once


class Absence(Struct):
    """One entrant's absence, from its going to its coming back."""

    misses: int = 0  # matches for which it did not come
    until: float = inf  # when its next pairing may be settled; inf: it has nothing to play
    after: float = -inf  # not before this, however long it has had nothing to play


class Absences:
    def __init__(self, grace: float) -> None:
        """`grace` is how long an entrant is waited for the first time."""
        self._grace = grace
        self._absent: dict[str, Absence] = {}
        self._queue: list[tuple[float, str]] = []  # when each wait ends; entries out of date are skipped
        self._more_ended = False  # and there are others that have ended
        self._ends_all = False  # whether the last look has settled something, and waited for nobody at all
        self._over: set[str] = set()  # those whose wait has ended, with the next pairing still to be settled
        self._sought: Sought = {}  # those of these, and of the free, with perhaps a pairing to settle

    def came(self, name: str) -> None:
        """An entrant is here: when it next goes, it is waited for anew."""
        self._absent.pop(name, None)
        self._over.discard(name)

    def went(self, name: str, *, plays: bool, now: float) -> None:
        """An entrant is not here, and may now have something to play, or nothing any more."""
        absence = self._absent.setdefault(name, Absence())
        if not plays:
            absence.until = inf
            self._over.discard(name)
        elif name in self._over:
            self._sought[name] = START
        elif absence.until == inf:
            self._wait(name, absence, max(now + self._seconds(absence), absence.after))

    def free(self, name: str) -> None:
        """An entrant has become free, or has something else to play."""
        self._sought[name] = START

    def put_off(self) -> None:
        """Nothing more can be played now, whoever comes: the waits go on, because each is of an entrant."""

    def forget(self) -> None:
        """Wait for nobody. Whoever is still absent later is waited for anew."""
        for kept in (self._absent, self._queue, self._over, self._sought):
            kept.clear()
        self._more_ended = self._ends_all = False

    def settled(
        self, now: float, free: Collection[str], open: Waiting, length: float, *, playing: bool
    ) -> list[Pairing]:
        """Some of the pairings that are over now; nobody twice.

        `length` is about how many seconds a match takes, and `playing` is whether there are any. Nobody who
        is `free` has anything else to play just now.
        """
        for _ in range(PIECE):
            if not self._is_due(now):
                break
            self._end_wait(*heappop(self._queue))
        self._more_ended = self._is_due(now)
        if ends_all := not (playing or self._more_ended or self.waits):
            for name, absence in self._absent.items():
                if absence.until < inf:
                    self._end_wait(absence.until, name)
        if not self._over:  # so none of the free has anything to settle, and there may be thousands of them
            self._sought.clear()
            self._ends_all = False
            return []
        self._sought = {
            name: start for name, start in self._sought.items() if name in self._over or name in free
        }
        found = list(islice(open.meetings(_Either(free, self._over), self._sought), AT_A_TIME))
        for name in (name for pairing in found for name in pairing.names):
            if name in self._over:
                self._miss(name, now, length)
            else:
                self._sought[name] = START  # it may be the opponent of somebody else who is absent
        self._ends_all = ends_all and bool(found)
        return found

    @property
    def more(self) -> bool:
        """Whether there may be more to settle at once."""
        return bool(self._sought) or self._more_ended or self._ends_all

    @property
    def until(self) -> float:
        """When the next wait ends."""
        while self._queue and self._is_past(*self._queue[0]):
            heappop(self._queue)
        return self._queue[0][0] if self._queue else inf

    @property
    def waits(self) -> bool:
        """Whether an entrant is waited for."""
        return any(
            each.misses < MISSES and each.until < inf and name not in self._over
            for name, each in self._absent.items()
        )

    def wait_left(self, name: str, pairings: int, now: float) -> float:
        """Seconds until an entrant that stays away no longer holds up the others with any of its pairings."""
        absence = self._absent.get(name, Absence())
        waits = max(0, min(MISSES - absence.misses, pairings))
        if not waits:
            return 0.0
        first = self._grace if absence.until == inf else max(0.0, absence.until - now)
        return first + AGAIN * (waits - 1)

    def _seconds(self, absence: Absence) -> float:
        return (self._grace, min(AGAIN, self._grace), 0.0)[min(absence.misses, MISSES)]

    def _wait(self, name: str, absence: Absence, until: float) -> None:
        absence.until = until
        heappush(self._queue, (until, name))

    def _is_due(self, now: float) -> bool:
        return bool(self._queue) and self._queue[0][0] <= now + ROUNDING

    def _is_past(self, until: float, name: str) -> bool:
        absence = self._absent.get(name)
        return absence is None or absence.until != until or name in self._over

    def _end_wait(self, until: float, name: str) -> None:
        if not self._is_past(until, name):
            self._over.add(name)
            self._sought[name] = START

    def _miss(self, name: str, now: float, length: float) -> None:
        """An entrant did not come for a match that is settled now."""
        absence = self._absent[name]
        absence.misses += 1
        absence.after = now + (AGAIN if absence.misses < MISSES else SLOWER * length)
        self._over.discard(name)
        self._wait(name, absence, absence.after)


class _Either(Container[str]):
    def __init__(self, *sets: Collection[str]) -> None:
        self._sets = sets

    def __contains__(self, name: object) -> bool:
        return any(name in each for each in self._sets)
