"""How many turns another task has while something is done: few where the event loop is held."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import trio


class Turns:
    taken = 0


@asynccontextmanager
async def taking_turns() -> AsyncGenerator[Turns]:
    """Have a task that takes every turn it can get."""
    turns = Turns()

    async def take() -> None:
        while True:
            await trio.lowlevel.checkpoint()
            turns.taken += 1

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take)
        yield turns
        nursery.cancel_scope.cancel()
