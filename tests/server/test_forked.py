"""A command that is forked is to whoever runs it what a command is that is started."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hang import HANG
from tests.server.forked import Forked
from tests.server.run import quintain
from tests.server.served import ROOT, Served

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "words",
    [  # the two that are tried always have settings of the environment, a file, what is read, and a code
        pytest.param("--version", marks=pytest.mark.campaign),
        "config --json",
        pytest.param("serve --nonsense", marks=pytest.mark.campaign),
        "verify -",
    ],
)
def test_a_forked_command_says_what_a_started_one_says(words: str, tmp_path: Path) -> None:
    """In the same folder, with the same environment and with the same on standard input."""
    places = {"PYTHONPATH": str(ROOT), "PYTHONPYCACHEPREFIX": sys.pycache_prefix or ""}
    told = {"PATH": os.environ["PATH"], "QUINTAIN_PORTS__TCP": "1234"} | places
    source = b"this is no line of an export\n"
    command = [sys.executable, "-m", "server", *words.split()]
    started = subprocess.run(
        command, cwd=tmp_path, env=told, input=source, capture_output=True, timeout=HANG, check=False
    )
    forked = Forked(tuple(words.split()), tmp_path, told, source)
    out, errors = forked.communicate()
    assert (out, errors) == (started.stdout.decode(), started.stderr.decode())
    assert forked.wait() == started.returncode


def test_what_ends_a_forked_host_is_known_by_its_code(tmp_path: Path) -> None:
    host = Served(tmp_path)
    assert host.process.poll() is None
    host.process.send_signal(signal.SIGKILL)
    assert host.end()[0] == -signal.SIGKILL


def test_several_are_what_they_are_at_the_same_time(tmp_path: Path) -> None:
    """Catches an environment, a folder or an output that one leaves to the next."""
    running = [
        Forked(("config", "--json"), tmp_path, {"QUINTAIN_PORTS__TCP": str(port)}) for port in (1001, 1002)
    ]
    said = [each.communicate()[0] for each in running]
    assert ["1001" in said[0], "1001" in said[1], "1002" in said[1]] == [True, False, True]
    assert "1002" not in quintain("config", "--json")[1]
