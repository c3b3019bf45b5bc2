"""Copies of a journal as SQLite files: each is whole and on the disk, or not there at all.

What goes into a copy is the business of whoever makes it; here is only how a file gets its name.
"""

import errno
import glob
import secrets
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from server.store import private
from server.store.reserve import free

BESIDE = ("-wal", "-shm")  # what SQLite has beside a database that is open, or was when its host died
ASIDE = "before-restore-"  # how the name of what a restore has put aside begins: it may be damaged
PART = ".part"  # how the name of a copy ends that is not whole yet
OWN = 4  # bytes before that, in hexadecimal digits: another may be making the same copy
ABANDONED = 3600.0  # seconds without a byte written: whoever made that copy was killed


def backups(path: Path) -> Path:
    """The folder for copies of a database."""
    return path.parent / "backups"


def newest(folder: Path) -> Path | None:
    """The newest backup in a folder; only if there is no other, what a restore has put aside."""
    made = dict[Path, float]()
    for copy in folder.glob("*.sqlite"):
        with suppress(OSError):  # it has just been deleted, or is a link to a disk that is not there
            made[copy] = copy.stat().st_mtime
    return max(made, key=lambda copy: (not copy.name.startswith(ASIDE), made[copy]), default=None)


def expect_room(size: int, folder: Path, free: Callable[[Path], float] = free) -> None:
    """Raise `OSError` where the disk of a folder has no room for a copy of that size.

    It would fill the disk before it fails, and meanwhile a host on that disk could keep nothing.
    """
    if (room := free(folder)) < size:
        raise OSError(errno.ENOSPC, f"a copy takes up to {size:,} bytes, and {room:,} are free")


@contextmanager
def whole_or_none(target: Path) -> Generator[Path]:
    """A database to be written, which has its name and is on the disk when this ends.

    If it cannot be written, nothing is left of it: where the disk is full, a host waits for that room. What
    is beside it of copies whose makers were killed is removed first.
    """
    for left in _abandoned(target):
        remove(left)
    part = target.with_name(f"{target.name}.{secrets.token_hex(OWN)}{PART}")
    try:
        private.create(part)
        yield part
        private.synced(part)
        part.rename(target)
        private.synced(target.parent)
    except BaseException:
        remove(part)
        raise


def _abandoned(target: Path) -> Iterator[Path]:
    """Copies beside a target, under whatever names, that nobody makes any more."""
    for part in target.parent.glob(f"*{glob.escape(target.suffix)}.{'[0-9a-f]' * 2 * OWN}{PART}"):
        with suppress(FileNotFoundError):  # it has just become whole
            if part.stat().st_mtime < time.time() - ABANDONED:
                yield part


def remove(path: Path) -> None:
    """Remove a database that nobody has open, with what SQLite may have left beside it."""
    for end in ("", "-journal", *BESIDE):
        path.with_name(path.name + end).unlink(missing_ok=True)
