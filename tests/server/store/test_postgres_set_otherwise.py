"""PostgreSQL as others have set it up: their timeouts, encodings, rights and poolers."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from signal import SIGINT

import psycopg
import pytest
import trio
import trio.testing

from server.exits import ConfigError, Unavailable
from server.store import postgres
from server.store.ledger import Ledger
from server.store.postgres import Astray, Postgres
from server.store.postgres_database import _may_pass
from server.store.postgres_reader import PostgresReader
from server.store.shared import SharedPostgres
from tests.cluster.database import Standby
from tests.hang import HANG, wait_for
from tests.server.store.pooler import pooled
from tests.server.store.postgresql import Server, running
from tests.server.store.test_postgres import cut
from tests.server.store.test_shared import take
from tournament.entries import Entry
from tournament.facts import Entered

pytestmark = pytest.mark.slow

PAUSED = "SELECT pg_get_wal_replay_pause_state()"
TIMEOUTS = (
    "statement_timeout",
    "lock_timeout",
    "idle_session_timeout",
    "idle_in_transaction_session_timeout",
)


def entry(number: int, body: str = "{}", tournament: str = "cup", epoch: int = 0) -> Entry:
    return Entry(number, tournament, 1.0, "entered", f"entered {number}", body, epoch=epoch)


def test_timeouts_that_a_database_sets_for_others_do_not_end_what_hosts_do(server: Server, url: str) -> None:
    """Catches a session that ended between two matches, and a write that waited for others."""
    name = url.rpartition("/")[2]
    for each in TIMEOUTS:
        server.execute(f"ALTER DATABASE {name} SET {each} = '7s'")
    with closing(Postgres(url)) as engine, closing(engine._database.session()) as reader:
        writer = engine._writer
        assert writer is not None
        for session, bound in ((writer, "30s"), (reader, "0")):
            found = [session.execute(f"SHOW {each}".encode()).fetchone() for each in TIMEOUTS]
            assert found == [(bound,), (bound,), ("0",), ("0",)]


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_hosts_write_one_after_the_other_however_a_database_isolates_transactions(
    server: Server, url: str, level: str
) -> None:
    """Catches a host that gave an entry the number of another's, which it could not see, and ended."""
    server.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET default_transaction_isolation = '{level}'")

    def write(host: SharedPostgres, name: str) -> None:
        for ticket in range(1, 31):
            host.write([entry(ticket, tournament=name, epoch=host.host)])

    with ExitStack() as stack:
        hosts = [stack.enter_context(closing(SharedPostgres(url))) for _ in range(3)]
        threads = stack.enter_context(ThreadPoolExecutor(3))
        for number, host in enumerate(hosts, 1):
            host.host = number
            take(url, f"cup-{number}", number, number)
        for each in [threads.submit(write, host, f"cup-{host.host}") for host in hosts]:
            each.result(HANG)
        assert [row.number for row in hosts[0].kept()] == [*range(1, 91)]


