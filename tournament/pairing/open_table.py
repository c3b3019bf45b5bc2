"""Open table: a format without an end, in which those who are free meet each other at once.

Of all who could play, the two who have met least are paired first; among equals,
those who came first. An entrant that has lately wasted its opponents' time comes
after all others. Nobody meets itself or an opponent that it is already playing, and
an entrant that came for one opponent meets only that one. When two meet for the
first time, whoever came first is first; after that they take turns. If `terms.lots`
says so, sides are by lot.
"""

from collections.abc import Iterator, Mapping, Sequence
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
    for _, _, first, second in sorted(_pairs(waiting, latest)):
        one, other = waiting[first].name, waiting[second].name
        if one not in taken and other not in taken and _may_meet(one, other, latest):
            taken |= {one, other}
            meetings.append(_seated(one, other, latest.times, seed if terms.lots else None))
            if len(taken) + 1 >= len(waiting):
                break
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def _pairs(waiting: Sequence[Entrant], latest: Latest) -> list[tuple[int, int, int, int]]:
    """All pairs by their places among those who wait, after the figures that order them.

    Only those who take anybody are compared each with each. These are many pairs, each time, so nothing is
    looked at here that can be looked at when a pair is about to be taken.
    """
    names, last = [entrant.name for entrant in waiting], [entrant.last for entrant in waiting]
    places = {(entrant.name, entrant.against): place for place, entrant in enumerate(waiting)}
    anybody = [place for place, entrant in enumerate(waiting) if entrant.against is None]
    rows = [(first, anybody[row:]) for row, first in enumerate(anybody, 1)]
    rows += [(first, (second,)) for first, second in _wanted(waiting, places)]
    pairs: list[tuple[int, int, int, int]] = []
    for first, others in rows:
        met, late = latest.met_by(names[first]).get, last[first]
        pairs += [(late + last[second], met(names[second], 0), first, second) for second in others]
    return pairs


def _may_meet(one: str, other: str, latest: Latest) -> bool:
    """Whether these are two, and not in the middle of a match against each other."""
    return one != other and (one, other) not in latest.playing and (other, one) not in latest.playing


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
