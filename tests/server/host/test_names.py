"""What somebody may be called."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.host.names import BadName, checked, key


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
    ],
)
def test_names_that_could_mislead_are_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(BadName, match=reason):
        checked(name)


@pytest.mark.parametrize(
    ("one", "other"), [("Ann", "ann"), ("ann", "ａｎｎ"), ("ace", "асе"), ("cafe", "café"), ("a b", "a  b")]
)
def test_names_that_look_alike_are_one(one: str, other: str) -> None:
    assert key(one) == key(other)


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
