"""How many turns tasks have while something is done: another one, or all in each round of the event loop."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Self

import trio


class Turns:
    taken = 0


class Rounds(trio.abc.Instrument):
    """How many tasks had their turn in each round of the event loop."""

    def __init__(self) -> None:
        self.turns = [0]

    def before_io_wait(self, timeout: float) -> None:
        self.turns.append(0)

    def after_task_step(self, task: trio.lowlevel.Task) -> None:
        self.turns[-1] += 1

    def __enter__(self) -> Self:
        trio.lowlevel.add_instrument(self)
        return self

    def __exit__(self, *_: object) -> None:
        trio.lowlevel.remove_instrument(self)


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
