"""Swiss: a few rounds, in each of which everybody meets somebody who is doing about as well.

A round is drawn when the one before it is over. Every possible meeting has a price,
and the round is the perfect matching with the lowest sum of prices, in which each
rule outweighs all rules after it. `prices` contains all the rules.

Balanced sides come before close scores: in many games, being first is such an
advantage that scores would otherwise show who was first more often. They come before
no more than two points of difference, though.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.pairing.drawing import Meeting, Sides, here, last_round, lots, numbered, seeded, unfinished
from tournament.pairing.matching import LARGEST, NEVER, perfect

if TYPE_CHECKING:  # numpy is slow to import, and only Swiss tournaments draw with it
    from tournament.pairing.matching import Numbers, Prices

FEWEST = 3  # rounds, if there are opponents for so many
AGAIN = 9  # the square of a point and a half, in halves: what another float in the same direction costs
FURTHEST = 4  # halves of a point that balanced sides may cost; two who are further apart meet if they must
SPARE = 2  # opponents not yet met after the last round: with fewer, all who are left to pair may have met


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    names = here(entrants)
    round = last_round(drawn) + 1
    if unfinished(drawn, results) or len(names) < 2 or round > rounds(entrants, drawn, terms):
        return []
    points = halves(results)
    places = seeded(lots(names, terms.seed), entrants)
    places.sort(key=lambda name: -points[name])
    sides = Sides(drawn)
    meetings: list[Meeting] = []
    for one, other in perfect(*prices(places, points, sides, drawn, floated(drawn, results))):
        if other == len(places):
            meetings.append((places[one], None))
        else:
            meetings.append(sides.fair(*lots((places[one], places[other]), (terms.seed, round))))
    return numbered(drawn, [meetings], round)


def halves(results: Iterable[Result]) -> Counter[str]:
    """Everybody's points, in halves because prices are whole numbers."""
    points = Counter[str]()
    for result in results:
        for name, score in zip(result.pairing.names, result.score, strict=False):  # a bye has one name
            points[name] += int(2 * score)
    return points


def floated(drawn: Sequence[Pairing], results: Sequence[Result]) -> Mapping[str, int]:
    """Who met somebody with other points in the last round: −1 for fewer points, or a bye, and 1 for more."""
    last = last_round(drawn)
    points = halves(result for result in results if result.pairing.round < last)
    found: dict[str, int] = {}
    for pairing in reversed(drawn):
        if pairing.round < last:
            break
        first, second = pairing.first, pairing.second
        if second is None:
            found[first] = -1
        elif points[first] != points[second]:
            found[first] = 1 if points[first] < points[second] else -1
            found[second] = -found[first]
    return found


def rounds(entrants: Sequence[Entrant], drawn: Sequence[Pairing], terms: Terms) -> int:
    """How many rounds there are, for all who have ever taken part."""
    return rounds_of(len({*here(entrants), *(name for pairing in drawn for name in pairing.names)}), terms)


def rounds_of(count: int, terms: Terms) -> int:
    """As many as asked for; else one more than would leave a single entrant without a loss, made odd.

    Before an odd round everybody's sides are balanced, so the leaders can meet in the last one.
    """
    if terms.rounds is not None:
        return terms.rounds
    opponents = count - 1 + count % 2  # a bye among them
    enough = ceil(log2(count)) + 1 | 1
    return min(max(min(enough, opponents - SPARE), FEWEST), opponents)


