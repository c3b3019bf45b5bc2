"""Matches in play, of which a store jots down what is added."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from tournament.asides import Aside
from tournament.store import Jottings, Store


class Lists(NamedTuple):
    moves: list[Any]
    times: list[float]
    asides: list[Aside]

    def play(self, move: Any, spent: float = 0.5) -> None:
        self.moves.append(move)
        self.times.append(spent)


def played(
    store: Store, match: str, moves: Sequence[Any] = (), times: Sequence[float] | None = None
) -> Lists:
    """A match of which nothing was kept when it began, and in which these moves were played since."""
    lists = Lists([], [], [])
    store.jot(match, Jottings(*lists))
    for move, spent in zip(moves, [0.5] * len(moves) if times is None else times, strict=True):
        lists.play(move, spent)
    return lists


def gone_on_with(store: Store, match: str) -> Lists:
    """A match that goes on from what was kept of it."""
    lists = Lists(*map(list[Any], store.jotted().get(match, Jottings())))
    store.jot(match, Jottings(*lists))
    return lists
