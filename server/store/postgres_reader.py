"""Reading the journal in a PostgreSQL database, also while a host writes it."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, LiteralString

import structlog

from server.exits import ConfigError, Unavailable
from server.store import schema
from server.store.copies import whole_or_none
from server.store.journal import FIRST, LAST, LATEST, Jot, paged
from server.store.postgres_database import (
    LOST,
    SILENCE,
    Connection,
    Database,
    line,
    psycopg,
)
from server.store.postgres_rows import batches
from tournament.entries import PAGE, Entry, concluded_key

MIGRATIONS = sorted((Path(__file__).parent / "migrations" / "postgres").glob("*.sql"))
JOTTED = "SELECT match, ply, moves, times FROM jotted ORDER BY match, ply"
UNCHAINED = "number, tournament, at, kind, key, body"  # of an entry before there were chains
COLUMNS = f"{UNCHAINED}, salt"  # of an entry
PAGE_OF_ALL = f"SELECT {COLUMNS} FROM journal WHERE number > %s ORDER BY number LIMIT %s"  # noqa: S608
PAGE_OF_ONE = f"""
    SELECT {COLUMNS} FROM journal WHERE tournament = %s AND number > %s ORDER BY number LIMIT %s
"""  # noqa: S608

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class PostgresReader:
    """Reads what is kept and changes nothing, even while a host keeps more."""

    def __init__(self, url: str) -> None:
        """Raises `ConfigError` if there is nothing to read, in words for an organiser."""
        self._database = Database(url)
        self.deadline = self._database.deadline
        self._using = threading.Lock()  # held to use the session that reads
        self._reader: Connection | None = None
        self._expect_schema()

    def last(self) -> int:
        return self._read(LAST)[0][0]

    def first(self) -> dict[str, int]:
        return dict(self._all(FIRST))

    def latest(self) -> dict[str, float]:
        return dict(self._all(LATEST))

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
        if tournament is None:
            return paged(lambda number: self._read(PAGE_OF_ALL, number, PAGE), after)
        return paged(lambda number: self._read(PAGE_OF_ONE, tournament, number, PAGE), after)

    def jotted(self) -> Iterator[Jot]:
        return (Jot(*row) for row in self._all(JOTTED))

    def concluded(self, tournament: str, match: str) -> str | None:
        query = "SELECT body FROM journal WHERE tournament = %s AND key = %s"
        found = self._read(query, tournament, concluded_key(match))
        return found[0][0] if found else None

    def receipt(self, tournament: str, match: str) -> str | None:
        query = "SELECT head FROM journal WHERE tournament = %s AND key = %s"
        found = self._read(query, tournament, concluded_key(match))
        return found[0][0].hex() if found else None

    def backup(self, path: Path) -> None:
        """Write an SQLite file, as every host does, so that a backup can be read anywhere."""
        self._copy(path, COLUMNS, lambda row: Entry(*row))

    def size(self) -> int:
        return 0

    def check(self) -> list[str]:
        """Read every row, and look at every index."""
        try:
            broken = self._read(
                "SELECT indexrelid::regclass::text FROM pg_index"
                " WHERE indrelid IN ('journal'::regclass, 'jotted'::regclass) AND NOT indisvalid"
            )
            list(self._all("SELECT sum(length(body)), sum(length(key)) FROM journal"))
            list(self._all("SELECT sum(length(moves)), sum(length(times)) FROM jotted"))
        except psycopg.DatabaseError as error:
            return [line(error)]
        return [f"the index {name} is not valid" for (name,) in broken]

    def close(self) -> None:
        self._drop_reader()

    # Within

    def _copy(self, path: Path, columns: LiteralString, entry: Callable[[tuple[Any, ...]], Entry]) -> None:
        from server.store.sqlite import Sqlite

        query = f"SELECT {columns} FROM journal ORDER BY number"  # noqa: S608
        try:
            with (
                whole_or_none(path) as part,
                self._database.session() as session,
                session.transaction(),
            ):
                session.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
                with closing(Sqlite(part)) as copy:
                    for rows in batches(session, query):
                        copy.write(list(map(entry, rows)))
                    for rows in batches(session, JOTTED):
                        copy.write([Jot(*row) for row in rows])
        except LOST as error:
            raise self._database.unavailable(error) from error

    def _expect_schema(self) -> None:
        try:
            self._database.expect_own_sessions()
            if self._read("SELECT to_regclass('quintain_schema')") == [(None,)]:
                raise schema.NothingKept(f"{self._database.where}: no host has kept anything here")
            version = self._read("SELECT max(version) FROM quintain_schema")[0][0]
            schema.expect_this(self._database.where, version or 0, len(MIGRATIONS))
        except (psycopg.Error, Unavailable) as error:
            self.close()
            raise self._database.unusable(error) from None
        except ConfigError:
            self.close()
            raise

    def _drop_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.close()

    def _read(self, query: LiteralString, *parameters: object) -> list[tuple[Any, ...]]:
        def fetch() -> list[tuple[Any, ...]]:
            if self._reader is None:
                self._reader = self._session_to_read()
            return self._reader.execute(query, parameters).fetchall()

        if not self._using.acquire(timeout=SILENCE):
            raise self._database.unavailable(Unavailable("others wait for an answer already"))
        try:
            return self._database.persistently(fetch, self._drop_reader)
        finally:
            self._using.release()

    def _session_to_read(self) -> Connection:
        session = self._database.session(SILENCE)
        session.execute("SET default_transaction_read_only = on")
        return session

    def _all(self, query: LiteralString) -> Iterator[tuple[Any, ...]]:
        """Read rows in a separate session, never holding all of them in memory. Raises `Unavailable`."""
        try:
            with self._database.session() as session, session.transaction():
                for rows in batches(session, query):
                    yield from rows
        except LOST as error:
            raise self._database.unavailable(error) from error
