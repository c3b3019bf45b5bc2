"""Which database a host's journal is in: a file in its data folder, or a PostgreSQL server."""

from pathlib import Path

from server.config import Settings
from server.exits import ConfigError
from server.store.data_folder import JOURNAL, RESERVE
from server.store.journal import Engine, Reader
from server.store.reserve import Reserve
from server.store.sqlite import Sqlite, SqliteReader, backups

SCHEMES = ("postgresql://", "postgres://")


def opened(settings: Settings, folder: Path) -> Engine:
    """For whoever has the data folder to itself."""
    path = folder / JOURNAL
    if not _elsewhere(settings):
        return Sqlite(path, Reserve(folder / RESERVE, settings.reserve_bytes))
    from server.store.postgres import Postgres

    return Postgres(settings.store, backups(path))


def beside(settings: Settings) -> Reader:
    """To look at, while a host may be running."""
    path = Path(settings.data) / JOURNAL
    if _elsewhere(settings):
        from server.store.postgres import PostgresReader

        return PostgresReader(settings.store)
    if not path.exists():
        raise ConfigError(f"{path}: there is no such file: no host has kept anything here")
    return SqliteReader(path)


def _elsewhere(settings: Settings) -> bool:
    if settings.store and not settings.store.startswith(SCHEMES):
        scheme = settings.store.partition("://")[0] if "://" in settings.store else "no address"
        raise ConfigError(f"store: expected postgresql://…, or nothing for a file, not {scheme}")
    return bool(settings.store)
