"""Evaluations: the cases and what they are worth, runs from the call to the score, and their limits."""

import re
from collections.abc import Callable, Mapping
from ipaddress import ip_address, ip_network
from random import Random
from typing import Any, Unpack

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Game
from games.tictactoe import FIELDS
from games.tictactoe import GAME as TIC_TAC_TOE
from server.config import Evaluation
from server.host.thinker import Busy, Failed
from server.http.routes import routed
from server.http.service import Http
from server.net.addresses import IP, Url, taken_apart
from server.net.limits import Limits
from server.net.outbound import Outbound
from server.protocols.arena.advanced import advanced
from server.protocols.arena.battle import Battle, Extras
from server.protocols.arena.cases import CASES, oppose
from server.protocols.arena.door import Arena
from server.protocols.arena.evaluation import TOLD_WITHIN, Evaluate, Evaluations
from server.protocols.arena.invitations import Invitations
from server.protocols.arena.messages import FLIP
from tests.effort import tries
from tests.hang import HANG
from tests.server.protocols.knight import Knight, runner
from tests.server.protocols.lists import Fighter, Lists, dead, flipped, lists, put
from tests.server.transcripts import Direct
from tests.server.web import Server
from tournament.events import Ending
from tournament.match import Match
from tournament.player import Seat
from tournament.timekeeper import Timekeeper

NUMBER = "192.0.2.7:5000"


# What it is worth


@pytest.mark.parametrize(
    ("game", "worth"),
    [
        (
            "tic-tac-toe",
            {"BASE_AI_O": 20, "BASE_AI_X": 20, "AB_AI_O": 20, "AB_AI_X": 20, "C_AI_DUP": 4}
            | {
                "C_AI_TWICE_A_ROW": 4,
                "C_AI_X_FIRST": 4,
                "C_AI_OUT_OF_BOUND": 4,
                "C_AI_FLIP_TABLE_RANDOMLY": 4,
            },
        ),
        (
            "quoridor",
            {"BASE_AI_FIRST": 15, "BASE_AI_SECOND": 15, "AB_AI_FIRST": 25, "AB_AI_SECOND": 25}
            | {"C_AI_TELEPORT": 2, "C_AI_SECOND_FIRST": 2, "C_AI_TWICE_A_ROW": 2, "C_AI_WALL_OUTSIDE": 2}
            | {"C_AI_PAWN_OUTSIDE": 2, "C_AI_WALL_CROSS": 2, "C_AI_WALK_THROUGH_WALL": 2}
            | {"C_AI_PUT_11_WALLS": 2, "C_AI_WALL_BLOCKING": 4},
        ),
    ],
)
def test_the_cases_of_a_game_are_worth_100_together(game: str, worth: Mapping[str, int]) -> None:
    for house in (0, 1):
        match = ended(catalogue()[game], winner=1 - house)
        assert {name: case.score(match, 1 - house) for name, case in CASES[game].items()} == worth
        lost = ended(catalogue()[game], winner=house)
        assert not any(case.score(lost, 1 - house) for case in CASES[game].values())
    assert sum(worth.values()) == 100


def test_a_draw_counts_against_whoever_plays_perfectly_and_nobody_else() -> None:
    drawn = ended(TIC_TAC_TOE, winner=None)
    scores = {name: case.score(drawn, 0) for name, case in CASES["tic-tac-toe"].items()}
    assert {name for name, score in scores.items() if score} == {"AB_AI_O", "AB_AI_X"}
    assert scores["AB_AI_O"] == scores["AB_AI_X"] == 20


@pytest.mark.parametrize(
    ("turns", "score"),
    [
        *((0, 0), (7, 0), (8, 1), (13, 1), (14, 3), (17, 3), (18, 6), (21, 6)),
        *((22, 10), (28, 15), (31, 17.5), (34, 20), (39, 24.17), (40, 25), (41, 25), (99, 25)),
    ],
)
@pytest.mark.parametrize("house", [0, 1])
def test_holding_out_against_the_strong_opponent_counts_by_own_turns(
    turns: int, score: float, house: int
) -> None:
    match = Match(catalogue()["quoridor"], ("one", "other"), 0.0, options={"ply_limit": 1000})
    paced = {0: ("d1", "e1"), 1: ("d9", "e9")}
    played = [0, 0]
    while played[1 - house] < turns or match.to_move == house:
        seat = match.to_move or 0
        match.play(seat, {"action": "move", "position": paced[seat][played[seat] % 2]}, 0.0)
        played[seat] += 1
    match.resign(1 - house, 0.0)
    for name in ("AB_AI_FIRST", "AB_AI_SECOND"):
        assert CASES["quoridor"][name].score(match, 1 - house) == pytest.approx(score, abs=0.005)


