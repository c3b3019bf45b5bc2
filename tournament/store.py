"""What a tournament needs of a store, and the store that forgets when the process ends.

A fact is kept before anybody is told of what it says. What there is one of (a
tournament, an entrant, a match's beginning and its end) may be kept twice and is
there once, so whoever does not know whether a fact was kept may try again; and
what is kept never changes.
"""

from collections.abc import Iterable, Sequence
from typing import Protocol

from tournament.record import AnyFact, Concluded, Dealt, Entered, Kept, Opened


class Conflict(Exception):
    """A fact that contradicts one that is kept: a fault of the host's, and never to be smoothed over."""


class Store(Protocol):
    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        """Keep these, all or none, after all that was asked for before. They are safe when this returns."""
        ...

    def kept(self) -> Iterable[Kept]:
        """Everything that is kept, in the order of keeping."""
        ...


class Memory:
    """A `Store` for simulations, trials and tests."""

    def __init__(self, kept: Iterable[Kept] = ()) -> None:
        self._kept = list(kept)
        self._unique = {
            (entry.tournament, key): entry.fact for entry in self._kept if (key := unique(entry.fact))
        }

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        fresh = [fact for fact in facts if not self._is_kept(tournament, fact)]
        self._unique |= {(tournament, key): fact for fact in fresh if (key := unique(fact))}
        self._kept += (Kept(tournament, when, fact) for fact in fresh)

    def kept(self) -> Iterable[Kept]:
        return tuple(self._kept)

    def _is_kept(self, tournament: str, fact: AnyFact) -> bool:
        kept = self._unique.get((tournament, unique(fact)))
        if kept is not None and kept != fact:
            raise Conflict(f"{tournament}: {kept} is kept, {fact} came")
        return kept is not None


def unique(fact: AnyFact) -> str:
    """What there is only one of in a tournament; "" for facts of which there may be any number."""
    match fact:
        case Opened():
            return "opened"
        case Entered(name=name):
            return f"entered {name}"
        case Dealt(match=match):
            return f"dealt {match}"
        case Concluded(match=match):
            return f"concluded {match}"
        case _:
            return ""
