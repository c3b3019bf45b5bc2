"""Copies of a journal as SQLite files: each is whole and on the disk, or not there at all.

What goes into a copy is the business of whoever makes it; here is only how a file gets its name.
"""

import secrets
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from server.store import private

BESIDE = ("-wal", "-shm")  # what SQLite has beside a database that is open, or was when its host died
PART = ".part"  # how the name of a copy ends that is not whole yet


def backups(path: Path) -> Path:
    """The folder for copies of a database."""
    return path.parent / "backups"


@contextmanager
def whole_or_none(target: Path) -> Generator[Path]:
    """A database to be written, which has its name and is on the disk when this ends.

    If it cannot be written, nothing is left of it: where the disk is full, a host waits for that room.
    """
    part = target.with_name(f"{target.name}.{secrets.token_hex(4)}{PART}")  # another may be making it too
    private.create(part)
    try:
        yield part
        private.synced(part)
        part.rename(target)
        private.synced(target.parent)
    except BaseException:
        remove(part)
        raise


def remove(path: Path) -> None:
    """Remove a database that nobody has open, with what SQLite may have left beside it."""
    for end in ("", "-journal", *BESIDE):
        path.with_name(path.name + end).unlink(missing_ok=True)
