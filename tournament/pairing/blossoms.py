"""The cheapest perfect matching of a graph with few edges: Edmonds' algorithm, one tree at a time.

Every vertex has a dual, and so has every *blossom*: an odd circle of vertices, or of
smaller blossoms, that acts as one vertex. The *slack* of an edge is its price minus the
duals of its ends plus the duals of all blossoms that contain both. If no slack is
negative and every matched edge has none, no perfect matching is cheaper.

A search starts at a vertex without a mate and grows a tree of edges that have no slack.
Blossoms of the tree are by turns outer, where duals grow, and inner, where they shrink.
The search jumps from one moment at which something happens to the next, until it reaches
another vertex without a mate. Meanwhile, a dual is kept as what it would have been at
moment 0 if it had always changed as it does now. So the passing of time costs nothing.

All numbers are integers, and prices are even so that halves of a slack are integers too.
Prices, and which edges are likely to be matched, come from `matching.py`.
"""

from collections.abc import Iterable, Iterator
from heapq import heappop, heappush

Edge = tuple[int, int]

FREE, OUTER, INNER = 0, 1, -1  # the sign with which duals of vertices change
REACH, MEET, EXPAND = 0, 1, 2  # events: an edge to a free vertex or between outer ones; an inner dual of 0
NOBODY = -1  # instead of a mate
NOWHERE = (NOBODY, NOBODY)  # instead of an edge


class Blossom:
    """An odd circle of blossoms, or a single vertex. All of its vertices but the base are matched inside."""

    __slots__ = ("base", "children", "dual", "entry", "label", "leaves", "links", "parent")

    def __init__(self, leaves: list[int], base: int) -> None:
        self.leaves = leaves  # all its vertices
        self.base = base
        self.parent: Blossom | None = None
        # Around the circle, beginning with that of the base; matched 1–2, 3–4 …
        self.children: list[Blossom] = []
        self.links: list[Edge] = []  # from each child to the next
        self.dual = 0
        self.label = FREE
        self.entry: Edge = NOWHERE  # the edge of the tree that leads here; the root has none


