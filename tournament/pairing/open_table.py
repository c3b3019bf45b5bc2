"""Open table: a format without an end, in which those who are free meet each other at once.

Of all who could play, the two who have met least are paired first; among equals,
those who came first. An entrant that has lately wasted its opponents' time comes
after all others. Nobody meets itself or an opponent that it is already playing, and
an entrant that came for one opponent meets only that one. When two meet for the
first time, whoever came first is first; after that they take turns. If `terms.lots`
says so, sides are by lot.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from operator import attrgetter

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.latest import Latest, Times
from tournament.pairing.drawing import last_round, lots, numbered


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    free = [entrant for entrant in entrants if entrant.free and entrant.present and not entrant.gone]
    waiting = [*dict.fromkeys(sorted(free, key=attrgetter("last")))]
    latest = drawn if isinstance(drawn, Latest) else Latest(drawn, results)
    seed = (terms.seed, drawn[-1].number if drawn else 0)
    meetings: list[tuple[str, str]] = []
    taken = set[str]()
    for *_, first, second in sorted(_pairs(waiting, latest)):
        one, other = waiting[first].name, waiting[second].name
        if one not in taken and other not in taken:
            taken |= {one, other}
            meetings.append(_seated(one, other, latest.times, seed if terms.lots else None))
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def _pairs(waiting: Sequence[Entrant], latest: Latest) -> Iterator[tuple[int, int, int, int]]:
    """All pairs that could meet, by their places among those who wait, after the figures that order them.

    Only those who take anybody are compared each with each: many are looked at each time.
    """
    times, playing = latest.times, latest.playing
    places = {(entrant.name, entrant.against): place for place, entrant in enumerate(waiting)}
    anybody = [place for place, entrant in enumerate(waiting) if entrant.against is None]
    for first, second in chain(combinations(anybody, 2), _wanted(waiting, places)):
        one, other = waiting[first], waiting[second]
        there, back = (one.name, other.name), (other.name, one.name)
        if one.name != other.name and there not in playing and back not in playing:
            yield one.last + other.last, times.get(there, 0) + times.get(back, 0), first, second


def _wanted(
    waiting: Sequence[Entrant], places: Mapping[tuple[str, str | None], int]
) -> Iterator[tuple[int, int]]:
    """Those who came for one opponent, each with that one, if it is there for them too."""
    for place, entrant in enumerate(waiting):
        if (wanted := entrant.against) is not None:
            for other in (places.get((wanted, None)), places.get((wanted, entrant.name))):
                if other is not None:
                    yield min(place, other), max(place, other)


def _seated(one: str, other: str, times: Times, seed: object) -> tuple[str, str]:
    if seed is not None:
        first, second = lots((one, other), seed)
        return first, second
    return (one, other) if times[one, other] <= times[other, one] else (other, one)


LATEST = 5_000  # names in the table: an entrant that comes by for one match does not stay in it for ever
FORMAT = Format(
    name="open",
    title="Open table",
    draw=draw,
    order=("rating",),
    endless=True,
    choosy=True,
    latest=LATEST,
)
