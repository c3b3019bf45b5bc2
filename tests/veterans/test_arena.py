"""Teams of the Arena, in whole evaluations and in a league."""

import json
from collections.abc import Callable

import pytest

from tests.effort import tries
from tests.hang import HANG
from tests.server.served import Served
from tests.veterans.arena import FLIP, Fields, Fought, Manners, Mind, Team
from tests.veterans.company import matches
from tests.veterans.minds import Pawn, Symbols

pytestmark = pytest.mark.slow

GAME = "tic-tac-toe"
FLIPPED = ("DUP", "TWICE_A_ROW", "X_FIRST", "OUT_OF_BOUND", "FLIP_TABLE_RANDOMLY")
CHEATS = {f"C_AI_{cheat}": 4 for cheat in FLIPPED}
CASES = dict.fromkeys(("BASE_AI_O", "BASE_AI_X", "AB_AI_O", "AB_AI_X"), 20) | CHEATS
PAWNS = ("TELEPORT", "SECOND_FIRST", "TWICE_A_ROW", "PAWN_OUTSIDE", "WALK_THROUGH_WALL")
WALLS = ("WALL_OUTSIDE", "WALL_CROSS", "PUT_11_WALLS")
FOUL = {f"C_AI_{cheat}": 2 for cheat in PAWNS + WALLS} | {"C_AI_WALL_BLOCKING": 4}  # those of Quoridor
DRAWN = ["NW", "C", "N", "NE", "SW", "W", "E", "S", "SE"]  # between two who search row by row
RUNS = tries(6, 20)  # that all of them come in one order by chance is as good as impossible
EARLY = "C_AI_X_FIRST"  # the one case in which the arena has cheated before anybody can move
WRONG = "flipped the table although nothing was wrong"
SHOUTED = Manners(
    kind="text/plain",
    body=json.dumps,
    evaluate="/Tic-Tac-Toe/Evaluate/",
    join="/Tic-Tac-Toe/JOIN/",
    start="/Tic-Tac-Toe/Start/{battle}/",
    play="/TIC-TAC-TOE/Play/{battle}/",
)


def scores(team: Team) -> dict[str, float]:
    return {case["caseType"]: case["score"] for case in team.standing["cases"]}


def positions(fought: Fought) -> list[str]:
    return [event["position"] for event in fought.events if "position" in event]


def flips(fought: Fought) -> list[str]:
    """Who flipped the table."""
    return [event["player"] for event in fought.events if event.get("action") == FLIP]


@pytest.mark.parametrize("manners", [Manners(), SHOUTED], ids=["forms", "slashes-and-capitals"])
def test_a_team_that_plays_properly_and_flips_back_has_a_hundred_points(
    manners: Manners, hold: Callable[..., Served]
) -> None:
    with Team(hold(), {GAME: Symbols}, manners) as team:
        cases = team.evaluated(GAME, "run")
        assert scores(team) == CASES
        assert (team.standing["score"], team.told["runId"], team.told["score"]) == (100, "run", 100)
        for case, fought in cases.items():
            played, late = [200] * len(fought.statuses), []
            if case in CHEATS:
                assert flips(fought)[-1] == fought.me, "nobody has to say who won"
                assert "winner" not in fought.events[-1]
                played, late = played[1:], [423]  # it flips back at its own flip, when all is over
            assert fought.statuses == played + late, case
        assert [positions(cases[case]) for case in ("AB_AI_O", "AB_AI_X")] == [DRAWN, DRAWN]


@pytest.mark.slow
def test_a_team_that_never_varies_sees_the_same_nine_games_in_each_of_its_evaluations(
    hold: Callable[..., Served],
) -> None:
    with Team(hold(), {GAME: Symbols}) as team:
        runs = [team.evaluated(GAME, f"run-{number}") for number in range(RUNS)]
        assert len({tuple(run) for run in runs}) > 1, "they come in any order"
        events = [{case: (fought.me, fought.events) for case, fought in run.items()} for run in runs]
        assert events[0].keys() == CASES.keys()
        for each in events:
            assert each == events[0]


