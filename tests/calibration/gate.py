"""The gate: do 95 % intervals hold the truth, and does what is called likely happen as often as that?"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product, repeat
from random import Random
from statistics import stdev

from msgspec import Struct

from tests.calibration.truth import Event, World, held, world
from tournament.ratings import Ratings, bradley_terry
from tournament.strength import strengths

DRAWS, ADVANTAGES, SPREADS = (0.0, 0.3, 0.6), (0.0, 60.0, 150.0), (50.0, 150.0, 300.0)
BINS = 10  # of what is said of being the best, the ends half as wide
FULL = (0.93, 0.97)  # of intervals, in every cell of a full format …
AVERAGE, LEAST = (0.93, 0.97), 0.91  # … and of others over the spreads, and in every cell
SLACK = 0.03  # by which what happens may miss the bounds of what was said
CHANCE = 2  # standard errors beyond a bound: so far it may be by chance


class Kind(Struct, frozen=True):
    """A kind of event."""

    title: str
    bots: int
    event: Event
    events: int  # in a cell, where nobody says otherwise
    full: bool = False  # everybody has met many: its intervals have to hold in every cell
    few: bool = False  # games: much is as was believed beforehand, and intervals may be too wide

    def bounds(self, low: float, high: float) -> tuple[float, float]:
        return low, 1.0 if self.few else high


KINDS = {
    "round-robin-4": Kind("Round robin of 4", 4, held("round-robin"), 500, full=True, few=True),
    "round-robin-16": Kind("Round robin of 16", 16, held("round-robin"), 150, full=True),
    "swiss-32": Kind("Swiss, 32 bots, 7 rounds", 32, held("swiss", rounds=7), 80),
    "swiss-128": Kind("Swiss, 128 bots, 9 rounds", 128, held("swiss", rounds=9), 20),
    "swiss-400": Kind("Swiss, 400 bots, 9 rounds", 400, held("swiss", rounds=9), 6),  # another fit
    "ladder": Kind("Ladder of 16, 320 matches", 16, held("ladder", matches=320), 100, full=True),
    "gauntlet": Kind("Gauntlet of 16, 4 rounds", 16, held("gauntlet", rounds=4), 100),
    "knockout": Kind("Knockout of 16", 16, held("knockout"), 150, few=True),
}


class Cell(Struct):
    """What came of the events of one kind in worlds of one sort."""

    draws: float
    advantage: float
    spread: float
    intervals: int = 0
    holding: int = 0
    shares: list[float] = []  # of the intervals of each event, those that hold
    width: float = 0.0
    before: float = 0.0  # the widths that a plain fit has
    said: list[
        tuple[float, bool]
    ] = []  # of each bot: how likely it was said to be the best, and whether it is

    @property
    def coverage(self) -> float:
        return self.holding / self.intervals

    @property
    def error(self) -> float:
        """The standard error of the coverage: the intervals of one event hold or fail together."""
        return stdev(self.shares) / len(self.shares) ** 0.5

    @property
    def named(self) -> str:
        return f"draws {self.draws:.0%}, first move {self.advantage:.0f}, spread {self.spread:.0f}"


def cells(name: str, events: int, seed: int = 1, jobs: int = 1) -> list[Cell]:
    """All 27 cells of a kind, with so many events each."""
    found = [Cell(*sort) for sort in product(DRAWS, ADVANTAGES, SPREADS)]
    if jobs == 1:
        return [looked_at(name, cell, events, seed) for cell in found]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(looked_at, repeat(name), found, repeat(events), repeat(seed)))


def looked_at(name: str, cell: Cell, events: int, seed: int) -> Cell:
    """The cell, after so many events."""
    kind = KINDS[name]
    random = Random(f"{seed} {kind.title} {cell.draws} {cell.advantage} {cell.spread}")
    for _ in range(events):
        look(cell, world(random, kind.bots, cell.spread, cell.draws, cell.advantage), kind.event)
    return cell


def look(cell: Cell, truth: World, event: Event) -> None:
    """Hold one event, and see what is said of it."""
    results = event(truth)
    found = strengths(Ratings(results)).of
    true, best, before = truth.centred, max(truth.strengths), cell.holding
    # Zero is the mean of those who are rated; in all of these formats everybody is.
    for name, strength in found.items():
        low, high = strength.interval
        cell.intervals += 1
        cell.holding += low <= true[int(name)] <= high
        cell.width += high - low
        cell.said.append((strength.first, truth.strengths[int(name)] == best))
    cell.shares.append((cell.holding - before) / len(found))
    for rating in bradley_terry(results).ratings:
        low, high = rating.interval
        cell.before += high - low


def average(found: Sequence[Cell]) -> tuple[float, float]:
    """The mean coverage of some cells, and its standard error."""
    mean = sum(each.coverage for each in found) / len(found)
    return mean, sum(each.error**2 for each in found) ** 0.5 / len(found)


class Bin(Struct):
    """Those who were said to be the best with about the same probability."""

    low: float
    high: float
    count: int = 0
    said: float = 0.0
    happened: int = 0

    @property
    def fails(self) -> bool:
        """Whether what happened is further from what was said than is allowed, and than chance explains."""
        if not self.count:
            return False
        share, likely = self.happened / self.count, self.said / self.count
        error = (likely * (1 - likely) / self.count) ** 0.5
        return outside(share, error, (self.low - SLACK, self.high + SLACK))


def bins(said: Iterable[tuple[float, bool]]) -> list[Bin]:
    found = [Bin(max(0.0, (at - 0.5) / BINS), min(1.0, (at + 0.5) / BINS)) for at in range(BINS + 1)]
    for chance, so in said:
        each = found[int(chance * BINS + 0.5)]
        each.count += 1
        each.said += chance
        each.happened += so
    return found


def outside(share: float, error: float, bounds: tuple[float, float]) -> bool:
    """Whether it is further outside than chance explains."""
    low, high = bounds
    return not low - CHANCE * error <= share <= high + CHANCE * error


def objections(kind: Kind, found: list[Cell]) -> Iterator[str]:
    """Where a kind of event does not meet the gate."""
    bounds = kind.bounds(*FULL) if kind.full else (LEAST, 1.0)
    for cell in found:
        if outside(cell.coverage, cell.error, bounds):
            yield f"{kind.title}, {cell.named}: {cell.coverage:.1%} hold (± {cell.error:.1%})"
    for draws, advantage in product(DRAWS, ADVANTAGES):
        mean, error = average([each for each in found if (each.draws, each.advantage) == (draws, advantage)])
        if outside(mean, error, kind.bounds(*AVERAGE)):
            where = f"{kind.title}, draws {draws:.0%}, first move {advantage:.0f}"
            yield f"{where}: {mean:.1%} hold on average (± {error:.1%})"
    for each in bins(pair for cell in found for pair in cell.said):
        if each.fails:
            yield (
                f"{kind.title}: of what was said to be {each.low:.0%} to {each.high:.0%} likely,"
                f" {each.happened / each.count:.0%} of {each.count} happened"
            )
    if (width := sum(each.width for each in found)) > (before := sum(each.before for each in found)):
        yield f"{kind.title}: intervals are {width / before - 1:.0%} wider than those of a plain fit"
