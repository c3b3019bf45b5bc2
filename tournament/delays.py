"""How long a tournament that waits lets each pairing of the absent wait, and which have waited long enough.

A pairing waits only if it could be played but for the absence, and of each player's pairings only one waits
at a time: being away for a while costs a match, and not all of them. If both are absent, each has the full
grace. A wait goes on for as long as neither of the two is busy and one is absent. When a pairing is due
again, its wait begins anew.

`tournament/presence.py` knows who is here, and the tournament closes pairings. Whoever has changed since the
last look is looked at, and nobody else: there may be thousands absent, and a look follows every match. Times
are by a clock that stands still whenever the host does.
"""

from collections.abc import Collection, Container
from heapq import heappop, heappush
from itertools import islice
from math import inf

from tournament.absences import AT_A_TIME, PIECE, ROUNDING
from tournament.format import Pairing
from tournament.waiting import START, Sought, Waiting

Since = dict[str, float]  # of a pairing that waits: for whom, and since when


class Delays:
    def __init__(self, grace: float) -> None:
        """`grace` is how long an entrant is waited for, each time."""
        self._grace = grace
        self._absent: dict[str, None] = {}
        self._changed: dict[str, None] = {}  # those who may be here, gone, free or busy since the last look
        self._waiting: dict[int, Since] = {}  # by the pairing's number
        self._both: dict[int, tuple[str, ...]] = {}  # the names of these
        self._number: dict[str, int] = {}  # by name: the pairing of it that waits
        self._queue: list[tuple[float, int]] = []  # when each wait ends; entries out of date are skipped
        self._sought: Sought = {}  # those with perhaps a pairing that could wait …
        self._anew = False  # … and whether these are all who are absent

    def came(self, name: str) -> None:
        """An entrant is here, and may be free or busy."""
        self._absent.pop(name, None)
        self._changed[name] = None

    def went(self, name: str, *, plays: bool, now: float) -> None:
        """An entrant is not here, and may now have something to play, or nothing any more."""
        self._absent[name] = None
        self._changed[name] = None

    def free(self, name: str) -> None:
        """An entrant has become free, or has something else to play."""
        self._changed[name] = None

    def put_off(self) -> None:
        """Nothing more can be played now, whoever comes: nobody is waited for."""
        for kept in (self._waiting, self._both, self._number, self._queue, self._sought):
            kept.clear()
        self._anew = True

    def forget(self) -> None:
        """Wait for nobody. Whoever is still absent later is waited for anew."""
        self.put_off()

    def settled(
        self, now: float, free: Collection[str], open: Waiting, length: float, *, playing: bool
    ) -> list[Pairing]:
        """Some of the pairings that have waited for long enough; nobody twice.

        Nobody who is `free` has anything else to play just now. All others who are here are busy.
        """
        if self._anew:
            self._sought, self._anew = dict.fromkeys(self._absent, START), False
        while self._changed:
            self._look_at(self._changed.popitem()[0], now, free, open)
        available = _Available(self._absent, free, self._number)
        self._sought = {name: start for name, start in self._sought.items() if name in available}
        for pairing in islice(open.meetings(available, self._sought), PIECE):
            self._begin(pairing, now)
        over: list[int] = []
        while len(over) < AT_A_TIME and self.until <= now + ROUNDING:
            over.append(number := heappop(self._queue)[1])
            self._end(number)
        return [open[number] for number in over]

    @property
    def more(self) -> bool:
        """Whether there may be more to do at once."""
        return bool(self._sought)

    @property
    def until(self) -> float:
        """When the next wait ends."""
        while self._queue and self._queue[0][0] != self._ends(self._queue[0][1]):
            heappop(self._queue)
        return self._queue[0][0] if self._queue else inf

    def wait_left(self, name: str, pairings: int, now: float) -> float:
        """Seconds for which this many pairings of an absent entrant hold up the others, if it stays away."""
        since = self._waiting.get(self._number.get(name, START))
        return max(0.0, pairings * self._grace - (now - max(since.values()) if since else 0.0))

    def _look_at(self, name: str, now: float, free: Collection[str], open: Waiting) -> None:
        absent, number = name in self._absent, self._number.get(name)
        if number is None:
            if absent or name in free:
                self._sought[name] = START
            return
        since = self._waiting[number]
        if absent:
            since.setdefault(name, now)
        else:
            since.pop(name, None)
        if number in open and since and (absent or name in free):
            heappush(self._queue, (self._ends(number), number))
        else:
            self._end(number)

    def _begin(self, pairing: Pairing, now: float) -> None:
        if since := {name: now for name in pairing.names if name in self._absent}:
            number = pairing.number
            self._waiting[number], self._both[number] = since, pairing.names
            self._number.update(dict.fromkeys(pairing.names, number))
            heappush(self._queue, (self._ends(number), number))

    def _end(self, number: int) -> None:
        """A pairing waits no more. Both may have others that could."""
        del self._waiting[number]
        for name in self._both.pop(number):
            del self._number[name]
            self._changed[name] = None

    def _ends(self, number: int) -> float:
        since = self._waiting.get(number)
        return max(since.values()) + self._grace if since else -inf


class _Available(Container[str]):
    """Those who are absent or free, and of whom no pairing waits."""

    def __init__(self, absent: Collection[str], free: Collection[str], waited: Collection[str]) -> None:
        self._absent, self._free, self._waited = absent, free, waited

    def __contains__(self, name: object) -> bool:
        return name not in self._waited and (name in self._absent or name in self._free)
