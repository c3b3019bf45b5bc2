"""Files that only the host's own user can read.

The journal has the addresses of bots and digests of their tokens in it, and so has every
copy of it.
"""

import os
from pathlib import Path

import structlog

FILE, FOLDER = 0o600, 0o700  # for their owner alone
OTHERS = 0o077  # the rights of everybody else

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def create(path: Path) -> None:
    """Have an empty file there, if there is none: whoever writes to it then keeps its rights."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT, FILE))


def tighten(path: Path) -> None:
    """Take all rights from everybody else, if the file is there and ours."""
    try:
        rights = path.stat().st_mode
        if rights & OTHERS:
            path.chmod(rights & ~OTHERS & 0o7777)
    except FileNotFoundError:
        pass
    except OSError as error:
        log.warning("others may be able to read this file", path=str(path), why=error.strerror)


def make_folder(path: Path) -> None:
    """Have a folder there. If it is new, nobody else can look into it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(FOLDER, exist_ok=True)
