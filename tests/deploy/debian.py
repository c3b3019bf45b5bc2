"""Programs of Debian's that tests run: installed ones, or what `tests/deploy/prepare.sh` has unpacked."""

import shutil
from pathlib import Path

UNPACKED = Path(__file__).parents[2] / ".cache/debian"


def tool(name: str) -> str | None:
    """The path of a program; None where there is none."""
    places = (UNPACKED / "usr/bin", UNPACKED / "usr/sbin")
    return shutil.which(name) or shutil.which(name, path=":".join(map(str, places)))
