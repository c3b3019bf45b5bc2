"""The hosts and the leases in the database: every request is one short transaction there, in one round trip.

A host that takes over from another locks the other's row, which the other needs to
renew. So of two that want the same, one sees what the other has done. Only the
database's clock counts. Taking over is a second transaction, of two round trips: the
host decides in between whether it may.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from math import inf
from typing import Any, Protocol, TypeVar

from msgspec.structs import astuple

from server.exits import Unavailable
from server.peers.leases import LENGTH, SHORT, Card, Granted, Lease, Peer, since_boot
from server.store.postgres_database import (
    BEGIN,
    COMMIT,
    Connection,
    Deadline,
    Rows,
    Session,
    SessionOnDemand,
    Statement,
    at_once,
)

T = TypeVar("T")

CONNECT = 2  # seconds to open a session
PAUSE = 400  # milliseconds in a transaction: a host that stops in the middle must not keep its row locked
STATEMENT = 900  # milliseconds for one statement: a later answer would be too late
STILL = LENGTH / 2  # seconds: if a request takes longer, the database may have stood still for all

# Forgets hosts that died long ago, not all at once if there are many, and has the sum of changes stay.
REGISTER = """
    WITH forgotten AS (
        DELETE FROM hosts WHERE id IN (
            SELECT id FROM hosts WHERE heartbeat < clock_timestamp() - interval '1 day'
            AND NOT EXISTS (SELECT FROM leases WHERE leases.host = hosts.id) ORDER BY id LIMIT 1000)
        RETURNING changes)
    INSERT INTO hosts (address, fingerprint, certificate, version, heartbeat, expiry, starting, changes)
    SELECT %s, %s, %s, %s, clock_timestamp(), clock_timestamp() + %s * interval '1 second', true,
        coalesce(sum(changes), 0) FROM forgotten
    RETURNING id
"""
# Tournaments from when the database belonged to one host alone; deleted ones need no host.
ADOPT = """
    INSERT INTO leases SELECT DISTINCT split_part(opened.tournament, '~', 1), NULL::bigint, 0
    FROM journal AS opened WHERE opened.key = 'opened' AND NOT EXISTS (
        SELECT FROM journal AS turned WHERE turned.tournament = opened.tournament
        AND turned.kind = 'turned' AND turned.body::json->>'state' = 'deleted')
    ON CONFLICT DO NOTHING
"""
# By its certificate as well: a restored database may have given the number to another host.
# A host that drains or starts takes nothing over; older versions know only the former word for that.
RENEW = """
    UPDATE hosts SET heartbeat = clock_timestamp(), draining = %s, starting = %s,
        expiry = clock_timestamp() + %s * interval '1 second',
        ahead = %s - extract(epoch FROM clock_timestamp())
    WHERE id = %s AND fingerprint = %s RETURNING id
"""
HOLD = """
    UPDATE hosts SET heartbeat = clock_timestamp(), expiry = clock_timestamp() + %s * interval '1 second'
    WHERE id = %s AND fingerprint = %s RETURNING id
"""
# Whether there is something to take. A host that is patient does not look at what others did not renew.
WAITING = """
    SELECT EXISTS (SELECT FROM leases WHERE host IS NULL) OR NOT %s AND EXISTS (
        SELECT FROM hosts WHERE expiry < clock_timestamp()
        AND EXISTS (SELECT FROM leases WHERE leases.host = hosts.id))
"""
# Hosts that hold something and did not renew, each locked so that it cannot renew meanwhile.
LAPSED = """
    SELECT id FROM hosts WHERE expiry < clock_timestamp()
    AND EXISTS (SELECT FROM leases WHERE leases.host = hosts.id) ORDER BY id FOR UPDATE SKIP LOCKED
"""
# What this host may take: its share of all, less what it has; and at least one, or some would be left.
TAKE = """
    WITH taken AS (
        UPDATE leases SET host = %s, epoch = nextval('epochs') WHERE tournament IN (
            SELECT tournament FROM leases WHERE host IS NULL OR host = ANY (%s)
            ORDER BY tournament LIMIT (
                SELECT greatest(1, ceil(count(*)::float8 / greatest(1, (
                    SELECT count(*) FROM hosts WHERE expiry >= clock_timestamp() AND NOT draining
                )))::bigint - count(*) FILTER (WHERE host = %s)) FROM leases)
            FOR UPDATE SKIP LOCKED)
        RETURNING tournament)
    UPDATE hosts SET changes = changes + 1 WHERE id = ANY (%s) AND EXISTS (SELECT FROM taken)
"""
CHANGED = "UPDATE hosts SET changes = changes + 1 WHERE id = %s"
CHANGES = "SELECT sum(changes)::bigint FROM hosts"
PEERS = """
    SELECT id, address, fingerprint, certificate, version, expiry >= clock_timestamp(),
        draining AND NOT starting, starting,
        extract(epoch FROM clock_timestamp() - heartbeat)::float8, ahead,
        extract(epoch FROM expiry - clock_timestamp())::float8
    FROM hosts WHERE heartbeat > clock_timestamp() - interval '1 hour' ORDER BY id
"""
# Read after the number of changes, and after the transaction, which a host that is stopped meanwhile must
# not hold open: so they may be newer than the number, and never older.
LEASES = """
    SELECT tournament, host, epoch FROM leases WHERE %s <> (SELECT sum(changes) FROM hosts)
"""
OPEN = """
    INSERT INTO leases VALUES (%s, %s, nextval('epochs')) ON CONFLICT DO NOTHING RETURNING epoch
