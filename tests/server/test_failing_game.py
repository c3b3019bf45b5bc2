"""A game of another package that fails while a command uses it: a line says so, and nothing goes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from games.catalogue import GROUP
from games.soundness import Unsound
from server.failing_game import failing
from tests.hang import HANG
from tests.server.example_programs import command
from tests.server.served import ROOT

FAILING = """
from msgspec.structs import replace
from games.connect4 import GAME as ORIGINAL

def show(position, names):
    shown = ORIGINAL.show(position, names)
    if any(shown):
        raise ZeroDivisionError("no board")
    return shown

GAME = replace(ORIGINAL, name="four", title="Four", show=show)
"""


# A demo of this game alone: the bots of each game are four processes.
DEMO = """
from server.commands import demo
demo.catalogue = lambda: ["four"]
raise SystemExit(demo.demo(seconds=1000, json=True))
"""


def told(tmp_path: Path, *words: str) -> tuple[int, str, str]:
    """What Python says where this game is installed."""
    described = tmp_path / "failing-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: failing\nVersion: 1\n")
    (described / "entry_points.txt").write_text(f"[{GROUP}]\nfour = failing:GAME\n")
    (tmp_path / "failing.py").write_text(FAILING)
    places = os.pathsep.join(map(str, (ROOT, ROOT / "clients/python", tmp_path)))
    done = subprocess.run(
        [sys.executable, *words],
        env=os.environ | {"PYTHONPATH": places, "XDG_STATE_HOME": str(tmp_path / "state")},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_a_match_ends_with_a_line_that_names_what_has_failed(tmp_path: Path) -> None:
    code, out, errors = told(
        tmp_path,
        *("-m", "server", "match", "brain:first", command(tmp_path, "good")),
        *("--game", "four", "--games", "2"),
    )
    assert (code, out) == (1, "")
    where = f"in {tmp_path / 'failing.py'}, line {FAILING[: FAILING.index('raise')].count(chr(10)) + 1}"
    assert errors == f"quintain: a game of another package fails, {where}: ZeroDivisionError: no board\n"


@pytest.mark.slow
def test_a_demo_ends_when_a_game_fails_in_its_host(tmp_path: Path) -> None:
    """Catches one that goes on: its bots, with which nothing is wrong, come back for the same match."""
    code, _, errors = told(tmp_path, "-c", DEMO)
    assert code == 1
    last = errors.splitlines()[-1]
    assert last.startswith("quintain: demo-four-")
    assert last.endswith("is void by a fault of the host: its own message is above")


def test_only_what_a_game_has_done_is_its_fault() -> None:
    assert failing(ValueError("ours"), None) is None
    said = failing(Unsound("the winner is None, 0 or 1, not 2"), None)
    assert said == "a game of another package fails: Unsound: the winner is None, 0 or 1, not 2"
