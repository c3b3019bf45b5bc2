"""What somebody may be called."""

import sys
import unicodedata
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from games.catalogue import catalogue
from games.game import Game
from server.host.names import LONGEST, BadName, checked, key
from tests.steps import steps_taken


@pytest.mark.parametrize("name", ["Ann", "ann@host.example", "my bot 2", "Żółw", "いろは", "a" * 32])
def test_ordinary_names_may_be_had(name: str) -> None:
    assert checked(name) == name


def test_blanks_around_a_name_do_not_belong_to_it() -> None:
    assert checked(" \tAnn \r") == "Ann"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("", "at least one"),
        ("   ", "at least one"),
        ("a" * 33, "at most 32 characters, and this one has 33"),
        ("Draw", "reserved"),
        ("dRAW", "reserved"),
        ("Ｄraw", "reserved"),
        ("a\x00b", "control"),
        ("a\x1b[31mb", "control"),
        ("a\nb", "control"),
        ("a\u202eb", "bidirectional"),
        ("a\u200bb", "invisible"),
        ("a\ufeffb", "invisible"),
        ("a\ud800b", "control, invisible"),
        ("a\u2028b", "invisible"),
        ("a\u00a0b", "ordinary one"),
        ("Ann\u0430", "CYRILLIC and LATIN"),
        ("Ann\ua4ee", "LATIN and LISU"),
        ("a\u2800b", "invisible"),
        ("\u3164", "invisible"),
        ("a\u115f", "invisible"),
        ("a\ufe0f", "invisible"),
        ("Lea \u2764\ufe0f", r"U\+FE0F, character 6 of this one, is part of some emoji: use another"),
        ("\U0001f468\u200d\U0001f467", r"U\+200D, character 2 of this one, is part of some emoji"),
        ("Mi\u00ada", r"such as U\+00AD, character 3 of this one$"),
        ("a\u034fb", "invisible"),
        ("a\U000e0100b", "invisible"),
        ("\u0301", "not an accent"),
        ("organiser", "reserved"),
        ("0rganiser", "reserved"),
        ("the  h0st", "reserved"),
        ("Host", "reserved"),
        ("\u029cost", "reserved"),
        ("\u0391rena", "GREEK and LATIN"),
        ("THE ARENA", "reserved"),
        ("\u1d05\u0280\u1d00\u1d21", "reserved"),
        ("randorn", "reserved"),
        ("AIMA", "reserved"),
        ("a1ma", "reserved"),
        ("Greedy", "reserved"),
        ("f1rst", "reserved"),
        ("alphabeta", "reserved"),
        ("practice-slow", "reserved"),
    ],
)
def test_names_that_could_mislead_are_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(BadName, match=reason):
        checked(name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ann", "ann"),
        ("ann", "ａｎｎ"),
        ("ace", "асе"),
        ("cafe", "café"),
        ("a b", "a  b"),
        ("Bobl", "Bob1"),
        ("Bob1", "B0b1"),
        ("bob", "ʙᴏʙ"),
        ("bob", "ꓐꓳꓐ"),
        ("Alice", "ALICE"),
        ("Alice", "A1ice"),
        ("bot-10", "bot-1O"),
        ("tom", "torn"),
        ("кот", "kot"),
    ],
)
def test_names_that_look_alike_are_one(one: str, other: str) -> None:
    assert key(one) == key(other)


def test_a_thousand_numbered_bots_have_a_thousand_names() -> None:
    numbered = [f"bot-{number}" for number in range(1, 1001)]
    assert len({key(checked(name)) for name in numbered}) == len(numbered)


@pytest.mark.parametrize("game", catalogue().values(), ids=lambda game: game.name)
def test_opponents_that_the_host_provides_keep_their_names_to_themselves(game: Game[Any, Any]) -> None:
    for opponent in game.opponents:
        with pytest.raises(BadName, match="reserved"):
            checked(opponent.name.title())


def test_names_that_do_not_look_alike_are_two() -> None:
    assert len({key(name) for name in ("ann", "anna", "bob", "a b", "ab", "いろは")}) == 6


@given(st.text(max_size=40))
def test_what_is_let_through_is_short_visible_and_on_one_line(name: str) -> None:
    try:
        allowed = checked(name)
    except BadName:
        return
    assert 1 <= len(allowed) <= 32
    assert allowed == allowed.strip()
    assert all(unicodedata.category(character)[0] != "C" for character in allowed)
    assert checked(allowed) == allowed


@pytest.mark.parametrize("letter", ["a", "\ufdfa"])  # the second is written as eighteen others
def test_a_text_that_is_too_long_for_a_name_costs_the_same_however_long_it_is(letter: str) -> None:
    """Catches a door that works out what 60,000 letters look like before it refuses them."""

    def effort(length: int) -> int:
        return steps_taken(partial(key, letter * length))

    assert effort(LONGEST + 1) == effort(1000 * LONGEST)
    assert key(letter * (LONGEST + 1)) != key(letter * LONGEST)


def test_nothing_is_remembered_of_the_blanks_around_a_name() -> None:
    """Catches thousands of names that are remembered as they came, each with 60,000 blanks."""
    padded = " " * 60_000 + "Ann"
    before = sys.getrefcount(padded)
    assert (checked(padded), key(padded)) == ("Ann", key("ann"))
    assert sys.getrefcount(padded) == before