def ended(game: Game[Any, Any], winner: int | None) -> Match:
    """A match of two moves that ended so, by whatever means."""
    match = Match(game, ("one", "other"), 0.0, options={"ply_limit": 2})
    if winner is not None:
        match.resign(1 - winner, 0.0)
    while match.verdict is None:
        match.play(match.to_move or 0, game.write(next(iter(match.position.moves()))), 0.0)
    return match


# Who plays for the house


@pytest.mark.parametrize("house", [0, 1])
async def test_the_simple_opponent_takes_the_first_empty_field(house: int) -> None:
    match = await against("tic-tac-toe", "BASE", house, lambda position: max(position.moves()))
    fields = [move["position"] for move in match.moves]
    for ply in range(house, len(fields), 2):
        assert fields[ply] == next(field for field in FIELDS if field not in fields[:ply])


@pytest.mark.parametrize("house", [0, 1])
async def test_the_strong_opponent_of_tic_tac_toe_is_the_old_one(house: int) -> None:
    """Whatever lots the run draws: which field it takes is for `advanced` alone to say."""
    lots = Random(house)
    for seed in range(20):
        match = await against(
            "tic-tac-toe", "AB", house, lambda position: lots.choice(list(position.moves())), seed
        )
        for before, after in zip(match.positions[:-1], match.positions[1:], strict=True):
            assert before.turn != house or after == before.play(advanced(before))


@pytest.mark.parametrize("house", [0, 1])
async def test_quoridors_simple_opponent_plays_any_legal_move(house: int) -> None:
    played = {
        (await against("quoridor", "BASE", house, runner, seed)).moves[house]["position"]
        for seed in range(20)
    }
    assert len(played) > 10


@pytest.mark.slow
@pytest.mark.parametrize("trouble", [None, Busy, Failed])
async def test_quoridors_strong_opponent_looks_two_plies_ahead(trouble: type[Exception] | None) -> None:
    """Elsewhere; and here, where there is no room elsewhere: the bot has earned an opponent."""
    thinker = Direct(trouble)
    match = await against("quoridor", "AB", 0, runner, thinker=thinker)
    assert set(thinker.asked) == {("quoridor", "alphabeta", 2)}
    assert match.result is not None
    assert match.result.winner == 0
    same = await against("quoridor", "AB", 0, runner)
    assert match.moves == same.moves


async def against(
    game: str, kind: str, house: int, choose: Callable[[Any], Any], seed: int = 0, thinker: Any = None
) -> Match:
    """A match of somebody who chooses like that against the house."""
    rules = catalogue()[game]
    case = CASES[game][f"{kind}_AI_{rules.seats[house].upper()}"]
    assert case.seat == house
    match = Match(case.rules, ("one", "other"), trio.current_time())
    seats = [Seat(match, index, Timekeeper()) for index in (0, 1)]

    async def answer() -> None:
        async for _ in match.log.read():
            if seats[1 - house].to_move:
                seats[1 - house].play(rules.write(choose(match.position)))

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(answer)
            await oppose(match, seats[house], case.opponent(Random(seed), thinker or Direct()))
    return match


# Runs