@pytest.mark.slow
def test_a_pawn_in_a_hurry_has_all_points_for_the_cheats_of_quoridor(hold: Callable[..., Served]) -> None:
    with Team(hold(), {"quoridor": Pawn}) as team:
        cases = team.evaluated("quoridor", "run")
        assert scores(team).items() >= FOUL.items()
        assert all(flips(cases[case])[-1] == cases[case].me for case in FOUL)


@pytest.mark.slow
def test_a_team_whose_calls_have_threads_plays_evaluations_of_both_games_at_once(
    hold: Callable[..., Served],
) -> None:
    host = hold()
    with Team(host, {GAME: Symbols, "quoridor": Pawn}, at_once=True) as team:
        runs = {"a": GAME, "b": GAME, "c": "quoridor"}
        sizes = {run: team.ask(game, run, f"/{run}") for run, game in runs.items()}
        for _ in runs:
            team.scores.get(timeout=HANG)
        fought = team.finished(sum(sizes.values()))
        for run in "ab":
            assert len(team.cases(run, fought)) == sizes[run]
            assert scores(team) == CASES
        assert len(team.cases("c", fought)) == sizes["c"]
        assert scores(team).items() >= FOUL.items()


class Hasty(Symbols):
    """Flips the table before it has looked at it."""

    def choice(self, me: str) -> Fields | None:
        return {"action": FLIP}


def test_a_team_that_always_flips_the_table_is_told_that_nothing_was_wrong(
    hold: Callable[..., Served],
) -> None:
    with Team(hold(), {GAME: Hasty}) as team:
        cases = team.evaluated(GAME, "run")
        assert scores(team) == dict.fromkeys(CASES, 0) | {EARLY: 4}
        for case in team.standing["cases"]:
            assert (WRONG in case["why"]) == (case["caseType"] != EARLY), case
            assert case["why"] in team.told["message"]
        for case, fought in cases.items():
            assert fought.statuses[0] == 200
            assert {*fought.statuses[1:]} == {423}, "nothing changes any more"
            assert "winner" not in fought.events[-1]
            assert (flips(fought)[-1] == fought.me) == (case == EARLY), "else the arena flips it back"


class Angry(Team):
    """Moves, and flips the table before its opponent has moved."""

    def answer(self, mind: Mind, me: str, command: Callable[..., None]) -> None:
        if (chosen := mind.choice(me)) is not None:
            command(**chosen)
            command(action=FLIP)


@pytest.mark.slow
def test_teams_that_are_called_play_a_league_and_whoever_flips_out_of_turn_has_lost_at_once(
    hold: Callable[..., Served],
) -> None:
    names = ("ann", "bob", "cas", "eve")
    host = hold(GAME, len(names))
    minds = {GAME: Symbols}
    with (
        Team(host, minds) as ann,
        Team(host, minds, SHOUTED) as bob,
        Team(host, minds, at_once=True) as cas,
        Angry(host, minds) as eve,
    ):
        teams = dict(zip(names, (ann, bob, cas, eve), strict=True))
        for name, team in teams.items():
            asked = {"name": name, "teamUrl": team.url}
            assert team.send(team.manners.join.format(game=GAME), asked)[0] == 202
        fought = [each for team in teams.values() for each in team.finished(len(names) - 1)]
        for match in matches(host, names):
            if "eve" in match["players"]:
                assert match["players"][match["winner"]] != "eve"
                assert (match["ending"], match["plies"] <= 3) == ("illegal", True)
                assert match["why"] == f"eve: {WRONG}"
            else:
                assert (match["ending"], match["winner"]) == ("played", None), "row by row it is a draw"
        unspoilt = [positions(each) for each in fought if not flips(each)]
        assert unspoilt == [DRAWN] * 6, "three battles, as both sides were told of them"
