"""An SQLite file as hosts see it: connections, what its errors mean, copies, and what is said of it."""

import os
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

import structlog

from server.exits import ConfigError, Failure, Unavailable, Unusable
from server.store.copies import BESIDE, backups, newest, whole_or_none

SOUND = (3, 51, 3)  # the first version without a rare bug in resetting the write-ahead log
BUSY_TIMEOUT = 5000  # milliseconds to wait for another process that has locked the database
PASSING = {  # errors after which trying again makes sense, by SQLite's primary code
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_IOERR: "the disk fails",
    sqlite3.SQLITE_BUSY: "somebody else has locked it",
    sqlite3.SQLITE_LOCKED: "somebody else has locked it",
    sqlite3.SQLITE_READONLY: "it is read-only",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}
# Errors after which a later start may get on; nobody has to go back to a backup for them.
TRIED_AGAIN = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
# What SQLite says where it cannot put anything beside a database.
UNWRITABLE = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Connection(Protocol):
    """What is needed of a connection, which is `sqlite3`'s or, in tests, one that simulates the disk."""

    @property
    def in_transaction(self) -> bool: ...
    @property
    def total_changes(self) -> int: ...
    def execute(self, sql: str, parameters: Sequence[Any] = ..., /) -> Any: ...
    def executescript(self, sql: str, /) -> Any: ...
    def close(self) -> None: ...


Connect = Callable[[Path], Connection]


def reading(path: Path) -> Connection:
    """A connection for whoever only reads, also on a disk that takes nothing any more: full, or read-only.

    There SQLite cannot open a database that was closed, because it wants a write-ahead log beside it. Where
    nothing is in one, and nobody can make one, no host has it open. Where something is, it wants an index of
    that log, unless nobody else may read meanwhile.
    """
    connection = connected(path)
    try:
        connection.execute("PRAGMA user_version")
    except sqlite3.Error as error:  # also that it is no database
        connection.close()
        if primary_code(error) not in UNWRITABLE:
            raise
        log_of_writes = path.with_name(path.name + "-wal")
        if not (log_of_writes.exists() and log_of_writes.stat().st_size):
            return only_read(path)
        with suppress(sqlite3.Error):  # what was wrong before is what an organiser should know
            return alone(path)
        raise
    return connection


def alone(path: Path) -> Connection:
    """A connection that locks all others out, and so has the index of the write-ahead log in memory."""
    connection = connected(path)
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("PRAGMA user_version")
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def only_read(path: Path) -> sqlite3.Connection:
    """A connection that cannot change the file or put anything beside it."""
    address = f"file:{quote(str(path))}?mode=ro&immutable=1"
    return sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)


def connected(path: Path) -> Connection:
    return sqlite3.connect(path, timeout=BUSY_TIMEOUT / 1000, isolation_level=None, check_same_thread=False)


def warn_of_faults() -> None:
    if sqlite3.sqlite_version_info < SOUND:
        log.warning(
            "this SQLite has a rare fault that may damage a database; newer ones do not",
            version=sqlite3.sqlite_version,
            sound=".".join(map(str, SOUND)),
        )


def copy(connection: Connection, target: Path) -> None:
    """Copy all of it as of now."""
    with whole_or_none(target) as part:
        connection.execute("VACUUM INTO ?", (str(part),))


def primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def findings(rows: Iterable[tuple[str]]) -> list[str]:
    """What SQLite finds wrong with a database; one row may have several findings, under a heading."""
    lines = (line for (said,) in rows for line in said.splitlines())
    return [line for line in lines if line != "ok" and not line.startswith("***")]


def expect_file(path: Path) -> None:
    """Raise `Unusable` where there is something else, such as a folder: some containers mount one instead."""
    if path.exists() and not path.is_file():
        raise unusable(path, "it is a folder, or something else that is no file (move it away)")


def expect_rights(path: Path) -> None:
    """Raise `ConfigError` for a file that this process may not write: SQLite does not say which it is."""
    for file in (path, *(path.with_name(path.name + end) for end in BESIDE)):
        expect_file(file)
        if file.exists() and not os.access(file, os.R_OK | os.W_OK):
            raise ConfigError(
                f"{file}: expected a file that this host may read and write, found a file that it may not: "
                "perhaps another user has started a host here"
            )


def refusal(path: Path, error: sqlite3.Error) -> Failure:
    """Why a database is not opened; `Unavailable` where a later start may get on."""
    if primary_code(error) in TRIED_AGAIN:
        return Unavailable(f"{path}: {PASSING[primary_code(error)]} ({error})")
    return unusable(path, str(error))


def unusable(path: Path, why: str) -> Unusable:
    """What is told of a database that is damaged, with the newest backup."""
    folder = backups(path)
    copy = newest(folder)
    advice = f"there is no backup in {folder}" if copy is None else f"the newest backup is {copy}"
    return Unusable(f"{path}: this database cannot be used: {why}; {advice}")
