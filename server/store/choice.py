"""Which database a host's journal is in: a file in its data folder, or a PostgreSQL server."""

import errno
import os
from contextlib import suppress
from pathlib import Path

from server.config import Settings
from server.exits import ConfigError
from server.store import private
from server.store.caches import BOARDS
from server.store.copies import backups
from server.store.data_folder import JOURNAL, RESERVE
from server.store.journal import Engine, Reader
from server.store.reserve import Reserve
from server.store.schema import NothingKept
from server.store.snapshots import FILE, OF_WHOLE
from server.store.sqlite import Sqlite
from server.store.sqlite_database import expect_file, unusable
from server.store.sqlite_reader import SqliteReader

HEADER = 100  # bytes with which every file of SQLite begins
LOG = f"{JOURNAL}-wal"  # beside a journal whose host was killed; SQLite deletes it if the journal is empty


def opened(settings: Settings, folder: Path) -> Engine:
    """The database to write to, for a process that has the data folder to itself."""
    path = folder / JOURNAL
    _keep_to_ourselves(path)
    if not settings.store:
        _expect_not_emptied(path)
        with suppress(OSError):  # SQLite says what is wrong
            private.create(path)  # what SQLite puts beside it gets the same rights
        return Sqlite(path, Reserve(folder / RESERVE, settings.reserve_bytes))
    if settings.peers:
        from server.store.shared import SharedPostgres

        return SharedPostgres(settings.store, backups(path))
    from server.store.postgres import Postgres

    return Postgres(settings.store, backups(path))


def beside(settings: Settings, readers: int = 1) -> Reader:
    """The database to read, by this many threads at once, while a host may be running."""
    path = Path(settings.data) / JOURNAL
    if settings.store:
        from server.store.postgres_reader import PostgresReader

        return PostgresReader(settings.store)
    try:
        size = path.stat().st_size
        expect_file(path)
        if not os.access(path, os.R_OK):  # SQLite does not say which it is
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except FileNotFoundError:
        _expect_not_emptied(path)
        raise NothingKept(f"{path}: there is no such file: no host has kept anything here") from None
    except OSError as error:  # another user's
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from None
    if size < HEADER:  # and SQLite would delete the write-ahead log of a file that was emptied
        _expect_not_emptied(path)
        raise NothingKept(f"{path}: this file is empty: no host has kept anything here")
    return SqliteReader(path, readers=readers)


def _expect_not_emptied(path: Path) -> None:
    """Raise `Unusable` for an empty file where a host has kept much: to SQLite that is a new database.

    So are a link that leads nowhere, perhaps because a disk is missing, and a file of one byte.
    """
    expect_file(path)
    left = [*map(path.with_name, (FILE, OF_WHOLE, BOARDS, LOG)), *backups(path).glob("*.sqlite")]
    with suppress(OSError):  # there is none, or SQLite says what is wrong
        leads_nowhere = path.is_symlink() and not path.exists()
        size = 0 if leads_nowhere else path.stat().st_size
        if 0 < size < HEADER:
            raise unusable(path, "it was cut short")
        if not size and any(each.exists() for each in left):
            what = "it is a link to a file that is not there" if leads_nowhere else "it is empty"
            why = f"{what}, though a host has kept something here (remove it to start from nothing)"
            raise unusable(path, why)


def _keep_to_ourselves(path: Path) -> None:
    """Take from others the rights that an older Quintain left them: to the journal and its copies."""
    for each in (*path.parent.glob(f"{path.name}*"), *backups(path).glob("*.sqlite*")):
        private.tighten(each)