class Ponders(Direct):
    """Thinks for that long about each move."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self._seconds = seconds

    async def think(self, *task: Any, seed: int) -> Any:
        await trio.sleep(self._seconds)
        return await super().think(*task, seed=seed)


async def evaluate(here: Lists, game: str = "tic-tac-toe", **more: Any) -> tuple[int, Any]:
    return await here.says(f"/{game}/evaluate", {"teamUrl": f"http://{NUMBER}", **more})


async def standing(here: Lists, run: str) -> dict[str, Any]:
    status, said = await here.says(f"/evaluations/{run}")
    assert status == 200
    assert [*said] == ["runId", "score", "done", "cases"]
    assert said["score"] == sum(case["score"] for case in said["cases"])
    return said


async def done(here: Lists, run: str) -> dict[str, Any]:
    for _ in range(10_000):
        if (said := await standing(here, run))["done"]:
            return said
        await trio.sleep(1.0)
    raise AssertionError("this run does not end")


@pytest.mark.slow
async def test_a_perfect_bot_gets_all_100_of_tic_tac_toe(autojump_clock: MockClock) -> None:
    async with lists() as here:
        knight = Knight(here, "tic-tac-toe")
        here.telephone.connect(NUMBER, knight.called)
        here.telephone.connect("coordinator.example")
        status, said = await evaluate(here, runId="17", callbackUrl="http://coordinator.example/score?of=us")
        assert status == 200
        assert [*said] == ["battleIds", "errors"]
        assert said["errors"] == {}
        assert len(set(said["battleIds"])) == 9
        run = await done(here, "17")
        assert run["score"] == 100
        assert [case["battleId"] for case in run["cases"]] == said["battleIds"]
        assert sorted(case["caseType"] for case in run["cases"]) == sorted(CASES["tic-tac-toe"])
        assert [*run["cases"][0]] == ["battleId", "caseType", "score", "why"]
        assert knight.most == 1, "one after another"
        *calls, (where, message) = here.telephone.calls
        assert calls == [(f"{NUMBER}/tic-tac-toe", {"battleId": battle}) for battle in said["battleIds"]]
        assert where == "coordinator.example/score?of=us"
        assert [*message] == ["runId", "score", "message"]
        assert (message["runId"], message["score"]) == ("17", 100)
        assert "C_AI_DUP 4 (the table was flipped, and rightly)" in message["message"]
        assert not here.arena._sides
        assert not here.arena._evaluations._invitations._turns
        assert here.host.tournaments == {}, "these matches are in no record"


@pytest.mark.slow
async def test_a_bot_that_flips_no_table_gets_80_of_tic_tac_toe(autojump_clock: MockClock) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER, Knight(here, "tic-tac-toe", watchful=False).called)
        run = (await evaluate(here))[1]["runId"]
        said = await done(here, run)
        assert said["score"] == 80
        late = [case["why"] for case in said["cases"] if case["caseType"].startswith("C_")]
        assert late == ["the bot ran out of time"] * 5


@pytest.mark.slow
async def test_a_watchful_bot_gets_what_it_should_of_quoridor(autojump_clock: MockClock) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER, Knight(here, "quoridor", runner).called)
        status, said = await evaluate(here, "quoridor")
        assert (status, len(said["battleIds"])) == (200, 13)
        cases = {case["caseType"]: case for case in (await done(here, said["runId"]))["cases"]}
        assert cases.keys() == CASES["quoridor"].keys()
        ahead = {name: cases.pop(name)["score"] for name in ("AB_AI_FIRST", "AB_AI_SECOND")}
        assert sum(case["score"] for case in cases.values()) == 50
        assert set(ahead.values()) < {0, 1, 3, 6}, "which wins no race against who looks ahead"
        assert set(here.host.thinker.asked) == {("quoridor", "alphabeta", 2)}


@pytest.mark.slow
async def test_what_a_bot_answers_to_a_call_is_not_waited_for(autojump_clock: MockClock) -> None:
    async with lists() as here:
        knight = Knight(here, "tic-tac-toe")

        async def hangs(where: str, message: dict[str, Any]) -> bool:
            await knight.called(where, message)
            await trio.sleep(3600.0)
            return True

        here.telephone.connect(NUMBER, hangs)
        await evaluate(here, runId="run")
        assert (await done(here, "run"))["score"] == 100
        assert trio.current_time() < 60.0


async def test_an_opponent_that_thinks_for_too_long_has_lost(autojump_clock: MockClock) -> None:
    """As anybody; and the run goes on."""

    async with lists() as here:
        here.telephone.connect(NUMBER)
        here.host.thinker = Ponders(100.0)
        _, asked = await evaluate(here, "quoridor", caseType="AB_AI_FIRST", runId="run")
        fighter = Fighter(here, asked["battleIds"][0], "quoridor")
        await fighter.start()
        await trio.sleep(99.0)
        assert await fighter.told() == [{"winner": "second"}]
        assert (await done(here, "run"))["score"] == 25


@pytest.mark.slow
async def test_cases_come_in_an_order_that_the_run_decides(autojump_clock: MockClock) -> None:
    async def order(run: str) -> list[str]:
        async with lists() as here:
            here.telephone.connect(NUMBER, Knight(here, "tic-tac-toe").called)
            await evaluate(here, runId=run)
            return [case["caseType"] for case in (await done(here, run))["cases"]]

    assert await order("a") == await order("a") != await order("b")


@pytest.mark.slow
async def test_a_bot_that_never_varies_sees_the_same_nine_games_in_every_evaluation(
    autojump_clock: MockClock,
) -> None:
    """Nothing in a case of Tic-Tac-Toe is random: neither who has which side nor what the house does."""
    async with lists() as here:
        knight = Knight(here, "tic-tac-toe", lambda position: next(iter(position.moves())))
        here.telephone.connect(NUMBER, knight.called)
        runs: list[set[str]] = []
        for number in range(tries(4, 20)):
            await evaluate(here, runId=f"run-{number}")
            await done(here, f"run-{number}")
            told, knight.battles = knight.battles, []
            runs.append({repr([{**event, "id": ""} for event in battle]) for battle in told})
        assert all(len(run) == 9 for run in runs), "nine cases are nine games"
        assert all(run == runs[0] for run in runs)


@pytest.mark.parametrize(
    ("game", "name", "case"),
    [
        ("tic-tac-toe", "C_AI_DUP", "C_AI_DUP"),
        ("quoridor", "C_AI_TELEPORT", "C_AI_TELEPORT"),
        ("quoridor", "TELEPORT", "C_AI_TELEPORT"),
        ("quoridor", "WALL_BLOCKING", "C_AI_WALL_BLOCKING"),
    ],
)
async def test_one_case_may_be_asked_for_and_is_reported_by_its_whole_name(
    game: str, name: str, case: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER, Knight(here, game, runner if game == "quoridor" else None).called)
        _, said = await evaluate(here, game, caseType=name)
        (played,) = (await done(here, said["runId"]))["cases"]
        assert (played["battleId"], played["caseType"]) == (said["battleIds"][0], case)
        assert played["score"] == CASES[game][case].score(ended(catalogue()[game], winner=0), 0)


async def test_battles_to_come_cannot_be_entered_and_nothing_is_said_of_them(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER)
        _, said = await evaluate(here)
        assert (await standing(here, said["runId"]))["cases"] == []
        now, *later = said["battleIds"]
        for battle in later:
            assert (await here.says(f"/tic-tac-toe/start/{battle}"))[0] == 409
            assert (await here.says(f"/tic-tac-toe/play/{battle}", {"action": FLIP}))[0] == 409
            assert (await here.says(f"/quoridor/start/{battle}"))[0] == 404
        await Fighter(here, now).start()


# A battle of an evaluation


async def battle(here: Lists, case: str, run: str = "run") -> Fighter:
    here.telephone.connect(NUMBER)
    _, said = await evaluate(here, caseType=case, runId=run)
    return Fighter(here, said["battleIds"][0])


async def outcome(here: Lists, run: str = "run") -> tuple[float, str]:
    await trio.testing.wait_all_tasks_blocked()
    (case,) = (await standing(here, run))["cases"]
    return case["score"], case["why"]


@pytest.mark.parametrize("case", ["BASE_AI_X", "AB_AI_X"])
@pytest.mark.parametrize("fault", [{"action": "putSymbol", "position": "XX"}, {"action": FLIP}])
async def test_after_a_fault_the_arena_flips_the_table(
    case: str, fault: dict[str, str], autojump_clock: MockClock
) -> None:
    async with lists() as here:
        fighter = await battle(here, case)
        assert await fighter.start() == []
        assert await fighter.command(**fault) == (200, 18000)
        assert await fighter.told() == [{"player": "O", **fault}, flipped("X")]
        assert fighter.stream.over, "and there is no winner"
        assert await fighter.flip() == (423, "Battle already ended")
        score, why = await outcome(here)
        assert (score, why.split(":")[0]) == (0, "the bot")


class Book:
    """Every battle that is opened, in a book of its own."""

    def __init__(self, here: Lists) -> None:
        self._here = here
        self.opened: list[Battle] = []

    def __call__(self, seat: Seat, **extras: Unpack[Extras]) -> Battle:
        host = self._here.host
        battle = Battle(seat, {}, host.guard, host.limits, lambda battle: None, **extras)
        self.opened.append(battle)
        return battle


async def test_the_first_battle_is_open_when_its_name_is_told(autojump_clock: MockClock) -> None:
    """Catches a bot that opens its stream at once, as the old system let it, and is told 409."""
    async with lists() as here:
        invitations, book = Invitations(here.telephone), Book(here)
        asked = Evaluate(here.telephone.connect(NUMBER))
        begun = await Evaluations(here.host, invitations, book).begin(
            "tic-tac-toe", asked, peer="192.0.2.1", from_here=False
        )
        assert [battle.name for battle in book.opened] == [*begun.cases][:1]


async def test_but_nobody_waits_for_it_while_the_bot_is_in_another(autojump_clock: MockClock) -> None:
    async with lists() as here:
        invitations, book = Invitations(here.telephone), Book(here)
        asked = Evaluate(here.telephone.connect(NUMBER))
        bot = await invitations.checked(asked.teamUrl, "tic-tac-toe", from_here=False, origin="192.0.2.1")
        async with invitations.turn(bot):
            with trio.fail_after(1.0):
                await Evaluations(here.host, invitations, book).begin(
                    "tic-tac-toe", asked, peer="192.0.2.1", from_here=False
                )
            assert not book.opened


async def test_nor_if_another_battle_takes_the_bot_just_before_the_first(autojump_clock: MockClock) -> None:
    async def take(evaluations: Evaluations, invitations: Invitations, bot: Url) -> None:
        while evaluations.find("mine") is None:
            await trio.lowlevel.checkpoint()
        async with invitations.turn(bot):
            await trio.sleep(HANG)

    async with lists() as here:
        for _ in range(tries(10, 100)):  # which of two tasks trio runs first is a matter of chance
            invitations = Invitations(here.telephone)
            evaluations = Evaluations(here.host, invitations, Book(here))
            asked = Evaluate(here.telephone.connect(NUMBER), runId="mine")
            bot = await invitations.checked(asked.teamUrl, "tic-tac-toe", from_here=False, origin="192.0.2.1")
            async with trio.open_nursery() as nursery:
                nursery.start_soon(take, evaluations, invitations, bot)
                with trio.fail_after(1.0):
                    await evaluations.begin("tic-tac-toe", asked, peer="192.0.2.1", from_here=False)
                nursery.cancel_scope.cancel()


async def test_however_many_scores_are_to_be_sent_to_a_server_a_bot_there_is_called(
    autojump_clock: MockClock,
) -> None:
    """Catches a bot whose opponent waits for ever, because anybody may have scores sent to where it is."""

    async def refuse(address: IP, port: int) -> trio.abc.Stream:
        raise ConnectionRefusedError

    async def look_up(name: str, whose: str) -> list[IP]:
        return [ip_address("1.2.3.4")]

    async with lists() as here:
        outbound = Outbound(Limits(), [ip_network("1.2.3.4")], refuse, look_up=look_up)
        here.arena = Arena(here.host, Evaluation(), "127.0.0.1", outbound)
        here.server = Server(Http(routed([here.arena]), here.host.guard, here.host.limits), here.host.guard)
        for number in range(3 * int(TOLD_WITHIN)):
            asked = {"teamUrl": f"http://evil.example/{number}", "callbackUrl": f"http://{number}.example/"}
            _, said = await here.says("/tic-tac-toe/evaluate", {**asked, "caseType": "BASE_AI_X"})
            fighter = Fighter(here, said["battleIds"][0])
            await fighter.start()
            await fighter.flip()
        before = trio.current_time()
        await outbound.post(taken_apart("http://bots.example/"), b"{}")
        assert trio.current_time() - before <= TOLD_WITHIN + 2 * Limits().call_pause_seconds


async def test_after_lateness_the_arena_flips_the_table(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighter = await battle(here, "BASE_AI_O")
        assert await fighter.start() == [put("O", "NW")]
        await trio.sleep(18.1)
        assert await fighter.told() == [flipped("O")]
        assert fighter.stream.over
        assert await fighter.put("C") == (423, "Battle already ended")
        assert await outcome(here) == (0, "the bot ran out of time")


async def test_a_cheat_is_answered_with_a_flip_in_time(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighter = await battle(here, "C_AI_X_FIRST")
        (cheat,) = await fighter.start()
        assert (cheat["player"], fighter.side) == ("X", "O")
        await trio.sleep(17.9)
        assert await fighter.flip() == (200, 2100)
        assert await fighter.told() == [flipped("O")]
        assert fighter.stream.over, "and there is no winner"
        assert await outcome(here) == (4, "the table was flipped, and rightly")


@pytest.mark.parametrize("answer", [put("", "W"), {"action": "flip"}, None])
async def test_a_cheat_that_is_answered_otherwise_has_worked(
    answer: dict[str, str] | None, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        fighter = await battle(here, "C_AI_OUT_OF_BOUND")
        assert await fighter.start() == []
        await fighter.put("C")
        _, cheat = await fighter.told()
        assert cheat["position"] not in FIELDS
        if answer is None:
            await trio.sleep(20.1)
        else:
            assert (await fighter.command(**answer))[0] == 200
        echo = [] if answer is None else [{**answer, "player": "O"}]
        assert await fighter.told() == [*echo, flipped("X")]
        assert fighter.stream.over
        assert (await outcome(here))[0] == 0


async def test_a_move_that_crosses_with_a_cheat_is_no_fault(autojump_clock: MockClock) -> None:
    """A bot that moves on reading that it is to begin cannot have read what comes after that."""
    async with lists() as here:
        fighter = await battle(here, "C_AI_X_FIRST")
        assert await fighter.start() == [put("X", "NW")]
        assert await fighter.put("C") == (200, 20000)
        assert await fighter.told() == [put("O", "C")]
        assert await fighter.flip() == (200, 22000)
        assert await fighter.told() == [flipped("O")]
        assert fighter.stream.over
        assert await outcome(here) == (4, "the table was flipped, and rightly")


@pytest.mark.parametrize("second", [put("", "N"), None])
async def test_but_to_go_on_after_it_is(second: dict[str, str] | None, autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighter = await battle(here, "C_AI_X_FIRST")
        await fighter.start()
        await fighter.put("C")
        if second is None:
            await trio.sleep(20.1)
        else:
            assert (await fighter.command(**second))[0] == 200
        echo = [] if second is None else [put("O", "N")]
        assert await fighter.told() == [put("O", "C"), *echo, flipped("X")]
        assert fighter.stream.over
        assert (await outcome(here))[0] == 0


async def test_a_match_that_comes_to_its_end_names_the_winner(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighter = await battle(here, "BASE_AI_X")
        await fighter.start()
        for field in ("C", "NE", "SW"):
            await fighter.put(field)
        assert await fighter.told() == [
            put("O", "C"),
            put("X", "NW"),
            put("O", "NE"),
            put("X", "N"),
            put("O", "SW"),
            {"winner": "O"},
        ]
        assert await outcome(here) == (20, "O has three in a row")


async def test_a_case_waits_for_a_bot_while_the_host_has_others_to_call_before_it(
    autojump_clock: MockClock,
) -> None:
    async with lists() as here:

        async def called_late(where: str, message: dict[str, Any]) -> bool:
            await trio.sleep(2 * Limits().start_seconds)
            return True

        here.telephone.connect(NUMBER, called_late)
        _, said = await evaluate(here, caseType="BASE_AI_X")
        await trio.sleep(3 * Limits().start_seconds - 1.0)
        await Fighter(here, said["battleIds"][0]).start()
        await trio.sleep(2.0)
        assert not (await standing(here, said["runId"]))["done"]


@pytest.mark.parametrize("called", [True, False])
async def test_a_bot_that_does_not_come_is_called_to_no_other_case(
    called: bool, autojump_clock: MockClock
) -> None:
    """Nobody's address is called again and again because somebody else gave it."""
    async with lists() as here:
        here.telephone.connect(NUMBER, *([] if called else [dead]))
        _, said = await evaluate(here)
        await trio.sleep(300.1 if called else 15.0)
        run = await standing(here, said["runId"])
        assert run["done"]
        assert (run["score"], [case["why"] for case in run["cases"]]) == (0, ["the bot did not come"])
        assert len(here.telephone.calls) == (1 if called else 2)
        assert (await here.says(f"/tic-tac-toe/start/{said['battleIds'][-1]}"))[0] == 404


