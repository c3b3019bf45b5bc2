"""What programs outside the project are shown of standings and matches."""

import pytest

from server.export.json_views import match_shown, out_shown, row_whole, rows
from tournament.events import Ending
from tournament.facts import (
    AnyFact,
    Concluded,
    Disqualified,
    Drew,
    Entered,
    NoShow,
    Opened,
    Voided,
    Withdrew,
)
from tournament.format import Pairing
from tournament.record import Record
from tournament.score_sheet import board_of

PLAYED = Concluded(
    "cup-1", 1, ("ann", "bob"), 1, Ending.PLAYED, "X has three in a row", (0.0, 1.0), ("C", "N"), (0.5, 0.25)
)


def record(*facts: AnyFact) -> Record:
    held = Record("cup", Opened("tic-tac-toe", "round-robin"))
    for fact in (Entered("ann"), Entered("bob"), Drew((Pairing(1, 1, "ann", "bob"),)), *facts):
        held.add(fact)
    return held


def test_a_row_has_all_that_the_standings_know() -> None:
    first, second = rows(record(PLAYED))
    assert list(first) == [
        *("rank", "name", "points", "played", "wins", "draws", "losses", "tie_breaks", "rating", "interval")
    ]
    assert (first["rank"], first["name"], first["points"], first["wins"]) == (1, "bob", 1.0, 1)
    assert (second["rank"], second["name"], second["points"], second["losses"]) == (2, "ann", 0.0, 1)
    assert list(first["tie_breaks"]) == ["direct-encounter", "sonneborn-berger", "wins", "wins-as-second"]


@pytest.mark.slow
def test_ratings_are_symmetric_rounded_and_inside_their_interval() -> None:
    first, second = rows(record(PLAYED))
    assert first["rating"] == -second["rating"] > 0
    for row in (first, second):
        low, high = row["interval"]
        assert low < row["rating"] < high
        assert all(round(figure, 1) == figure for figure in (low, high, row["rating"]))


def test_whoever_has_played_nothing_has_no_rating() -> None:
    assert [(row["rank"], row["rating"], row["interval"]) for row in rows(record())] == [(1, None, None)] * 2


@pytest.mark.parametrize(
    ("fact", "out"),
    [
        (Withdrew("ann", False), {"out": "withdrawn"}),
        (Withdrew("ann", True), {"out": "withdrawn", "annulled": True}),
        (Disqualified("ann", "two bots in one"), {"out": "disqualified"}),
        (NoShow("ann"), {"out": "did not check in"}),
    ],
)
def test_a_row_says_that_its_entrant_is_out_and_whether_its_results_count(
    fact: AnyFact, out: dict[str, object]
) -> None:
    held = record(PLAYED, fact)
    shown = {row.name: row_whole(row, held) for row in board_of(held, 0.0).rows}
    assert shown["ann"] | out == shown["ann"]
    assert out_shown(held, "ann") == out
    assert not {"out", "annulled"} & {*shown["bob"]}


def test_whoever_is_disqualified_after_a_withdrawal_is_disqualified() -> None:
    held = record(PLAYED, Withdrew("ann", True), Disqualified("ann", "two bots in one"))
    assert out_shown(held, "ann") == {"out": "disqualified"}


def test_a_match_is_shown_with_its_moves_in_full_and_without_them_in_a_list() -> None:
    held = record(PLAYED)
    listed, full = match_shown(held, PLAYED, full=False), match_shown(held, PLAYED, full=True)
    assert full == listed | {"moves": ("C", "N"), "times": (0.5, 0.25), "notes": ()}
    assert (full["match"], full["game"], full["tournament"]) == ("cup-1", "tic-tac-toe", "cup")
    assert (full["winner"], full["ending"], full["why"]) == (1, "played", "X has three in a row")


def test_a_match_that_was_voided_is_void_and_says_what_it_was() -> None:
    held = record(PLAYED, Voided("cup-1", "a fault"))
    shown = match_shown(held, PLAYED, full=True)
    assert (shown["winner"], shown["ending"], shown["score"]) == (None, "void", None)
    assert shown["why"] == "the organiser voided it; before that: X has three in a row"
    assert shown["moves"] == ("C", "N")