class Matcher:
    """A graph, the duals of its vertices, and which of them are matched so far."""

    def __init__(self, size: int) -> None:
        self.near: list[dict[int, int]] = [{} for _ in range(size)]  # prices of the edges of each vertex
        self.dual = [0] * size  # such that no slack is negative
        self.mate = [NOBODY] * size
        self._start_without_blossoms()
        self._start_without_a_tree()

    def join(self, one: int, other: int, price: int) -> None:
        """Add an edge."""
        self.near[one][other] = self.near[other][one] = price

    def complete(self) -> None:
        """Match all vertices. There has to be a way to do so."""
        for one, mate in enumerate(self.mate):
            if mate == NOBODY:
                self._raise_alone(one)
        for one in range(len(self.mate)):
            if self.mate[one] == NOBODY:
                self._search(one)

    def blossoms(self) -> Iterator[Blossom]:
        """All blossoms of more than one vertex, also those within others."""
        todo = list(dict.fromkeys(self._top))
        while todo:
            blossom = todo.pop()
            if blossom.children:
                yield blossom
                todo += blossom.children

    def add(self, edges: Iterable[tuple[int, int, int]]) -> None:
        """Join edges whose slack may be negative. Some vertices lose their mates; all blossoms are undone."""
        for blossom in self.blossoms():
            for leaf in blossom.leaves:
                self.dual[leaf] -= blossom.dual // 2
        self._start_without_blossoms()
        for one, other, price in edges:
            self.join(one, other, price)
            lower = one if self.mate[one] == NOBODY else other
            self.dual[lower] += min(0, price - self.dual[one] - self.dual[other])
        for one, other in enumerate(self.mate):
            if other != NOBODY and self.near[one][other] != self.dual[one] + self.dual[other]:
                self.mate[one] = self.mate[other] = NOBODY

    def _start_without_blossoms(self) -> None:
        self._single = [Blossom([vertex], vertex) for vertex in range(len(self.mate))]
        self._top = self._single[:]  # the outermost blossom around each vertex

    def _start_without_a_tree(self) -> None:
        self._now = 0
        self._events: list[tuple[int, int, int, int]] = []  # when, what, and between which two
        self._tree: list[Blossom] = []  # every blossom that has or had a label
        self._reached: dict[int, int] = {}  # when a free vertex will be reached
        self._end: int | None = None  # when one without a mate will be reached: later moments do not matter

    def _raise_alone(self, one: int) -> None:
        """Raise one dual as far as it will go, and match without a search if that is enough."""
        dual, mate = self.dual, self.mate
        slack, taken, other = min(
            (price - dual[one] - dual[other], mate[other] != NOBODY, other)
            for other, price in self.near[one].items()
        )
        dual[one] += slack
        if not taken:
            mate[one], mate[other] = other, one

    def _search(self, root: int) -> None:
        """Match the root and one more vertex; others may change mates."""
        top, mate, dual = self._top, self.mate, self.dual
        self._start_without_a_tree()
        self._label(top[root], OUTER, NOWHERE)
        self._scan(top[root].leaves)
        while True:
            self._now, event, one, other = heappop(self._events)
            if event == REACH:
                found = top[other]
                if found.label != FREE or self.near[one][other] - dual[one] - dual[other] != self._now:
                    continue  # it has been part of the tree since
                if mate[found.base] == NOBODY:
                    self._augment(one, other)
                    break
                self._label(found, INNER, (one, other))
                follower = mate[found.base]
                self._label(top[follower], OUTER, (found.base, follower))
                self._scan(top[follower].leaves)
            elif event == MEET:
                if top[one] is not top[other]:
                    self._shrink(one, other)
            else:
                inner = self._tree[one]
                if inner.label == INNER and inner.dual == 2 * self._now:
                    self._expand(inner)
        for blossom in self._tree:
            self._unlabel(blossom)

    def _label(self, blossom: Blossom, label: int, entry: Edge) -> None:
        blossom.label, blossom.entry = label, entry
        blossom.dual -= 2 * label * self._now
        for leaf in blossom.leaves:
            self.dual[leaf] -= label * self._now
        self._tree.append(blossom)
        if label == INNER and blossom.children:
            heappush(self._events, (blossom.dual // 2, EXPAND, len(self._tree) - 1, 0))

    def _unlabel(self, blossom: Blossom) -> None:
        blossom.dual += 2 * blossom.label * self._now
        for leaf in blossom.leaves if blossom.label else ():
            self.dual[leaf] += blossom.label * self._now
        blossom.label = FREE

    def _scan(self, leaves: Iterable[int]) -> None:
        """Note when the edges of outer vertices will have no slack."""
        top, dual, reached, end = self._top, self.dual, self._reached, self._end
        for one in leaves:
            here, mine = top[one], dual[one]
            for other, price in self.near[one].items():
                there = top[other]
                slack = price - mine - dual[other]
                if there.label == FREE:
                    if (end is None or slack < end) and slack < reached.get(other, slack + 1):
                        reached[other] = slack
                        heappush(self._events, (slack, REACH, one, other))
                        if self.mate[there.base] == NOBODY:
                            end = slack
                elif there.label == OUTER and there is not here and (end is None or slack < 2 * end):
                    heappush(self._events, (slack // 2, MEET, one, other))
        self._end = end

    def _shrink(self, one: int, other: int) -> None:
        """Make a blossom of the circle that an edge between two outer vertices closes."""
        top = self._top
        common = self._common(top[one], top[other])
        down = [*self._way(top[one], common)][::-1]
        up = [*self._way(top[other], common)]
        children = [common, *down, *up]
        blossom = Blossom([leaf for child in children for leaf in child.leaves], common.base)
        blossom.children = children
        blossom.links = [*(child.entry for child in down), (one, other), *(back(child.entry) for child in up)]
        fresh = [leaf for child in children if child.label == INNER for leaf in child.leaves]
        for child in children:
            child.parent = blossom
            self._unlabel(child)
        for leaf in blossom.leaves:
            top[leaf] = blossom
        self._label(blossom, OUTER, common.entry)
        self._scan(fresh)

    def _way(self, blossom: Blossom, end: Blossom | None) -> Iterator[Blossom]:
        """From a blossom towards the root, as far as the end."""
        while blossom is not end:
            yield blossom
            if blossom.entry == NOWHERE:
                return
            blossom = self._top[blossom.entry[0]]

    def _common(self, one: Blossom, other: Blossom) -> Blossom:
        """The first on both ways to the root: both are followed by turns, since it is usually near."""
        seen = set[Blossom]()
        ways = [self._way(one, None), self._way(other, None)]
        while True:
            for way in ways:
                blossom = next(way, None)
                if blossom in seen:
                    return blossom
                if blossom is not None:
                    seen.add(blossom)

    def _expand(self, blossom: Blossom) -> None:
        """Replace an inner blossom without a dual with its children, some of which stay in the tree."""
        self._unlabel(blossom)
        for child in blossom.children:
            child.parent = None
            for leaf in child.leaves:
                self._top[leaf] = child
        at, size = blossom.children.index(self._top[blossom.entry[1]]), len(blossom.children)
        if at % 2:  # the way to the base that leaves a child by its matched edge first
            staying, links = [*range(at, size), 0], blossom.links[at:]
        else:
            staying, links = [*range(at, -1, -1)], [*map(back, reversed(blossom.links[:at]))]
        fresh: list[int] = []
        for step, (index, leads) in enumerate(zip(staying, (blossom.entry, *links), strict=True)):
            child = blossom.children[index]
            self._label(child, OUTER if step % 2 else INNER, leads)
            fresh += child.leaves if step % 2 else ()
        for child in blossom.children:
            for leaf in child.leaves if child.label == FREE else ():
                self._reached.pop(leaf, None)
                for other, price in self.near[leaf].items():
                    if self._top[other].label == OUTER:
                        when = price - self.dual[leaf] - self.dual[other]
                        heappush(self._events, (when, REACH, other, leaf))
        self._scan(fresh)

    def _augment(self, one: int, other: int) -> None:
        """Match along the tree, from an edge to a vertex without a mate back to the root."""
        self._rebase(self._top[other], other)
        while True:
            self.mate[one], self.mate[other] = other, one
            outer = self._top[one]
            self._rebase(outer, one)
            if outer.entry == NOWHERE:
                return
            inner = self._top[outer.entry[0]]
            one, other = inner.entry
            self._rebase(inner, other)

    def _rebase(self, blossom: Blossom, base: int) -> None:
        """Match inside a blossom so that the base is what is left over."""
        todo = [(blossom, base)]
        while todo:
            blossom, blossom.base = todo.pop()
            if not blossom.children:
                continue
            child = self._single[blossom.base]
            while child.parent is not None and child.parent is not blossom:
                child = child.parent
            children, links = blossom.children, blossom.links
            at, size = children.index(child), len(children)
            todo.append((child, blossom.base))
            for index in range(at + 1, size, 2) if at % 2 else range(0, at, 2):
                one, other = links[index]
                self.mate[one], self.mate[other] = other, one
                todo += [(children[index], one), (children[(index + 1) % size], other)]
            blossom.children, blossom.links = children[at:] + children[:at], links[at:] + links[:at]


def back(edge: Edge) -> Edge:
    return edge[1], edge[0]
