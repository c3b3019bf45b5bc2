"""`quintain`, as somebody at a keyboard or a script runs it."""

import os
from pathlib import Path

from tests.server.forked import Forked
from tests.server.served import ROOT


def quintain(*arguments: str, folder: Path = ROOT, **environment: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error."""
    places = os.pathsep.join((str(ROOT), str(ROOT / "clients/python")))
    told = os.environ | {"PYTHONPATH": places, "COLUMNS": "100"} | environment
    process = Forked(arguments, folder, told)
    out, errors = process.communicate()
    return process.wait(), out, errors
