"""The journal in a PostgreSQL database: for a host whose results belong with an organiser's other data.

One session writes and holds a lock for as long as it lives, so there is one host
to a database. A lost session is opened again. A commit whose outcome is unknown is
repeated, which changes nothing if it had succeeded.
"""

from collections.abc import Collection, Iterable, Sequence
from functools import partial
from itertools import islice
from pathlib import Path

import structlog

from server.exits import Failure, Unavailable
from server.store import schema
from server.store.journal import LAST, Jot, paged
from server.store.postgres_database import (
    ENCODING,
    LOST,
    STATEMENT,
    Connection,
    line,
    psycopg,
)
from server.store.postgres_reader import COLUMNS, MIGRATIONS, PAGE_OF_ALL, UNCHAINED, PostgresReader
from server.store.postgres_rows import columns, head_of, latest, write_jots
from tournament.chain import START, Heads, heads
from tournament.entries import PAGE, Entry, salted
from tournament.store import Conflict

LOCK = int.from_bytes(b"quintain")  # the key of the lock that a host holds, in its database
ENTER = f"""
    INSERT INTO journal ({COLUMNS}, head) SELECT * FROM unnest(
        %s::bigint[], %s::text[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bytea[])
    ON CONFLICT DO NOTHING
"""  # noqa: S608
ENTER_ONE = f"""
    INSERT INTO journal ({COLUMNS}, head) VALUES (%s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING
"""  # noqa: S608
# Characters of a body that goes by itself, as the draw of a large round robin does: in an array, it would
# take forty times as much memory, and no other thread would get a turn meanwhile.
LARGE = 1 << 18
THERE = """
    SELECT tournament, kind, body, head FROM journal WHERE number = %s OR (tournament = %s AND key = %s)
"""
LINK = """
    UPDATE journal SET salt = given.salt, head = given.head
    FROM unnest(%s::bigint[], %s::text[], %s::bytea[]) AS given (number, salt, head)
    WHERE journal.number = given.number
"""

STANDBY = "a standby that has not taken over yet"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Astray(Failure):
    """The database has not gone on as this host knows it. A start goes on with what is there.

    No fact contradicts another, so nobody who waits for one is told: the host ends.
    """


