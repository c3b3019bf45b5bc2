"""Programs of Debian's that tests run: installed ones, or what `tests/prepare.sh` has unpacked."""

import shutil
from pathlib import Path

UNPACKED = Path(__file__).parents[2] / ".cache/debian"


def libraries() -> str:
    """Where unpacked programs find libraries that are unpacked with them, as `LD_LIBRARY_PATH` has it."""
    return ":".join(map(str, UNPACKED.glob("usr/lib/*-linux-gnu")))


def library(name: str) -> str | None:
    """The path of a library in a folder of its package's own; None where there is none."""
    found = (*Path("/").glob(f"usr/lib/*/{name}"), *UNPACKED.glob(f"usr/lib/*/{name}"))
    return next(map(str, found), None)


def tool(name: str) -> str | None:
    """The path of a program; None where there is none."""
    places = (UNPACKED / "usr/bin", UNPACKED / "usr/sbin")
    return shutil.which(name) or shutil.which(name, path=":".join(map(str, places)))