@pytest.mark.slow
@pytest.mark.parametrize(
    ("missed", "played"),
    [({2}, 9), ({2, 4, 6, 9}, 9), ({2, 3}, 3), ({1}, 1)],
    ids=["one", "now and then", "two in a row", "the first"],
)
async def test_a_bot_that_has_come_may_miss_a_case_and_is_called_to_the_next(
    missed: set[int], played: int, autojump_clock: MockClock
) -> None:
    """Catches a run whose bot loses all that is left of it because it was being started again."""
    calls = 0
    async with lists() as here:
        knight = Knight(here, "tic-tac-toe")

        async def called(where: str, message: dict[str, Any]) -> bool:
            nonlocal calls
            calls += 1
            return calls in missed or await knight.called(where, message)

        here.telephone.connect(NUMBER, called)
        await evaluate(here, runId="17")
        await trio.sleep(3600.0)
        run = await standing(here, "17")
        assert run["done"]
        why = [case["why"] for case in run["cases"]]
        assert (len(why), calls) == (played, played)
        assert [number for number, each in enumerate(why, 1) if each == "the bot did not come"] == sorted(
            missed
        )


# What is asked for


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ({}, 400, "teamUrl"),
        ({"runId": "1", "callbackUrl": f"http://{NUMBER}"}, 400, "teamUrl"),
        ({"teamUrl": 5}, 400, "teamUrl"),
        ({"teamUrl": ""}, 400, "http://"),
        ({"teamUrl": "http://192.0.2.8"}, 403, "nothing that this host may call"),
        (
            {"teamUrl": f"http://{NUMBER}", "callbackUrl": "http://192.0.2.8"},
            403,
            "nothing that this host may call",
        ),
        ({"teamUrl": f"http://{NUMBER}", "callbackUrl": "mailto:me"}, 400, "http://"),
        ({"teamUrl": f"http://{NUMBER}", "caseType": "C_AI_SLEEPS"}, 400, "BASE_AI_O, BASE_AI_X, AB_AI_O"),
        (
            {"teamUrl": f"http://{NUMBER}", "caseType": "C_AI_TELEPORT"},
            400,
            "C_AI_FLIP_TABLE_RANDOMLY, and not",
        ),
        ({"teamUrl": f"http://{NUMBER}", "caseType": ""}, 400, "BASE_AI_O"),
        ({"teamUrl": f"http://{NUMBER}", "runId": "a/b"}, 400, "letters, digits"),
        ({"teamUrl": f"http://{NUMBER}", "runId": ""}, 400, "letters, digits"),
        ({"teamUrl": f"http://{NUMBER}", "runId": "r" * 65}, 400, "letters, digits"),
    ],
)
async def test_what_cannot_be_evaluated_is_refused_in_words(
    body: dict[str, Any], status: int, reason: str, autojump_clock: MockClock
) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER)
        got, said = await here.says("/tic-tac-toe/evaluate", body)
        assert (got, [*said], reason in said["error"]) == (status, ["error"], True), said
        assert here.telephone.calls == []


