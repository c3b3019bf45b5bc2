"""What every engine does about a journal from an older or newer Quintain, and about none at all."""

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import structlog

from server import supervised
from server.exits import ConfigError, Failure
from server.store import private
from server.store.data_folder import FULL

CHAINED = 2  # the first schema in which entries have heads
MUCH = 100_000  # entries, between two lines of the log about an upgrade: some seconds
NO_COPY = "the copy before an upgrade cannot be written"

T = TypeVar("T")

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class NothingKept(ConfigError):
    """No host has kept anything there yet."""


class Older(ConfigError):
    """An older Quintain has written it, and the next start of a host upgrades it."""


class Newer(ConfigError):
    """A newer Quintain has written it."""


def expect_this(where: object, version: int, newest: int) -> None:
    """Raise `NothingKept`, `Older` or `Newer` for a schema that whoever only reads cannot read."""
    refuse_newer(where, version, newest)
    if not version:
        raise NothingKept(f"{where}: no host has kept anything here")
    if version < newest:
        raise Older(
            f"{where}: was written by an older Quintain (schema {version}; this one reads {newest}): "
            "the next start of a host keeps a copy and upgrades it"
        )


def refuse_newer(where: object, version: int, newest: int) -> None:
    """Raise `Newer`, in words for an organiser, for a schema that this Quintain does not know."""
    if version > newest:
        raise Newer(f"{where}: was written by a newer Quintain (schema {version}; this one knows {newest})")


def keep_a_copy(
    version: int, newest: int, copies: Path, copy: Callable[[Path], None], last: Callable[[], int]
) -> None:
    """Copy the journal to the folder `copies`, if it has to be upgraded and was not copied yet.

    The copy's name has the number of its last entry: whoever went back to an older Quintain and comes again
    brings more than there was the first time. Raises `Failure` if it cannot be written.
    """
    if not 0 < version < newest:
        return
    kept = copies / f"before-schema-{version + 1}-{last()}.sqlite"
    try:
        if kept.exists():
            return
        private.make_folder(copies)
        log.info("what an older Quintain has kept is copied before it is upgraded", copy=str(kept))
        supervised.notify(supervised.MORE_TIME)
        copy(kept)
    except OSError as error:
        kind = Failure if error.errno in FULL else ConfigError
        raise kind(f"{kept}: {NO_COPY}: {error.strerror}") from None
    except sqlite3.OperationalError as error:  # any other error is damage in what would be copied
        raise Failure(f"{kept}: {NO_COPY}: {error}") from None
    log.info("a copy was kept before the upgrade", copy=str(kept))


def upgrading(rows: Iterable[T]) -> Iterator[T]:
    """Rows that are upgraded one after the other, which takes minutes if there are millions.

    The log says how far it is, and the service manager is asked to wait, or it would end the host, and have
    it begin again.
    """
    for number, row in enumerate(rows, 1):
        yield row
        if number % MUCH == 0:
            log.info("what an older Quintain has kept is upgraded", entries=number)
            supervised.notify(supervised.MORE_TIME)
