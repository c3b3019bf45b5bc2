"""Files and modules that the docs name are there: whoever moves one finds its name in the docs as well."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.server.served import ROOT

FOLDERS = (ROOT / "docs", ROOT / "clients")
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.rglob("*.md")))]
FILE = re.compile(r"`((?:clients|docs|games|requirements|server|tests|tournament)/[a-z0-9_./-]+)`")
MODULE = re.compile(r"python -m ((?:server|tests|tournament)(?:\.[a-z_]+)*)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FILE.findall(text) if not (ROOT / name).exists()] == []
    assert [name for name in MODULE.findall(text) if find_spec(name) is None] == []


def test_pages_name_files_and_modules() -> None:
    """Catches a pattern that finds nothing."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(FILE.findall(text)) > 50
    assert len(MODULE.findall(text)) > 10
