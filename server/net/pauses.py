"""Going through many values bit by bit: whoever else has something to do gets its turn in between."""

from collections.abc import Iterable
from typing import Generic, Self, TypeVar

import trio

T = TypeVar("T")


class WithPauses(Generic[T]):
    """The values as of now, one by one, with a turn for other tasks after every so many.

    It is not a generator, so that a loop over it may be left at any time.
    """

    def __init__(self, values: Iterable[T], at_a_time: int) -> None:
        self._values = iter(tuple(values))
        self._at_a_time = at_a_time
        self._left = at_a_time  # before the next pause

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        if self._left == 0:
            self._left = self._at_a_time
            await trio.lowlevel.checkpoint()
        self._left -= 1
        for value in self._values:
            return value
        raise StopAsyncIteration
