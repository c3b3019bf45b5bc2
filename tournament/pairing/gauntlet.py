"""Gauntlet: the first entrant meets all others, and they do not meet one another.

Everything is drawn at the start: `rounds` times round (twice unless told
otherwise), and every second time from the last opponent back to the first. So the
first entrant's sides alternate throughout, and with an even number of rounds every
pair has both sides equally often. If that entrant goes, nothing more is drawn.
"""

from collections import Counter
from collections.abc import Sequence

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.pairing.drawing import Meeting, Sides, here, numbered

ROUNDS = 2  # once on either side


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    names = here(entrants)
    started = drawn[0].names if drawn else names
    one = next((entrant.name for entrant in entrants if entrant.name in started), None)
    if one is None or one not in names:
        return []
    others = [name for name in names if name != one]
    met = Counter(name for pairing in drawn for name in pairing.names)
    sides = Sides(drawn)
    rounds: list[list[Meeting]] = []
    for round in range(1, (ROUNDS if terms.rounds is None else terms.rounds) + 1):
        rounds.append([])
        for other in others if round % 2 else reversed(others):
            if met[other] < round:
                first, second = sides.fair(one, other)
                sides.add(first, second)
                rounds[-1].append((first, second))
    return numbered(drawn, rounds, 1)


FORMAT = Format(
    name="gauntlet",
    title="Gauntlet",
    draw=draw,
    order=("points", "wins", "wins-as-second"),
    annuls=True,
    rounds=lambda count, terms: ROUNDS if terms.rounds is None else terms.rounds,
)
