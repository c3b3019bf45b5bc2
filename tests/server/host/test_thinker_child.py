"""A child that thinks: what it answers, when it ends, and how little it needs."""

import os
import subprocess
import sys
from io import BytesIO

import msgspec
import pytest

from server.host.thinker import ROOT
from server.host.thinker_child import Task, serve
from tests.hang import HANG

pytestmark = pytest.mark.slow

WINS = [0, 1, 0, 1, 0, 1]  # Connect-4: whoever is to move wins in column 0


def test_a_child_ends_with_its_input() -> None:
    """So it does when its host was killed, and could not see to it."""
    ended = subprocess.run(
        [sys.executable, "-m", "server.host.thinker_child"],
        input=b"",
        cwd=ROOT,
        timeout=HANG,
        capture_output=True,
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, b"", b"")


def test_a_child_whose_host_was_killed_while_it_thought_says_nothing_of_it() -> None:
    task = msgspec.json.encode(Task("connect-4", {}, WINS, "first", 1.0, None, 0))
    nobody, answers = os.pipe()
    os.close(nobody)
    with os.fdopen(answers, "wb") as stdout:
        ended = subprocess.run(
            [sys.executable, "-m", "server.host.thinker_child"],
            input=task + b"\n",
            stdout=stdout,
            cwd=ROOT,
            timeout=HANG,
            stderr=subprocess.PIPE,
        )
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_child_answers_line_by_line_whatever_the_line_is() -> None:
    thoughts = BytesIO()
    task = msgspec.json.encode(Task("connect-4", {}, WINS, "first", 1.0, None, 0))
    serve(BytesIO(b"what?\n" + task + b"\n"), thoughts)
    first, second = map(msgspec.json.decode, thoughts.getvalue().splitlines())
    assert first["wrong"].startswith("DecodeError")
    assert second == {"move": 0, "grades": None, "estimate": None, "wrong": None}


def test_it_imports_nothing_of_the_host_and_no_event_loop() -> None:
    """Catches an import that makes each of up to three as large as the host, and as slow to start."""
    program = "import sys, server.host.thinker_child; print(*sys.modules)"
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, timeout=HANG, stdout=subprocess.PIPE, text=True, check=True
    )
    imported = set(told.stdout.split())
    assert {each for each in imported if each.startswith("server")} == {
        "server",
        "server.host",
        "server.host.thinker_child",
        "server.interpreter",
    }
    assert not imported & {"trio", "structlog", "asyncio", "numpy"}
