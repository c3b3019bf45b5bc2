"""One PostgreSQL server for all tests of stores, started when the first of them asks for it."""

from collections.abc import Iterator

import pytest

from tests.server.store.postgresql import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as server:
        yield server


@pytest.fixture
def url(server: Server) -> str:
    """Of a new database, in which there is nothing."""
    return server.database()


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests in which no further try would help."""
    from server.store import postgres_database  # psycopg, which it needs, is an extra

    monkeypatch.setattr(postgres_database, "WAITS", postgres_database.WAITS[:2])
