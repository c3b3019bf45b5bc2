"""Reading the journal in a SQLite file, also while a host writes it."""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import structlog

from server.exits import ConfigError, Unavailable
from server.store import schema
from server.store.journal import FIRST, LAST, LATEST, Jot, paged
from server.store.sqlite_database import (
    PASSING,
    Connect,
    Connection,
    copy,
    findings,
    primary_code,
    reading,
    refusal,
    unusable,
)
from tournament.entries import PAGE, Entry, concluded_key

MIGRATIONS = sorted((Path(__file__).parent / "migrations").glob("*.sql"))
COLUMNS = "number, tournament, at, kind, key, body, salt"  # of an entry

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class SqliteReader:
    """Reads what is kept and changes nothing, even while a host keeps more."""

    def __init__(
        self, path: Path, connect: Connect = reading, readers: int = 1, *, upgraded: bool = True
    ) -> None:
        """Raises `ConfigError` if there is nothing to read, in words for an organiser.

        Unless it has to be `upgraded`, it may be from an older Quintain: then only `check`, `is_journal` and
        `backup` are of use.
        """
        self._path = path
        self._connect = connect
        self._readers: SimpleQueue[Connection] = SimpleQueue()
        try:
            for _ in range(readers):
                self._readers.put(reader := connect(path))
                reader.execute("PRAGMA query_only = ON")
            with self._reader() as reader:
                version: int = reader.execute("PRAGMA user_version").fetchone()[0]
        except sqlite3.Error as error:
            self._hang_up()
            raise refusal(path, error) from error
        try:
            (schema.expect_this if upgraded else schema.refuse_newer)(path, version, len(MIGRATIONS))
        except ConfigError:
            self._hang_up()
            raise

    def last(self) -> int:
        return self._one(LAST)[0]

    def first(self) -> dict[str, int]:
        return dict(self._all(FIRST))

    def latest(self) -> dict[str, float]:
        return dict(self._all(LATEST))

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
        one = "" if tournament is None else "tournament = ? AND"
        query = f"SELECT {COLUMNS} FROM journal WHERE {one} number > ? ORDER BY number LIMIT ?"  # noqa: S608
        given = () if tournament is None else (tournament,)
        return paged(lambda number: self._all(query, *given, number, PAGE), after)

    def jotted(self) -> Iterator[Jot]:
        return (Jot(*row) for row in self._all("SELECT * FROM jotted ORDER BY match, ply"))

    def concluded(self, tournament: str, match: str) -> str | None:
        found = self._one(
            "SELECT body FROM journal WHERE tournament = ? AND key = ?", tournament, concluded_key(match)
        )
        return found and found[0]

    def receipt(self, tournament: str, match: str) -> str | None:
        found = self._one(
            "SELECT head FROM journal WHERE tournament = ? AND key = ?", tournament, concluded_key(match)
        )
        return found and found[0].hex()

    def backup(self, path: Path) -> None:
        with self._reader() as reader:  # perhaps the only connection that there can be
            reader.execute("PRAGMA query_only = OFF")
            try:
                copy(reader, path)
            finally:
                reader.execute("PRAGMA query_only = ON")

    def size(self) -> int:
        used = self._one("PRAGMA page_count")[0] - self._one("PRAGMA freelist_count")[0]
        return used * self._one("PRAGMA page_size")[0]

    def check(self) -> list[str]:
        try:
            with self._reader() as reader:
                return findings(reader.execute("PRAGMA integrity_check"))
        except sqlite3.DatabaseError as error:  # so damaged that it cannot even be looked at
            return [str(error)]

    def is_journal(self) -> bool:
        """Whether a host has made this: to SQLite an empty file is a sound database as well."""
        return self._one("SELECT count(*) FROM sqlite_master WHERE name = 'journal'")[0] > 0

    def close(self) -> None:
        self._hang_up()

    def _hang_up(self) -> None:
        while not self._readers.empty():
            self._readers.get().close()

    @contextmanager
    def _reader(self) -> Generator[Connection]:
        reader = self._readers.get()
        try:
            yield reader
        finally:
            self._readers.put(reader)

    def _all(self, sql: str, *parameters: object) -> list[Any]:
        """All rows at once: a reader that is lent is not closed with the others."""
        with self._reading() as reader:
            return reader.execute(sql, parameters).fetchall()

    def _one(self, sql: str, *parameters: object) -> Any:
        with self._reading() as reader:
            return reader.execute(sql, parameters).fetchone()

    @contextmanager
    def _reading(self) -> Generator[Connection]:
        """A reader. Raises `Unavailable`, or `Unusable` if what is kept is damaged."""
        try:
            with self._reader() as reader:
                yield reader
        except sqlite3.DatabaseError as error:
            self._expect_lasting(error)
            raise unusable(self._path, str(error)) from error

    def _expect_lasting(self, error: sqlite3.Error) -> None:
        """Raise `Unavailable` for an error after which trying again makes sense."""
        if reason := PASSING.get(primary_code(error)):
            raise Unavailable(f"{self._path}: {reason} ({error})") from error
