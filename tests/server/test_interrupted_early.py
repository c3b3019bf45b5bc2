"""Ctrl-C in the first moments of a command, while Python still imports."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from server.exits import INTERRUPTED
from tests.hang import HANG
from tests.server.served import ROOT

WAYS = {
    "in a checkout": ["-m", "server"],
    "installed": ["-c", "from server.installed import main; main()"],
}
GOES_ON = 7  # the exit code of what is imported, where nothing has ended it before


def ended(folder: Path, *command: str) -> tuple[int, str]:
    """How a command ends, and what it says, when Ctrl-C comes while it imports what reads its words."""
    interrupt = f"import os, signal\nos.kill(os.getpid(), signal.SIGINT)\nraise SystemExit({GOES_ON})\n"
    (folder / "cyclopts.py").write_text(interrupt)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join((str(folder), str(ROOT)))}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=HANG, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_ctrl_c_while_a_command_is_imported_ends_it_without_a_traceback(way: str, tmp_path: Path) -> None:
    assert ended(tmp_path, sys.executable, *WAYS[way], "games") == (INTERRUPTED, "")


@pytest.mark.slow
def test_a_command_that_was_started_without_ctrl_c_is_not_ended_by_it(tmp_path: Path) -> None:
    """As a shell starts what runs in the background."""
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    assert ended(tmp_path, *ignoring, sys.executable, "-m", "server", "games") == (GOES_ON, "")
