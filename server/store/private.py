"""Files that only the host's own user can read.

The journal and every copy of it contain the addresses of bots and digests of their
tokens. What root makes belongs to the owner of the folder: a host that runs as that user has to
be able to use what an organiser has restored or backed up as root.
"""

import os
from contextlib import suppress
from pathlib import Path

import structlog

FILE, FOLDER = 0o600, 0o700  # for the owner alone
OTHERS = 0o077  # the rights of everybody else

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def create(path: Path, rights: int = FILE) -> None:
    """Create an empty file, if there is none: later writes keep its rights."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights)
    except FileExistsError:  # or it is a link to a file that does not exist yet
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT, rights))
    else:
        _give_away(file, path.parent)


def write(path: Path, *pieces: bytes) -> None:
    """Write a file anew, whole or not at all: it is on the disk when this returns. Raises `OSError`."""
    part = path.with_name(f"{path.name}.part")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE), "wb") as file:
            file.writelines(pieces)
            file.flush()
            os.fsync(file.fileno())
        part.rename(path)
        synced(path.parent)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def synced(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def tighten(path: Path) -> None:
    """Take all rights from everybody else, if the file exists and is ours."""
    try:
        rights = path.stat().st_mode
        if rights & OTHERS:
            path.chmod(rights & ~OTHERS & 0o7777)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("others may be able to read this file", path=str(path), why=error.strerror)


def make_folder(path: Path) -> None:
    """Create a folder, if there is none. Nobody else can look into a new one, and its name is on the disk."""
    new = [each for each in (path, *path.parents) if not each.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        path.mkdir(FOLDER)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        if _is_root():
            _give_away(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), path.parent)
    for made in new:
        with suppress(PermissionError):  # of a folder that only takes names
            synced(made.parent)


def _give_away(made: int, folder: Path) -> None:
    """Close what was made in a folder. What root has made belongs to the owner of the folder from now on."""
    try:
        if _is_root():
            owner = folder.stat()
            with suppress(OSError):  # in a container, or on a disk that knows no owners
                os.fchown(made, owner.st_uid, owner.st_gid)
    finally:
        os.close(made)


def _is_root() -> bool:
    return hasattr(os, "geteuid") and os.geteuid() == 0  # which only a Unix has
