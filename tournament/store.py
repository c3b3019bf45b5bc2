"""What a tournament needs of a store, and the store that forgets when the process ends.

A fact is kept before anybody is told what it says. Facts that exist once (a
tournament, an entrant, a match's beginning and its end) may be kept twice and are
stored once, so whoever does not know whether a fact was kept may try again. What is
kept never changes.

Moves of matches in play are jotted down now and then: nobody waits for that, and
a crash may lose the latest of them. They show a match that the host cut short.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

import trio

from tournament.record import AnyFact, Concluded, Dealt, Entered, Kept, Opened

Story = tuple[tuple[Any, ...], tuple[float, ...]]  # moves as the game writes them; seconds spent on each


class Conflict(Exception):
    """A fact that contradicts one that is kept: a fault of the host's, and never to be smoothed over."""


class Store(Protocol):
    trouble: str
    """Why nothing can be kept at present; "" while all is well."""

    def listen(self, listener: Callable[[], None]) -> None:
        """Have `listener` called in the event loop whenever trouble begins or ends."""
        ...

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        """Keep these, all or none, after all that was asked for before. They are safe when this returns.

        In trouble it waits. While the store runs it cannot be cancelled: whoever asked for a fact learns
        that it is kept, and the host never knows less than its store.
        """
        ...

    def kept(self) -> Iterable[Kept]:
        """Everything that is kept, in the order of keeping."""
        ...

    async def concluded(self, tournament: str, match: str) -> Concluded:
        """One match with all its moves; raises `KeyError` where none of that name is over."""
        ...

    def jot(self, match: str, moves: Sequence[Any], times: Sequence[float], written: int = 0) -> None:
        """Keep what is added to these lists, some time soon, until the match is concluded.

        They hold the moves of a match that begins, as its game writes them, and the seconds spent on
        each. The store looks at them from time to time, so a move itself costs nothing. Of a match that
        goes on after a restart, so many are `written` already.
        """
        ...

    def jotted(self) -> Mapping[str, Story]:
        """What was jotted down of matches that are not concluded."""
        ...

    async def run(self) -> None:
        """Do the store's own work until cancelled. If this fails, the host ends."""
        ...


class Memory:
    """A `Store` for simulations, trials and tests."""

    def __init__(self, kept: Iterable[Kept] = ()) -> None:
        self.trouble = ""
        self._kept = list(kept)
        self._unique = {
            (entry.tournament, key): entry.fact for entry in self._kept if (key := unique(entry.fact))
        }
        self._playing: dict[str, tuple[Sequence[Any], Sequence[float]]] = {}

    def listen(self, listener: Callable[[], None]) -> None:
        """Memory is never in trouble."""

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        fresh = [fact for fact in facts if not self._is_kept(tournament, fact)]
        self._unique |= {(tournament, key): fact for fact in fresh if (key := unique(fact))}
        self._kept += (Kept(tournament, when, fact) for fact in fresh)
        for fact in fresh:
            if isinstance(fact, Concluded):
                self._playing.pop(fact.match, None)

    def kept(self) -> Iterable[Kept]:
        return tuple(self._kept)

    async def concluded(self, tournament: str, match: str) -> Concluded:
        fact = self._unique.get((tournament, concluded_key(match)))
        if not isinstance(fact, Concluded):
            raise KeyError(match)
        return fact

    def jot(self, match: str, moves: Sequence[Any], times: Sequence[float], written: int = 0) -> None:
        self._playing[match] = moves, times

    def jotted(self) -> Mapping[str, Story]:
        return {match: (tuple(moves), tuple(times)) for match, (moves, times) in self._playing.items()}

    async def run(self) -> None:
        await trio.sleep_forever()

    def _is_kept(self, tournament: str, fact: AnyFact) -> bool:
        kept = self._unique.get((tournament, unique(fact)))
        if kept is not None and kept != fact:
            raise Conflict(f"{tournament}: {kept} is kept, {fact} came")
        return kept is not None


def unique(fact: AnyFact) -> str:
    """A key for a fact of which a tournament has only one; "" for any other fact."""
    match fact:
        case Opened():
            return "opened"
        case Entered(name=name):
            return f"entered {name}"
        case Dealt(match=match):
            return f"dealt {match}"
        case Concluded(match=match):
            return concluded_key(match)
        case _:
            return ""


def concluded_key(match: str) -> str:
    """`unique` of a match's end."""
    return f"concluded {match}"
