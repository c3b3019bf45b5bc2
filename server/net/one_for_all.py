"""What is made once for all who ask for it at the same time, however many they are."""

from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

import trio

T = TypeVar("T")


class OneForAll(Generic[T]):
    def __init__(self, make: Callable[[], Awaitable[T]]) -> None:
        self._make = make
        self._making = trio.Lock()
        self._next: list[T] = []  # shared by all who have asked since the latest making began

    async def get(self) -> T:
        """What is made after this call: it is as new as if nobody else had asked."""
        mine = self._next
        async with self._making:
            if not mine:
                self._next = []
                mine.append(await self._make())
        return mine[0]
