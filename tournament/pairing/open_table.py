"""Open table: a format without an end, in which those who are free meet each other at once.

Of all who could play, the two who have met least are paired first; among equals,
those who came first. An entrant that has lately wasted its opponents' time comes
after all others. Nobody meets itself or an opponent that it is already playing, and
an entrant that came for one opponent meets only that one. When two meet for the
first time, whoever came first is first; after that they take turns. If `terms.lots`
says so, sides are by lot.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from operator import attrgetter, itemgetter

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.latest import Latest, Times
from tournament.pairing.drawing import last_round, lots, numbered

WAITING = 100  # entrants that are considered, in the order of arrival: bounds the pairs to compare


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    free = [entrant for entrant in entrants if entrant.free and entrant.present and not entrant.gone]
    waiting = sorted(free, key=attrgetter("last"))[:WAITING]
    latest = drawn if isinstance(drawn, Latest) else Latest(drawn, results)
    seed = (terms.seed, drawn[-1].number if drawn else 0)
    pairs = sorted(_pairs(waiting, latest), key=itemgetter(0, 1))
    meetings: list[tuple[str, str]] = []
    taken = set[str]()
    for _, _, one, other in pairs:
        if one not in taken and other not in taken:
            taken |= {one, other}
            meetings.append(_seated(one, other, latest.times, seed if terms.lots else None))
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def _pairs(waiting: Sequence[Entrant], latest: Latest) -> Iterator[tuple[int, int, str, str]]:
    """All pairs that could meet, with the figures by which they are ordered; many are looked at each time."""
    times, playing = latest.times, latest.playing
    for one, other in combinations(waiting, 2):
        first, second = one.name, other.name
        willing = one.against in (None, second) and other.against in (None, first)
        there, back = (first, second), (second, first)
        if willing and first != second and there not in playing and back not in playing:
            yield one.last + other.last, times.get(there, 0) + times.get(back, 0), first, second


def _seated(one: str, other: str, times: Times, seed: object) -> tuple[str, str]:
    if seed is not None:
        first, second = lots((one, other), seed)
        return first, second
    return (one, other) if times[one, other] <= times[other, one] else (other, one)


LATEST = 5_000  # names in the table: an entrant that comes by for one match does not stay in it for ever
FORMAT = Format(name="open", title="Open table", draw=draw, order=("rating",), endless=True, latest=LATEST)
