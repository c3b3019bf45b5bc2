"""Files and modules that the docs name are there: whoever moves one finds its name in the docs as well."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.server.served import ROOT

FOLDERS = (ROOT / "docs", ROOT / "clients")
PAGES = [ROOT / "README.md", *(page for folder in FOLDERS for page in sorted(folder.rglob("*.md")))]
OUTSIDE = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "clients/README.md"]
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
FILE = re.compile(r"`((?:clients|docs|games|requirements|server|tests|tournament)/[a-z0-9_./-]+)`")
MODULE = re.compile(r"python -m ((?:server|tests|tournament)(?:\.[a-z_]+)*)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [name for name in FILE.findall(text) if not (ROOT / name).exists()] == []
    assert [name for name in MODULE.findall(text) if find_spec(name) is None] == []


def anchors(page: Path) -> set[str]:
    """Where a link into a page can lead: its headings, as they are turned into anchors."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.casefold())) for heading in headings}


@pytest.mark.parametrize("page", OUTSIDE, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_pages_that_are_not_on_the_site_lead_somewhere(page: Path) -> None:
    """Those of the others are followed when the site is built."""
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        name, _, anchor = link.partition("#")
        file = page.parent / name if name else page
        assert file.exists(), link
        assert not anchor or anchor in anchors(file), link


def test_pages_name_files_and_modules() -> None:
    """Catches a pattern that finds nothing."""
    text = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    assert len(FILE.findall(text)) > 50
    assert len(MODULE.findall(text)) > 10