def plan(count: int, terms: Terms) -> list[int]:
    """How many matches each round has."""
    return [count // 2] * rounds_of(count, terms) if count > 1 else []


def prices(
    places: Sequence[str],
    points: Mapping[str, int],
    sides: Sides,
    drawn: Sequence[Pairing],
    floats: Mapping[str, int],
) -> tuple["Prices", "Numbers"]:
    """The price of each meeting and, if the number of entrants is odd, of each bye; and everybody's kind.

    A bye is a meeting with the place after the last. It is never for somebody who has had more byes than
    another. The prices charge for these, most important first:

    1. each time that the two have met before
    2. a bye for somebody with more than the lowest score of those who are due one
    3. scores further apart than `FURTHEST`, by how much further
    4. sides out of balance: see `strain`
    5. unequal scores, by the square of the difference, and each float in the same direction as in the last
       round, as much as `AGAIN` says
    6. distance from the usual order: for equals, top half against bottom half; for others, neighbours;
       for a bye, the last
    """
    import numpy as np

    score = np.array([points[name] for name in places])
    balance = np.array([sides.balance[name] for name in places])
    running = np.array([sides.running[name] for name in places])
    had = Counter(pairing.first for pairing in drawn if pairing.second is None)
    byes = np.array([had[name] for name in places])
    due = byes == byes.min()
    above = np.maximum(0, score - score[due].min())
    times = firsts(places, sides)
    apart = np.abs(score - score[:, None])
    place = np.arange(len(places))
    equals = np.searchsorted(-score, -score, "right") - np.searchsorted(-score, -score, "left")
    wanted = np.where(apart == 0, equals // 2, 1)
    disorder = np.abs(np.abs(place - place[:, None]) - wanted)
    none = np.zeros_like(place)
    last = np.array([floats.get(name, 0) for name in places])
    total = totals(
        [
            (times + times.T, none),
            (none, above),
            (np.maximum(0, apart - FURTHEST), none),
            (strain(balance, times, running), none),
            (apart**2 + AGAIN * repeats(score, last), AGAIN * (last < 0)),
            (disorder, place[::-1]),
        ]
    )
    total[len(places) :, : len(places)][:, ~due] = total[: len(places), len(places) :][~due] = NEVER
    kinds = np.unique(np.stack((score, balance)), axis=1, return_inverse=True)[1]
    return total, np.append(kinds, [-1] * (len(places) % 2))


def firsts(places: Sequence[str], sides: Sides) -> "Numbers":
    """How often the place of the row was first against that of the column."""
    import numpy as np

    found = np.zeros((len(places), len(places)), np.int64)
    index = {name: place for place, name in enumerate(places)}
    for (first, second), times in sides.times.items():
        if first in index and second in index:
            found[index[first], index[second]] = times
    return found


def strain(balance: "Numbers", times: "Numbers", running: "Numbers") -> "Numbers":
    """How far out of balance the two would get and, weighing less, who gets a side a third time running.

    Who would be first is as `Sides.fair` says.
    """
    import numpy as np

    behind = 4 * np.sign(balance[:, None] - balance) + 2 * np.sign(times - times.T)
    leads = behind + np.sign(running[:, None] - running) <= 0
    as_first = 3 * np.maximum(0, balance) + (running >= 2)
    as_second = 3 * np.maximum(0, -balance) + (running <= -2)
    return np.where(leads, as_first[:, None] + as_second, as_second[:, None] + as_first)


def repeats(score: "Numbers", last: "Numbers") -> "Numbers":
    """How many of the two would again meet an opponent with more points, or again one with fewer."""
    import numpy as np

    direction = np.sign(score - score[:, None])  # of the row, if it meets the column
    again = (direction != 0) & (direction == last[:, None])
    return again.astype(np.int64) + again.T


def totals(charges: Sequence[tuple["Numbers", "Numbers"]]) -> "Prices":
    """Prices as numbers: the least of one part outweighs the most that all later ones can come to.

    A part is what is charged for each pair, and for the bye, of which there is one at most.
    """
    import numpy as np

    count = len(charges[0][1])
    total, most = np.zeros((count + count % 2,) * 2, np.int64), 0
    for pairs, byes in reversed(charges):
        part, weight = np.zeros_like(total), 1 + most
        part[:count, :count] = pairs
        part[count:, :count], part[:count, count:] = byes, byes[:, None]
        highest = np.broadcast_to(pairs, (count, count)).max(axis=1)  # of each row: two share a meeting
        most += weight * (int(highest.sum()) // 2 + count % 2 * int(byes.max()))
        if weight * (1 + int(part.max())) > LARGEST:
            total, part = total.astype(object), part.astype(object)
        total = total + weight * part
    np.fill_diagonal(total, NEVER)
    return total


FORMAT = Format(
    name="swiss",
    title="Swiss",
    draw=draw,
    # 1: before floats had a price, and balanced sides a limit; 2: before points that were had from somebody
    # disqualified since
    rules=3,
    order=("points", "buchholz-cut-1", "buchholz", "sonneborn-berger", "wins"),
    plan=plan,
    prices=True,
)
