"""What runs without `fcntl`, `resource` and `killpg`, as on Windows, and what says that it does not."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hang import HANG
from tests.server.example_programs import command
from tests.server.served import ROOT, Served

# Hides what only Unix has, then runs one command after the other. Of each it prints the exit code.
DRIVER = """
import json, os, select, signal, sys
for module in ("fcntl", "resource", "termios", "pwd", "grp"):
    sys.modules[module] = None
del os.killpg, select.poll, signal.SIGHUP
from server.__main__ import main
for words in json.loads(sys.argv[1]):
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        print("exit", words[0], end.code, flush=True)
"""
CUP = ("--tournament", "cup", "--game", "connect-4", "--entrants", "2")


@pytest.mark.slow
def test_matches_checks_bridges_and_standings_run_and_a_host_says_that_it_does_not(
    tmp_path: Path, serve: Callable[..., Served]
) -> None:
    host, good = serve(*CUP), command(tmp_path, "good")
    tcp, web = f"tcp://127.0.0.1:{host.tcp}", f"http://127.0.0.1:{host.http}"
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(ROOT / "clients/python"))),
        "XDG_STATE_HOME": str(tmp_path),
    }
    opponent = subprocess.Popen(
        [sys.executable, "-m", "server", "bot", "first", "--game", "connect-4", "--url", tcp],
        cwd=tmp_path,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    commands = [
        ["match", good, "brain:first", "--game", "connect-4", "--games", "2"],
        ["check", good, "--game", "connect-4"],
        ["play", "--bot", good, "--game", "connect-4", "--name", "ann", "--tournament", "cup", "--url", tcp],
        ["standings", "cup", "--url", web],
        ["doctor", "--data", "nothing"],
        ["serve", "--tcp", "0", "--websocket", "0", "--http", "0", "--data", "another"],
    ]
    try:
        done = subprocess.run(
            [sys.executable, "-c", DRIVER, json.dumps(commands)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=HANG,
        )
    finally:
        opponent.kill()
        opponent.wait()
    ended = [line.split()[1:] for line in done.stdout.splitlines() if line.startswith("exit ")]
    assert ended == [
        ["match", "0"],
        ["check", "0"],
        ["play", "0"],
        ["standings", "0"],
        ["doctor", "1"],
        ["serve", "2"],
    ], done.stdout + done.stderr
    assert "a host needs Linux, macOS or another Unix" in done.stderr
    assert "Traceback" not in done.stderr
