"""A store that takes its time, so that much happens between a verdict and its being told."""

from collections.abc import Sequence
from random import Random

import trio

from tournament.facts import AnyFact
from tournament.store import Memory


class Unhurried(Memory):
    def __init__(self, latency: tuple[float, float], chance: Random) -> None:
        """`latency` is the fewest seconds and the most that it takes to keep something."""
        super().__init__()
        self._latency = latency
        self._chance = chance
        self._turn = trio.Lock()

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        with trio.CancelScope(shield=True):
            async with self._turn:
                await trio.sleep(self._chance.uniform(*self._latency))
                return await super().keep(tournament, when, facts)
