"""How much longer a tournament will take, by how long its matches have taken so far.

Nobody plays two matches at once, so it lasts at least as long as the longest chain of one bot's matches.
No more matches can be played at once than there are pairs of bots, so it lasts at least as long as all
matches take, divided by the number of pairs. Pairings of the absent take the time for which they are waited
for; and where there are thousands, it takes time to settle them one after another. Rounds that have not begun
last as long as the longest match that a round of that size usually has, and begin when they may.

A forecast looks at every match in play, at every entrant with something to play, and at a bounded number of
pairings. Of these there may be thousands, so it can be made in pieces.
"""

from collections import deque
from collections.abc import Callable, Collection, Generator, Iterable
from functools import partial
from itertools import islice
from math import inf
from operator import itemgetter
from statistics import median

from tournament.facts import State
from tournament.match import Match
from tournament.record import Record

RECENT = 200  # matches whose length says how long the next ones will take
PIECE = 250  # matches or entrants that are looked at in one go
LOOKS = 5_000  # pairings in which it is looked up whether both can play; of more, the likely share is taken
ALIKE = 4  # rounds to come, of those in which all play: each after these is waited for as long as the last
STOPPED = 10  # times the median: a match that seems to have lasted longer went on after a stop of the host
ONGOING = 0.25  # of the time so far: what a match that lasts longer than expected still takes

# Seconds for which this many pairings of an absent entrant hold up others …
Waits = Callable[[str, int], float]
Begins = Callable[[int], float]  # … and until a round may begin, at the earliest


def at_any_time(round: int) -> float:
    """Rounds do not wait for the clock."""
    return -inf


