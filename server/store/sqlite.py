"""The journal in one SQLite file: the store of a host for which nothing was set up.

It has a write-ahead log, and a commit is on the disk when it returns. One
connection writes and checkpoints; others only read.
"""

import sqlite3
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import structlog

from server.exits import ConfigError, Failure, Unavailable
from server.store import private, schema
from server.store.copies import BESIDE, backups
from server.store.journal import LAST, Jot, over, paged
from server.store.ledger import READERS
from server.store.reserve import Reserve
from server.store.sqlite_database import (
    BUSY_TIMEOUT,
    DAMAGED,
    Connect,
    Connection,
    connected,
    copy,
    expect_rights,
    findings,
    primary_code,
    refusal,
    unusable,
)
from server.store.sqlite_reader import COLUMNS, MIGRATIONS, SqliteReader
from server.store.whereabouts import Whereabouts
from tournament.chain import START, Heads, heads
from tournament.entries import PAGE, Entry, salted
from tournament.store import Conflict

WAL_BYTES = 64 << 20  # the size to which the write-ahead log is cut back after it had to grow
LARGE = 64 << 20  # bytes: a larger database is examined after it has been opened, as that takes seconds
BATCH = 200  # rows in a statement: SQLite takes some thousands of values
T = TypeVar("T")

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Sqlite(SqliteReader):
    """Reads and writes. The host that opens this has the data folder to itself."""

    def __init__(self, path: Path, reserve: Reserve | None = None, connect: Connect = connected) -> None:
        """Open or create the file; raises `ConfigError` if it cannot be used, in words for an organiser."""
        self._path = path
        self._reserve = reserve
        self._connect = connect
        self._heads: dict[str, bytes] = {}  # the latest head by tournament, as far as known
        expect_rights(path)
        try:
            self._writer = connect(path)
        except sqlite3.Error as error:
            raise unusable(path, str(error)) from error
        try:
            self._set_up()
        except sqlite3.Error as error:
            self._writer.close()
            raise refusal(path, error) from error
        except Failure:
            self._writer.close()
            raise
        super().__init__(path, connect, READERS)
        self._whereabouts = Whereabouts(path)
        if reserve is not None and not reserve.take():
            log.warning("the disk has no room to keep any of it back", folder=str(path.parent))

    # What an engine does

    def write(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        with self._writing():
            return self._transact(rows)

    def write_together(self, batches: Iterable[Sequence[Entry | Jot]]) -> None:
        with self._writing():
            self._transact_together(batches)

    def take_out(self, tournaments: Collection[str], mark: Entry) -> None:
        with self._writing():
            self._writer.execute("BEGIN IMMEDIATE")
            for name in tournaments:
                self._writer.execute("DELETE FROM journal WHERE tournament = ?", (name,))
            if not self._append([mark], heads([mark], Heads(self._latest))):
                raise Conflict(f"{self._path}: there is an entry {mark.number} already")
            self._writer.execute("COMMIT")
        self._heads.clear()
        try:
            self._writer.execute("VACUUM")
        except sqlite3.Error as error:  # as where the disk has no room for a copy of what is left
            log.warning("the journal keeps its size, and fills the room in it later", why=str(error))

    @contextmanager
    def _writing(self) -> Generator[None]:
        """A transaction, which is given up if it fails."""
        if why := self._whereabouts.astray():
            raise Unavailable(why)
        try:
            yield
        except BaseException as error:
            self._heads.clear()  # they have to be looked up in the database
            if self._writer.in_transaction:  # after some errors SQLite has rolled back by itself
                self._writer.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                if primary_code(error) == sqlite3.SQLITE_FULL and self._reserve is not None:
                    self._reserve.spend()
                self._expect_lasting(error)
                if primary_code(error) in DAMAGED:
                    raise unusable(self._path, str(error)) from error
            raise
        if self._reserve is not None:
            self._reserve.take()

    def backup(self, path: Path) -> None:
        with self._one_more() as connection:
            copy(connection, path)

    def examine(self) -> None:
        if not self._examined:
            try:
                with self._one_more() as connection:
                    self._quick_check(connection)
            except sqlite3.DatabaseError as error:
                self._expect_lasting(error)
                raise unusable(self._path, str(error)) from error
            self._examined = True

    @contextmanager
    def _one_more(self) -> Generator[Connection]:
        """Another connection: the readers are needed meanwhile. Where there is no file, it would make one."""
        if why := self._whereabouts.gone():
            raise Unavailable(why)
        with closing(self._connect(self._path)) as connection:
            yield connection

    def hurry(self, seconds: float) -> None:
        """There is no server."""

    def close(self) -> None:
        self._save_what_was_deleted()
        try:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:  # nothing is lost: the next start reads the write-ahead log
            log.warning("the write-ahead log is left as it is", why=str(error))
        self._hang_up()
        self._whereabouts.close()
        if self._reserve is not None:
            self._reserve.give_up()

    def _hang_up(self) -> None:
        super()._hang_up()
        self._writer.close()

    def _save_what_was_deleted(self) -> None:
        """Write everything to a new file, if somebody has deleted the one that is about to be closed."""
        if (place := self._whereabouts.copy_to()) is None:
            return
        try:
            private.make_folder(place.parent)
            if place == self._path:
                for end in BESIDE:  # of the deleted file: they would be taken for those of the new one
                    place.with_name(place.name + end).unlink(missing_ok=True)
            copy(self._writer, place)
        except (OSError, sqlite3.Error) as error:
            log.error("the journal was deleted, and cannot be written again", file=str(place), why=str(error))
        else:
            log.warning("the journal was deleted, and is written again", file=str(place))

    # Writing

    def _transact(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        writer = self._writer
        entries = [row for row in rows if isinstance(row, Entry)]
        writer.execute("BEGIN IMMEDIATE")
        known = Heads(self._latest, self._heads)
        found = heads(entries, known)
        if not self._append(entries, found):  # some are there already, so the others have different heads
            writer.execute("ROLLBACK")
            writer.execute("BEGIN IMMEDIATE")
            known = Heads(self._latest)
            found = [self._there(row) or self._appended(row, known) for row in entries]
        self._jot(rows)
        writer.execute("COMMIT")
        self._heads |= known
        return found

    def _transact_together(self, batches: Iterable[Sequence[Entry | Jot]]) -> None:
        self._writer.execute("BEGIN IMMEDIATE")
        known = Heads(self._latest, self._heads)
        for rows in batches:
            entries = [row for row in rows if isinstance(row, Entry)]
            if not self._append(entries, heads(entries, known)):
                raise Conflict(f"{self._path}: some of what was to be new is kept already")
            self._jot(rows)
        self._writer.execute("COMMIT")
        self._heads |= known

    def _jot(self, rows: Sequence[Entry | Jot]) -> None:
        """Write the moves among these rows, and forget those of matches that the entries conclude."""
        jots = [(row.match, row.ply, row.moves, row.times) for row in rows if isinstance(row, Jot)]
        self._insert(
            "jotted", jots, "(match, ply) DO UPDATE SET moves = excluded.moves, times = excluded.times"
        )
        for some in _batched(over(rows)):
            self._writer.execute(f"DELETE FROM jotted WHERE match IN ({_marks(some)})", some)  # noqa: S608

    def _append(self, entries: Sequence[Entry], heads: Sequence[bytes]) -> bool:
        """Add entries; returns whether all of them were new."""
        before = self._writer.total_changes
        rows = [
            (row.number, row.tournament, row.when, row.kind, row.key, row.body, row.salt, head)
            for row, head in zip(entries, heads, strict=True)
        ]
        self._insert("journal", rows, "DO NOTHING")
        return self._writer.total_changes - before == len(rows)

    def _appended(self, entry: Entry, known: Heads) -> bytes:
        found = heads([entry], known)
        self._append([entry], found)
        return found[0]

    def _latest(self, tournament: str) -> bytes:
        """The head of a tournament's latest entry."""
        query = "SELECT head FROM journal WHERE tournament = ? ORDER BY number DESC LIMIT 1"
        found = self._writer.execute(query, (tournament,)).fetchone()
        return found[0] if found else START

    def _insert(self, table: str, rows: Sequence[tuple[Any, ...]], conflict: str) -> None:
        """Insert many rows with each statement: after each, a thread waits for a busy event loop."""
        for some in _batched(rows):
            values = ", ".join(f"({_marks(row)})" for row in some)
            sql = f"INSERT INTO {table} VALUES {values} ON CONFLICT {conflict}"  # noqa: S608
            self._writer.execute(sql, [value for row in some for value in row])

    def _there(self, entry: Entry) -> bytes | None:
        """The head of an entry, if it was written already; raises `Conflict` if a different one was."""
        there = self._writer.execute(
            "SELECT tournament, kind, body, head FROM journal"
            " WHERE number = ? OR (tournament = ? AND key = ?)",
            (entry.number, entry.tournament, entry.key),
        ).fetchall()
        if any(row[:3] != (entry.tournament, entry.kind, entry.body) for row in there):
            raise Conflict(f"{entry.tournament}: {there} is kept, {entry} came")
        return there[0][3] if there else None

    # Opening

    def _quick_check(self, connection: Connection) -> None:
        if found := findings(connection.execute("PRAGMA quick_check")):
            raise unusable(self._path, found[0])

    def _set_up(self) -> None:
        writer, newest = self._writer, len(MIGRATIONS)
        self._examined = self._path.stat().st_size <= LARGE
        if self._examined:
            self._quick_check(writer)
        version: int = writer.execute("PRAGMA user_version").fetchone()[0]
        schema.refuse_newer(self._path, version, newest)
        self._refuse_others()
        for setting in (
            "journal_mode = WAL",
            "synchronous = FULL",
            "foreign_keys = ON",
            f"busy_timeout = {BUSY_TIMEOUT}",
            "mmap_size = 0",
            f"journal_size_limit = {WAL_BYTES}",
        ):
            writer.execute(f"PRAGMA {setting}")
        writer.execute(f"PRAGMA user_version = {version}")  # fails if the file is read-only
        schema.keep_a_copy(
            version,
            newest,
            backups(self._path),
            partial(copy, writer),
            lambda: writer.execute(LAST).fetchone()[0],
        )
        for number, migration in enumerate(MIGRATIONS[version:], version + 1):
            writer.executescript(f"BEGIN IMMEDIATE;\n{migration.read_text(encoding='utf-8')}")
            if number == schema.CHAINED:
                self._link_all()
            writer.execute(f"PRAGMA user_version = {number}")
            writer.execute("COMMIT")

    def _refuse_others(self) -> None:
        """Raise `ConfigError` for another program's database: it would get our tables."""
        tables = {name for (name,) in self._writer.execute("SELECT name FROM sqlite_master")}
        if tables and "journal" not in tables:
            instead = "move it away, or choose another folder"
            raise ConfigError(f"{self._path}: this is the database of another program: {instead}")

    def _link_all(self) -> None:
        """Give every entry its head, and a salt where it needs one."""
        query = f"SELECT {COLUMNS} FROM journal WHERE number > ? ORDER BY number LIMIT ?"  # noqa: S608
        known = Heads(lambda _: START)
        rows = paged(lambda number: self._writer.execute(query, (number, PAGE)).fetchall(), 0)
        for row in schema.upgrading(rows):
            row = salted(row)
            values = (row.salt, heads([row], known)[0], row.number)
            self._writer.execute("UPDATE journal SET salt = ?, head = ? WHERE number = ?", values)


def _batched(rows: Sequence[T]) -> Iterator[Sequence[T]]:
    return (rows[first : first + BATCH] for first in range(0, len(rows), BATCH))


def _marks(values: Sequence[object]) -> str:
    return ", ".join("?" * len(values))
