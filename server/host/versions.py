"""What each version of a bot has done, and how strong it is.

A bot may say in its hello which version it is. Its versions are rated as if each were a bot of its own,
together with all versions of all others, from the latest matches of a game. Where one figure is shown
for a bot, it is that of its latest version.

Ratings are worked out when somebody asks and something has changed, away from the loop, at most once a
second for each game and with as much rest as work, and those of one game after another: each takes the
processor for a second or two where there are many results, and 16 MiB. Those who ask meanwhile wait for
them, but not for long.
Where there are many results, nobody waits for the latest of them: the earlier ratings are returned.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Any

import trio
from msgspec import Struct

from server.host.appearances import PIECE, Index, Sums, Tally
from server.host.latest_first import latest_first
from server.host.remaking import Remaking
from server.net.guard import Guard
from tournament.format import Pairing, Result
from tournament.ratings import Ratings
from tournament.record import Record
from tournament.skill import says_something
from tournament.strength import Strength, strengths

RATED = 20_000  # the latest matches of a game, from which ratings are made
LISTED = 50  # the latest versions of a bot: it may call itself something else in each match
EVERY = 1.0  # seconds between two computations for a game, at the least
WAIT = 2.0  # seconds to wait for current ratings …
LONG = 5_000  # … but if they are from so many results, earlier ones are returned at once …
YOUNG = 30.0  # … that are no older than so many seconds
BETWEEN = "\n"  # a name and a version; neither contains it

Run = Callable[[Callable[[], Any]], Awaitable[Any]]
Rated = Mapping[str, Strength]  # by name and version


class Version(Struct, frozen=True):
    """One version of a bot, in one game."""

    version: str | None  # None: it did not say
    played: int
    wins: int
    draws: int
    losses: int
    points: float
    latest: float | None  # wall time at which its latest match ended
    rating: float | None  # None: nothing that it has played says anything about strength
    interval: tuple[float, float] | None


class LatestRatings:
    """The latest ratings for one game, and the results that they are from."""

    def __init__(self) -> None:
        self.ratings: Rated = {}
        self.stamp: object = None
        self.long = False  # whether they take long
        self.made_at = 0.0
        self.remaking = Remaking(EVERY)


class Versions:
    def __init__(self, guard: Callable[[], Guard], run: Run) -> None:
        """`guard` is where work is started; `run` does it where it holds up nobody."""
        self.index = Index()
        self.made = 0  # computations so far
        self._guard = guard
        self._run = run
        self._making = trio.Lock()  # held while the ratings for a game are worked out
        # By game, and by whether standings that are frozen for others are seen as they are
        self._of: dict[tuple[str, bool], LatestRatings] = {}

    async def ratings(self, game: str, records: Sequence[Record]) -> Rated:
        """The current ratings of all versions of all bots, or the latest there are, if that takes long.

        `records` are those of that game.
        """
        whose = game, any(each.public is not each for each in records)
        known, stamp = self._of.setdefault(whose, LatestRatings()), _stamp(records)
        will_do = known.long and trio.current_time() < known.made_at + YOUNG
        with trio.move_on_after(WAIT):
            for _ in range(2):  # the ratings under way may be of older results
                if known.stamp != stamp:
                    if known.remaking.begin():
                        self._guard().start_soon(self._make, known, records)
                    if will_do:
                        break
                    await known.remaking.news.wait()
        return known.ratings

    async def _make(self, known: LatestRatings, records: Sequence[Record]) -> None:
        begun = trio.current_time()
        try:
            await known.remaking.rest()
            async with self._making:
                begun, stamp = trio.current_time(), _stamp(records)
                self.made += 1
                known.ratings, results = await self._run(partial(_rated, records))
            known.stamp, known.long, known.made_at = stamp, results >= LONG, trio.current_time()
        finally:
            known.remaking.over(begun)

    async def of_games(self, name: str, records: Sequence[Record]) -> Mapping[str, Rated]:
        """The ratings for the games in which a bot of that name has entered a tournament."""
        games = dict.fromkeys(record.opened.game for record in records if name in record.entrants)
        return {
            game: await self.ratings(game, [each for each in records if each.opened.game == game])
            for game in games
        }


def _stamp(records: Sequence[Record]) -> object:
    """A value that differs whenever there are other results."""
    return [(record.kept_as, record.version) for record in records]


def rated(records: Sequence[Record]) -> Rated:
    """How strong each version of each bot is, by the latest matches."""
    return _rated(records)[0]


def _rated(records: Sequence[Record]) -> tuple[Rated, int]:
    """The same, with the number of results that it is from."""
    ratings = Ratings()
    for record, result in reversed(list(islice(counting(records), RATED))):
        ratings.add(_of_versions(record, result))
    return strengths(ratings).of, ratings.meetings.games


def backwards(records: Sequence[Record]) -> Iterator[tuple[Record, Result]]:
    """The results that say something about strength, the latest first, whatever the tournament."""
    return latest_first(((record, _backwards(record)) for record in reversed(records)), _ended)


def counting(records: Sequence[Record]) -> Iterator[tuple[Record, Result]]:
    """The same, without those that no longer count, because a player withdrew or was disqualified."""
    return (each for each in backwards(records) if not _is_out(*each))


def _backwards(record: Record) -> Iterator[tuple[Record, Result]]:
    taken_back = set[int]()
    for end in range(len(record.results.decisions), 0, -PIECE):
        for each in reversed(record.results.decisions[max(0, end - PIECE) : end]):
            if isinstance(each, int):
                taken_back.add(each)
            elif each.pairing.number in taken_back:
                taken_back.discard(each.pairing.number)
            elif says_something(each):
                yield record, each


def _ended(played: tuple[Record, Result]) -> float:
    """When the match of a result was over; of earlier ones that is not known."""
    record, result = played
    match = record.results.counted.get(result.pairing.number)
    return 0.0 if match is None else record.matches[match].ended or 0.0


def versions(name: str, done: Iterable[Sums], ratings: Rated) -> list[Version]:
    """The versions of a bot, the latest first, by what it has done in each of its tournaments."""
    tallies: dict[str | None, Tally] = {}
    for sums in done:
        for version, more in sums.versions.items():
            tallies[version] = tallies.pop(version, Tally())
            tallies[version].add(more)
    return [
        _version(version, tallies[version], ratings.get(called(name, version)))
        for version in islice(sorted(tallies, key=lambda each: -(tallies[each].latest or 0.0)), LISTED)
    ]


def called(name: str, version: str | None) -> str:
    """One name for a version of a bot."""
    return f"{name}{BETWEEN}{version or ''}"


def _version(version: str | None, tally: Tally, strength: Strength | None) -> Version:
    return Version(
        version,
        tally.played,
        tally.wins,
        tally.draws,
        tally.losses,
        tally.wins + tally.draws / 2,
        tally.latest,
        None if strength is None else strength.strength,
        None if strength is None else strength.interval,
    )


def _is_out(record: Record, result: Result) -> bool:
    """Whether a result no longer counts."""
    out = record.annulled | record.disqualified
    return bool(out) and not out.isdisjoint(result.pairing.names)


def _of_versions(record: Record, result: Result) -> Result:
    """The result, between versions of bots."""
    match = record.results.counted.get(result.pairing.number)
    said = (None, None) if match is None else record.matches[match].versions
    first, second = (called(*each) for each in zip(result.pairing.names, said, strict=True))
    pairing = Pairing(result.pairing.number, result.pairing.round, first, second)
    return Result(pairing, result.score, result.played, result.digest)
