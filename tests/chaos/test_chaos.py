"""A little of the chaos in the suite; `python -m tests.chaos` has as much of it as there is time for."""

from typing import Any

import pytest
from msgspec.structs import replace

from tests.chaos.campaign import LIFE, SETTLED, Plan, campaign
from tests.chaos.told import Told, Verdict
from tests.effort import tries
from tests.server.store.postgresql import running

# Eight kills in all. Hosts live half as long as those of the command, and the last of a record a quarter.
KILLS, KILLS_IN_POSTGRESQL, CRASHES, STOPS = tries(6, 8), tries(2, 3), tries(2, 4), tries(1, 3)
SHORT = Plan(seed=1, how="kill", times=KILLS, life=tries(1, 2) * LIFE / 2, settled=tries(1, 4) * SETTLED / 4)


def quiet(ended: int, verdict: Verdict) -> None:
    pass


@pytest.mark.slow
def test_hosts_are_killed_and_nothing_that_was_told_is_lost_doubled_or_changed() -> None:
    lives, verdict = campaign(SHORT, quiet)
    assert verdict.complaints == []
    assert lives.ended == KILLS
    assert verdict.told > 0


@pytest.mark.slow
def test_nothing_is_lost_by_hosts_that_are_killed_and_then_by_one_whose_postgresql_crashes() -> None:
    """The last host lives on, whatever becomes of its database."""
    with running() as server:
        plan = replace(SHORT, seed=2, times=KILLS_IN_POSTGRESQL, server=server, crashes=CRASHES)
        lives, verdict = campaign(plan, quiet)
    assert verdict.complaints == []
    assert lives.ended == KILLS_IN_POSTGRESQL + CRASHES
    assert verdict.told > 0


@pytest.mark.slow
def test_hosts_that_are_asked_to_stop_end_well_and_cut_nothing_short() -> None:
    """So is the last one, after them."""
    _, verdict = campaign(replace(SHORT, seed=3, how="term", times=STOPS, life=LIFE), quiet)
    assert verdict.complaints == []
    assert verdict.told > 0


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
