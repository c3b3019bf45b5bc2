"""Round robin: everybody meets everybody once.

Everything is drawn at the start. The rounds are an order to play in and never a
barrier: a match is dealt as soon as both of its players are free.

Names stand for 0, 1, 2 … by lot. With an odd number m of them, in round r (from 0)
r idles and r + k meets r − k (mod m), the former being first if k is odd. Seen from
one player, k runs down to 0 and up again, so its sides always alternate, and it is
first as often as second. One more player, who meets whoever would idle, makes it a
table for an even number. That costs each player except two one repetition of a side,
and fewer are not possible: only two rows of sides alternate throughout, and players
that share a row could never meet.
"""

from collections.abc import Sequence
from itertools import accumulate, chain, zip_longest

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.pairing.drawing import Sides, here, last_round, lots, numbered

Leg = list[list[tuple[str, str]]]  # rounds of (first, second)

ORDER = ("points", "direct-encounter", "sonneborn-berger", "wins", "wins-as-second")


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    return numbered(drawn, leg(entrants, drawn, terms.seed), last_round(drawn) + 1)


def leg(entrants: Sequence[Entrant], drawn: Sequence[Pairing], seed: object) -> Leg:
    """Everybody against everybody; once that is drawn, those who came later against everybody."""
    names = lots(here(entrants), seed)
    return catching_up(names, drawn) if drawn else table(names)


def table(names: Sequence[str]) -> Leg:
    """A whole round robin, as the top of this file describes it."""
    odd = len(names) - 1 + len(names) % 2
    rounds: Leg = []
    for r in range(odd):
        steps = range(1, odd // 2 + 1)
        pairs = [(r + k, r - k) if k % 2 else (r - k, r + k) for k in steps]
        meetings = [(names[first % odd], names[second % odd]) for first, second in pairs]
        if odd < len(names):
            meetings.append((names[odd], names[r]) if r % 2 else (names[r], names[odd]))
        rounds.append(meetings)
    return rounds


def catching_up(names: Sequence[str], drawn: Sequence[Pairing]) -> Leg:
    """Those who came late, one after another, against all who are in already.

    If nobody has gone, every balance stays within one. Of an even number, half have been first once
    more and half once less, and a newcomer evens them out; of an odd number, all are even.
    """
    in_already = {pairing.first for pairing in drawn} | {pairing.second for pairing in drawn}
    known = [name for name in names if name in in_already]
    late = [name for name in names if name not in in_already]
    if not late:
        return []
    sides = Sides(drawn)
    rounds: Leg = []
    for name in late:
        for first, second in alternating(name, known, sides):
            sides.add(first, second)
            free = (meetings for meetings in rounds if not {first, second} & set(chain(*meetings)))
            meetings = next(free, None)
            if meetings is None:
                rounds.append(meetings := [])
            meetings.append((first, second))
        known.append(name)
    return rounds


def alternating(name: str, others: Sequence[str], sides: Sides) -> list[tuple[str, str]]:
    """One against all others, by turns first and second.

    It is first against those who have been first too often, as many times as
    makes the sum of the squares of all balances smallest.
    """
    others = sorted(others, key=lambda other: -sides.balance[other])
    spent = [0, *accumulate(sides.balance[other] for other in others)]

    def squares(firsts: int) -> int:  # without the part that does not depend on `firsts`
        return (sides.balance[name] + 2 * firsts - len(others)) ** 2 - 4 * spent[firsts]

    firsts = min(range(len(others) + 1), key=squares)
    as_first = [(name, other) for other in others[:firsts]]
    as_second = [(other, name) for other in others[firsts:]]
    return [pair for pair in chain(*zip_longest(as_first, as_second)) if pair is not None]


def rounds(count: int, terms: Terms) -> int:
    """How many rounds this many entrants make."""
    return max(0, count - 1 + count % 2)


FORMAT = Format(name="round-robin", title="Round robin", draw=draw, order=ORDER, annuls=True, rounds=rounds)
