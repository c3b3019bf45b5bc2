"""A PostgreSQL database as hosts see it: sessions, retries while it restarts, and what is said of it.

An address may contain a password, and the client's errors about an address that it
cannot read quote the address. So all words about it are put together here.
"""

import re
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from math import inf
from typing import TYPE_CHECKING, Any, LiteralString, Self, TypeVar

from server.exits import ConfigError, Failure, Unavailable, Unusable
from server.store.address import MISWRITTEN, clear, shown

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:  # it is an extra: all others import it from here, where a lack of it is told
    raise ConfigError(
        f"a store at postgresql:// needs psycopg: install quintain with the extra postgres ({error})"
    ) from None

if TYPE_CHECKING:
    from psycopg.abc import PQGen

Connection = psycopg.Connection[tuple[Any, ...]]
Rows = list[tuple[Any, ...]]
Statement = tuple[LiteralString, Sequence[object]]  # and what to put into it
T = TypeVar("T")

BEGIN: Statement = "BEGIN", ()
COMMIT: Statement = "COMMIT", ()

CONNECT = 5  # seconds to open a session
STATEMENT = 30_000  # milliseconds for one statement: more is a server that hangs
SILENCE = 5.0  # seconds until whoever reads what takes milliseconds counts on no answer any more
LONG = 4.0  # seconds: a try that has taken so long is the last
WAITS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8)  # seconds before each further try: a restart takes less than all

LOST = (  # errors after which it may go on
    psycopg.OperationalError,
    psycopg.InterfaceError,
    psycopg.errors.ReadOnlySqlTransaction,  # a standby that has not taken over yet
    psycopg.errors.UndefinedTable,  # somebody is about to restore the database
    psycopg.errors.InsufficientPrivilege,  # somebody has taken rights away, and may give them back
)
# What a server says to whoever will not get a session with this address, however often it tries.
REFUSED = re.compile(
    "authentication failed|pg_hba.conf|does not exist|no password supplied|support SSL|verify failed"
    "|valid client certificate|does not match host name|private key file|channel binding"
)
# What a host makes of its own: said where it may not.
RIGHTS = "the host's user has to own this database, or a schema in its search_path"
POOLED = (
    "a pooler in between gives its sessions to others after each transaction, and no lock would hold: "
    "use the server's own address, or have it pool whole sessions (pool_mode = session)"
)
ENCODING = "UTF8"  # the only one that has all letters of names and notes
OTHERS = 3  # sessions, to find out whether the first is lent to one of them
PID = "SELECT pg_backend_pid()"
# What a session needs, whatever else the server, the database or the user has been set to. A server may be
# too old for some of it.
SET = """
    SELECT set_config(name, wanted, false)
    FROM unnest(%s::text[], %s::text[]) AS given (name, wanted) JOIN pg_settings USING (name)
"""
UNCLEAR = "postgresql://"  # what is shown of an address in which a password may be anywhere


class Deadline:
    """When sessions stop waiting: a server that stands still is silent, and keeps its connections."""

    def __init__(self) -> None:
        self._until = inf

    def set_in(self, seconds: float) -> None:
        """Wait for no server longer than that: whoever waits has to end."""
        self._until = time.monotonic() + seconds

    @property
    def has_passed(self) -> bool:
        return time.monotonic() > self._until


class Session(Connection):
    """A session that waits for its server until its deadline. By itself, the client waits for ever."""

    deadline = Deadline()
    silence = inf  # seconds for which it waits to hear anything

    @classmethod
    def opened(
        cls,
        url: str,
        connect: int,
        deadline: Deadline,
        silence: float,
        *,
        statement: int = 0,
        pause: int = 0,
        **options: Any,
    ) -> Self:
        """A session that waits `connect` seconds to be opened.

        The server ends a statement after so many milliseconds, and a session that pauses for so long in a
        transaction; 0: never.
        """
        session = cls.connect(
            url,
            autocommit=True,
            connect_timeout=connect,
            application_name="quintain",
            client_encoding=ENCODING,
            **options,
        )
        session.deadline, session.silence = deadline, silence
        wanted = {
            "default_transaction_isolation": "read committed",  # others write, too
            **dict.fromkeys(("statement_timeout", "lock_timeout"), str(statement)),
            "idle_in_transaction_session_timeout": str(pause),
            **dict.fromkeys(("idle_session_timeout", "transaction_timeout"), "0"),
        }
        try:
            session.execute(SET, ([*wanted], [*wanted.values()]))
        except BaseException:
            session.close()
            raise
        return session

    def wait(self, gen: "PQGen[T]", *arguments: Any, **named: Any) -> T:
        return super().wait(self._in_time(gen), *arguments, **named)

    def _in_time(self, gen: "PQGen[T]") -> "PQGen[T]":
        """The same as `gen`, which goes on several times a second even when nothing has come."""
        try:
            wanted, heard = next(gen), time.monotonic()
            while True:
                ready = yield wanted
                now = time.monotonic()
                if ready:
                    heard = now
                if self.deadline.has_passed or now - heard > self.silence:
                    self.pgconn.finish()  # nobody knows how far the server has come
                    raise psycopg.OperationalError("the server has not answered in time")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value


