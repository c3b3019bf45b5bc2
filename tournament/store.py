"""What a tournament needs of a store, and the store that forgets when the process ends.

A fact is kept before anybody is told what it says. Facts that exist once (a
tournament, an entrant, a match's beginning and its end) may be kept twice and are
stored once, so a caller that does not know whether a fact was kept may try again.
What is kept never changes.

Moves of matches in play, and what there is beside them, are jotted down now and
then: nobody waits for that, and a crash may lose the latest of them. A match that
the host has cut short goes on from them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import trio

from tournament.asides import Aside, before
from tournament.chain import START, heads
from tournament.entries import PAGE, Entry, concluded_key, entry, unique
from tournament.facts import AnyFact, Concluded, Kept


class Jottings(NamedTuple):
    """What is jotted down of a match in play."""

    moves: Sequence[Any] = ()  # as the game writes them
    times: Sequence[float] = ()  # seconds spent on each
    asides: Sequence[Aside] = ()

    def so_far(self) -> "Jottings":
        """A copy, with the asides up to the last of its moves."""
        moves = tuple(self.moves)
        return Jottings(moves, tuple(self.times), tuple(self.asides[: before(self.asides, len(moves))]))


class Conflict(Exception):
    """A fact that contradicts one that is kept: a fault of the host, and never to be smoothed over."""


class Stale(Conflict):
    """Another host holds the tournament by now, and may have written other facts."""


class Store(Protocol):
    trouble: str
    """Why nothing can be kept at present; "" while all is well."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called in the event loop whenever trouble begins or ends."""
        ...

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        """Keep these facts, all or none, after all that were asked for before. On return they are safe.

        Returns a receipt for each: the head of the tournament's chain that ends with it, in hexadecimal.

        In trouble it waits. While the store runs, this cannot be cancelled: the caller learns that a
        fact is kept, and the host never knows less than its store.
        """
        ...

    def kept(self) -> Iterable[Kept]:
        """All facts that are kept, in the order of keeping."""
        ...

    async def concluded(self, tournament: str, match: str) -> Concluded:
        """A match that is over, with all its moves; raises `KeyError` if there is none of that name."""
        ...

    async def receipt(self, tournament: str, match: str) -> str:
        """The receipt for a match's end; raises `KeyError` if no match of that name is over."""
        ...

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        """A tournament's facts as they are written: up to `PAGE` with numbers greater than `after`."""
        ...

    def jot(self, match: str, jottings: Jottings) -> None:
        """Keep what is added to the lists of `jottings`, before long, until the match is concluded.

        The store looks at them from time to time, so a move itself costs nothing. What they hold at first is
        kept already: the match goes on after a restart.
        """
        ...

    def jotted(self) -> Mapping[str, Jottings]:
        """What was jotted down for matches that are not concluded."""
        ...

    async def run(self) -> None:
        """Do the store's own work until cancelled. If this fails, the host ends."""
        ...


class Memory:
    """A `Store` for simulations, trials and tests."""

    def __init__(self, kept: Iterable[Kept] = ()) -> None:
        self.trouble = ""
        self._kept: list[Kept] = []
        self._entries: dict[str, list[Entry]] = defaultdict(list)
        self._heads: dict[str, bytes] = defaultdict(lambda: START)
        self._unique: dict[tuple[str, str], tuple[AnyFact, str]] = {}  # each with its receipt
        self._playing: dict[str, Jottings] = {}
        for each in kept:
            self._keep(each)

    def listen(self, listener: Callable[[], None]) -> None:
        """Memory is never in trouble."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        known = [self._receipt(tournament, fact) for fact in facts]  # before any of them is kept: all or none
        return [
            receipt or self._keep(Kept(tournament, when, fact))
            for receipt, fact in zip(known, facts, strict=True)
        ]

    def kept(self) -> Iterable[Kept]:
        return tuple(self._kept)

    async def concluded(self, tournament: str, match: str) -> Concluded:
        fact, _ = self._unique[tournament, concluded_key(match)]
        if not isinstance(fact, Concluded):
            raise KeyError(match)
        return fact

    async def receipt(self, tournament: str, match: str) -> str:
        return self._unique[tournament, concluded_key(match)][1]

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        return [each for each in self._entries[tournament] if each.number > after][:PAGE]

    def jot(self, match: str, jottings: Jottings) -> None:
        self._playing[match] = jottings

    def jotted(self) -> Mapping[str, Jottings]:
        return {match: jottings.so_far() for match, jottings in self._playing.items()}

    async def run(self) -> None:
        await trio.sleep_forever()

    def _keep(self, kept: Kept) -> str:
        """Keep a fact; returns its receipt."""
        row = entry(len(self._kept) + 1, kept.tournament, kept.when, kept.fact)
        self._kept.append(kept)
        self._entries[kept.tournament].append(row)
        receipt = heads([row], self._heads)[0].hex()
        if row.key is not None:
            self._unique[kept.tournament, row.key] = kept.fact, receipt
        if isinstance(kept.fact, Concluded):
            self._playing.pop(kept.fact.match, None)
        return receipt

    def _receipt(self, tournament: str, fact: AnyFact) -> str:
        """The receipt of a fact that is kept already; "" for any other."""
        kept, receipt = self._unique.get((tournament, unique(fact)), (None, ""))
        if kept is not None and kept != fact:
            raise Conflict(f"{tournament}: {kept} is kept, {fact} came")
        return receipt
