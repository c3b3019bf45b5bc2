"""How much longer a tournament takes, for everybody who asks: a forecast, which is made anew when it is old.

How a forecast is made is in `forecast.py`. Here is when one is needed at all, and how long it is good.
"""

from collections.abc import Callable, Iterator, Mapping

import trio

from tournament.facts import State
from tournament.forecast import Forecast
from tournament.match import Match
from tournament.presence import Presence
from tournament.record import Record
from tournament.rounds import begins_at

FRESH = 1.0  # seconds for which a forecast is good, if nothing ends meanwhile


class Eta:
    def __init__(
        self,
        record: Record,
        presence: Presence,
        forecast: Forecast,
        matches: Mapping[str, Match],
        at_once: float,
        wall: Callable[[], float],
    ) -> None:
        """`matches` are those in play, of which there are `at_once` at most."""
        self._record = record
        self._presence = presence
        self._forecast = forecast
        self._matches = matches
        self._at_once = at_once
        self._wall = wall
        self._known: object = None  # what the latest forecast was made of …
        self._made_at = 0.0  # … when …
        self._left: float | None = None  # … and how many seconds it gave

    def now(self) -> float | None:
        """Seconds until the end; None while nothing is known, and where there is nothing to foresee."""
        for _ in self._foreseeing():
            pass
        return self._seconds()

    async def in_turns(self) -> float | None:
        """The same; others get their turns meanwhile."""
        for _ in self._foreseeing():
            await trio.lowlevel.checkpoint()
        return self._seconds()

    def _begins_in(self, round: int) -> float:
        """Seconds until a round may begin, at the earliest."""
        return begins_at(self._record, round) - self._wall()

    @property
    def _is_foreseeable(self) -> bool:
        record = self._record
        return not (record.format.endless or record.state in (State.REGISTERING, State.FINISHED))

    def _seconds(self) -> float | None:
        if self._left is None or not self._is_foreseeable:
            return None
        return max(0.0, self._left - (trio.current_time() - self._made_at))

    def _foreseeing(self) -> Iterator[None]:
        """Make a forecast in pieces, unless the last one is still good."""
        record = self._record
        if not self._is_foreseeable:
            return
        missing = self._presence.missing()
        known, now = (record.ended, len(record.dealt), record.arrivals, len(missing)), trio.current_time()
        if known != self._known or now >= self._made_at + FRESH:
            waits, matches = self._presence.wait_left, self._matches.values()
            left = yield from self._forecast.left(
                matches, missing, waits, self._at_once, now, self._begins_in
            )
            self._known, self._made_at, self._left = known, now, left
