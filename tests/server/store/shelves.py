"""The stores there are, each with a way to open it again: what the laws of stores are tried on."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import trio

from server.store.journal import Engine
from server.store.ledger import Ledger
from server.store.postgres import Postgres
from server.store.sqlite import Sqlite
from tournament.store import Memory, Store

Shelf = Callable[[], AbstractAsyncContextManager[Store]]  # opens what was closed before


def memory(folder: Path) -> Shelf:
    kept = Memory()

    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        yield kept

    return opened


def on(engine: Callable[[], Engine]) -> Shelf:
    """A ledger on an engine that is opened and closed with it."""

    @asynccontextmanager
    async def opened() -> AsyncIterator[Store]:
        now = engine()
        try:
            async with trio.open_nursery() as nursery:
                ledger = Ledger(now)
                nursery.start_soon(ledger.run)
                yield ledger
                nursery.cancel_scope.cancel()
        finally:
            now.close()

    return opened


def sqlite(folder: Path) -> Shelf:
    return on(lambda: Sqlite(folder / "quintain.sqlite"))


def postgres(url: str) -> Shelf:
    return on(lambda: Postgres(url))


SHELVES: dict[str, Callable[[Path], Shelf]] = {"memory": memory, "sqlite": sqlite}