async def test_a_form_asks_as_well(autojump_clock: MockClock) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER)
        body = f"teamUrl=http%3A%2F%2F{NUMBER}&runId=run".encode()
        assert (await here.says("/tic-tac-toe/evaluate", body))[0] == 200


async def test_so_many_are_evaluated_at_once_and_each_bot_once(autojump_clock: MockClock) -> None:
    async with lists(limits=Limits(evaluations=2)) as here:
        here.telephone.connect(NUMBER)
        assert (await evaluate(here, runId="1"))[0] == 200
        assert (await evaluate(here, runId="2"))[0] == 409, "this bot is being evaluated"
        assert (await evaluate(here, runId="1", teamUrl=f"http://{NUMBER}/2"))[0] == 409, "there is a run 1"
        assert (await evaluate(here, runId="2", teamUrl=f"http://{NUMBER}/2"))[0] == 200
        assert (await evaluate(here, runId="3", teamUrl=f"http://{NUMBER}/3"))[0] == 429
        await trio.sleep(301.0)
        assert (await evaluate(here, runId="3", teamUrl=f"http://{NUMBER}/3"))[0] == 200


async def test_one_client_does_not_use_up_the_evaluations_of_all_others(autojump_clock: MockClock) -> None:
    async with lists(limits=Limits(evaluations=4, evaluations_per_address=2)) as here:
        here.telephone.connect(NUMBER)

        async def asks(peer: str, run: int) -> int:
            asked = {"teamUrl": f"http://{NUMBER}/{run}", "runId": str(run)}
            return (await here.says("/tic-tac-toe/evaluate", asked, peer=peer))[0]

        assert [await asks("2001:db8::1", run) for run in range(2)] == [200, 200]
        assert await asks("2001:db8::2", 2) == 429, "the same customer's"
        assert [await asks("127.0.0.1", run) for run in (3, 4, 5)] == [200, 200, 429]
        await trio.sleep(301.0)
        assert await asks("2001:db8::2", 2) == 200


