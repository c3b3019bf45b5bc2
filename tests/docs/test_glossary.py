"""The glossary is sorted, brief, linked, and has no word that nobody uses."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/glossary.md"
ENTRIES = [line for line in GLOSSARY.read_text().splitlines()[4:] if line]
TERMS = [line.removeprefix("- **").split("**")[0] for line in ENTRIES]
LONGEST = 130  # characters: what fits on a line of a terminal or a page


def written() -> str:
    """All that the code and the other pages say, with the words of whole names apart."""
    pages = [page for page in (ROOT / "docs").rglob("*.md") if page != GLOSSARY]
    code = [source for layer in ("games", "tournament", "server") for source in (ROOT / layer).rglob("*.py")]
    text = "\n".join(path.read_text() for path in (*pages, *code))
    return re.sub(r"[\s_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", text)).casefold()


@pytest.mark.parametrize("entry", ENTRIES)
def test_an_entry_is_a_term_and_one_sentence_in_one_line(entry: str) -> None:
    assert re.fullmatch(r"- \*\*[^*:]+\*\*: \S.*[^.]\.", entry)
    assert len(entry) <= LONGEST


def test_the_terms_are_sorted_and_each_is_there_once() -> None:
    keys = [re.sub(r"[\s-]+", " ", term.casefold()) for term in TERMS]
    assert keys == sorted(set(keys))


@pytest.mark.slow
def test_each_term_occurs_in_the_code_or_on_another_page() -> None:
    """Catches a word that stayed here when the thing was renamed."""
    elsewhere = written()
    words = [re.sub(r"[\s-]+", " ", term.casefold()) for term in TERMS]
    assert not [each for each in words if not re.search(rf"\b{re.escape(each)}(?:s|es)?\b", elsewhere)]


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_a_newcomer_finds_the_glossary(page: str) -> None:
    assert "glossary" in (ROOT / page).read_text()
