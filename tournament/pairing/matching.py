"""The cheapest perfect matching of a complete graph, found among a few of its edges and proved against all.

Only edges that are likely to be matched are searched at first. Then every edge is held
against the duals that come with the matching. An edge that could make it cheaper has a
negative slack: such edges join, and the search goes on with the present duals. When no
such edge is left, no matching of the whole graph is cheaper.
"""

from typing import TYPE_CHECKING, Any

from tournament.pairing.blossoms import Edge, Matcher

if TYPE_CHECKING:  # numpy is slow to import, and only Swiss tournaments match
    import numpy as np
    from numpy.typing import NDArray

    Prices = NDArray[Any]  # symmetric; integers of 64 bits or, where these are too small, Python's own
    Numbers = NDArray[np.int64]

NEVER = -1  # the price of what cannot be matched
LARGEST = 2**58  # price or dual in 64 bits: the few that make a slack sum up to less than 2**63
DIGIT = 40  # bits: millions of such digits sum up to less than 2**63
CHEAPEST, SPREAD = 8, 4  # edges of a vertex to each kind of others: the cheapest, and some of the rest
LIKELY = 48  # edges of a vertex that are searched at first
JOINING = 4  # edges of a vertex that join at a time


def perfect(prices: "Prices", kinds: "Numbers") -> list[Edge]:
    """The perfect matching with the lowest sum of prices. There has to be one.

    Vertices of the same kind have similar prices. Kinds decide only how soon it is found.
    """
    import numpy as np

    matcher = Matcher(len(prices))
    twice = np.where(prices == NEVER, NEVER, 2 * prices)
    for one, others in enumerate(likely(prices, kinds).tolist()):
        for other, price in zip(others, twice[one, others].tolist(), strict=True):
            if price != NEVER:
                matcher.join(one, other, price)
    for one, other in any_matching(prices):
        matcher.join(one, other, int(twice[one, other]))
    matcher.dual = [min(near.values()) // 2 for near in matcher.near]
    digits = Digits(twice)
    while True:
        matcher.complete()
        cheaper = cheaper_edges(digits, matcher)
        if not cheaper:
            return [(one, other) for one, other in enumerate(matcher.mate) if one < other]
        matcher.add((one, other, int(twice[one, other])) for one, other in cheaper)


def likely(prices: "Prices", kinds: "Numbers") -> "Numbers":
    """A row for each vertex: the cheapest of a choice of others, which has some of every kind.

    If it were only the cheapest, all of one kind might have to share a few of another.
    """
    import numpy as np

    keys = np.where(prices == NEVER, np.inf, prices.astype(float))
    rows = np.arange(len(prices))[:, None]
    found: list[Numbers] = []
    for kind in np.unique(kinds).tolist():
        (others,) = np.nonzero(kinds == kind)
        order = np.argsort(keys[:, others], axis=1, kind="stable")
        dearer = len(others) - CHEAPEST
        if dearer > SPREAD:
            spread = CHEAPEST + (rows + np.arange(SPREAD) * (dearer // SPREAD)) % dearer
            order = np.concatenate((order[:, :CHEAPEST], np.take_along_axis(order, spread, 1)), axis=1)
        found.append(others[order])
    each = np.concatenate(found, axis=1)
    best = np.argsort(np.take_along_axis(keys, each, 1), axis=1, kind="stable")[:, :LIKELY]
    return np.take_along_axis(each, best, 1)


def any_matching(prices: "Prices") -> list[Edge]:
    """A perfect matching at any price: with its edges, those that are searched contain one."""
    left, matched = list(range(len(prices))), list[Edge]()
    while left:
        one = left.pop()  # from the end: only a bye, which is last, cannot be matched with everybody
        other = next(other for other in reversed(left) if prices[one, other] != NEVER)
        left.remove(other)
        matched.append((other, one))
    return matched


def cheaper_edges(twice: "Digits", matcher: Matcher) -> list[Edge]:
    """Edges whose slack is negative: for each vertex those with the least slack; empty if there are none."""
    import numpy as np

    blossoms = [blossom for blossom in matcher.blossoms() if blossom.dual]
    most = max(twice.most, *map(abs, matcher.dual), sum(blossom.dual for blossom in blossoms))
    digits = twice.of(most)
    duals = in_digits(np.array(matcher.dual, dtype=object), len(digits))
    inner = in_digits(np.array([blossom.dual for blossom in blossoms], dtype=object), len(digits))
    slack: list[Numbers] = []
    carry: Numbers | int = 0
    for place, digit in enumerate(digits):
        slack.append(digit - duals[place][:, None] - duals[place])
        for blossom, dual in zip(blossoms, inner[place].tolist(), strict=True):
            slack[place][np.ix_(blossom.leaves, blossom.leaves)] += dual
        slack[place] += carry
        if place < len(digits) - 1:
            carry = slack[place] >> DIGIT
            slack[place] &= (1 << DIGIT) - 1
    negative = (slack[-1] < 0) & ~twice.never
    found: dict[Edge, None] = {}
    for one in np.flatnonzero(negative.any(axis=1)).tolist():
        (others,) = np.nonzero(negative[one])
        order = np.lexsort([digit[one, others] for digit in slack])
        for other in others[order][:JOINING].tolist():
            found[min(one, other), max(one, other)] = None
    return list(found)


class Digits:
    """Prices as several numbers of 64 bits each: numpy adds these up faster than Python's own."""

    def __init__(self, prices: "Prices") -> None:
        self.never: Any = prices == NEVER
        self.most = int(prices.max())
        self._prices = prices
        self._digits: list[Numbers] = []

    def of(self, most: int) -> "list[Numbers]":
        """As many digits as the largest of all numbers to add up needs."""
        count = 1 if most <= LARGEST else most.bit_length() // DIGIT + 1
        if len(self._digits) != count:
            self._digits = in_digits(self._prices, count)
        return self._digits


def in_digits(numbers: "Prices", count: int) -> "list[Numbers]":
    """The digits of numbers, the lowest first; the highest has the sign."""
    import numpy as np

    found: list[Numbers] = []
    for _ in range(count - 1):
        found.append((numbers & ((1 << DIGIT) - 1)).astype(np.int64))
        numbers = numbers >> DIGIT
    return [*found, numbers.astype(np.int64)]
