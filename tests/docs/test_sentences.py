"""The page of all sentences is what the source says, and each of them reads as one."""

import re
from pathlib import Path

import pytest

from tests.docs.sentences import page, sentences

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def said() -> list[str]:
    return sorted({each for told in sentences().values() for each in told})


def test_the_page_is_up_to_date() -> None:
    """If it is not: `python -m tests.docs.sentences > docs/sentences.md`, and read what has changed."""
    assert (ROOT / "docs/sentences.md").read_text(encoding="utf-8") == page()


def test_everybody_who_is_told_something_is_there(said: list[str]) -> None:
    assert all(sentences().values())
    assert "neither player was there" in said
    assert "{self.names[seat]} resigned" in said
    assert any("can still let you in" in each for each in said)
    assert any("has entered a tournament, or finished" in each for each in said), "what a function returns"
    assert "somebody with the same token has taken over" in said, "what another file has a name for"
    assert "the organiser voided it" in said, "what is said if nothing else is"


def test_no_sentence_has_a_full_stop_an_exclamation_mark_or_a_blank_too_many(said: list[str]) -> None:
    """They stand in the middle of lines, after a name or a colon."""
    filled = [re.sub(r"{[^{}]*}", "x", sentence) for sentence in said]
    assert not [each for each in filled if each.rstrip().endswith((".", "!")) or "  " in each]
