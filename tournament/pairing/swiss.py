"""Swiss: a few rounds, in each of which everybody meets somebody who is doing about as well.

A round is drawn when the one before it is over. Every meeting has a price, made so
that each rule outweighs, over the whole round, all rules after it; the round is the
perfect matching of least price. `prices` contains all the rules.

Balanced sides come before close scores: in many games to be first is worth so
much that the scores would otherwise tell who was first more often.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from math import ceil, log2
from typing import Any

from tournament.format import Entrant, Format, Pairing, Result, Terms
from tournament.pairing.drawing import Meeting, Sides, here, last_round, lots, numbered, seeded, unfinished

Edge = tuple[int, int]  # two places, the better one first; the place after the last is the bye
Price = tuple[int, ...]

FEWEST = 3  # rounds, where there are opponents for so many
SPARE = 2  # opponents left over after the last round: with fewer, who is left may be who has met
RULES = 4  # so many first parts of a price are rules broken; the others tell good from better


def draw(
    entrants: Sequence[Entrant], drawn: Sequence[Pairing], results: Sequence[Result], terms: Terms
) -> list[Pairing]:
    names = here(entrants)
    round = last_round(drawn) + 1
    if unfinished(drawn, results) or len(names) < 2 or round > rounds(entrants, drawn, terms):
        return []
    points = Counter[str]()
    for result in results:
        for name, score in zip(result.pairing.names, result.score, strict=False):  # a bye has one name
            points[name] += int(2 * score)  # in halves: prices are whole numbers
    places = seeded(lots(names, terms.seed), entrants)
    places.sort(key=lambda name: -points[name])
    sides = Sides(drawn)
    meetings: list[Meeting] = []
    for one, other in cheapest(prices(places, points, sides, drawn), len(places)):
        if other == len(places):
            meetings.append((places[one], None))
        else:
            meetings.append(sides.fair(*lots((places[one], places[other]), (terms.seed, round))))
    return numbered(drawn, [meetings], round)


def rounds(entrants: Sequence[Entrant], drawn: Sequence[Pairing], terms: Terms) -> int:
    """As many as asked for; else one more than would leave one without a loss if sides did not matter.

    And that an odd number: before an odd round all are in balance, so that the leaders can meet in the last.
    """
    if terms.rounds is not None:
        return terms.rounds
    count = len({*here(entrants), *(name for pairing in drawn for name in pairing.names)})
    opponents = count - 1 + count % 2  # a bye among them
    enough = ceil(log2(count)) + 1 | 1
    return min(max(min(enough, opponents - SPARE), FEWEST), opponents)


def prices(
    places: Sequence[str], points: Mapping[str, int], sides: Sides, drawn: Sequence[Pairing]
) -> dict[Edge, Price]:
    """What each meeting costs, and where their number is odd each bye. In this order of weight:

    1. a bye for somebody who has had more byes than another
    2. a meeting, as often as the two have met
    3. a bye for more than the lowest score of those who are due one
    4. sides out of balance: see `strain`
    5. unequal scores, by the square of the difference
    6. between equals, anything but their top half against their bottom half in order; else, anything
       but neighbours; a bye for anybody but the last
    """
    byes = Counter(pairing.first for pairing in drawn if pairing.second is None)
    fewest = min(byes[name] for name in places)
    lowest = min(points[name] for name in places if byes[name] == fewest)
    equals = Counter(points[name] for name in places)
    found: dict[Edge, Price] = {}
    for low, other in enumerate(places):
        for high, one in enumerate(places[:low]):
            met = sides.times[one, other] + sides.times[other, one]
            apart = points[one] - points[other]
            wanted = 1 if apart else equals[points[one]] // 2
            found[high, low] = (0, met, 0, strain(one, other, sides), apart**2, abs(low - high - wanted))
        if len(places) % 2:
            above = max(0, points[other] - lowest)
            found[low, len(places)] = (byes[other] - fewest, 0, above, 0, 0, len(places) - 1 - low)
    return found


def strain(one: str, other: str, sides: Sides) -> int:
    """How far out of balance the two would get; and, a lesser evil, whether to a third time running."""
    first, second = sides.fair(one, other)
    beyond = max(0, sides.balance[first]) + max(0, -sides.balance[second])
    thirds = (sides.running[first] >= 2) + (sides.running[second] <= -2)
    return 3 * beyond + thirds


def cheapest(prices: Mapping[Edge, Price], places: int) -> list[Edge]:
    """The perfect matching of the least price; sooner found where no rule need be broken."""
    lawful = {edge: price for edge, price in prices.items() if not any(price[:RULES])}
    return perfect(lawful, places) or perfect(prices, places)


def perfect(prices: Mapping[Edge, Price], places: int) -> list[Edge]:
    """The perfect matching of the least price, by places, or nothing where there is none."""
    networkx: Any = import_module("networkx")  # slow to import, and only Swiss tournaments need it
    graph = networkx.Graph()
    graph.add_weighted_edges_from((*edge, -total) for edge, total in totals(prices, places).items())
    matching: list[Edge] = [
        (min(edge), max(edge)) for edge in networkx.max_weight_matching(graph, maxcardinality=True)
    ]
    return sorted(matching) if 2 * len(matching) >= places else []


def totals(prices: Mapping[Edge, Price], places: int) -> dict[Edge, int]:
    """Prices as numbers: the least of one part outweighs the most that all later ones can come to."""
    parts = list(zip(*prices.values(), strict=True))
    sums = [0] * len(prices)
    for part in reversed(parts):
        weight = 1 + places * max(sums)
        sums = [weight * more + less for more, less in zip(part, sums, strict=True)]
    return dict(zip(prices, sums, strict=True))


FORMAT = Format(
    name="swiss",
    title="Swiss",
    draw=draw,
    order=("points", "buchholz-cut-1", "buchholz", "sonneborn-berger", "wins"),
)
