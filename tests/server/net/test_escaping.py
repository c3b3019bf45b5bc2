"""Nothing that a stranger sends gets to a terminal as it is."""

import ast
import contextlib
import io
import json
import re
import unicodedata
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.catalogue import catalogue
from server.net.escaping import CUT, in_quotes, json_line, safe
from server.programs.table import table
from server.programs.terminal import say

ROOT = Path(__file__).parents[3]
NASTY = st.text(
    st.one_of(st.characters(), st.sampled_from("\x00\x07\x1b\x7f\x9b\u202e\u2066\u200b\r\n\t\ud800"))
)


def harmless(text: str) -> bool:
    """No control (C0, C1, DEL), nothing bidirectional or invisible, no surrogate, no line of its own."""
    return not any(unicodedata.category(c) in {"Cc", "Cf", "Cs", "Zl", "Zp"} for c in text)


@given(NASTY)
def test_what_is_safe_moves_no_cursor_and_turns_no_text_round(text: str) -> None:
    assert harmless(safe(text))
    assert harmless(safe(text, cut=None).replace("\n", ""))
    assert len(safe(text, cut=10)) <= 10 * len("\\U0010ffff") + 1


@given(NASTY)
def test_what_a_person_can_read_stays_as_it_is(text: str) -> None:
    plain = "".join(c for c in text if c.isprintable())
    assert safe(plain, cut=None) == plain


@given(NASTY)
def test_what_a_sentence_repeats_is_harmless_short_and_says_where_it_was_cut(text: str) -> None:
    assert harmless(in_quotes(text))
    assert len(in_quotes(text)) <= CUT * len("\\U0010ffff") + len("''…")
    assert in_quotes(text).endswith("…") == (len(text) > CUT)
    assert len(text) > CUT or ast.literal_eval(in_quotes(text)) == text


def test_a_sentence_cuts_what_it_repeats_where_it_is_seen() -> None:
    """A part of somebody's words looks like all of them."""
    found = [
        f"{source.relative_to(ROOT)}: {part}"
        for source in sorted((ROOT / "server").rglob("*.py"))
        if source.name != "secrets.py"  # which puts an id together
        for part in re.findall(r"\{[^{}]*\[:\d+\](?:![ars])?\}", source.read_text(encoding="utf-8"))
    ]
    assert not found, "write in_quotes(…), or safe(…)"


@given(st.dictionaries(st.text(), NASTY.filter(lambda text: "\ud800" not in text)))
def test_a_line_of_json_is_harmless_and_says_the_same(value: dict[str, str]) -> None:
    line = json_line(value)
    assert harmless(line)
    assert line.isascii()
    assert json.loads(line) == value


@given(NASTY)
def test_all_that_is_printed_is_safe(text: str) -> None:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        say(f"bob: {text}")
        say(table(("name ", "points"), [(text, 1)], title=text))
    assert harmless(out.getvalue().replace("\n", ""))


@pytest.mark.parametrize("name", catalogue())
def test_what_a_game_shows_is_printed_as_it_is_sent(name: str) -> None:
    """Catches a state that is ready for the wire and nothing else."""
    game = catalogue()[name]
    shown = game.show(game.start(), ("ann", "bob"))
    assert json.loads(json_line({"state": shown})) == {
        "state": msgspec.json.decode(msgspec.json.encode(shown))
    }


def test_a_table_without_rows_has_no_headings() -> None:
    assert table(("ply", "move "), iter([]), "cup-1: ann against bob") == "cup-1: ann against bob"
    assert table(("ply", "move "), []) == ""
