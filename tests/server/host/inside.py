"""A thinker that needs no child process, and the virtual clock's time."""

from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import trio

from games.brains import BRAINS
from games.catalogue import catalogue
from server.host.thinker import Thinker

FAR = 100  # positions


class Inside(Thinker):
    """Thinks within the loop, a few positions far; or fails at once, if it has something to fail with."""

    def __init__(self, *failures: Exception) -> None:
        super().__init__()
        self.asked: list[tuple[object, ...]] = []
        self._failures = [*failures]

    async def think(
        self,
        game: str,
        options: Mapping[str, Any],
        moves: Sequence[Any],
        brain: str,
        seconds: float,
        depth: int | None = None,
        *,
        seed: int = 0,
    ) -> Any:
        self.asked.append((game, brain, seconds))
        if self._failures:
            await trio.lowlevel.checkpoint()
            raise self._failures.pop()
        await trio.sleep(seconds)
        rules = catalogue()[game]
        position = rules.opening(options)
        for move in moves:
            position = position.play(rules.read(move, position))
        looked = count(1)
        return rules.write(BRAINS[brain](rules, seed)(position, lambda: next(looked) > FAR))
