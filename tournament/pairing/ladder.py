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

from collections.abc import Collection, Mapping, Sequence
from math import hypot

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.latest import Latest, Times, met
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
    last = last_pairings(free, drawn)
    if len(free) == 2 and met(latest.times, free[0], free[1]):  # as after most matches: nothing to weigh
        again = len(there) == 2 or not running(free[0], free[1], last)
        meetings = [swapped(free[0], free[1], drawn, latest.times)] if again else []
        return numbered(drawn, [meetings], last_round(drawn) + 1)
    names = {*free, *(name for names in latest.times for name in names if name is not None)}
    known = skills(map(Entrant, names), results)

    def cost(one: str, other: str) -> float:
        return (1 + distance(known[one], known[other])) ** 2 * (1 + met(latest.times, one, other))

    meetings: list[tuple[str, str]] = []
    number = drawn[-1].number if drawn else 0
    last_of_all = {each.name for each in there if each.last}
    free = sorted(
        lots(free, (terms.seed, number)), key=lambda name: (name not in last_of_all, known[name].sigma)
    )
    while free:
        one = free.pop()
        others = [other for other in free if len(there) == 2 or not running(one, other, last)]
        if others:
            other = min(others, key=lambda other: (other in last_of_all, cost(one, other)))
            free.remove(other)
            meetings.append(swapped(one, other, drawn, latest.times))
    return numbered(drawn, [meetings], last_round(drawn) + 1)


def last_pairings(names: Collection[str], drawn: Sequence[Pairing]) -> dict[str, Pairing]:
    """The last pairing of everybody who has had one."""
    found: dict[str, Pairing] = {}
    sought = set(names)
    for pairing in reversed(drawn):
        if pairing.first in sought or pairing.second in sought:
            found |= dict.fromkeys(sought.intersection(pairing.names), pairing)
            sought.difference_update(pairing.names)
            if not sought:
                break
    return found


def running(one: str, other: str, last: Mapping[str, Pairing]) -> bool:
    """Whether either of them would meet the same opponent twice in a row."""
    return any({one, other} == {*last[name].names} for name in (one, other) if name in last)


def distance(one: Skill, other: Skill) -> float:
    """How surely the two differ in strength: nobody is far from an unknown entrant."""
    return abs(one.mu - other.mu) / hypot(one.sigma, other.sigma)


def swapped(one: str, other: str, drawn: Sequence[Pairing], times: Times) -> tuple[str, str]:
    """The two, with sides swapped since they last met; else starting with the one first less often."""
    if met(times, one, other):
        last = next(pairing for pairing in reversed(drawn) if {one, other} == {*pairing.names})
        return last.second or "", last.first
    return (one, other) if balance(one, times) <= balance(other, times) else (other, one)


def balance(name: str, times: Times) -> int:
    """Times first minus times second."""
    return sum(count * ((first == name) - (second == name)) for (first, second), count in times.items())


FORMAT = Format(name="ladder", title="Ladder", draw=draw, order=("rating",), endless=True)
