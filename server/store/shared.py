"""The journal in a PostgreSQL database that several hosts share, each holding some of the tournaments.

Rows carry the epoch of the lease under which their host holds the tournament, and the
database refuses any other (`migrations/postgres/0003-hosts.sql`). Hosts commit one after
the other, so that readers who follow the journal by its numbers miss nothing. An entry
gets its number when it is written. A ticket tells a host whether an entry of its own was
written, so that it can be written again without harm. A write takes two round trips,
whatever is written: in between the host links the entries to those before.

Not here: who holds what (`server/peers/`).
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from server.exits import Unavailable
from server.store.journal import LAST, Jot
from server.store.postgres import LOCK, STANDBY, Astray, Postgres, is_standby
from server.store.postgres_database import BEGIN, COMMIT, Connection, Statement, at_once, psycopg
from server.store.postgres_rows import columns, head_of, jotting
from tournament.chain import START, leaf, linked
from tournament.entries import Entry
from tournament.folding import called
from tournament.store import Stale

SETTING_UP = LOCK + 1  # the key of the lock that a host holds while it looks after the schema …
IN_TURN = LOCK + 2  # … and while it writes
REFUSED = "QT001"  # the code of the error that the database raises for a stale epoch

PAUSE = 1_000  # milliseconds in a transaction: a host that stops in the middle must not hold up all others

# The facts themselves come before the turn: they may be many megabytes, and others would wait for them. Each
# is quoted by itself: an array is put together by the client, slowly, while no other thread gets a turn.
GIVE = "SELECT set_config('quintain.facts', ARRAY["
GIVEN = "]::text[]::text, true) IS NULL"
ENTER = """
    INSERT INTO journal (number, tournament, at, kind, key, body, salt, epoch, ticket, head, host)
    SELECT number, tournament, at, kind, key, body, salt, epoch, ticket, head, %s FROM unnest(
        %s::bigint[], %s::bigint[], %s::text[], %s::float8[], %s::text[], %s::text[], %s::text[],
        %s::bigint[], %s::bigint[], %s::bytea[]
    ) AS given (place, number, tournament, at, kind, key, salt, epoch, ticket, head)
    JOIN unnest(current_setting('quintain.facts')::text[]) WITH ORDINALITY AS facts (body, place)
    USING (place)
"""
FENCE = "SELECT quintain_fence(%s::text[], %s::bigint[])"
TURN: Statement = "SELECT pg_advisory_xact_lock(%s)", (IN_TURN,)  # others wait until the commit
HEADS = """
    SELECT name, latest.head FROM unnest(%s::text[]) AS name, LATERAL (
        SELECT head FROM journal WHERE tournament = name ORDER BY number DESC LIMIT 1) AS latest
"""
THERE = """
    SELECT ticket, NULL, tournament, kind, body, head FROM journal WHERE host = %s AND ticket = ANY (%s)
    UNION ALL SELECT NULL, key, tournament, kind, body, head
    FROM unnest(%s::text[], %s::text[]) AS given (tournament, key) JOIN journal USING (tournament, key)
