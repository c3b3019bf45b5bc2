"""`make docs` fails where a link leads nowhere: pages of the test's own, with the project's configuration."""

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.hang import HANG
from tests.lacking import lacking
from tests.server.served import ROOT

pytestmark = pytest.mark.slow

INDEX = "# Index\n\n```{toctree}\npage\n```\n\n[there](page.md#a-heading) [here](#index) [aside](aside.txt)\n"
BROKEN = {
    "[there](page.md#no-heading)": "no-heading",
    "[there](no-page.md)": "no-page.md",
    "[aside](no-aside.txt)": "no-aside.txt",
    "[here](#no-such-heading)": "no-such-heading",
}


def built(folder: Path, index: str, **more: str) -> tuple[int, str]:
    """The exit code of the build, with the options that `make docs` has, and what it says."""
    if find_spec("sphinx") is None:
        lacking("Sphinx is not here; `make docs` installs it")
    (command,) = (line for line in (ROOT / "Makefile").read_text().splitlines() if "-m sphinx" in line)
    options = command.split("sphinx ")[1].split(" docs ")[0].split()
    pages = {"index": index, "page": "# Page\n\n## A heading\n"} | more
    for name, content in pages.items():
        (folder / f"{name}.md").write_text(content)
    (folder / "aside.txt").write_text("")
    shutil.copy(ROOT / "docs/conf.py", folder)
    run = [sys.executable, "-m", "sphinx", *options, "--builder", "dummy", str(folder), str(folder / "out")]
    done = subprocess.run(run, capture_output=True, text=True, timeout=HANG, check=False)
    return done.returncode, done.stderr


@pytest.mark.campaign  # `make test` builds the documentation itself
def test_links_that_lead_somewhere_are_no_fault(tmp_path: Path) -> None:
    assert built(tmp_path, INDEX) == (0, "")


def test_links_that_lead_nowhere_and_pages_that_nothing_leads_to_fail_the_build(tmp_path: Path) -> None:
    code, said = built(tmp_path, INDEX + "\n".join(BROKEN), lonely="# Lonely\n")
    assert code == 1
    assert [name for name in BROKEN.values() if f"'{name}'" not in said] == [], said
    assert "lonely.md: WARNING: document isn't included in any toctree" in said
    assert said.count("WARNING") == len(BROKEN) + 1
