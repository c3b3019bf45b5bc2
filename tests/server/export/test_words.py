"""Causes in words, for pages and terminals."""

import pytest

from server.export.json_views import causes_shown
from server.export.words import FAULTS, before_move, in_words, whose
from tests.tournament.test_causes import EVERY_KIND
from tournament.events import Fault

NAMES = ("ann", "bob")


def test_every_fault_and_every_kind_of_cause_has_words() -> None:
    assert set(FAULTS) == set(Fault)
    said = [in_words(cause, NAMES) for cause in causes_shown(EVERY_KIND)]
    assert said == [
        "ann: e99 was refused: there is no square e99",
        "bob lost its connection",
        "bob came back",
        "the host stood still for 0.4 s, and gave that time back",
        "ann had 10.0 s for this move",
        "the host waited 30 s for bob",
    ]


def test_a_line_without_its_end_is_named_beside_the_clock() -> None:
    late = {"at": "…", "kind": "late", "seat": 1, "deadline": 60.0, "spent": 60.0, "begun": 24}
    assert (
        in_words(late, NAMES)
        == "bob had 60.0 s for this move, and sent a line without the line break at its end"
    )


def test_what_was_no_move_is_named_beside_the_clock() -> None:
    late = {
        "at": "…",
        "kind": "late",
        "seat": 1,
        "deadline": 60.0,
        "spent": 60.0,
        "ignored": "this is not JSON",
    }
    told = "bob had 60.0 s for this move, and sent what had no effect: this is not JSON"
    assert in_words(late, NAMES) == told


def test_where_neither_was_there_it_is_the_fault_of_both() -> None:
    ann, bob = ({"at": "…", "kind": "absent", "seat": seat, "seconds": 40.0} for seat in (0, 1))
    assert whose("bot", [ann]) == "the bot's own fault"
    assert whose("bot", [ann, bob]) == "the bots' own fault"
    assert whose("host", [ann, bob]) == "the fault of the host"


def test_a_cause_of_a_newer_host_is_named_and_no_error() -> None:
    assert in_words({"at": "…", "kind": "eclipse"}, NAMES) == "eclipse"


@pytest.mark.parametrize("ply", [1, 2, 3, 4])
def test_what_happened_belongs_to_the_move_that_came_after_it(ply: int) -> None:
    kinds = [cause["kind"] for cause in before_move(causes_shown(EVERY_KIND), ply)]
    assert kinds == (["refused", "disconnected", "returned", "credited"] if ply == 3 else [])