"""

ABOUT = "SELECT tournament, at FROM journal WHERE number = %s"
LATEST_ENTRY = "SELECT number, tournament, at FROM journal ORDER BY number DESC LIMIT 1"

# Entries that are written already, by this host's tickets, and by their tournaments and keys
There = dict[int | tuple[str, str], tuple[str, str, str, bytes]]


class SharedPostgres(Postgres):
    """Reads and writes, as other hosts do. No host that wants the database to itself may do so."""

    _pause = PAUSE
    host = 0  # which of the hosts this is; set when it is registered
    # The number, tournament and time of the latest entry by which this host goes, whoever has written it.
    _latest: tuple[int, str, float] | None = None

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
        for entry in super().kept(after, tournament):
            self._go_by(entry.number, entry.tournament, entry.when)
            yield entry

    # Within

    def _go_by(self, number: int, tournament: str, when: float) -> None:
        """An entry is there for certain. Threads that read and write may overtake each other here."""
        if number > self.reached:
            self.reached, self._latest = number, (number, tournament, when)

    def _write(self, session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]) -> list[bytes]:
        """As in `Postgres`; the entries' own numbers are this host's tickets."""
        try:
            try:
                return self._write_new(session, entries, jots)
            except psycopg.errors.UniqueViolation:  # some of them are there already
                session.rollback()
                return self._write_missing(session, entries, jots)
        except BaseException as error:
            with suppress(psycopg.Error):
                session.rollback()
            match error:
                case psycopg.Error(sqlstate=sqlstate) if sqlstate == REFUSED:
                    raise Stale(f"{self._database.where}: {error.diag.message_primary}") from None
                case psycopg.errors.IdleInTransactionSessionTimeout():
                    raise Unavailable("this host was stopped while it wrote") from None
                case _:
                    raise

    def _write_new(self, session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]) -> list[bytes]:
        """Write all of them, for the first time."""
        if not entries:
            at_once(session, BEGIN, *jotting(entries, jots), COMMIT)
            return []
        leaves = list(map(leaf, entries))  # before the turn, because they may take long
        *_, ((last,),), latest = at_once(session, BEGIN, _give(entries), TURN, (LAST, ()), _heads(entries))
        return self._enter(session, entries, leaves, jots, last, dict(latest), {})

    def _write_missing(
        self, session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]
    ) -> list[bytes]:
        """Write the entries that are not there; raises `Conflict` where a different one is."""
        leaves = list(map(leaf, entries))
        names, epochs = [called(row.tournament) for row in entries], [row.epoch for row in entries]
        tickets, *keys = columns((row.number, row.tournament, row.key) for row in entries)
        *_, ((last,),), latest, rows = at_once(
            session,
            BEGIN,
            _give(entries),
            (FENCE, (names, epochs)),  # before the rest: a stale host contradicts others
            TURN,
            (LAST, ()),
            _heads(entries),
            (THERE, (self.host, tickets, *keys)),
        )
        there: There = {
            ticket or (tournament, key): (tournament, kind, body, head)
            for ticket, key, tournament, kind, body, head in rows
        }
        return self._enter(session, entries, leaves, jots, last, dict(latest), there)

    def _enter(
        self,
        session: Connection,
        entries: Sequence[Entry],
        leaves: Sequence[bytes],
        jots: Sequence[Jot],
        last: int,
        latest: dict[str, bytes],
        there: There,
    ) -> list[bytes]:
        """Write the entries that are not `there`, after the `last`, and end the transaction."""
        found, new = list[bytes](), list[tuple[Any, ...]]()
        known = {row.tournament: START for row in entries} | latest
        for place, (row, own_leaf) in enumerate(zip(entries, leaves, strict=True), 1):
            places = [row.number] if row.key is None else [row.number, (row.tournament, row.key)]
            head = head_of(row, [there[place] for place in places if place in there])
            if head is None:
                known[row.tournament] = head = linked(known[row.tournament], own_leaf)
                there |= dict.fromkeys(places, (row.tournament, row.kind, row.body, head))
                number = last + len(new) + 1
                own = (row.tournament, row.when, row.kind, row.key, row.salt, row.epoch, row.number)
                new.append((place, number, *own, head))
            found.append(head)
        enter: Sequence[Statement] = [(ENTER, (self.host, *columns(new)))] if new else []
        at_once(session, *enter, *jotting(entries, jots), COMMIT)
        if new:
            _, number, written_to, when, *_ = new[-1]
            self._go_by(number, written_to, when)
        return found

    def _lock(self, session: Connection) -> None:
        if session.execute("SELECT pg_try_advisory_lock_shared(%s)", (LOCK,)).fetchone() != (True,):
            raise Unavailable("a host that shares it with nobody, without --peers, is using it")

    def _session_to_read(self) -> Connection:
        """Nobody may read on, and go by, what was written in place of what is gone."""
        session = super()._session_to_read()
        try:
            standby = is_standby(session)
            try:
                self._expect_to_go_on(session)
            except Astray:
                if standby:  # it has not read all that it was sent
                    raise Unavailable(STANDBY) from None
                raise
        except BaseException:
            session.close()
            raise
        return session

    def _expect_to_go_on(self, session: Connection) -> None:
        """Other hosts have written meanwhile; where something was lost, they may have gone on from there."""
        if (known := self._latest) is None:  # what others read from now on may be newer than the answer
            return
        number, *latest = known
        self._expect_all_up_to(number, session)
        if session.execute(ABOUT, (number,)).fetchone() != (*latest,):
            raise self._astray(f"its entry {number} is a different one")

    def _set_up(self, session: Connection) -> None:
        """Set up the schema, one host at a time."""
        session.execute("SELECT pg_advisory_lock(%s)", (SETTING_UP,))
        try:
            super()._set_up(session)
        finally:
            session.execute("SELECT pg_advisory_unlock(%s)", (SETTING_UP,))
        for latest in session.execute(LATEST_ENTRY):
            self._go_by(*latest)

    def _settle_in(self, session: Connection) -> None:
        """Keep the leases: they are those of hosts that are here, or were and may come back."""


def _give(entries: Sequence[Entry]) -> Statement:
    """Has the facts be there for `ENTER`."""
    bodies = [row.body for row in entries]
    return GIVE + ", ".join(["%s" for _ in bodies]) + GIVEN, bodies


def _heads(entries: Sequence[Entry]) -> Statement:
    """Asks for the latest heads of the tournaments of entries."""
    return HEADS, (sorted({row.tournament for row in entries}),)
