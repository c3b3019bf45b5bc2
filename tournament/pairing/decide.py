"""Decide: entrants whose place is in doubt play on, until it is settled who is the best.

It begins with a few rounds of a round robin. From then on, half of the pairs of each round are two
who may both be the best, or have any other place that is to be settled: two random draws of
everybody's strength differ in them (top-two sampling). The other half are the two between whom the
least is decided, for the first place that is open. Each meeting is taken into account for the next.
All meet with sides swapped at once, so sides are balanced. A round is drawn when the one before is
over. No round is drawn when all is decided (`tournament/deciding.py`), or when as many matches were
drawn as there may be.

An entrant that stays away is not drawn again and again: that would use up the matches and
decide nothing. It is drawn once more when the others are decided; then the tournament ends without
it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING

from msgspec import UnsetType
from msgspec.structs import replace

from tournament.deciding import (
    DIGITS,
    EACH,
    Claim,
    Decision,
    Outlook,
    claims,
    decision,
    most_times,
    needed_by_each,
    open_claims,
    wanted,
)
from tournament.format import Aim, Entrant, Format, Pairing, Result, Terms
from tournament.meetings import Meetings
from tournament.pairing import round_robin
from tournament.pairing.drawing import Meeting, here, last_round, lots, numbered
from tournament.posterior import games_of

if TYPE_CHECKING:  # numpy is slow to import, and only who decides needs it
    from numpy.random import Generator

OPENING = 3  # rounds of a round robin: with these everybody is connected with everybody
TRIED = 50  # random draws of strengths, until two differ
AWAY = 2 * OPENING  # matches in a row that an entrant lost without playing: it may come back later …
GONE = AWAY + 2  # … but after so many, it is gone


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    names = here(entrants)
    aim = aim_of(terms)
    left = most(entrants, aim) - len(drawn)
    if len(results) < len(drawn) or len(names) < 2 or left <= 0:
        return []
    if not drawn:
        return numbered(drawn, opening(lots(names, terms.seed)), 1)[:left]
    outlook = outlook_on(names, results)
    missed = unplayed(results)
    order = outlook.order([name for name in names if missed[name] < AWAY])
    needed = needed_by_each(len(contenders(names, missed, results)), aim)  # as when it is told who has won
    meetings = chosen(outlook, order, aim, (terms.seed, len(drawn)), needed)
    if not meetings:  # all is decided
        late = [name for name in names if AWAY <= missed[name] < GONE]
        meetings = [(best, name) for best in order[:1] for name in late]
    return numbered(drawn, both_ways(meetings), last_round(drawn) + 1)[:left]


def opening(names: Sequence[str]) -> list[list[Meeting]]:
    """The first rounds."""
    return [each for round in round_robin.table(names)[:OPENING] for each in both_ways(round)]


def aim_of(terms: Terms) -> Aim:
    return terms.aim or Aim()


def pairs(entrants: int, terms: Terms) -> int:
    """Between how many pairs it has to be settled who is better."""
    return claims(entrants, wanted(entrants, aim_of(terms)))


def aim_objection(format: str, entrants: int | None, aim: Aim | UnsetType) -> str:
    """Why this aim is impossible; empty if it is not."""
    if isinstance(aim, UnsetType):
        return ""
    if format != FORMAT.name:
        return f"confidence, places, within and games are of the format {FORMAT.name}, not of {format}"
    if not 0.5 <= aim.confidence < 1:
        return f"a confidence is at least 0.5 and less than 1, not {aim.confidence:g}"
    if not 1 <= aim.within <= 1000:
        return f"differences from 1 to 1000 Elo may count as equal, not {aim.within:g}"
    if aim.places < 0 or (entrants is not None and aim.places > entrants):
        return f"with {entrants} entrants, 0 (all) to {entrants} places can be settled, not {aim.places}"
    if aim.games is not None and aim.games < 1:
        return f"at least one match has to be played, not {aim.games}"
    return ""


def most(entrants: Sequence[Entrant], aim: Aim) -> int:
    """How many matches there may be."""
    return EACH * len(entrants) if aim.games is None else aim.games


def outlook_on(names: Collection[str], results: Iterable[Result]) -> Outlook:
    """The outlook after these results; nothing is known of those without any."""
    meetings = Meetings()
    for result in results:
        meetings.add(result)
    return Outlook(games_of(meetings, names))


def decided_by(entrants: Iterable[Entrant], results: Collection[Result], terms: Terms) -> Decision:
    """What a tournament has decided."""
    names, missed = here(entrants), unplayed(results)
    known = contenders(names, missed, results)
    found = decision(outlook_on(names, results), known, aim_of(terms))
    if away := {name for name in known if missed[name] >= AWAY}:  # nobody waits for the claims about these
        found = replace(found, times=most_times([each for each in found.open if away.isdisjoint(each.both)]))
    return found if results else replace(found, settled=0)  # nobody has won by being alone before it begins


def unplayed(results: Iterable[Result]) -> Counter[str]:
    """How many matches in a row, up to the last, each entrant has lost without playing them."""
    missed: Counter[str] = Counter()
    for result in sorted(results, key=lambda result: result.pairing.number):
        for name, score in zip(result.pairing.names, result.score, strict=False):
            if result.played:
                missed[name] = 0
            elif score == 0:
                missed[name] += 1
    return missed


def contenders(names: Iterable[str], missed: Counter[str], results: Iterable[Result]) -> list[str]:
    """Those whose places have to be settled: whoever stays away, and never played, comes after them all."""
    played = {name for result in results if result.played for name in result.pairing.names}
    return [name for name in names if name in played or missed[name] < AWAY]


def chosen(
    outlook: Outlook, order: Sequence[str], aim: Aim, seed: object, needed: float
) -> list[tuple[str, str]]:
    """The pairs that meet next, of those in doubt: enough for a round; none if all is decided.

    Each pair changes the outlook. A claim is open until there is as much evidence as is `needed`.
    """
    import numpy as np

    random = np.random.default_rng([*sha256(str(seed).encode()).digest()])
    meetings: list[tuple[str, str]] = []
    still: list[Claim] = []
    place, places = 0, wanted(len(order), aim)
    for number in range(max(1, len(order) // 2)):
        # More games are more evidence for any claim that can be made, so a settled place stays settled.
        while place < places and not (still := open_claims(outlook, order, place, aim.within, needed)):
            place += 1
        if place == places:
            break
        pair = in_doubt(outlook, order, places, random) if number % 2 else None
        one, other = pair or least_decided(still)
        outlook.play(one, other)
        meetings.append((one, other))
    return meetings


def least_decided(still: Sequence[Claim]) -> tuple[str, str]:
    """The claim to test about the first open place: near equals further down can wait until it is settled."""
    least = min(still, key=lambda claim: round(claim.evidence, DIGITS))
    return least.better, least.worse


def in_doubt(
    outlook: Outlook, names: Sequence[str], places: int, random: "Generator"
) -> tuple[str, str] | None:
    """The two who have the same place in two random draws of strengths: the first place that differs."""
    orders: list[list[int]] = (-outlook.draws(names, TRIED, random)).argsort(axis=1)[:, :places].tolist()
    for order in orders[1:]:
        for one, other in zip(orders[0], order, strict=True):
            if one != other:
                return names[one], names[other]
    return None


def both_ways(meetings: Iterable[Meeting]) -> list[list[Meeting]]:
    """Two rounds, the second with sides swapped."""
    there = [(one, other) for one, other in meetings if other is not None]
    return [[*there], [(other, one) for one, other in there]]


FORMAT = Format(
    name="decide",
    title="Decide",
    draw=draw,
    # 1: before near equals were taken as equal; 2: before the first open place came first; 3: before it
    # passed over entrants that stay away; 4: before matches against somebody disqualified said nothing; 5:
    # before claims about those who stay away shared the risk
    rules=6,
    order=("strength",),
    decides=True,
    pairs=pairs,
)