async def test_a_limited_number_of_finished_runs_is_kept(autojump_clock: MockClock) -> None:
    async with lists(limits=Limits(evaluations_kept=2)) as here:
        here.telephone.connect(NUMBER, dead)
        for run in "1234":
            await evaluate(here, runId=run)
            await trio.sleep(60.0)
        assert [(await here.ask(f"/evaluations/{run}")).status for run in "1234"] == [404, 404, 200, 200]
        assert (await here.ask("/evaluations/3", method="HEAD")).body == b""


@pytest.mark.slow
async def test_a_bot_that_is_evaluated_is_called_to_its_match_after_the_battle(
    autojump_clock: MockClock,
) -> None:
    """It plays one battle at a time, and its opponent does not lose by that."""
    async with lists(
        {"tournament": "cup", "game": "tic-tac-toe", "format": "round-robin", "entrants": "2"}
    ) as here:
        knight = Knight(here, "tic-tac-toe", seconds=5.0)
        url = here.telephone.connect(NUMBER, knight.called)
        await evaluate(here, runId="run")
        await trio.sleep(1.0)
        assert (await here.says("/tic-tac-toe/join", {"name": "ann", "teamUrl": url}))[0] == 202
        assert (await Knight(here, "tic-tac-toe").enlist("bob"))[0] == 410
        (match,) = here.host.tournaments["cup"].record.matches.values()
        assert match.ending is Ending.PLAYED
        assert (await done(here, "run"))["score"] == 100
        assert knight.most == 1


