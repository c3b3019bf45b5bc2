"""The example of `docs/add-a-game.md` is a game as good as the installed ones.

It is installed as other people's games are, by entry point, in `tests/planted`.
`make planted` puts it to all the fast tests.
"""

import os
import re
import subprocess
import sys
from configparser import ConfigParser
from pathlib import Path

import msgspec
import pytest

from games.catalogue import catalogue
from games.game import Game
from tests.effort import IS_CAMPAIGN

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests/planted"
PAGE = (ROOT / "docs/add-a-game.md").read_text()


def python(path: Path | None, *arguments: str, code: int = 0) -> str:
    """What it says in a process that finds the packages of a folder, too."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    clean.pop("PYTHONPATH", None)
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=clean | ({} if path is None else {"PYTHONPATH": str(path)}),
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert run.returncode == code, run.stdout + run.stderr
    return run.stdout + run.stderr


def test_the_example_on_the_page_is_the_planted_game() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    assert example == (PLANTED / "nim.py").read_text()


def test_the_declaration_on_the_page_is_how_it_is_planted() -> None:
    (declared,) = re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    (entries,) = PLANTED.glob("*.dist-info/entry_points.txt")
    planted = ConfigParser()
    planted.read(entries)
    (entry,) = planted["quintain.games"].items()
    assert declared == '[project.entry-points."quintain.games"]\n{} = "{}"\n'.format(*entry)


def test_every_field_of_a_game_is_on_the_page() -> None:
    described = set(re.findall(r"`(\w+)", " ".join(re.findall(r"^\| (`.*?) \|", PAGE, re.MULTILINE))))
    assert {field.name for field in msgspec.structs.fields(Game)} <= described


@pytest.mark.slow
def test_the_example_keeps_every_law_of_games() -> None:
    """It is found, and put to the laws."""
    quiet = ("-q", "-p", "no:cacheprovider", "-n", "0")
    said = python(PLANTED, "-m", "pytest", *quiet, "tests/games/test_laws.py", "-k", "nim")
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) >= 10, "too few laws were put to it"


def test_the_example_is_a_game_where_it_is_installed_and_nowhere_else() -> None:
    """Catches a game of that name that is there anyhow: the laws would be put to that one."""
    listing = ("-c", "from games.catalogue import catalogue; print(*catalogue())")
    without, found = python(None, *listing).split(), python(PLANTED, *listing).split()
    assert "nim" not in without
    assert found == sorted([*without, "nim"])


@pytest.mark.parametrize("command", ["serve", "bot", "play", "match", "check", "tournament create"])
def test_help_lists_the_games_that_there_are(command: str) -> None:
    def listed(path: Path | None) -> str:
        said = python(path, "-m", "server", *command.split(), "--help")
        return " ".join(re.sub("[│]", " ", said).split())

    here = [name for name in catalogue() if name != "nim"]
    both = [(PLANTED, sorted([*here, "nim"])), (None, here)]
    for path, names in both if command == "serve" or IS_CAMPAIGN else both[:1]:
        assert f"{', '.join(names[:-1])} or {names[-1]}." in listed(path)


@pytest.mark.parametrize("command", ["serve --help", "match --help", "bot greedy --game nim"])
def test_a_game_that_cannot_be_used_is_said_in_a_line(command: str, tmp_path: Path) -> None:
    described = tmp_path / "broken-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[quintain.games]\nnim = nowhere.nim:GAME\n")
    said = python(tmp_path, "-m", "server", *command.split(), code=2)
    assert said == (
        "quintain: entry point nim = nowhere.nim:GAME: cannot be loaded: No module named 'nowhere'\n"
    )
