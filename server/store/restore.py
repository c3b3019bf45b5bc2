"""Putting a backup where a host will find it, without losing what was there.

A backup is read as a database and not as a file: a host that still writes to it, or was killed, has left the
newest facts in the log beside it.
"""

import shutil
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from itertools import chain, islice
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from tempfile import TemporaryDirectory

from server.config import Settings
from server.exits import ConfigError, Failure, Unusable
from server.store import private
from server.store.choice import opened
from server.store.copies import ASIDE, BESIDE, PART, backups, remove, whole_or_none
from server.store.data_folder import JOURNAL
from server.store.journal import Engine, Jot
from server.store.sqlite import Sqlite
from server.store.sqlite_reader import SqliteReader
from tournament.entries import Entry

SQLITE = b"SQLite format 3\0"  # how its files begin
BATCH = 1_000  # rows in memory at a time


def restored(backup: Path, settings: Settings, folder: Path, now: str, *, force: bool) -> Path | None:
    """Restore a backup; returns where it put the database that was there. The folder has to be locked."""
    try:
        kind = backup.stat().st_mode  # from Python 3.14 on, `is_file` does not say that it may not look
        if S_ISDIR(kind):
            raise Failure(f"{backup}: expected a file, and this is a folder")
        if not S_ISREG(kind):
            raise FileNotFoundError
        with backup.open("rb") as file:
            head = file.read(len(SQLITE))
    except (FileNotFoundError, NotADirectoryError):
        raise Failure(f"{backup}: there is no such file") from None
    except OSError as error:  # in another user's folder
        raise Failure(f"{backup}: cannot be read: {error.strerror}") from None
    if head not in (SQLITE, b""):  # such as an export; an empty file is an empty database
        raise Failure(f"{backup}: this is not a backup: it is not an SQLite file")
    with closing(_read(backup)) as reader:
        if wrong := reader.check():
            raise _damaged(backup, wrong[0])
        if not reader.is_journal():
            raise Failure(f"{backup}: this is not a backup: no host has kept anything in it")
        _clear_away(folder, backup)
        if settings.store:
            with _upgraded(reader, folder) as copy, closing(opened(settings, folder)) as engine:
                _fill(copy, engine)
            return None
        path = folder / JOURNAL
        if path.exists() and path.samefile(backup):
            raise Failure(f"{backup}: this is what the host uses: there is nothing to restore")
        if path.exists() and not force:
            raise Failure(f"{path}: something is kept here; --force puts it aside and restores the backup")
        place = path.resolve()  # it may be a link to a file on another disk, and stays one
        with _writing(path), whole_or_none(place) as part:
            reader.backup(part)
            # Not before: without room for the backup, all stays as it is.
            return _put_aside(place, backups(path), now)


def _read(backup: Path) -> SqliteReader:
    try:
        return SqliteReader(backup, upgraded=False)
    except Unusable as error:  # which names the newest backup of what is no host's database
        raise _damaged(backup, str(error.__cause__)) from None


def _damaged(backup: Path, why: str) -> Failure:
    return Failure(f"{backup}: this backup is damaged: {why}")


@contextmanager
def _writing(path: Path) -> Generator[None]:
    """Raise `Failure` where this cannot be written."""
    try:
        yield
    except OSError as error:
        raise Failure(f"{path}: cannot be written: {error.strerror}") from None
    except sqlite3.Error as error:
        raise Failure(f"{path}: cannot be written: {error}") from None


def _clear_away(folder: Path, backup: Path) -> None:
    """Remove what restores that were killed have left: each copy is as large as its backup."""
    for left in folder.glob(f"{JOURNAL}*{PART}*"):
        if left.is_dir():
            shutil.rmtree(left)
        elif not left.samefile(backup):
            left.unlink()


@contextmanager
def _upgraded(backup: SqliteReader, folder: Path) -> Generator[Sqlite]:
    """An upgraded copy of a backup, which may be of an older Quintain and stays as it is."""
    with TemporaryDirectory(dir=folder, prefix=f"{JOURNAL}.", suffix=PART) as own:
        copy = Path(own) / JOURNAL
        with _writing(copy):
            backup.backup(copy)
        with closing(Sqlite(copy)) as engine:
            yield engine


def _put_aside(path: Path, folder: Path, now: str) -> Path | None:
    """Save the database unchanged in a folder: it may be damaged, which may be why a backup is restored.

    It is still in its place afterwards, unless there was something beside it. Then an empty file is there,
    with which no host starts: without its log, it would be as it was some time ago.
    """
    if not path.exists():
        for suffix in BESIDE:  # of one that was deleted: they would be taken for those of the backup
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        return None
    aside = folder / f"{ASIDE}{now}.sqlite"
    private.make_folder(folder)
    while aside.exists():  # what was there before a restore in the same second
        aside = aside.with_stem(f"{aside.stem}-again")
    there = [suffix for suffix in (*BESIDE, "") if path.with_name(path.name + suffix).exists()]
    try:
        for suffix in there:
            _name_also(path.with_name(path.name + suffix), aside.with_name(aside.name + suffix))
        private.synced(folder)
    except OSError:
        remove(aside)
        raise
    if there != [""]:
        private.write(path)  # not before: whoever is killed here has lost nothing
        for suffix in BESIDE:
            path.with_name(path.name + suffix).unlink(missing_ok=True)
    return aside


def _name_also(file: Path, name: Path) -> None:
    """Give a file another name; where that is on another disk, the name of a copy."""
    private.tighten(file)
    try:
        name.hardlink_to(file)
    except OSError:  # or no file has two names there
        with whole_or_none(name) as part:
            shutil.copyfile(file, part)


def _fill(reader: SqliteReader, engine: Engine) -> None:
    if engine.last():
        raise ConfigError("something is kept in this database: restore into an empty one")
    rows: Iterator[Entry | Jot] = chain(reader.kept(), reader.jotted())
    engine.write_together(iter(lambda: list(islice(rows, BATCH)), []))
