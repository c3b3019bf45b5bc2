"""Files that only the host's own user can read.

The journal and every copy of it contain the addresses of bots and digests of their
tokens.
"""

import os
from pathlib import Path

import structlog

FILE, FOLDER = 0o600, 0o700  # for the owner alone
OTHERS = 0o077  # the rights of everybody else

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def create(path: Path) -> None:
    """Create an empty file, if there is none: later writes keep its rights."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, FILE))


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
    """Create a folder, if there is none; nobody else can look into a new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(FOLDER, exist_ok=True)