@pytest.mark.parametrize("case", ["BASE_AI_X", "C_AI_DUP"])
async def test_a_wrong_flip_is_told_as_one(case: str, autojump_clock: MockClock) -> None:
    """To the coordinator too; a house that is yet to cheat is no reason to flip the table."""
    async with lists() as here:
        here.telephone.connect("coordinator.example")
        here.telephone.connect(NUMBER)
        _, said = await evaluate(
            here, runId="run", caseType=case, callbackUrl="http://coordinator.example/score"
        )
        fighter = Fighter(here, said["battleIds"][0])
        assert await fighter.start() == []
        assert await fighter.flip() == (200, 18000)
        assert await fighter.told() == [flipped("O"), flipped("X")]
        why = "the bot: flipped the table although nothing was wrong"
        assert await outcome(here) == (0, why)
        where, message = here.telephone.calls[-1]
        assert where == "coordinator.example/score"
        assert message["message"] == f"{case} 0 ({why})"


async def test_a_flip_out_of_turn_has_lost_at_once(autojump_clock: MockClock) -> None:
    async with lists() as here:
        here.telephone.connect(NUMBER)
        here.host.thinker = Ponders(3.0)
        _, asked = await evaluate(here, "quoridor", caseType="AB_AI_FIRST", runId="run")
        fighter = Fighter(here, asked["battleIds"][0], "quoridor")
        assert await fighter.start() == []
        assert (await fighter.flip())[0] == 200
        assert await fighter.told() == [flipped("second"), flipped("first")]
        assert fighter.stream.over
        await trio.sleep(3.1)  # when the house has thought
        assert await outcome(here) == (0, "the bot: flipped the table although nothing was wrong")


async def test_why_is_told_in_words(autojump_clock: MockClock) -> None:
    async with lists() as here:
        fighter = await battle(here, "BASE_AI_X")
        await fighter.start()
        await fighter.put("XX")
        assert re.fullmatch('the bot: "XX" is not a field; .*', (await outcome(here))[1])
