"""What looks like what."""

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.host.look_alikes import DATA, alike, is_unseen, shape, skeleton
from tests.server.host.make_look_alikes import made


def groups() -> list[tuple[str, list[str]]]:
    """What the data says: what stands for what."""
    lines = [line for line in DATA.read_text("utf-8").splitlines() if not line.startswith("#")][2:]
    parted = (line.partition(": ") for line in lines)
    return [
        ("".join(chr(int(code, 16)) for code in stands.split()), [chr(int(c, 16)) for c in others.split()])
        for stands, _, others in parted
    ]


@pytest.mark.slow
def test_the_data_is_of_one_version_of_unicode_and_says_which() -> None:
    assert f"by Unicode {alike().version}" in DATA.read_text("utf-8").splitlines()[0]
    assert sum(len(others) for _, others in groups()) > 6000


def test_what_unicode_takes_for_the_same_is_the_same() -> None:
    """All of it, but for letters with accents: those are their letters, whatever the accent looks like."""
    different = [
        (stands, other)
        for stands, others in groups()
        for other in others
        if unicodedata.normalize("NFKD", other) == other and skeleton(stands) != skeleton(other)
    ]
    assert not different


def test_only_a_few_characters_on_a_keyboard_look_alike() -> None:
    """The digits are ten."""
    plain: dict[str, str] = {}
    for character in string.digits + string.ascii_letters + string.punctuation:
        plain[skeleton(character)] = plain.get(skeleton(character), "") + character
    letters = {one + one.upper() for one in string.ascii_lowercase if one not in "ilo"}
    single = {one for one in string.digits + string.punctuation if one not in "01|'`"}
    assert {*plain.values()} == letters | single | {"0oO", "1ilIL|", "'`"}


@given(st.text(max_size=40))
def test_a_skeleton_is_its_own(text: str) -> None:
    assert skeleton(skeleton(text)) == skeleton(text)


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_the_skeleton_of_plain_text_is_that_of_its_characters(text: str) -> None:
    """Which are looked up: a host that starts has the names of years to go through."""
    assert skeleton(text) == shape(text)


@given(st.text(st.characters(codec="ascii"), max_size=40))
def test_case_makes_no_difference(text: str) -> None:
    assert skeleton(text) == skeleton(text.upper()) == skeleton(text.lower())


@pytest.mark.parametrize("character", ["\u2800", "\u3164", "\uffa0", "\u115f", "\u1160", "\u034f", "\u180b"])
def test_what_nobody_sees_is_known(character: str) -> None:
    assert is_unseen(character)
    assert not is_unseen("a")


def test_the_data_can_be_made_anew_from_what_unicode_publishes() -> None:
    confusables = (
        "\ufeff# confusables.txt\n# Version: 18.0.0\n#\n"
        "0031 ;\t006C ;\tMA\t# ( 1 → l ) DIGIT ONE → LATIN SMALL LETTER L\t# \n"
        "0049 ;\t006C ;\tMA\t# ( I → l ) LATIN CAPITAL LETTER I → LATIN SMALL LETTER L\t# \n"
        "006D ;\t0072 006E ;\tMA\t# ( m → rn ) LATIN SMALL LETTER M\t# \n"
    )
    properties = (
        "# DerivedCoreProperties-18.0.0.txt\n"
        "115F..1160    ; Default_Ignorable_Code_Point # Lo   [2] HANGUL CHOSEONG FILLER\n"
        "3164          ; Default_Ignorable_Code_Point # Lo       HANGUL FILLER\n"
        "0041          ; Alphabetic # Lu\n"
    )
    lines = [line for line in made(confusables, properties).splitlines() if not line.startswith("#")]
    assert lines == ["version 18.0.0", "ignorable 115F-1160 3164-3164", "006C: 0031 0049", "0072 006E: 006D"]
    with pytest.raises(ValueError, match="one version"):
        made(confusables, properties.replace("18", "17"))
