"""One PostgreSQL server for all tests of stores, started when the first of them asks for it."""

from collections.abc import Iterator

import pytest

from tests.server.store.postgresql import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with running() as server:
        yield server
