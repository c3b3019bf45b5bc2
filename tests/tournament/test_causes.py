"""What led to the end of a match, as values."""

import json

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from games.game import Quoted, quoted
from tests.games.junk import LARGE, anything
from tournament import causes
from tournament.causes import FIRST, LATEST, SENT, Cause, as_text, bounded, moved_by

EVERY_KIND: list[Cause] = [
    causes.Refused(1.0, 0, 2, "e99", "there is no square e99"),
    causes.Disconnected(2.0, 1, 2),
    causes.Returned(3.0, 1, 2),
    causes.Credited(4.0, 0.4, 2),
    causes.Late(5.0, 0, 2, 10.0, 10.001),
    causes.Absent(6.0, 1, 30.0),
]


def test_every_kind_is_tried() -> None:
    assert {type(cause) for cause in EVERY_KIND} == set(Cause.__args__)


def test_every_kind_can_be_written_and_read_back_and_says_its_kind() -> None:
    written = msgspec.json.encode(EVERY_KIND)
    assert msgspec.json.decode(written, type=list[Cause]) == EVERY_KIND
    kinds = [each["kind"] for each in json.loads(written)]
    assert kinds == ["refused", "disconnected", "returned", "credited", "late", "absent"]


@given(count=st.integers(0, 200))
def test_when_there_are_many_the_first_and_the_latest_are_kept_in_their_order(count: int) -> None:
    every = [causes.Disconnected(float(number), 0, 0) for number in range(count)]
    kept = bounded(every)
    if count <= FIRST + LATEST:
        assert list(kept) == every
    else:
        assert list(kept) == every[:FIRST] + every[-LATEST:]


def test_another_clock_moves_all_of_them_alike() -> None:
    moved = moved_by(EVERY_KIND, 1_000_000.25)
    assert [cause.at for cause in moved] == [cause.at + 1_000_000.25 for cause in EVERY_KIND]
    assert moved_by(moved, -1_000_000.25) == tuple(EVERY_KIND)


@given(sent=anything | st.sampled_from(LARGE))
def test_whatever_was_sent_is_shown_as_printable_text_of_bounded_length(sent: object) -> None:
    text = as_text(sent)
    assert len(text) <= SENT
    assert text.isprintable()
    msgspec.json.encode(text)


def test_words_are_shown_as_they_are_and_anything_else_as_json() -> None:
    assert as_text("e99") == "e99"
    assert as_text({"action": "move", "position": "e2"}) == '{"action":"move","position":"e2"}'
    assert as_text("a\nb\u202e") == "a\\nb\\u202e"
    assert as_text(Quoted(quoted("e99"))) == "e99", "as another process is told of it"
    assert as_text("x" * 5000).endswith("…")
