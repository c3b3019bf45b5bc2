"""The parts of a page: what it shows first, and what its stream sends, made once for everybody.

A part has a place on its page and the tick of its latest change. So a client has to
be sent all parts that have changed since the tick that it has.
"""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cached_property
from itertools import chain
from typing import Protocol

import msgspec
from markupsafe import Markup

from server.pages import packing

BATCHES = 64  # of one page that are kept: clients say what they have and hide, and may say anything …
ROOM = 262_144  # … and bytes of them, beside the latest: there are hundreds of pages

Everywhere = Callable[[], Iterable[tuple[str, Markup]]]


class Event:
    """One event as it is sent, plain or packed; each form is made when it is first needed."""

    def __init__(self, kind: str = "part", **content: object) -> None:
        self._kind = kind
        self._content = content

    @cached_property
    def plain(self) -> bytes:
        return b"event: %b\ndata: %b\n\n" % (self._kind.encode(), msgspec.json.encode(self._content))

    @cached_property
    def packed(self) -> bytes:
        return packing.packed(self.plain)


class Look(Protocol):
    """What a page shows, as it is now."""

    @property
    def tournament(self) -> str:
        """The tournament that it is about, as it is kept; "" for none in particular."""
        ...

    def parts(self, now: float) -> Iterator[tuple[str, Markup]]:
        """The parts that may have changed, by the id of their place; between two, other tasks may run."""
        ...

    async def prepare(self) -> None:
        """Do slow work, before the first look and before any when nobody has looked for a while."""
        ...

    def items(self) -> Mapping[str, list[Markup]]:
        """The lists that only grow, by the id of their place; one that begins anew is another list."""
        ...


class Part:
    """The latest HTML of one part, and the tick of its last change."""

    __slots__ = ("changed", "event", "html")

    def __init__(self, place: str, html: Markup, changed: int) -> None:
        self.html = html
        self.changed = changed
        self.event = Event(place=place, html=str(html))


class LivePage:
    """A page that somebody looks at: its parts, and how they grew."""

    def __init__(self, look: Look, now: float, everywhere: Everywhere = tuple) -> None:
        """`everywhere` returns the parts that all pages have."""
        self.look = look
        self._everywhere = everywhere
        self.parts: dict[str, Part] = {}
        self.grown: dict[str, list[int]] = {}  # for each item of a list: the tick at which it was added
        self._lists: dict[str, list[Markup]] = {}
        self.latest = 0  # the tick of the last change
        self.spectators = 0
        self.left = now  # when the last spectator went, or somebody asked for the page
        self._batches: dict[tuple[int, frozenset[str], bool], bytes] = {}
        self._size = 0  # bytes of these

    def update(self, next_tick: Callable[[], int], now: float) -> Iterator[None]:
        """Note what has changed, in small steps, between which other tasks may run."""
        for place, html in chain(self.look.parts(now), self._everywhere()):
            old = self.parts.get(place)
            if old is None or old.html != html:
                self.parts[place] = Part(place, html, self._changed(next_tick))
            yield
        for place, items in self.look.items().items():
            if self._lists.get(place) is not items:
                self._lists[place], self.grown[place] = items, []
            ticks = self.grown[place]
            if len(items) > len(ticks):
                ticks += [self._changed(next_tick)] * (len(items) - len(ticks))

    def _changed(self, next_tick: Callable[[], int]) -> int:
        self.latest = next_tick()
        self._batches.clear()
        self._size = 0
        return self.latest

    def batch(self, after: int, hidden: frozenset[str], packs: bool) -> bytes:
        """What to send to a client that has everything up to a tick; made once for all such clients."""
        key = (after, hidden, packs)
        if (found := self._batches.get(key)) is None:
            while self._batches and (len(self._batches) >= BATCHES or self._size > ROOM):
                self._size -= len(self._batches.pop(next(iter(self._batches))))
            events = self._since(after, hidden)
            found = self._batches[key] = b"".join(each.packed if packs else each.plain for each in events)
            self._size += len(found)
        return found

    def _since(self, after: int, hidden: Collection[str]) -> Iterator["Event"]:
        for place, part in self.parts.items():
            if part.changed > after and place not in hidden:
                yield part.event
        for place, items in self.look.items().items():
            had = bisect_right(self.grown.get(place, []), after)
            if had < len(items):
                yield Event("items", place=place, html="".join(items[had:]), **{"from": had})