class SessionOnDemand:
    """A session that is opened when somebody asks. One in which something has failed is not used again."""

    def __init__(self, opened: Callable[[], Connection]) -> None:
        self._opened = opened
        self._session: Connection | None = None

    def ask(self, ask: Callable[[Connection], T]) -> T:
        """Ask the database, from one thread at a time; raises `Unavailable`."""
        try:
            if self._session is None:
                self._session = self._opened()
            return ask(self._session)
        except psycopg.Error as error:
            with suppress(psycopg.Error):
                self.close()
            raise Unavailable(line(error)) from error

    def close(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.close()


def at_once(session: Connection, *statements: Statement) -> list[Rows]:
    """Execute statements in one round trip; returns the rows that each of them returns.

    They go in one message. So a host that is stopped has sent all of them or none, and never leaves a
    transaction open that it begins and ends here.
    """
    query = "; ".join([each for each, _ in statements])
    given = [one for _, some in statements for one in some]
    with psycopg.ClientCursor(session) as cursor:  # the others put only one statement into a message
        cursor.execute(query, given)
        found = list[Rows]()
        while True:
            found.append(cursor.fetchall() if cursor.description else [])
            if not cursor.nextset():
                return found


class Database:
    def __init__(self, url: str) -> None:
        self._url = url
        self.where = where(url)
        self.deadline = Deadline()

    def session(self, silence: float = inf, *, statement: int = 0, pause: int = 0) -> Connection:
        """A session. No server can block it longer than that, or past the deadline."""
        return Session.opened(
            self._url,
            CONNECT,
            self.deadline,
            silence,
            statement=statement,
            pause=pause,
            keepalives_idle=5,
            keepalives_interval=2,
            keepalives_count=3,
            tcp_user_timeout=STATEMENT,
        )

    def expect_own_sessions(self) -> None:
        """Raise an error if a pooler in between gives sessions to others while they are open."""
        self.persistently(self._own_a_session, lambda: None)

    def persistently(self, act: Callable[[], T], drop: Callable[[], None]) -> T:
        """Call `act`, and again after each `drop`; raises `Unavailable` if it keeps failing for a while."""
        problem: Exception = Unavailable("")
        for wait in WAITS:
            time.sleep(wait)
            begun = time.monotonic()
            try:
                return act()
            except (Unavailable, *LOST) as error:
                problem = error
            drop()
            if self.deadline.has_passed or time.monotonic() - begun > LONG:
                break
        raise self.unavailable(problem) from problem

    def unavailable(self, error: Exception) -> Unavailable:
        return Unavailable(f"{self.where}: {self._said(error)}")

    def unusable(self, error: Exception) -> Failure:
        """An error at the start, in words for an organiser; `Unavailable` if a later start may get on."""
        why = self._said(error).removeprefix(f"{self.where}: ")
        if self.where != UNCLEAR and _may_pass(error.__cause__ or error):
            return Unavailable(f"{self.where}: {why}")
        if isinstance(error, psycopg.errors.InsufficientPrivilege | psycopg.errors.InvalidSchemaName):
            why = f"{error.diag.message_primary}: {RIGHTS}"
        return Unusable(f"{self.where}: this database cannot be used: {why}")

    def _own_a_session(self) -> None:
        with self.session() as one:
            first = one.execute(PID).fetchone()
            if first == (one.info.backend_pid,):  # a pooler tells another number, even if it keeps them apart
                return
            with ExitStack() as stack:
                for _ in range(OTHERS):
                    other = stack.enter_context(self.session())
                    stack.enter_context(other.transaction())
                    if other.execute(PID).fetchone() == first or one.execute(PID).fetchone() != first:
                        raise psycopg.NotSupportedError(POOLED)

    def _said(self, error: Exception) -> str:
        """What went wrong, on one line, without the parts of an unreadable address that errors quote."""
        if self.where != UNCLEAR or not isinstance(error, psycopg.Error):
            return line(error)
        try:
            conninfo_to_dict(shown(self._url))
        except psycopg.ProgrammingError as harmless:  # the part that cannot be read is not the password
            return line(harmless)
        return MISWRITTEN


def _may_pass(error: BaseException) -> bool:
    """Whether there was no session, and the server did not say that nobody will get one in this way.

    Or there was one with a standby, which may take over.
    """
    if isinstance(error, psycopg.errors.ReadOnlySqlTransaction):
        return True
    return isinstance(error, psycopg.OperationalError) and REFUSED.search(str(error)) is None


def where(url: str) -> str:
    """The database as errors and logs name it: without the user, the parameters and any password."""
    if not clear(url):
        return UNCLEAR
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return UNCLEAR
    port = f":{parts['port']}" if "port" in parts else ""
    return f"postgresql://{parts.get('host', '')}{port}/{parts.get('dbname', '')}"


def line(error: Exception) -> str:
    """What a server said, on one line."""
    return " ".join(str(error).split()) or type(error).__name__