class Postgres(PostgresReader):
    """Reads and writes. The host that opens this has the database to itself."""

    reached = 0  # the number of the latest entry that was there for certain
    _pause = 0  # milliseconds for which it may pause in a transaction; 0: as long as it likes

    def __init__(self, url: str, copies: Path | None = None) -> None:
        """Open the database; raises `ConfigError` if that fails. Copies before an upgrade go to `copies`."""
        self._asked = 0  # the highest number of an entry that may have been written
        self._writer: Connection | None = None
        self._copies = copies
        self._heads: dict[str, bytes] = {}  # the latest head by tournament, as far as known
        super().__init__(url)

    def write(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        entries = [row for row in rows if isinstance(row, Entry)]
        jots = [row for row in rows if isinstance(row, Jot)]

        def transact() -> list[bytes]:
            if self._writer is None:
                self._writer = self._back()
            return self._write(self._writer, entries, jots)

        self._asked = max([self._asked, *(entry.number for entry in entries)])
        return self._database.persistently(transact, self._drop_writer)

    def write_together(self, batches: Iterable[Sequence[Entry | Jot]]) -> None:
        """As any engine does, but tries once: what has been read of the batches cannot be read again."""
        try:
            if self._writer is None:
                self._writer = self._back()
            known, self._heads = Heads(partial(latest, self._writer), self._heads), {}
            with self._writer.transaction():
                for rows in batches:
                    entries = [row for row in rows if isinstance(row, Entry)]
                    self._asked = max([self._asked, *(entry.number for entry in entries)])
                    _write_new(self._writer, entries, known)
                    write_jots(self._writer, entries, [row for row in rows if isinstance(row, Jot)])
        except _SomeAreThere:
            raise Conflict(f"{self._database.where}: some of what was to be new is kept already") from None
        except LOST as error:
            self._drop_writer()
            raise self._database.unavailable(error) from error
        self._heads = known

    def take_out(self, tournaments: Collection[str], mark: Entry) -> None:
        try:
            if self._writer is None:
                self._writer = self._back()
            self._asked, self._heads = max(self._asked, mark.number), {}
            self._writer.execute("SET statement_timeout = 0")  # there may be millions of rows
            with self._writer.transaction():
                self._writer.execute("DELETE FROM journal WHERE tournament = ANY (%s)", ([*tournaments],))
                _write_new(self._writer, [mark], Heads(partial(latest, self._writer)))
            _fill_again(self._writer)
        except _SomeAreThere:
            raise Conflict(f"{self._database.where}: there is an entry {mark.number} already") from None
        except LOST as error:
            raise self._database.unavailable(error) from error
        finally:
            self._drop_writer()

    def examine(self) -> None:
        """The server looks after its own disks."""

    def hurry(self, seconds: float) -> None:
        self.deadline.set_in(seconds)

    def close(self) -> None:
        self._drop_writer()
        super().close()

    # Within

    def _write(self, session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]) -> list[bytes]:
        """Write in one transaction what is not there already; returns the entries' heads."""
        known, self._heads = self._heads, {}  # if this fails, they have to be looked up
        try:
            with session.transaction():
                known = Heads(partial(latest, session), known)
                found = _write_new(session, entries, known)
                write_jots(session, entries, jots)
        except _SomeAreThere:
            with session.transaction():
                known = Heads(partial(latest, session))
                found = [_there(session, row) or _write_new(session, [row], known)[0] for row in entries]
                write_jots(session, entries, jots)
        self._heads = known
        self.reached = max([self.reached, *(entry.number for entry in entries)])
        return found

    def _expect_schema(self) -> None:
        """Lock the database for this host, and bring its schema up to date."""
        try:
            self._database.expect_own_sessions()
            # The last host may be about to end.
            self._writer = self._database.persistently(self._locked, lambda: None)
            self._set_up(self._writer)
            self._asked = self.reached = self.last()
        except (psycopg.Error, Unavailable) as error:
            self.close()
            raise self._database.unusable(error) from None
        except BaseException:
            self.close()
            raise

    def _locked(self) -> Connection:
        """The session that writes, which holds the lock."""
        session = self._database.session(statement=STATEMENT, pause=self._pause)
        try:
            _expect_all_letters(session)
            if session.execute("SHOW synchronous_commit").fetchone() == ("off",):
                session.execute("SET synchronous_commit = on")  # or a power cut could undo what was told
            self._lock(session)
        except BaseException:
            session.close()
            raise
        return session

    def _lock(self, session: Connection) -> None:
        """Have the database to ourselves while the session lasts; raises `Unavailable`."""
        if session.execute("SELECT pg_try_advisory_lock(%s)", (LOCK,)).fetchone() != (True,):
            raise Unavailable(
                "another host is using it: end that one first, as hosts share a database only with --peers"
            )

    def _back(self) -> Connection:
        """A new session after one was lost; fails if it cannot go on from where the last one was."""
        session = self._locked()
        try:
            if is_standby(session):
                raise Unavailable(STANDBY)  # nor has it read all that it was sent
            self._expect_to_go_on(session)
        except BaseException:
            session.close()  # or its lock would keep this host itself out
            raise
        return session

    def _expect_to_go_on(self, session: Connection) -> None:
        """Raise `Astray` if anybody wrote while nobody held the lock, or what was kept is gone."""
        last = self._expect_all_up_to(self.reached, session)
        if last > self._asked:
            raise Astray(f"{self._database.where}: another host has written to it meanwhile")

    def _expect_all_up_to(self, reached: int, session: Connection) -> int:
        """Raise `Astray` if the database ends before that entry; returns the number of its last one."""
        (last,) = session.execute(LAST).fetchone() or (0,)
        if last < reached:
            raise self._astray(f"it ends with entry {last}, and entry {reached} was there")
        return last

    def _astray(self, found: str) -> Astray:
        return Astray(
            f"{self._database.where}: {found}:"
            " it was put back to an older state, or a standby took over that was behind;"
            " the next start goes on from it"
        )

    def _drop_writer(self) -> None:
        writer, self._writer = self._writer, None
        if writer is not None:
            writer.close()

    def _set_up(self, session: Connection) -> None:
        if session.execute("SHOW fsync").fetchone() == ("off",):
            why = "this server has fsync off: a power cut may take back what was told"
            log.warning(why, where=self._database.where)
        session.execute("CREATE TABLE IF NOT EXISTS quintain_schema (version integer NOT NULL)")
        found = session.execute("SELECT max(version) FROM quintain_schema").fetchone() or (None,)
        version, newest = found[0] or 0, len(MIGRATIONS)
        schema.refuse_newer(self._database.where, version, newest)
        if self._copies is not None:
            copy = self.backup if version >= schema.CHAINED else self._copy_unchained
            schema.keep_a_copy(version, newest, self._copies, copy, self.last)
        with session.transaction():
            if version < newest:  # an index of millions of entries takes minutes
                session.execute("SET LOCAL statement_timeout = 0")
            for number, migration in enumerate(MIGRATIONS[version:], version + 1):
                session.execute(migration.read_bytes())
                if number == schema.CHAINED:
                    _link_all(session)
                session.execute("INSERT INTO quintain_schema VALUES (%s)", (number,))
            self._settle_in(session)

    def _copy_unchained(self, path: Path) -> None:
        self._copy(path, UNCHAINED, lambda row: salted(Entry(*row)))

    def _settle_in(self, session: Connection) -> None:
        """Void the leases of hosts that once shared the database: nobody else is here."""
        session.execute("DELETE FROM leases")


