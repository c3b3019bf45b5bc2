"""The example of `docs/add-a-game.md` is a game as good as the installed ones."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from games.catalogue import catalogue

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_the_example_keeps_every_law_of_games(tmp_path: Path) -> None:
    """Installed as other people's games are, by entry point, it is found and put to the laws."""
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

    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "tests/games/test_laws.py",
            "-k",
            "nim",
        ],
        cwd=ROOT,
        env=clean | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert run.returncode == 0, run.stdout + run.stderr
    passed = re.search(r"(\d+) passed", run.stdout)
    assert passed is not None
    assert int(passed[1]) >= 10, "too few laws were put to it"


def test_the_example_is_not_among_the_installed_games() -> None:
    assert "nim" not in catalogue()
