"""The watchdog of tests that hang."""

import subprocess
import sys

from tests.hang import HANG
from tests.server.served import ROOT

HANGS = """
from threading import Event
from tests.watchdog import Watchdog

def hanging():
    Event().wait()

Watchdog(0.01).pytest_runtest_setup()
hanging()
"""


def test_what_hangs_is_shown_and_ends() -> None:
    """Catches a run that stands still for hours, and nobody knows where."""
    ran = subprocess.run(
        [sys.executable, "-c", HANGS], cwd=ROOT, capture_output=True, text=True, timeout=HANG
    )
    assert ran.returncode == 1
    assert "in hanging" in ran.stderr
