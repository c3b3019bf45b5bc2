"""What one host does for all hosts that share a database: backups, and telling each webhook.

The first host that asks has a duty, until it drains or does not renew its leases; then the next that asks
has it. The host with a webhook's duty keeps in the database how far the webhook was told, so that the next
host goes on there.
"""

from typing import Protocol

from server.store.postgres_database import Connection, Deadline, Session, SessionOnDemand

BACKUPS = "backups"
CONNECT = 5  # seconds to open a session
STATEMENT = 5_000  # milliseconds for one statement

HELD = """
    SELECT duties.host = %(host)s FROM duties JOIN hosts ON hosts.id = duties.host
    WHERE duty = %(duty)s AND expiry >= clock_timestamp() AND NOT draining
"""
CLAIM = """
    INSERT INTO duties SELECT %(duty)s, %(host)s
    WHERE EXISTS (SELECT FROM hosts WHERE id = %(host)s AND expiry >= clock_timestamp() AND NOT draining)
    ON CONFLICT (duty) DO UPDATE SET host = excluded.host
    WHERE duties.host = excluded.host OR NOT EXISTS (
        SELECT FROM hosts WHERE id = duties.host AND expiry >= clock_timestamp() AND NOT draining)
    RETURNING host
"""
TOLD = "SELECT told FROM duties WHERE duty = %s"
KEEP = "UPDATE duties SET told = %s WHERE duty = %s AND host = %s"


class Duties(Protocol):
    """This host's duties. All methods raise `Unavailable`."""

    def mine(self, duty: str) -> bool:
        """Whether this host has a duty; if nobody had it, it has it from now on."""
        ...

    def told(self, duty: str) -> int | None:
        """How far a webhook was told; None: nobody has told it anything."""
        ...

    def keep(self, duty: str, number: int) -> None:
        """Keep how far a webhook was told. Nothing changes if another host has the duty by now."""
        ...


class PostgresDuties:
    """`Duties` with a session of their own, which is opened when somebody asks. One thread at a time."""

    def __init__(self, url: str, host: int) -> None:
        self._host = host
        self._session = SessionOnDemand(lambda: opened(url))

    def mine(self, duty: str) -> bool:
        asked = {"duty": duty, "host": self._host}

        def ask(session: Connection) -> bool:
            if (held := session.execute(HELD, asked).fetchone()) is not None:
                return bool(held[0])  # and nothing is written: hundreds are asked for every second
            return session.execute(CLAIM, asked).fetchone() is not None

        return self._session.ask(ask)

    def told(self, duty: str) -> int | None:
        found = self._session.ask(lambda session: session.execute(TOLD, (duty,)).fetchone())
        return None if found is None else found[0]

    def keep(self, duty: str, number: int) -> None:
        self._session.ask(lambda session: session.execute(KEEP, (number, duty, self._host)))

    def close(self) -> None:
        self._session.close()


def opened(url: str) -> Session:
    """A session in which no statement lasts long."""
    silence = 2 * STATEMENT / 1000
    return Session.opened(
        url, CONNECT, Deadline(), silence, statement=STATEMENT, tcp_user_timeout=2 * STATEMENT
    )
