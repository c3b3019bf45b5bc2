"""Which dialects there are.

Nobody keeps a list. A module of this folder that declares `DIALECT` is a
dialect, and so is a folder whose module `dialect` does; so is anything that
another package declares under the entry point group `quintain.dialects`.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pkgutil import iter_modules
from types import MappingProxyType
from typing import TypeVar, cast

import structlog
import trio

import server.protocols
from games.catalogue import BadCatalogue, by_name, installed
from server.protocols.dialect import Dialect, OverHttp, OverTcp, OverWebsocket

GROUP = "quintain.dialects"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

Way = TypeVar("Way", OverTcp, OverWebsocket, OverHttp)


@cache
def dialects() -> Mapping[str, Dialect]:
    """Every dialect by its name."""
    others = tuple(installed(GROUP))
    found = by_name(Dialect, (*_own(), *others))
    for where, dialect in others:
        _expect_page(where, cast("Dialect", dialect))
    return found


def carried(by: type[Way]) -> Iterator[tuple[Dialect, Way]]:
    """The dialects that are carried in one way, each with what it says of that."""
    for dialect in dialects().values():
        for way in dialect.carried_by:
            if isinstance(way, by):
                yield dialect, way


@cache
def lines() -> tuple[OverTcp, ...]:
    """The ways over TCP, in the order in which they are asked: the one that takes all the rest is last."""
    ways = [way for _, way in carried(OverTcp)]
    if sum(way.recognises is None for way in ways) != 1:
        raise BadCatalogue("of the dialects over TCP exactly one takes whatever no other recognises")
    return tuple(sorted(ways, key=lambda way: way.recognises is None))


@cache
def frames() -> Mapping[str, OverWebsocket]:
    """The ways over websockets, by path."""
    found: dict[str, OverWebsocket] = {}
    for dialect, way in carried(OverWebsocket):
        if way.path in found:
            raise BadCatalogue(f"{dialect.name}: another dialect has the websocket path {way.path}")
        found[way.path] = way
    return MappingProxyType(found)


@cache
def spoken() -> Mapping[str, str]:
    """What people call the dialect at each websocket path."""
    return {way.path: dialect.title for dialect, way in carried(OverWebsocket)}


async def prepare() -> None:
    """Do the work that dialects need once after the host's start, in a thread."""
    for dialect in dialects().values():
        if dialect.prepare is not None:
            try:
                await trio.to_thread.run_sync(dialect.prepare, abandon_on_cancel=True)
            except Exception as error:  # it only does ahead of time what is done when it is needed
                log.error("a dialect fails to prepare", dialect=dialect.name, exc_info=error)


def _expect_page(where: str, dialect: Dialect) -> None:
    """Raises `BadCatalogue` if somebody else's dialect has no page where it says: a wheel may lack it."""
    try:
        if dialect.page is not None:
            dialect.page.read_text(encoding="utf-8")
    except Exception as error:  # it need not even be a path
        raise BadCatalogue(f"{where}: its page cannot be read: {error}") from error


def _own() -> Iterator[tuple[str, object]]:
    for module in iter_modules(server.protocols.__path__, "server.protocols."):
        name = f"{module.name}.dialect" if module.ispkg else module.name
        if not module.ispkg or find_spec(name) is not None:
            declared = getattr(import_module(name), "DIALECT", None)
            if declared is not None:
                yield name, declared
