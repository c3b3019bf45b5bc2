"""The PostgreSQL server of the tests of stores."""

from tests.server.store.conftest import server

__all__ = ["server"]