"""
RELEASE = "UPDATE leases SET host = NULL WHERE tournament = ANY (%s) AND host = %s"
REMOVE = "DELETE FROM leases WHERE tournament = %s AND host = %s"


class Registry(Protocol):
    """What a host asks of the database. Raises `Unavailable`; the request may have succeeded even so."""

    def register(self, card: Card) -> int:
        """Register a host; returns the number by which it is known from now on."""
        ...

    def renew(
        self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
    ) -> Granted:
        """Go on holding what the host holds; if it is `willing`, take over some of what nobody holds.

        If it is not, others are told whether that is because it is `starting`, or else because it drains.

        If it is `patient`, it takes nothing from hosts that did not renew: only what was given up.
        `changes` is the number that was heard last.
        """
        ...

    def open(self, host: int, tournament: str) -> int | None:
        """Hold a new tournament; None if there is one of that name."""
        ...

    def release(self, host: int, tournaments: Sequence[str]) -> None:
        """Let other hosts have tournaments."""
        ...

    def remove(self, host: int, tournament: str) -> None:
        """Remove a tournament that is no more."""
        ...


class PostgresRegistry:
    """A `Registry` with a session of its own, so that no big write holds up a renewal. For any thread."""

    def __init__(
        self,
        url: str,
        wall: Callable[[], float] = time.time,
        now: Callable[[], float] = since_boot,
        deadline: Deadline | None = None,
    ) -> None:
        """`wall` is this host's clock, which is compared with the database's; `now` times requests."""
        self._wall = wall
        self._now = now
        self._fingerprint = ""
        deadline = deadline or Deadline()
        self._session = SessionOnDemand(lambda: connected(url, deadline))
        self._in_use = threading.Lock()
        # By how much this host's clock was ahead of the database's at the latest renewal …
        self._ahead = -inf
        self._set = -inf  # … and when one of the two was set, by `now`

    def register(self, card: Card) -> int:
        def act(session: Connection) -> int:
            self._fingerprint = card.fingerprint
            *_, registered, _ = at_once(
                session, BEGIN, (ADOPT, ()), (REGISTER, (*astuple(card), LENGTH)), COMMIT
            )
            return registered[0][0]

        return self._in_session(act)

    def renew(
        self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
    ) -> Granted:
        begun = self._now()

        def act(session: Connection) -> Granted:
            renewal = RENEW, (not willing, starting, LENGTH, self._wall(), host, self._fingerprint)
            look = WAITING, (patient,)
            _, renewed, waiting, *answer = at_once(session, BEGIN, renewal, look, *_asked(changes))
            self._expect(renewed, host)
            granted = _granted(changes, answer)
            spares = self._clock_was_set(granted, host, begun) or patient
            if willing and waiting[0][0]:
                return _granted(
                    changes, self._take_over(session, host, changes, renewal, begun, patient=spares)
                )
            return granted

        return self._in_session(act)

    def hold(self, host: int) -> int:
        """Go on holding what the host holds, and nothing else; returns how often any leases have changed.

        What others have taken from it before this, they have counted.
        """

        def act(session: Connection) -> int:
            holding = HOLD, (LENGTH, host, self._fingerprint)
            _, held, changes, _ = at_once(session, BEGIN, holding, (CHANGES, ()), COMMIT)
            self._expect(held, host)
            return changes[0][0]

        return self._in_session(act)

    def open(self, host: int, tournament: str) -> int | None:
        def act(session: Connection) -> int | None:
            opening = OPEN, (tournament, host)
            *_, opened, _ = at_once(session, BEGIN, (CHANGED, (host,)), opening, COMMIT)
            return opened[0][0] if opened else None

        return self._in_session(act)

    def release(self, host: int, tournaments: Sequence[str]) -> None:
        self._change(host, (RELEASE, ([*tournaments], host)))

    def remove(self, host: int, tournament: str) -> None:
        self._change(host, (REMOVE, (tournament, host)))

    def close(self) -> None:
        self._session.close()

    # Within

    def _change(self, host: int, statement: Statement) -> None:
        self._in_session(lambda session: at_once(session, BEGIN, (CHANGED, (host,)), statement, COMMIT))

    def _take_over(
        self, session: Connection, host: int, changes: int, renewal: Statement, begun: float, *, patient: bool
    ) -> list[Rows]:
        """Take what there is to take, and renew again, so that nobody takes from this host meanwhile."""
        lock: Sequence[Statement] = () if patient else [(LAPSED, ())]
        _, renewed, *locked = at_once(session, BEGIN, renewal, *lock)
        if not renewed:
            session.rollback()
        self._expect(renewed, host)
        lapsed = [row[0] for rows in locked for row in rows]
        if self._now() - begun > STILL:
            lapsed = []  # they may be waiting to renew, as this host was
        take = TAKE, (host, lapsed, host, [host, *lapsed])
        return at_once(session, take, *_asked(changes))[1:]

    def _clock_was_set(self, granted: Granted, host: int, now: float) -> bool:
        """Whether the database's clock went forward of late: then all leases lapse, whoever renews them.

        As far as can be seen here, this host's own may have gone back instead.
        """
        ahead = next((peer.ahead for peer in granted.peers if peer.id == host), self._ahead)
        if self._ahead - ahead > STILL:
            self._set = now
        self._ahead = ahead
        return now < self._set + LENGTH / SHORT

    def _expect(self, renewed: Rows, host: int) -> None:
        if not renewed:
            raise Unavailable(f"the database knows no host {host} with this host's certificate")

    def _in_session(self, act: Callable[[Connection], T]) -> T:
        with self._in_use:
            return self._session.ask(act)


def connected(url: str, deadline: Deadline) -> Connection:
    """A session in which no statement and no pause in a transaction lasts long."""
    silence = 2 * STATEMENT / 1000  # or whoever opens a table waits, too
    return Session.opened(
        url, CONNECT, deadline, silence, statement=STATEMENT, pause=PAUSE, tcp_user_timeout=2 * STATEMENT
    )


def _asked(changes: int) -> Sequence[Statement]:
    """What every answer to a request for leases tells, if this number of changes was heard last."""
    return (CHANGES, ()), (PEERS, ()), COMMIT, (LEASES, (changes,))


def _granted(changes: int, answer: Sequence[Rows]) -> Granted:
    ((now,),), peers, _, leases = answer
    held = None if now == changes else {name: Lease(host, epoch) for name, host, epoch in leases}
    return Granted(now, peers_of(peers), held)


def peers_of(rows: Iterable[tuple[Any, ...]]) -> tuple[Peer, ...]:
    """The hosts in the rows that `PEERS` finds."""
    return tuple([Peer(*row) for row in rows])