def test_an_upgrade_may_take_longer_than_other_statements(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Catches a journal of millions of entries whose upgrade was cut off at every start."""
    Postgres(url).close()
    slow = tmp_path / "slow.sql"
    slow.write_text("SELECT pg_sleep(0.5)")
    monkeypatch.setattr(postgres, "STATEMENT", 200)
    monkeypatch.setattr(postgres, "MIGRATIONS", [*postgres.MIGRATIONS, slow])
    with closing(Postgres(url)) as engine:
        assert engine._writer is not None
        assert engine._writer.execute("SHOW statement_timeout").fetchone() == ("200ms",)


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_a_database_that_has_not_all_letters_is_refused_before_one_of_them_comes(
    server: Server, url: str, encoding: str
) -> None:
    """Catches a host that a note in Chinese ended, and pages that never came."""
    name = f"{url.rpartition('/')[2]}_{encoding.lower()}"
    server.execute(f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0")
    with pytest.raises(ConfigError, match=rf"its encoding is {encoding}, .*: make one with UTF8$"):
        Postgres(server.url(name))


def test_all_letters_are_kept_where_a_database_has_clients_speak_another_encoding(
    server: Server, url: str
) -> None:
    server.execute(f"ALTER DATABASE {url.rpartition('/')[2]} SET client_encoding = 'LATIN1'")
    with closing(Postgres(url)) as engine:
        engine.write([entry(1, '"日本"')])
        assert [row.body for row in engine.kept()] == ['"日本"']


@pytest.mark.parametrize("kind", [Postgres, SharedPostgres])
def test_a_pooler_that_lends_sessions_for_a_transaction_is_refused_in_a_line(
    url: str, kind: Callable[[str], Postgres]
) -> None:
    """Catches two hosts that had the same database to themselves, and a lock that nobody held any more."""
    kind(url).close()
    with pooled(url, whole=False) as address:
        for opening in (kind, PostgresReader):
            with pytest.raises(ConfigError, match=r"cannot be used: a pooler .*\(pool_mode = session\)$"):
                opening(address)
    kind(url).close()


@pytest.mark.parametrize("kind", [Postgres, SharedPostgres])
def test_a_pooler_that_lends_whole_sessions_is_fine(url: str, kind: Callable[[str], Postgres]) -> None:
    with pooled(url, whole=True) as address, closing(kind(address)) as engine:
        engine.write([entry(1)])
        assert engine.last() == 1


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", [Postgres, SharedPostgres])
def test_a_host_does_not_go_on_where_its_database_has_gone_back_to_an_older_state(
    server: Server, url: str, kind: Callable[[str], Postgres]
) -> None:
    """Catches one that showed results which were kept nowhere any more, until it was started again."""
    with closing(kind(url)) as engine:
        take(url, "cup", 1, 0)
        engine.write([entry(number) for number in (1, 2, 3)])
        server.execute("ALTER TABLE journal RENAME TO aside", url)
        cut(server)
        for use in (lambda: engine.write([entry(4)]), engine.last, lambda: list(engine.kept())):
            with pytest.raises(Unavailable, match="does not exist"):  # a restore is under way
                use()
        server.execute("ALTER TABLE aside RENAME TO journal", url)
        assert engine.last() == 3
        server.execute("DELETE FROM journal WHERE number > 1", url)
        cut(server)
        with pytest.raises(Astray, match="ends with entry 1, and entry 3 was there"):
            engine.write([entry(4)])
    with closing(kind(url)) as engine:
        engine.write([entry(4)])


async def test_whoever_waits_for_a_fact_is_not_told_that_the_database_has_gone_back_for_the_host_ends(
    server: Server, url: str
) -> None:
    """Catches workers that ended with a traceback, and again and again, before their host did."""
    told: list[BaseException] = []

    async def keep(ledger: Ledger, name: str) -> None:
        try:
            await ledger.keep("cup", 1.0, [Entered(name)])
        except Exception as error:
            told.append(error)

    with closing(Postgres(url)) as engine:
        engine.write([entry(number) for number in (1, 2, 3)])
        server.execute("DELETE FROM journal WHERE number > 1", url)
        cut(server)
        ledger = Ledger(engine)
        with pytest.RaisesGroup(pytest.RaisesExc(Astray), flatten_subgroups=True):
            async with trio.open_nursery() as nursery:
                for name in ("ann", "bob"):
                    nursery.start_soon(keep, ledger, name)
                await trio.testing.wait_all_tasks_blocked()
                nursery.start_soon(ledger.run)
        assert told == []


@pytest.mark.usefixtures("hasty")
@pytest.mark.parametrize("kind", [Postgres, SharedPostgres])
def test_a_host_waits_for_a_standby_that_has_not_read_all_it_was_sent_before_it_takes_over(
    kind: Callable[[str], Postgres],
) -> None:
    """Catches one that ended in a fail-over, as if what the standby was about to read had been lost."""
    with running() as server, closing(Standby(server.binaries, server, 0)) as follower:
        url, standby = server.database(), follower.url("postgres")
        both = url.replace(f":{server.port}/", f":{server.port},127.0.0.1:{follower.port}/")
        with closing(kind(both)) as engine:
            take(url, "cup", 1, 0)
            engine.write([entry(1)])
            wait_for(lambda: _is_at_the_end(server, standby, "replay"))
            server.execute("SELECT pg_wal_replay_pause()", standby)
            wait_for(lambda: server.execute(PAUSED, standby) == [("paused",)])
            engine.write([entry(2)])
            wait_for(lambda: _is_at_the_end(server, standby, "receive"))
            server.stop(SIGINT)  # which sends the standby all that there is
            with pytest.raises(Unavailable, match="a standby that has not taken over yet"):
                engine.write([entry(3)])
            if kind is SharedPostgres:  # it may not go by what others write in place of what is missing
                with pytest.raises(Unavailable, match="a standby that has not taken over yet"):
                    engine.last()
            server.execute("SELECT pg_wal_replay_resume()", standby)
            server.execute("SELECT pg_promote()", standby)
            engine.write([entry(3)])
            assert engine.last() == 3


def _is_at_the_end(server: Server, standby: str, of: str) -> bool:
    """Whether a standby has got all that was written, or even replayed it."""
    return _position(server, f"pg_last_wal_{of}_lsn()", standby) >= _position(server, "pg_current_wal_lsn()")


def _position(server: Server, function: str, url: str | None = None) -> int:
    ((found,),) = server.execute(f"SELECT ({function} - '0/0'::pg_lsn)::bigint", url)
    return int(str(found))


def test_a_user_who_may_not_make_tables_is_told_what_it_takes(server: Server, url: str) -> None:
    role = f"guest_of_{url.rpartition('/')[2]}"
    server.execute(f"CREATE ROLE {role} LOGIN")
    address = url.replace("quintain@", f"{role}@")
    why = r"permission denied for schema public: the host's user has to own this database, or a schema in its"
    with pytest.raises(ConfigError, match=why):
        Postgres(address)
    server.execute(f"ALTER ROLE {role} SET search_path = own")
    with pytest.raises(ConfigError, match="no schema has been selected to create in: the host's user has to"):
        Postgres(address)
    server.execute(f"CREATE SCHEMA own AUTHORIZATION {role}", url)
    Postgres(address).close()


@pytest.mark.parametrize(
    "said",
    [
        "FATAL:  connection requires a valid client certificate",
        'server certificate for "localhost" (and 1 other name) does not match host name "127.0.0.1"',
        'private key file "host.key" has group or world access',
        'certificate present, but not private key file "host.key"',
        "channel binding required, but server did not offer an authentication method that supports it",
    ],
)
def test_what_is_wrong_with_certificates_does_not_pass_by_itself(said: str) -> None:
    """Catches exit code 1, with which a service manager tries for ever."""
    assert not _may_pass(psycopg.OperationalError(f"connection failed: {said}"))