class Forecast:
    def __init__(self, record: Record) -> None:
        self._record = record
        self._lasted: deque[float] = deque(maxlen=RECENT)
        self._total: dict[str, tuple[float, int]] = {}  # of each bot: seconds, and matches
        self._run: tuple[float, int] | None = None  # pairings settled in a row: since when, and how many
        self._settling = 0.0  # seconds for each of these, or of the last such run
        self._note_past()

    def _note_past(self) -> None:
        """Note the latest matches that ended before the host was started; in between it may have stood."""
        record = self._record
        if record.format.endless or record.state is State.FINISHED:
            return
        latest = [record.matches[match] for match in islice(reversed(record.recent), RECENT)]
        lasted = [
            (match.players, match.ended - match.began)
            for match in reversed(latest)
            if match.score is not None and match.began is not None and match.ended is not None
        ]
        usual = median(seconds for _, seconds in lasted) if lasted else 0.0
        for names, seconds in lasted:
            if 0.0 <= seconds <= STOPPED * usual:
                self.note(names, seconds)

    def note(self, names: Iterable[str], seconds: float) -> None:
        """Note how long a match between these bots has lasted; nothing is forecast where there is no end."""
        if self._record.format.endless:
            return  # strangers play there under ever new names, and each would be remembered
        self._lasted.append(seconds)
        for name in names:
            total, count = self._total.get(name, (0.0, 0))
            self._total[name] = total + seconds, count + 1

    def note_settled(self, pairings: int, now: float, *, more: bool) -> None:
        """Note that so many pairings are over without a match, and whether more can be settled at once."""
        began, count = (now, 0) if self._run is None else (self._run[0], self._run[1] + pairings)
        if count:
            self._settling = (now - began) / count
        self._run = (began, count) if more else None

    @property
    def length(self) -> float:
        """How long a match takes; 0 while nothing is known."""
        return sum(self._lasted) / len(self._lasted) if self._lasted else 0.0

    def left(
        self,
        matches: Iterable[Match],
        absent: Collection[str],
        waits: Waits,
        at_once: float,
        now: float,
        begins: Begins = at_any_time,
    ) -> Generator[None, None, float | None]:
        """Return the seconds until the end; None while nothing is known. Yields after each piece of the work.

        `absent` are awaited and not here. What changes between two pieces may or may not be in the forecast.
        """
        lasted = {match: now - match.log.events[0].at for match in matches}
        # While no match has ended, the longest is expected to last as long again.
        length = self.length or 2 * max(lasted.values(), default=0.0)
        to_play = yield from self._to_play(absent, length)
        if not length and (not absent or any(count for _, count in to_play)):
            return None
        chains: dict[str, float] = {}
        work = 0.0
        length_of = self._length_of
        for looked, (match, seconds) in enumerate(lasted.items(), 1):
            if looked % PIECE == 0:
                yield
            first, second = match.names
            expected = length_of(first, length) + length_of(second, length) - length
            left = expected - seconds if seconds <= expected else ONGOING * seconds
            if (until := match.given_up_at - now) > left:  # whoever has left the match is waited for
                left = until
            work += left
            chains[first] = chains[second] = left
        for looked, (name, count) in enumerate(to_play, 1):
            if looked % PIECE == 0:
                yield
            seconds = count * self._length_of(name, length)
            chains[name] = chains.get(name, 0.0) + seconds
            work += seconds / 2  # the other half is its opponents'
        present = max(2, self._record.contestants - len(absent))
        playing = max(*chains.values(), work / min(at_once, present // 2), 0.0) if chains else 0.0
        count = self._record.open.count
        waiting = yield from _longest_wait(absent, lambda name: waits(name, count(name)))
        unplayed = max(0.0, self._record.open.due - sum(count for _, count in to_play) / 2)
        left = max(playing, waiting) + unplayed * self._settling
        to_come = yield from self._rounds_to_come(absent, waits, at_once, length)
        for looked, (round, seconds) in enumerate(to_come, 1):
            left = max(left, begins(round)) + seconds
            if looked % PIECE == 0:
                yield
        return left

    def _to_play(
        self, absent: Collection[str], length: float
    ) -> Generator[None, None, list[tuple[str, float]]]:
        """Return how many pairings each of those who are here can play, longest chain first."""
        record, looks = self._record, LOOKS
        out = record.out
        others = record.contestants - len(absent) - 1  # who are here
        share = others / max(1, others + len(absent))
        count = record.open.count
        here = [name for name in record.open.players if name not in absent and name not in out]
        chains: list[tuple[str, float]] = []
        for start in range(0, len(here), PIECE):
            chains += [
                (name, -count(name) * self._length_of(name, length)) for name in here[start : start + PIECE]
            ]
            yield
        chains.sort(key=itemgetter(1))
        found: list[tuple[str, float]] = []
        for looked, (name, _) in enumerate(chains, 1):
            if (mine := count(name)) <= looks:
                looks -= mine
                playable = sum(each not in absent and each not in out for each in record.open.opponents(name))
                found.append((name, playable))
            else:
                found.append((name, share * mine))
            if looked % PIECE == 0:
                yield
        return found

    def _rounds_to_come(
        self, absent: Collection[str], waits: Waits, at_once: float, length: float
    ) -> Generator[None, None, list[tuple[int, float]]]:
        """Return each round that has not begun, and how long it lasts."""
        record, found = self._record, list[tuple[int, float]]()
        everybody, count = record.contestants, record.open.count
        here = 1 - len(absent) / max(1, everybody)
        lasted = sorted(self._lasted) or [length]
        looks, wait = ALIKE, 0.0
        for ahead, (round, matches) in enumerate(self._later(), 1):
            played = matches * here**2  # as likely as both are here
            # The longest of so many matches usually takes:
            longest = lasted[len(lasted) * matches // (matches + 1)]
            longest += length * max(0.0, played / at_once - 1)
            waiting = 0.0
            if 2 * matches >= everybody - 1:  # all play, so the absent do too
                if looks:
                    looks -= 1
                    wait = yield from _longest_wait(absent, partial(_one_more, waits, count, ahead))
                waiting = wait
            found.append((round, max(longest, waiting)))
            if ahead % PIECE == 0:
                yield
        return found

    def _later(self) -> Iterable[tuple[int, int]]:
        """Each round that has not begun, and how many matches it has."""
        record = self._record
        if record.ended_early:
            return ()
        if record.format.plan is None:
            return record.open.later.items()
        last = record.drawn.get(record.last_drawn)
        begun = 0 if last is None else last.round
        sizes = record.format.plan(record.taken_part, record.opened.terms)
        return enumerate(sizes[begun:], begun + 1)

    def _length_of(self, name: str, length: float) -> float:
        """How long a bot's matches take: its own matches say more, the more there are."""
        total, count = self._total.get(name, (0.0, 0))
        return (total + length) / (count + 1)


def _longest_wait(names: Iterable[str], seconds: Callable[[str], float]) -> Generator[None, None, float]:
    longest = 0.0
    for looked, name in enumerate(names, 1):
        longest = max(longest, seconds(name))
        if looked % PIECE == 0:
            yield
    return longest


def _one_more(waits: Waits, count: Callable[[str], int], ahead: int, name: str) -> float:
    """How much longer an entrant is waited for because of the pairing that it has so many rounds ahead."""
    pairings = count(name) + ahead
    return waits(name, pairings) - waits(name, pairings - 1)