def _fill_again(session: Connection) -> None:
    """Have the room of deleted rows filled again at once, and not when the server gets round to it."""
    try:
        session.execute("VACUUM journal")
    except psycopg.Error as error:  # they are gone all the same
        log.warning("the room in the journal is filled again later", why=line(error))


def is_standby(session: Connection) -> bool:
    return session.execute("SELECT pg_is_in_recovery()").fetchone() == (True,)


def _expect_all_letters(session: Connection) -> None:
    encoding = session.info.parameter_status("server_encoding")
    if encoding != ENCODING:
        why = f"its encoding is {encoding}, which lacks letters that notes may have: make one with {ENCODING}"
        raise psycopg.NotSupportedError(why)


class _SomeAreThere(Exception):
    """Some of the entries that were to be new were written before."""


def _write_new(session: Connection, entries: Sequence[Entry], known: Heads) -> list[bytes]:
    """Write all of them, each with its head; raises `_SomeAreThere`."""
    found = heads(entries, known)
    if entries:
        rows = [
            (row.number, row.tournament, row.when, row.kind, row.key, row.body, row.salt, head)
            for row, head in zip(entries, found, strict=True)
        ]
        large = [row for row, entry in zip(rows, entries, strict=True) if len(entry.body) > LARGE]
        small = [row for row, entry in zip(rows, entries, strict=True) if len(entry.body) <= LARGE]
        new = session.execute(ENTER, columns(small)).rowcount if small else 0
        new += sum(session.execute(ENTER_ONE, row).rowcount for row in large)
        if new < len(entries):
            raise _SomeAreThere
    return found


def _there(session: Connection, entry: Entry) -> bytes | None:
    """The head of an entry, if it was written already; raises `Conflict` if a different one was."""
    there = session.execute(THERE, (entry.number, entry.tournament, entry.key)).fetchall()
    return head_of(entry, there)


def _link_all(session: Connection) -> None:
    """Give every entry its head, and a salt where it needs one."""
    known = Heads(lambda _: START)
    entries = paged(lambda after: session.execute(PAGE_OF_ALL, (after, PAGE)).fetchall(), 0)
    upgraded = map(salted, schema.upgrading(entries))
    while rows := list(islice(upgraded, PAGE)):
        linked = zip(rows, heads(rows, known), strict=True)
        session.execute(LINK, columns((row.number, row.salt, head) for row, head in linked))
