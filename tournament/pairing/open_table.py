"""Open table: a format without an end, in which whoever is free meets whoever else is, at once.

Of all who could play, the two who have met least are paired first; among equals,
those who came first. Whoever has bound opponents for nothing lately comes after all
others. Nobody meets itself or somebody whom it is already playing, and
whoever came for one opponent meets only that one. When two meet for the first time,
whoever came first is first; after that they take turns. If `terms.lots` says so,
sides are by lot.
"""

from collections.abc import Iterator, Sequence
from operator import attrgetter

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.latest import Latest, Times, met
from tournament.pairing.drawing import last_round, lots, numbered

WAITING = 100  # entrants that are considered, in the order of arrival: bounds the pairs to compare


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    free = [entrant for entrant in entrants if entrant.free and entrant.present and not entrant.gone]
    waiting = sorted(free, key=attrgetter("last"))[:WAITING]
    latest = drawn if isinstance(drawn, Latest) else Latest(drawn, results)
    seed = (terms.seed, drawn[-1].number if drawn else 0)
    meetings: list[tuple[str, str]] = []
    taken = set[str]()
    for _, _, place, other_place in sorted(_possible(waiting, latest)):
        one, other = waiting[place].name, waiting[other_place].name
        if one not in taken and other not in taken:
            taken |= {one, other}
            meetings.append(_seated(one, other, latest.times, seed if terms.lots else None))
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def _possible(waiting: Sequence[Entrant], latest: Latest) -> Iterator[tuple[int, int, int, int]]:
    """Who may meet, by their places: after how late they are to be dealt and how often they have met.

    Of a hundred there are five thousand such pairs, and the matches in play wait meanwhile: so nothing is
    called here that need not be.
    """
    times = latest.times.get
    known = [(place, each.name, each.against, each.last) for place, each in enumerate(waiting)]
    for place, one, against, last in known:
        for other_place, other, other_against, late in known[place + 1 :]:
            if (
                one == other
                or (against is not None and against != other)
                or (other_against is not None and other_against != one)
            ):
                continue
            together = times((one, other), 0) + times((other, one), 0)
            if not together or not met(latest.playing, one, other):
                yield last + late, together, place, other_place


def _seated(one: str, other: str, times: Times, seed: object) -> tuple[str, str]:
    if seed is not None:
        first, second = lots((one, other), seed)
        return first, second
    return (one, other) if times[one, other] <= times[other, one] else (other, one)


FORMAT = Format(name="open", title="Open table", draw=draw, order=("rating",), endless=True)
