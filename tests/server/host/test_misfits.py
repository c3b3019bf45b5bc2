"""What an organiser is told of a value that does not fit: where it is, what was expected and what came."""

from codecs import BOM_UTF8
from typing import Any

import msgspec
import pytest

from server.config import Settings
from server.host.misfits import UNREADABLE, misfit, unreadable
from server.host.tournament_settings import TournamentSettings
from server.protocols.house.messages import Move

CUP = {"name": "cup", "game": "quoridor"}


def told(given: object, kind: type[Any]) -> str:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.convert(given, kind)
    return misfit(error.value, given, kind)


@pytest.mark.parametrize(
    ("field", "given", "expected"),
    [
        ("entrants", 1, "entrants: expected a whole number of 2 or more, not 1"),
        ("entrants", "a", 'entrants: expected a whole number, not "a"'),
        ("confidence", 1.0, "confidence: expected a number of less than 1, not 1.0"),
        ("absent", "maybe", 'absent: expected one of "settle", "wait", not "maybe"'),
        ("absent", 3, 'absent: expected one of "settle", "wait", not 3'),
        (
            "start_at",
            "tomorrow",
            'start_at: expected a date and time such as 2030-03-01T18:00:00Z, not "tomorrow"',
        ),
        ("group", "x" * 65, "group: expected a text of at most 64 characters, not one of 65"),
        ("group", "", 'group: expected a text of 1 or more characters, not ""'),
        ("pace", {"turn": 0}, "pace.turn: expected a number of more than 0, not 0"),
        ("pace", {"tern": 1}, "pace.tern is not known; there are: bank, gain, turn"),
        ("options", [1], "options: expected an object, not [1]"),
        ("rounds_at", ["x"], 'rounds_at[0]: expected a date and time such as 2030-03-01T18:00:00Z, not "x"'),
        ("round_every", [], "round_every: expected a number or a text, not []"),
    ],
)
def test_an_organiser_is_told_where_it_is_what_was_expected_and_what_came(
    field: str, given: object, expected: str
) -> None:
    assert told({**CUP, field: given}, TournamentSettings) == expected


def test_what_is_missing_and_what_is_too_much_is_named() -> None:
    assert told({"name": "cup"}, TournamentSettings) == "game is required, and is missing"
    assert told([], TournamentSettings) == "expected an object, not []"
    assert (
        told({"webhook": [{"url": "http://a/"}]}, Settings) == "webhook[0].secret is required, and is missing"
    )
    assert told({"limits": {"junc": 1}}, Settings) == "limits.junc is not known; there is: junk"


def test_a_secret_is_not_repeated() -> None:
    given = {"webhook": [{"url": "http://a/", "secret": 31415926}]}
    assert told(given, Settings) == "webhook[0].secret: expected a text, not a whole number"


def test_what_cannot_be_read_otherwise_is_told_by_its_kind() -> None:
    with pytest.raises(msgspec.ValidationError) as error:
        msgspec.json.decode(b'{"name":3', type=TournamentSettings)
    assert (
        misfit(error.value, msgspec.UNSET, TournamentSettings) == "name: expected a text, not a whole number"
    )


def test_of_a_name_in_an_object_it_is_told_what_names_there_may_be() -> None:
    """Catches what the decoder calls a place, told to a bot as if it were one: "key` in `$.note"."""
    said = told({"move": 3, "note": {"k" * 33: 1}}, Move)
    assert said == "note: expected a text of at most 32 characters as each name"


NO_STACK_IS_THAT_DEEP = 2_000_000  # from 3.14 on, Python goes as deep as the stack has room for


class Wall(msgspec.Struct):
    rows: int

    def __post_init__(self) -> None:
        if self.rows > 31:
            raise ValueError("a board has 31 rows at most")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b'{"rows":2.5}', "rows: expected a whole number, not 2.5"),
        (b"[]", "expected an object, not []"),
        (b'{"rows":32}', "a board has 31 rows at most"),
        (b'{"rows":1,"x":"\xff"}', "a body is UTF-8, and this one is not"),
        (b'{"x":' + b"[" * NO_STACK_IS_THAT_DEEP, "this body is nested too deeply"),
        (b"rows", "this is not JSON: JSON is malformed: invalid character (byte 0)"),
        (b"", "this body is empty"),
        (b" \r\n", "this body is empty"),
        (BOM_UTF8 + b'{"rows":1}', "this is not JSON: a byte order mark is before it"),
    ],
)
def test_a_body_that_cannot_be_read_is_told_of_in_plain_words(content: bytes, expected: str) -> None:
    """They are none of the decoder's, which speaks of types, codecs and recursion."""
    with pytest.raises(UNREADABLE) as error:
        msgspec.json.decode(str(content, "utf-8"), type=Wall)
    assert unreadable(error.value, "body", content, Wall) == expected
