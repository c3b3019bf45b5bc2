"""`games/game.py`: what every game is opened, typed and quoted with."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.catalogue import catalogue
from games.game import SHOWN, BadOption, Illegal, quoted, typed
from tests.games.junk import KNOWN, LARGE, anything
from tests.games.play import each_game

# What is quoted


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ("e9", '"e9"'),
        ('a "quotation"', r'"a \"quotation\""'),
        ("a\nline\x1b[31m", r'"a\nline\u001b[31m"'),
        ("\u202eסוף", r'"\u202e\u05e1\u05d5\u05e3"'),
        ("\ud800", r'"\ud800"'),
        (True, "true"),
        (None, "null"),
        (3, "3"),
        (-3, "-3"),
        (1.0, "1.0"),
        (float("nan"), "NaN"),
        (10**4000, "a number of more than 60 digits"),
        (-(10**60), "a number of more than 60 digits"),
        (10**60 - 1, "9" * 60),
        ([0, 7], "[0, 7]"),
        ([], "[]"),
        ([1] * 10, "a list of 10"),
        ([True], "a list of 1"),
        ([10**4000], "a list of 1"),
        ([[1]], "a list of 1"),
        ({}, "an object of 0"),
        ({"row": 1}, "an object of 1"),
        (b"e9", "a bytes"),
    ],
)
def test_what_a_bot_sent_is_quoted_so_that_it_is_recognised(sent: Any, words: str) -> None:
    assert quoted(sent) == words


def test_a_long_text_is_cut() -> None:
    assert quoted("x" * SHOWN) == '"' + "x" * (SHOWN - 1) + "…"
    assert quoted("x" * 10**6) == quoted("x" * (SHOWN + 1))
    assert quoted("x" * (SHOWN - 2)) == '"' + "x" * (SHOWN - 2) + '"'


@given(sent=anything)
def test_a_quotation_is_short_and_printable_whatever_was_sent(sent: Any) -> None:
    assert_is_quotable(sent)


def test_a_quotation_is_short_and_printable_for_known_junk() -> None:
    for sent in KNOWN + LARGE:
        assert_is_quotable(sent)


def assert_is_quotable(sent: Any) -> None:
    words = quoted(sent)
    assert 0 < len(words) <= SHOWN + 1
    assert words.isprintable()
    assert words.removesuffix("…").isascii()


# What is typed


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("3", 3),
        (" 3 ", 3),
        ("[2, 3]", [2, 3]),
        ('{"row":0}', {"row": 0}),
        ('"e2"', "e2"),
        ("e2", "e2"),
        ("2 3", "2 3"),
        ("", ""),
        ("[1,", "[1,"),
        ("+1", "+1"),
        ("1_0", "1_0"),
    ],
)
def test_what_is_typed_is_json_or_else_the_words_themselves(text: str, meant: object) -> None:
    assert typed(text) == meant


@pytest.mark.parametrize(
    "text", ["[" * 200_000, "9" * 200_000, '{"a":' * 100_000], ids=["lists", "digits", "objects"]
)
def test_typing_too_much_for_a_parser_is_no_error(text: str) -> None:
    assert typed(text) == text


@given(text=st.text() | st.text('[]{}":,0123456789eE+-. aN\\ud'))
def test_anything_can_be_typed(text: str) -> None:
    try:
        expected = json.loads(text)
    except ValueError:
        expected = text
    if repr(typed(text)) != repr(expected):
        assert typed(text) == text
        with pytest.raises(ValueError):  # noqa: PT011 - what no JSON holds: NaN, infinity, half a character
            json.dumps(expected, allow_nan=False, ensure_ascii=False).encode()


@pytest.mark.parametrize("text", ["NaN", "[-Infinity]", "1e999", r'"\ud800"', r'{"\udfff":1}'])
def test_what_could_be_neither_sent_nor_kept_is_words(text: str) -> None:
    """Catches a bot that ends the host by a move that a game repeats in its reason."""
    assert typed(text) == text


# Openings


def test_options_reach_the_opening() -> None:
    game = catalogue()["hexagon-dots"]
    assert game.opening({"rows": 3, "cols": 5}) == game.start(rows=3, cols=5) != game.opening({})


@each_game
def test_an_option_that_there_is_not_is_named_with_those_that_there_are(game: Any) -> None:
    with pytest.raises(BadOption, match='has no option "colour"') as refusal:
        game.opening({"colour": 1})
    message = str(refusal.value)
    assert message.startswith(game.title)
    assert all(option in message for option in (*game.options, "ply_limit"))


@each_game
def test_the_most_plies_of_a_match_are_an_option_of_every_game(game: Any) -> None:
    assert game.opening({"ply_limit": 3}) == game.opening({})
    assert (game.longest({"ply_limit": 3}), game.longest({})) == (3, game.ply_limit)
    with pytest.raises(BadOption, match="ply_limit has to be a number from 1 to 1000, not 1001"):
        game.opening({"ply_limit": 1001})


@pytest.mark.parametrize("value", [None, True, -1, 0, 10**4000, 1.5, "", "3", [], {}, float("nan")])
@each_game
def test_an_option_with_a_senseless_value_is_refused_in_a_sentence(game: Any, value: object) -> None:
    for option in (*game.options, "ply_limit"):
        with pytest.raises(BadOption) as refusal:
            game.opening({option: value})
        assert option in str(refusal.value)
        assert str(refusal.value).isprintable()
        assert len(str(refusal.value)) <= 300


@each_game
@given(option=st.text(), value=anything)
def test_options_of_a_stranger_are_taken_or_refused(game: Any, option: str, value: object) -> None:
    with pytest.raises(BadOption):
        game.opening({f"{option}?": value})


def test_refusals_are_values_errors_that_a_boundary_can_tell_apart() -> None:
    assert issubclass(Illegal, ValueError)
    assert issubclass(BadOption, ValueError)
    assert not issubclass(Illegal, BadOption)
