"""Ctrl-C in the first moments of a command, while Python still imports, and SIGTERM while a host starts."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from server.exits import DONE, INTERRUPTED
from tests.hang import HANG
from tests.server.served import ROOT

WAYS = {
    "in a checkout": ["-m", "server"],
    "installed": ["-c", "from server.installed import main; main()"],
}
GOES_ON = 7  # the exit code of what is imported, where nothing has ended it before


def ended(folder: Path, *command: str, by: str = "SIGINT") -> tuple[int, str]:
    """How a command ends, and what it says, when a signal comes while it imports what reads its words."""
    interrupt = f"import os, signal\nos.kill(os.getpid(), signal.{by})\nraise SystemExit({GOES_ON})\n"
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


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_sigterm_while_a_host_is_imported_ends_it_as_one_that_has_started(way: str, tmp_path: Path) -> None:
    """Catches a SIGTERM without a handler, which the first process of a container never gets."""
    assert ended(tmp_path, sys.executable, *WAYS[way], "serve", by="SIGTERM") == (DONE, "")


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_sigterm_while_a_host_reads_what_it_needs_ends_it_as_well(tmp_path: Path) -> None:
    os.mkfifo(settings := tmp_path / "quintain.toml")
    start = [
        sys.executable,
        "-m",
        "server",
        "serve",
        "--config",
        str(settings),
        "--data",
        str(tmp_path / "data"),
    ]
    with subprocess.Popen(start, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as host:
        with settings.open("w"):  # the host reads its configuration, and waits for the end of it
            host.send_signal(signal.SIGTERM)
            said = host.communicate(timeout=HANG)
        assert (host.returncode, *said) == (DONE, "", "")


@pytest.mark.slow
def test_sigterm_ends_another_command_as_it_ends_any_process(tmp_path: Path) -> None:
    assert ended(tmp_path, sys.executable, "-m", "server", "games", by="SIGTERM") == (-signal.SIGTERM, "")
