"""The PostgreSQL server of the tests of stores, and a database of it that hosts have used before."""

import pytest

from tests.server.store.conftest import server
from tests.server.store.postgresql import Server

__all__ = ["server"]


@pytest.fixture
def url(server: Server) -> str:
    from server.store.postgres import Postgres  # psycopg, which it needs, is an extra

    url = server.database()
    Postgres(url).close()
    return url
