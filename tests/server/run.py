"""`quintain`, as somebody at a keyboard or a script runs it."""

import os
import subprocess
import sys
from pathlib import Path

from tests.hang import HANG
from tests.server.served import ROOT


def quintain(*arguments: str, folder: Path = ROOT, **environment: str) -> tuple[int, str, str]:
    """The exit code, standard output and standard error."""
    places = os.pathsep.join((str(ROOT), str(ROOT / "clients/python")))
    done = subprocess.run(
        [sys.executable, "-m", "server", *arguments],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": places, "COLUMNS": "100"} | environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr
