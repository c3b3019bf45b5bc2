"""The journal in a PostgreSQL database that several hosts share, each holding some of the tournaments.

Rows carry the epoch of the lease under which their host holds the tournament, and the
database refuses any other (`migrations/postgres/0003-hosts.sql`). Hosts commit one after
the other, so that readers who follow the journal by its numbers miss nothing. An entry
gets its number when it is written. A ticket tells a host whether an entry of its own was
written, so that it can be written again without harm.

Not here: who holds what (`server/peers/`).
"""

from collections.abc import Sequence
from functools import partial

from server.exits import Unavailable
from server.store.journal import LAST, Jot
from server.store.postgres import LOCK, Postgres
from server.store.postgres_database import Connection, psycopg
from server.store.postgres_rows import columns, head_of, latest, write_jots
from tournament.chain import Heads, heads
from tournament.entries import Entry
from tournament.folding import called
from tournament.store import Stale

SETTING_UP = LOCK + 1  # the key of the lock that a host holds while it looks after the schema …
IN_TURN = LOCK + 2  # … and while it writes
REFUSED = "QT001"  # the code of the error that the database raises for a stale epoch

PAUSE = 1_000  # milliseconds in a transaction: a host that stops in the middle must not hold up all others

ENTER = """
    INSERT INTO journal (number, tournament, at, kind, key, body, salt, epoch, ticket, head, host)
    SELECT * FROM unnest(
        %s::bigint[], %s::text[], %s::float8[], %s::text[], %s::text[], %s::text[], %s::text[], %s::bigint[],
        %s::bigint[], %s::bytea[], %s::bigint[])
"""
FENCE = "SELECT quintain_fence(%s::text[], %s::bigint[])"
THERE = """
    SELECT tournament, kind, body, head FROM journal
    WHERE (host = %s AND ticket = %s) OR (tournament = %s AND key = %s)
"""


class SharedPostgres(Postgres):
    """Reads and writes, as other hosts do. No host may do so that wants the database to itself."""

    host = 0  # which of the hosts this is; set when it is registered
    reached = 0  # the number of the latest entry that this host has written or seen at its start

    # Within

    def _write(self, session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]) -> list[bytes]:
        """As in `Postgres`; the entries' own numbers are this host's tickets."""
        try:
            try:
                with session.transaction():
                    found, last = self._write_new(session, entries)
                    write_jots(session, entries, jots)
            except psycopg.errors.UniqueViolation:  # some of them are there already
                with session.transaction():
                    found, last = self._write_each(session, entries)
                    write_jots(session, entries, jots)
        except psycopg.Error as error:
            if error.sqlstate == REFUSED:
                raise Stale(f"{self._database.where}: {error.diag.message_primary}") from None
            if isinstance(error, psycopg.errors.IdleInTransactionSessionTimeout):
                raise Unavailable("this host was stopped while it wrote") from None
            raise
        self.reached = max(self.reached, last)
        return found

    def _write_new(self, session: Connection, entries: Sequence[Entry]) -> tuple[list[bytes], int]:
        """Write all of them; returns the heads and the number of the last. Others wait until the commit."""
        if not entries:
            return [], 0
        session.execute("SELECT pg_advisory_xact_lock(%s)", (IN_TURN,))
        last = (session.execute(LAST).fetchone() or (0,))[0]
        found = heads(entries, Heads(partial(latest, session)))
        rows = [
            (number, row.tournament, row.when, row.kind, row.key, row.body, row.salt, row.epoch, row.number)
            for number, row in enumerate(entries, last + 1)
        ]
        session.execute(ENTER, [*columns(rows), found, [self.host] * len(rows)])
        return found, last + len(rows)

    def _write_each(self, session: Connection, entries: Sequence[Entry]) -> tuple[list[bytes], int]:
        """Write the entries that are not there; raises `Conflict` where a different one is."""
        found: list[bytes] = []
        last = 0
        names = [called(row.tournament) for row in entries]
        session.execute(FENCE, (names, [row.epoch for row in entries]))  # a stale host contradicts others
        session.execute("SELECT pg_advisory_xact_lock(%s)", (IN_TURN,))
        for row in entries:
            if (head := self._there(session, row)) is None:
                (head,), last = self._write_new(session, [row])
            found.append(head)
        return found, last

    def _there(self, session: Connection, row: Entry) -> bytes | None:
        there = session.execute(THERE, (self.host, row.number, row.tournament, row.key)).fetchall()
        return head_of(row, there)

    def _locked(self) -> Connection:
        session = super()._locked()
        session.execute("SELECT set_config('idle_in_transaction_session_timeout', %s, false)", (str(PAUSE),))
        return session

    def _lock(self, session: Connection) -> None:
        if session.execute("SELECT pg_try_advisory_lock_shared(%s)", (LOCK,)).fetchone() != (True,):
            raise Unavailable("a host that shares it with nobody, without --peers, is using it")

    def _back(self) -> Connection:
        return self._locked()

    def _set_up(self, session: Connection) -> None:
        """Set up the schema, one host at a time."""
        session.execute("SELECT pg_advisory_lock(%s)", (SETTING_UP,))
        try:
            super()._set_up(session)
        finally:
            session.execute("SELECT pg_advisory_unlock(%s)", (SETTING_UP,))
        self.reached = self.last()

    def _settle_in(self, session: Connection) -> None:
        """Keep the leases: they are those of hosts that are here, or were and may come back."""
