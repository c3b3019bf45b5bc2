"""A round of a Swiss tournament by the price of every meeting and networkx's matching: slow, and obvious.

It takes the cube of the field. The host has to find rounds that break as few of the same rules.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from tournament.format import Pairing
from tournament.pairing.drawing import Sides

Edge = tuple[int, int]  # two places, the better one first; the place after the last is the bye
Price = tuple[int, ...]

AGAIN = 9  # what such a float costs, where a difference of half a point costs 1
FURTHEST = 4  # halves of a point: the difference that balanced sides may cost
RULES = 5  # the first parts of a price, which count broken rules; the other parts are preferences


def prices(
    places: Sequence[str],
    points: Mapping[str, int],
    sides: Sides,
    drawn: Sequence[Pairing],
    floats: Mapping[str, str],
    furthest: int = FURTHEST,
) -> dict[Edge, Price]:
    """The price of each meeting and, if the number of entrants is odd, of each bye.

    It charges for these, most important first:

    1. a bye for somebody who has had more byes than another
    2. each time that the two have met before
    3. a bye for somebody with more than the lowest score of those who are due one
    4. scores further apart than `furthest` halves of a point, by how much further
    5. sides out of balance: see `strain`
    6. unequal scores, by the square of the difference, and each float in the same direction as in the last
       round, which is "up" or "down" in `floats`
    7. distance from the usual order: for equals, top half against bottom half; for others, neighbours;
       for a bye, the last
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
            again = (floats.get(one) == "down") + (floats.get(other) == "up") if apart else 0
            order = abs(low - high - wanted)
            beyond = max(0, apart - furthest)
            unequal = apart**2 + AGAIN * again
            found[high, low] = (0, met, 0, beyond, strain(one, other, sides), unequal, order)
        if len(places) % 2:
            above = max(0, points[other] - lowest)
            found[low, len(places)] = (
                *(byes[other] - fewest, 0, above, 0, 0),
                *(AGAIN * (floats.get(other) == "down"), len(places) - 1 - low),
            )
    return found


def strain(one: str, other: str, sides: Sides) -> int:
    """How far out of balance the two would get and, weighing less, who gets a side a third time running."""
    first, second = sides.fair(one, other)
    beyond = max(0, sides.balance[first]) + max(0, -sides.balance[second])
    thirds = (sides.running[first] >= 2) + (sides.running[second] <= -2)
    return 3 * beyond + thirds


def cheapest(prices: Mapping[Edge, Price], places: int) -> list[Edge]:
    """The perfect matching of the lowest price; the search is faster if no rule need be broken."""
    lawful = {edge: price for edge, price in prices.items() if not any(price[:RULES])}
    return perfect(lawful, places) or perfect(prices, places)


def perfect(prices: Mapping[Edge, Price], places: int) -> list[Edge]:
    """The perfect matching of the lowest price, by places; empty if there is none."""
    networkx: Any = import_module("networkx")  # its types are incomplete
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
