"""What one host does for all, in a real database: who has it, and who is next."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing

import psycopg
import pytest

from server.exits import Unavailable
from server.peers.leases import Card
from server.peers.registry import PostgresRegistry
from server.store.duties import BACKUPS, PostgresDuties
from server.store.postgres import Postgres
from tests.server.store.postgresql import Server

pytestmark = pytest.mark.slow


@pytest.fixture
def url(server: Server) -> str:
    url = server.database()
    Postgres(url).close()
    return url


@pytest.fixture
def join(url: str) -> Iterator[Callable[[], tuple[PostgresRegistry, int, PostgresDuties]]]:
    with ExitStack() as stack:

        def join() -> tuple[PostgresRegistry, int, PostgresDuties]:
            registry = stack.enter_context(closing(PostgresRegistry(url)))
            host = registry.register(Card("127.0.0.1:1", "aa", "", "0"))
            return registry, host, stack.enter_context(closing(PostgresDuties(url, host)))

        yield join


def test_the_first_that_asks_has_a_duty_until_it_falls_silent_or_drains(
    url: str, join: Callable[[], tuple[PostgresRegistry, int, PostgresDuties]]
) -> None:
    (registry, first, one), (other_registry, second, other) = join(), join()

    def renew() -> None:
        registry.renew(first, -1, willing=True)
        other_registry.renew(second, -1, willing=True)

    renew()
    assert one.told(BACKUPS) is None
    assert [one.mine(BACKUPS), other.mine(BACKUPS), one.mine(BACKUPS)] == [True, False, True]
    one.keep(BACKUPS, 7)
    assert other.told(BACKUPS) == 7
    with psycopg.connect(url) as session:
        session.execute("UPDATE hosts SET expiry = expiry - interval '1 minute' WHERE id = %s", (first,))
    assert [other.mine(BACKUPS), one.mine(BACKUPS)] == [True, False]
    one.keep(BACKUPS, 9)
    assert other.told(BACKUPS) == 7, "a host that has lost it changes nothing"
    renew()
    assert not one.mine(BACKUPS)
    other_registry.renew(second, -1, willing=False)
    assert [one.mine(BACKUPS), other.mine(BACKUPS)] == [True, False]


def test_nothing_is_written_for_a_duty_that_some_host_has(
    url: str, join: Callable[[], tuple[PostgresRegistry, int, PostgresDuties]]
) -> None:
    """Catches two commits a second, one of each of two hosts, for every webhook to which nothing happens."""
    (registry, first, one), (other_registry, second, other) = join(), join()
    registry.renew(first, -1, willing=True)
    other_registry.renew(second, -1, willing=True)
    assert one.mine(BACKUPS)
    with psycopg.connect(url, autocommit=True) as session:
        versions = "SELECT ctid, xmin, xmax FROM duties"
        before = session.execute(versions).fetchall()
        assert [one.mine(BACKUPS), other.mine(BACKUPS)] == [True, False]
        assert session.execute(versions).fetchall() == before


def test_a_database_that_is_away_is_reported_and_asked_again_later(
    url: str, join: Callable[[], tuple[PostgresRegistry, int, PostgresDuties]]
) -> None:
    registry, host, duties = join()
    registry.renew(host, -1, willing=True)
    assert duties.mine(BACKUPS)
    with psycopg.connect(url) as session:
        session.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    with pytest.raises(Unavailable):
        duties.mine(BACKUPS)
    with pytest.raises(Unavailable):
        registry.renew(host, -1, willing=True)
    registry.renew(host, -1, willing=True)
    assert duties.mine(BACKUPS)
