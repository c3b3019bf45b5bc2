"""The example of `docs/add-a-game.md` is a game as good as the installed ones."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A folder in which the example is installed as other people's games are, by entry point."""
    page = (ROOT / "docs/add-a-game.md").read_text()
    blocks = re.findall(r"```(?:python|toml)\n(.*?)```", page, re.DOTALL)
    example, declaration = blocks
    package = tmp_path / "my_package"
    package.mkdir()
    (package / "nim.py").write_text(example)
    distribution = tmp_path / "my_package-1.dist-info"
    distribution.mkdir()
    (distribution / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1\n")
    entry = declaration.replace('[project.entry-points."quintain.games"]', "[quintain.games]").replace(
        '"', ""
    )
    (distribution / "entry_points.txt").write_text(entry)
    return tmp_path


def python(packages: Path | None, *arguments: str) -> str:
    """What it says in a process that knows these packages, too."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=clean | ({} if packages is None else {"PYTHONPATH": str(packages)}),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


@pytest.mark.slow
def test_the_example_keeps_every_law_of_games(packages: Path) -> None:
    """It is found, and put to the laws."""
    quiet = ("-q", "-p", "no:cacheprovider")
    said = python(packages, "-m", "pytest", *quiet, "tests/games/test_laws.py", "-k", "nim")
    passed = re.search(r"(\d+) passed", said)
    assert passed is not None
    assert int(passed[1]) >= 10, "too few laws were put to it"


def test_the_example_is_a_game_where_it_is_installed_and_nowhere_else(packages: Path) -> None:
    """Catches a game of that name that is there anyhow: the laws would be put to that one."""
    listing = ("-c", "from games.catalogue import catalogue; print(*catalogue())")
    without, found = python(None, *listing).split(), python(packages, *listing).split()
    assert "nim" not in without
    assert found == sorted([*without, "nim"])
