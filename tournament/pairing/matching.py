"""The cheapest perfect matching of a complete graph, found among a few of its edges and proved against all.

Only edges that are likely to be matched are searched at first. Then every edge is held
against the duals that come with the matching. Whatever edge could make it cheaper has a
negative slack: such edges join, and the search goes on with the duals that there are.
When no edge is left that could, no matching of the whole graph is cheaper.
"""

from typing import TYPE_CHECKING, Any

from tournament.pairing.blossoms import Edge, Matcher

if TYPE_CHECKING:  # numpy is slow to import, and only Swiss tournaments match
    import numpy as np
    from numpy.typing import NDArray

    Prices = NDArray[Any]  # symmetric; integers of 64 bits or, where they are too small, Python's own
    Numbers = NDArray[np.int64]

NEVER = -1  # the price of what cannot be matched
LARGEST = 2**58  # price or dual in 64 bits: the few that make a slack sum up to less than 2**63
CHEAPEST, SPREAD = 8, 4  # edges of a vertex to each kind of others: the cheapest, and some of all the rest
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
    while True:
        matcher.complete()
        cheaper = cheaper_edges(twice, matcher)
        if not cheaper:
            return [(one, other) for one, other in enumerate(matcher.mate) if one < other]
        matcher.add((one, other, int(twice[one, other])) for one, other in cheaper)


def likely(prices: "Prices", kinds: "Numbers") -> "Numbers":
    """A row for each vertex: of each kind the cheapest others and some of the rest; of those, the cheapest.

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
    """A perfect matching at any price: with it, the edges that are searched contain one."""
    left, matched = list(range(len(prices))), list[Edge]()
    while left:
        one = left.pop()  # the last first: only a bye, which is last, cannot be matched with everybody
        other = next(other for other in reversed(left) if prices[one, other] != NEVER)
        left.remove(other)
        matched.append((other, one))
    return matched


def cheaper_edges(twice: "Prices", matcher: Matcher) -> list[Edge]:
    """Edges whose slack is negative: of each vertex those with the least, and none if there are none."""
    import numpy as np

    blossoms = list(matcher.blossoms())
    most = max(*map(abs, matcher.dual), sum(blossom.dual for blossom in blossoms))
    exact = twice if most <= LARGEST else twice.astype(object)
    dual = np.array(matcher.dual, dtype=exact.dtype)
    slack = exact - dual[:, None] - dual
    for blossom in blossoms:
        if blossom.dual:
            slack[np.ix_(blossom.leaves, blossom.leaves)] += blossom.dual
    slack[twice == NEVER] = 0
    negative = slack < 0
    found: dict[Edge, None] = {}
    for one in np.flatnonzero(negative.any(axis=1)).tolist():
        (others,) = np.nonzero(negative[one])
        for other in others[np.argsort(slack[one, others], kind="stable")][:JOINING].tolist():
            found[min(one, other), max(one, other)] = None
    return list(found)
