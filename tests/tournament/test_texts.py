"""Names are taken out of texts, so that those of many bots are one, and put in again as they were."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tournament.texts import Texts, nameless, with_names

# Few letters, and what stands in place of names: so that names are within each other, and within words.
texts = st.text("ab \0\1\2", max_size=12)


@given(text=texts, players=st.tuples(texts, texts))
@example("b\0", ("b", ""))
@example("\2a", ("b", "c"))
def test_with_its_names_a_text_is_what_it_was(text: str, players: tuple[str, str]) -> None:
    assert with_names(nameless(text, players), players) == text


@pytest.mark.parametrize(
    "text",
    ["{0} left the match", "{1} ran out of time", "the host stopped, and {0} and {1} did not come back"],
)
def test_a_text_of_any_two_bots_is_held_once(text: str) -> None:
    held = Texts()
    for number in range(100):
        players = f"bot-{number}", f"other-bot-{number}"
        held.number(nameless(text.format(*players), players))
    assert len(held) == 1


def test_a_text_has_one_number() -> None:
    held = Texts(["a"])
    assert [held.number(text) for text in ("b", "a", "b")] == [1, 0, 1]
    assert [*held] == ["a", "b"]
    assert held[1] == "b"
