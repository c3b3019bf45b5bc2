"""All attackers together at a short event, and whether the league notices what it has to notice."""

import sys
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from tests.adversaries.__main__ import main
from tests.adversaries.event import Past
from tests.adversaries.impostors import alike
from tests.adversaries.judge import judged
from tests.adversaries.league import Plan, grown, held
from tests.adversaries.scripts import GAMES, script
from tests.adversaries.strangers import LEAGUE
from tests.effort import IS_CAMPAIGN

SHORT = Plan(seconds=0.4, turns=1, past=Past(matches=500, names=250), settle=0.2)
PLANTED = replace(SHORT, seconds=0.2, planted=True)


@pytest.mark.slow
async def test_all_attackers_together_take_no_point_no_seat_and_no_call(tmp_path: Path) -> None:
    """And the league knows it when a seat is taken: then an attacker has a bot's own token."""
    SHORT.past.write(tmp_path / "past.sqlite")
    attacks = [(SHORT, "all", [*LEAGUE]), (PLANTED, "squatters", ["squatters"])]
    row, planted = await held(attacks, tmp_path / "past.sqlite")
    assert row.harms == []
    assert row.lost == 0
    assert row.matches > 0
    assert row.attacked.moves > 0
    assert row.tries >= sum(stranger.at_once for stranger in LEAGUE.values())
    assert any(harm.startswith("got the seat of lola") for harm in planted.harms), planted.harms


# Those that are after what others have, and might get it where processes know different things.
TAKERS = [name for name, each in LEAGUE.items() if each.act.__module__.endswith(("impostors", "visitors"))]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only there connections can be passed on")
async def test_several_workers_are_no_easier_to_attack(tmp_path: Path) -> None:
    """The campaign has all attackers. Those that only flood do so at the doors, which worker 0 has alone."""
    several = replace(SHORT, workers=3)
    several.past.write(tmp_path / "past.sqlite")
    strangers = [*LEAGUE] if IS_CAMPAIGN else TAKERS
    (row,) = await held([(several, "all", strangers)], tmp_path / "past.sqlite")
    assert row.harms == []
    assert row.lost == 0
    assert row.attacked.moves > 0
    assert row.peak.keys() == {"play", "show", "worker"}


@pytest.mark.campaign
@pytest.mark.slow
def test_the_command_fails_when_an_attacker_has_a_bots_own_token(capsys: pytest.CaptureFixture[str]) -> None:
    """Which is no fault of the host's: a planted harm."""
    code = main(["--only", "squatters", "--planted", "--seconds", "0.5", "--turns", "1", "--past", "100"])
    assert "HARM: got the seat of lola" in capsys.readouterr().out
    assert code == 1


# The judge


def match(one: str, other: str, score: tuple[float, float] | None, ending: str | None) -> dict[str, Any]:
    shown = {"match": "cup-1", "game": "santorini", "players": [one, other], "why": "so it was"}
    return {**shown, "score": score, "ending": ending}


WINNER = script("santorini").winner
AS_WRITTEN, OTHERWISE = (float(WINNER == 0), float(WINNER == 1)), (float(WINNER == 1), float(WINNER == 0))


@pytest.mark.parametrize(
    ("met", "lost"),
    [
        (match("bob", "ida", AS_WRITTEN, "played"), 0),
        (match("bob", "ida", OTHERWISE, "played"), 1),
        (match("bob", "ida", OTHERWISE, "time"), 1),
        (match("bob", "ida", (0.5, 0.5), "played"), 0.5),
        (match("bob", "ida", (0.0, 0.0), "left"), 1),
        (match("lola", "ghost1", (1.0, 0.0), "time"), 0),
        (match("ghost1", "lola", (1.0, 0.0), "time"), 1),
        (match("ghost1", "lola", (0.0, 0.0), "left"), 1),
        (match("ghost1", "lola", (1.0, 0.0), "played"), 0),
        (match("ghost1", "ghost2", (1.0, 0.0), "time"), 0),
        (match("ghost1", "lola", None, "void"), 0),
        (match("ghost1", "lola", None, "time"), 0),
        (match("bob", "ida", None, None), 0),
    ],
)
def test_a_point_that_an_honest_bot_must_have_and_has_not_is_lost(met: dict[str, Any], lost: float) -> None:
    verdict = judged([met])
    assert verdict.lost == lost
    assert len(verdict.matches_lost) == (lost > 0)


def test_only_what_is_over_and_has_an_honest_bot_in_it_is_counted() -> None:
    void = match("lola", "ghost1", None, "void")
    verdict = judged([void, match("bob", "ida", None, None), match("x", "y", (1.0, 0.0), "left")])
    assert (verdict.matches, verdict.void) == (1, 1)


# What is compared with


@pytest.mark.parametrize("game", GAMES)
def test_a_script_is_a_match_by_the_rules_that_its_winner_wins(game: str) -> None:
    position = script(game).opening
    for move in script(game).moves:
        assert position.outcome is None
        position = position.play(move)
    assert position.outcome.winner == script(game).winner


def test_growth_past_the_bound_is_told_of_each_process() -> None:
    before, peak = {"play": 100.0, "show": 90.0}, {"play": 164.5, "show": 150.0}
    assert [harm.partition(" ")[0] for harm in grown(before, peak, 64)] == ["play"]
    assert grown(before, peak, 65) == []
    assert grown({"play": 100.0}, peak, 65) == [], "show was away before"


def test_the_league_has_as_many_as_the_documentation_says() -> None:
    assert len(LEAGUE) == 24


def test_what_looks_like_a_name_is_another_text() -> None:
    for name in ("bob", "ida", "lola", "otto"):
        others = list(alike(name))
        assert len(others) == len(set(others))
        assert name not in others
