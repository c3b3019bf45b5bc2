"""A little of the chaos in the suite; `python -m tests.chaos` has as much of it as there is time for."""

from typing import Any

import pytest

from tests.chaos.campaign import Plan, campaign
from tests.chaos.told import Told, Verdict
from tests.effort import tries
from tests.server.store.postgresql import running

HOW_OFTEN = {"kill": tries(4, 8), "term": tries(2, 3), "restart-postgres": tries(2, 4)}


def quiet(ended: int, verdict: Verdict) -> None:
    pass


@pytest.mark.slow
def test_hosts_are_killed_and_nothing_that_was_told_is_lost_doubled_or_changed() -> None:
    lives, verdict = campaign(Plan(1, "kill", HOW_OFTEN["kill"]), quiet)
    assert verdict.complaints == []
    assert lives.ended == HOW_OFTEN["kill"]
    assert verdict.told > 0


@pytest.mark.slow
def test_nothing_is_lost_by_hosts_that_are_killed_with_their_journal_in_postgresql() -> None:
    with running() as server:
        _, verdict = campaign(Plan(2, "kill", tries(2, 3), server), quiet)
    assert verdict.complaints == []
    assert verdict.told > 0


@pytest.mark.slow
def test_hosts_that_are_asked_to_stop_end_well_and_cut_nothing_short() -> None:
    _, verdict = campaign(Plan(3, "term", HOW_OFTEN["term"]), quiet)
    assert verdict.complaints == []
    assert verdict.told > 0


@pytest.mark.slow
def test_a_host_lives_on_when_its_database_crashes() -> None:
    with running() as server:
        lives, verdict = campaign(Plan(4, "restart-postgres", HOW_OFTEN["restart-postgres"], server), quiet)
    assert verdict.complaints == []
    assert verdict.told > 0
    assert lives.ended == HOW_OFTEN["restart-postgres"]


WON = {"type": "match", "tournament": "cup", "match": "cup-1", "pairing": 1, "winner": 0, "ending": "played"}
WON |= {"why": "three in a row", "moves": [1, 2, 3]}


def compared(*lines: dict[str, Any]) -> list[str]:
    told = Told()
    told.end("cup-1", 0, "played", "three in a row", [1, 2, 3])
    told.end("cup-1", 0, "played", "three in a row", None)
    told.standings("cup", [{"name": "ann", "wins": 1, "draws": 0, "losses": 0}])
    rows = [{"name": "ann", "wins": 1, "draws": 0, "losses": 0}]
    return told.compare([*lines, {"type": "standings", "tournament": "cup", "rows": rows}]).complaints


def test_what_was_told_and_is_kept_is_as_it_should_be() -> None:
    assert compared(WON) == []


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([], "lost: cup-1"),
        ([WON, WON], "doubled: cup-1 is in the record twice"),
        ([WON, {**WON, "match": "cup-1.2"}], "doubled: pairing"),
        ([{**WON, "winner": 1}], "changed: cup-1"),
        ([{**WON, "moves": [1, 2, 4]}], "changed: cup-1 was played as"),
    ],
)
def test_what_is_kept_in_another_way_than_it_was_told_is_noticed(lines: list[Any], complaint: str) -> None:
    assert any(each.startswith(complaint) for each in compared(*lines))


def test_standings_that_go_back_are_noticed() -> None:
    told = Told()
    told.standings("cup", [{"name": "ann", "wins": 2, "draws": 0, "losses": 0}])
    told.standings("cup", [{"name": "ann", "wins": 1, "draws": 1, "losses": 0}])
    rows = [{"name": "ann", "wins": 1, "draws": 1, "losses": 0}]
    complaints = told.compare([{"type": "standings", "tournament": "cup", "rows": rows}]).complaints
    assert len(complaints) == 1
    assert complaints[0].startswith("lost: the standings showed")
