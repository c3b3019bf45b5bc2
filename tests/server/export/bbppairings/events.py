"""Events whose files bbpPairings was given, and where it is kept what it said of them (see README.md).

Lots decide who meets, so no change of a format changes the events.
"""

from pathlib import Path
from random import Random

from tests.tournament.holding import Held, field
from tournament.format import Entrant, Pairing, Result, Score, Terms, formats

EVENTS = 6
PLAYED, PLANNED = 5, 6  # rounds: the program draws the one that is to come
LATE, LEFT = "p1", "p2"  # enters in the third round; leaves in the second, and forfeits its match there
SCORES: tuple[Score, ...] = ((1.0, 0.0), (0.5, 0.5), (0.0, 1.0))


def event(seed: int) -> Held:
    """Byes, a forfeit, a late entry, a withdrawal; with and without ratings, of even and odd numbers."""
    random = Random(seed)
    entrants = [Entrant(each.name, random.choice((None, 900.0, 1500.4))) for each in field(24 + seed)]
    held = Held(formats()["swiss"], entrants, Terms(PLANNED, seed))
    met: set[frozenset[str | None]] = set()
    for round in range(1, PLAYED + 1):
        here = [each.name for each in entrants]
        if round < 3:
            here.remove(LATE)
        else:
            here.remove(LEFT)
        pairs = by_lot(random, here, met)
        met |= set(map(frozenset, pairs))
        for first, second in pairs:
            pairing = Pairing(len(held.drawn) + 1, round, first, second)
            held.drawn.append(pairing)
            held.results.append(result(random, pairing))
    held.withdraw(LEFT)
    return held


def by_lot(random: Random, names: list[str], met: set[frozenset[str | None]]) -> list[tuple[str, str | None]]:
    """Nobody meets anybody, or has a bye, twice."""
    while True:
        random.shuffle(names)
        pairs = list(zip(names[::2], [*names[1::2], None], strict=False))
        if met.isdisjoint(map(frozenset, pairs)):
            return pairs


def result(random: Random, pairing: Pairing) -> Result:
    if pairing.second is None:
        return Result(pairing, (1.0, 0.0), played=False)
    if pairing.round == 2 and LEFT in pairing.names:
        return Result(pairing, (float(pairing.second == LEFT), float(pairing.first == LEFT)), played=False)
    return Result(pairing, random.choice(SCORES))


def kept(number: int, what: str) -> Path:
    return Path(__file__).with_name(f"{number}.{what}")


def falsified(text: str) -> str:
    """With half a point too many for the first who has three."""
    return text.replace(" 3.0 ", " 3.5 ", 1)
