"""What the Arena does wrong on purpose: that it is wrong, that it comes, and that only a flip answers it."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from games.catalogue import catalogue
from games.game import Game, Illegal
from games.quoridor import WALLS
from server.host.thinker import Thinker
from server.protocols.arena.cases import CASES
from server.protocols.arena.cheats import TRICKS, Cheat, rigged
from server.protocols.arena.messages import FLIP
from tests.server.protocols.knight import runner
from tournament.match import Match

EVERY = [
    pytest.param(catalogue()[game], name, id=f"{game}-{name}")
    for game, tricks in TRICKS.items()
    for name in tricks
]
SEEDS = 25
OUT_OF_TURN = {"C_AI_X_FIRST", "C_AI_TWICE_A_ROW", "C_AI_SECOND_FIRST"}
Player = Callable[[Any, Random], Any]


def random_player(position: Any, lots: Random) -> Any:
    return lots.choice(list(position.moves()))


def hasty_player(position: Any, lots: Random) -> Any:
    """In Quoridor the one who is soonest at its goal; in Tic-Tac-Toe whoever."""
    return runner(position) if hasattr(position, "pawns") else random_player(position, lots)


def wall_builder(position: Any, lots: Random) -> Any:
    """Whose walls are in the way of what the house means to build."""
    walls = [move for move in position.moves() if move in WALLS]
    return lots.choice(walls) if walls else random_player(position, lots)


PLAYERS = (random_player, hasty_player, wall_builder)


Cheated = tuple[Match, list[Any]]  # a match up to the house's cheat, and what the house showed then


async def until_the_cheat(game: Game[Any, Any], name: str, player: Player, seed: int = 0) -> Cheated:
    case, lots = CASES[game.name][name], Random(seed)
    match = Match(case.rules, ("one", "other"), 0.0)
    choose = case.opponent(Random(), Thinker())
    cheats: list[Any] = []
    while not match.position.cheated:
        assert match.verdict is None, f"{match.verdict}: it was over before the house cheated"
        if match.to_move == case.seat:
            for sent in await choose(match):
                cheats += [sent.shown] if isinstance(sent, Cheat) else []
                match.play(case.seat, sent, 0.0)
        else:
            match.play(1 - case.seat, game.write(player(match.position.position, lots)), 0.0)
    return match, cheats


def _legal(game: Game[Any, Any], position: Any, sent: Any) -> bool:
    try:
        position.play(game.read(sent, position))
    except Illegal:
        return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("game", "name"), EVERY)
async def test_every_trick_comes_and_is_against_the_rules(game: Game[Any, Any], name: str) -> None:
    house = TRICKS[game.name][name].seat
    for seed in range(SEEDS):
        player = PLAYERS[seed % (3 if game.name == "quoridor" else 2)]
        match, (shown,) = await until_the_cheat(game, name, player, seed)
        position = match.position.position
        wrong_turn = position.turn != house
        assert wrong_turn or not _legal(game, position, shown), f"{shown} is legal, with seed {seed}"
        assert wrong_turn == (name in OUT_OF_TURN), f"with seed {seed}"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "name", "reason"),
    [
        ("tic-tac-toe", "C_AI_DUP", "is taken by"),
        ("tic-tac-toe", "C_AI_OUT_OF_BOUND", "is not a field"),
        ("tic-tac-toe", "C_AI_FLIP_TABLE_RANDOMLY", "is not an action"),
        ("quoridor", "C_AI_TELEPORT", "is not next to"),
        ("quoridor", "C_AI_WALL_OUTSIDE", "a wall such as"),
        ("quoridor", "C_AI_PAWN_OUTSIDE", "is a square from"),
        ("quoridor", "C_AI_WALL_CROSS", "crosses"),
        ("quoridor", "C_AI_WALK_THROUGH_WALL", "a wall lies between"),
        ("quoridor", "C_AI_PUT_11_WALLS", "has no walls left"),
        ("quoridor", "C_AI_WALL_BLOCKING", "without a way"),
    ],
)
async def test_a_trick_breaks_the_rule_that_it_is_named_for(game: str, name: str, reason: str) -> None:
    rules = catalogue()[game]
    for seed in range(SEEDS):
        match, (shown,) = await until_the_cheat(rules, name, random_player, seed)
        position = match.position.position
        with pytest.raises(Illegal, match=reason):
            position.play(rules.read(shown, position))


@pytest.mark.parametrize(
    ("game", "name", "before", "cheat"),
    [
        ("tic-tac-toe", "C_AI_DUP", ["W"], ["W"]),
        ("tic-tac-toe", "C_AI_OUT_OF_BOUND", ["W"], [""]),
        ("tic-tac-toe", "C_AI_X_FIRST", [], ["NW"]),
        ("tic-tac-toe", "C_AI_TWICE_A_ROW", ["NW", "W"], ["E", "N"]),
        ("tic-tac-toe", "C_AI_TWICE_A_ROW", ["NW", "N"], ["E", "W"]),
        ("tic-tac-toe", "C_AI_TWICE_A_ROW", ["NW", "C"], ["W", "N"]),
        ("quoridor", "C_AI_TELEPORT", ["e2"], ["e5"]),
        ("quoridor", "C_AI_SECOND_FIRST", [], ["e8"]),
        ("quoridor", "C_AI_TWICE_A_ROW", ["e2"], ["e8", "e7"]),
        ("quoridor", "C_AI_TWICE_A_ROW", ["e8h"], ["f9", "g9"]),
        ("quoridor", "C_AI_WALL_OUTSIDE", [], ["i4h"]),
        ("quoridor", "C_AI_PAWN_OUTSIDE", ["e2"], ["e10"]),
        ("quoridor", "C_AI_WALL_CROSS", ["e4h", "e8"], ["e4v"]),
        ("quoridor", "C_AI_WALK_THROUGH_WALL", ["e1h", "e8"], ["e2"]),
    ],
)
async def test_cheats_come_when_they_used_to(
    game: str, name: str, before: list[str], cheat: list[str]
) -> None:
    """The whole of a match up to the cheat, as bots of the old system saw it."""
    rules, case = catalogue()[game], CASES[game][name]
    answers = iter(before[1 - case.seat :: 2])
    match, _ = await until_the_cheat(rules, name, lambda position, lots: rules.read(next(answers), position))
    assert [move["position"] for move in match.moves] == before + cheat


@pytest.mark.parametrize(("game", "name"), EVERY)
async def test_what_a_trick_does_depends_on_the_bots_moves_alone(game: Game[Any, Any], name: str) -> None:
    for player in PLAYERS[: 3 if game.name == "quoridor" else 2]:
        one, _ = await until_the_cheat(game, name, player, 5)
        other, _ = await until_the_cheat(game, name, player, 5)
        assert one.moves == other.moves


@pytest.mark.parametrize(("game", "name"), EVERY)
async def test_after_a_trick_nothing_but_a_flip_is_right(game: Game[Any, Any], name: str) -> None:
    match, _ = await until_the_cheat(game, name, random_player, 1)
    bot = 1 - TRICKS[game.name][name].seat
    assert match.to_move == bot, "the clock of the bot runs"
    if match.position.crossing:
        cross(game, match, bot)
    assert [*match.position.moves()] == [FLIP]
    right_before = game.write(next(iter(match.position.position.moves())))
    for wrong in (right_before, {"action": "flip"}, FLIP, None):
        assert not _legal(match.game, match.position, wrong)
    match.play(bot, {"action": FLIP, "position": "C"}, 1.0)
    assert match.result is not None
    assert match.result.winner == bot


def cross(game: Game[Any, Any], match: Match, bot: int) -> None:
    """A legal move that was sent before its bot could know of the cheat neither wins nor loses."""
    assert not _legal(match.game, match.position, {"action": "flip"})
    flip, legal, *_ = match.position.moves()
    assert flip == FLIP
    match.play(bot, game.write(legal), 0.5)
    assert match.verdict is None
    assert match.to_move == bot


async def test_whoever_was_to_move_when_the_house_cheated_may_have_moved() -> None:
    """Only then, and only once: the others had nothing to do but to wait."""
    for game, tricks in TRICKS.items():
        for each in tricks:
            match, _ = await until_the_cheat(catalogue()[game], each, random_player, 1)
            assert match.position.crossing == (each in OUT_OF_TURN)


def test_before_a_trick_a_flip_is_wrong() -> None:
    game = catalogue()["tic-tac-toe"]
    match = Match(rigged(game, TRICKS[game.name]["C_AI_DUP"]), ("one", "other"), 0.0)
    with pytest.raises(Illegal, match="is not an action"):
        match.play(0, {"action": FLIP}, 0.0)
    assert match.result is not None
    assert match.result.winner == 1


def test_nobody_but_the_house_can_show_what_it_likes() -> None:
    """What a bot sends is data; a cheat is an object that no data becomes."""
    game = catalogue()["tic-tac-toe"]
    rules = rigged(game, TRICKS[game.name]["C_AI_DUP"])
    for sent in ({"shown": {"action": FLIP}, "last": True}, {"shown": {}}, [{"shown": {}}, True]):
        with pytest.raises(Illegal):
            rules.read(sent, rules.opening({}))
