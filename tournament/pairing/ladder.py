"""Ladder: a format without an end, in which whoever is free meets somebody of about the same strength.

The entrant whose strength is known least is paired first, with an opponent of
similar strength, preferably one that it has met less often. Nobody meets the same
opponent twice in a row while anybody else is present, even if all others are busy:
the two wait for the next match to end, or they would keep playing each other
forever. Two who meet again swap sides.

An entrant that has lately wasted its opponents' time comes after all others.

Strengths and meetings come from the latest matches only: an entrant that played in
none of them is as unknown as a new one.
"""

from collections.abc import Collection, Sequence
from math import hypot

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.latest import Latest, met
from tournament.pairing.drawing import last_round, lots, numbered
from tournament.skill import Skill, skills


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    latest = drawn if isinstance(drawn, Latest) else Latest(drawn, results)
    there = [entrant for entrant in entrants if entrant.present and not entrant.gone]
    busy = {name for names in latest.playing for name in names}
    free = [*dict.fromkeys(each.name for each in there if each.free and each.name not in busy)]
    if len(free) < 2:
        return []
    last = last_opponents(free, drawn)

    def may_meet(one: str, other: str) -> bool:
        return len(there) == 2 or (last.get(one) != other and last.get(other) != one)

    if len(free) == 2 and met(latest.times, free[0], free[1]):  # as after most matches: nothing to weigh
        meetings = [swapped(free[0], free[1], latest)] if may_meet(free[0], free[1]) else []
        return numbered(drawn, [meetings], last_round(drawn) + 1)
    names = {*free, *(name for names in latest.times for name in names if name is not None)}
    known = skills(map(Entrant, names), results)
    meetings: list[tuple[str, str]] = []
    number = drawn[-1].number if drawn else 0
    last_of_all = {each.name for each in there if each.last}
    free = sorted(
        lots(free, (terms.seed, number)), key=lambda name: (name not in last_of_all, known[name].sigma)
    )
    while free:
        one = free.pop()
        mine, times = known[one], latest.met_by(one)
        costs = {
            other: (other in last_of_all, (1 + distance(mine, known[other])) ** 2 * (1 + times.get(other, 0)))
            for other in free
            if may_meet(one, other)
        }
        if costs:
            other = min(costs, key=costs.__getitem__)
            free.remove(other)
            meetings.append(swapped(one, other, latest))
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def last_opponents(names: Collection[str], drawn: Sequence[Pairing]) -> dict[str, str | None]:
    """Whom everybody who has had a pairing met in the last one."""
    found: dict[str, str | None] = {}
    sought = set(names)
    for pairing in reversed(drawn):
        for one, other in ((pairing.first, pairing.second), (pairing.second, pairing.first)):
            if one in sought:
                sought.discard(one)
                found[one] = other
        if not sought:
            break
    return found


def distance(one: Skill, other: Skill) -> float:
    """How surely the two differ in strength: nobody is far from an unknown entrant."""
    return abs(one.mu - other.mu) / hypot(one.sigma, other.sigma)


def swapped(one: str, other: str, latest: Latest) -> tuple[str, str]:
    """The two, with sides swapped since they last met; else starting with the smaller balance."""
    this_way, that_way = latest.last_met(one, other), latest.last_met(other, one)
    if this_way == that_way:  # they have not met
        return (one, other) if latest.balance[one] <= latest.balance[other] else (other, one)
    return (one, other) if this_way < that_way else (other, one)


FORMAT = Format(name="ladder", title="Ladder", draw=draw, order=("rating",), endless=True)
