"""A program of the tests that is told to end: it also ends the processes that it has started."""

import signal
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager

import trio


@asynccontextmanager
async def ended_in_order() -> AsyncGenerator[None]:
    """Cancel the block upon SIGTERM, which would end this process at once, and exit when it is done.

    A host that it has started would go on otherwise, and nobody would know whose it is.
    """
    told = False

    async def wait(task_status: trio.TaskStatus[None]) -> None:
        nonlocal told
        with trio.open_signal_receiver(signal.SIGTERM) as signals:
            task_status.started()
            async for _ in signals:
                told = True
                nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        await nursery.start(wait)
        yield
        nursery.cancel_scope.cancel()
    if told:
        sys.exit(128 + signal.SIGTERM)


@contextmanager
def signals_as_before() -> Iterator[None]:
    """Put back what answers the signals that end a program: a host that has ended leaves its own answer."""
    before = [(number, signal.getsignal(number)) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)
