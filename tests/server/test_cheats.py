"""What the Arena does wrong on purpose: that it is wrong, that it comes, and that only a flip answers it."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from games.catalogue import catalogue
from games.game import Game, Illegal
from games.quoridor import WALLS
from server.cases import CASES
from server.cheats import TRICKS, Cheat, Trick, rigged
from server.doors.battle import FLIP
from server.thinker import Thinker
from tests.server.doors.knight import runner
from tournament.match import Match

EVERY = [pytest.param(catalogue()[game], name, id=name) for game, tricks in TRICKS.items() for name in tricks]
SEEDS = 25
OUT_OF_TURN = {"C_AI_X_FIRST", "C_AI_TWICE_A_ROW", "SECOND_FIRST", "TWICE_A_ROW"}
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


async def until_the_cheat(
    game: Game[Any, Any], name: str, house: int, player: Player, seed: int
) -> tuple[Match, list[Any]]:
    """A match in which the house has cheated, and the moves of the house that nobody checked."""
    case, lots = CASES[game.name][name], Random(seed)
    match = Match(case.rules(house), ("one", "other"), 0.0)
    choose = case.opponent(lots, Thinker())
    cheats: list[Any] = []
    while not match.position.cheated:
        assert match.verdict is None, f"{match.verdict}: it was over before the house cheated"
        if match.to_move == house:
            for sent in await choose(match):
                cheats += [sent.shown] if isinstance(sent, Cheat) else []
                match.play(house, sent, 0.0)
        else:
            match.play(1 - house, game.write(player(match.position.position, lots)), 0.0)
    return match, cheats


def _legal(game: Game[Any, Any], position: Any, sent: Any) -> bool:
    try:
        position.play(game.read(sent, position))
    except Illegal:
        return False
    return True


def houses(trick: Trick) -> tuple[int, ...]:
    return (0, 1) if trick.seat is None else (trick.seat,)


@pytest.mark.parametrize(("game", "name"), EVERY)
async def test_every_trick_comes_and_is_against_the_rules(game: Game[Any, Any], name: str) -> None:
    trick = TRICKS[game.name][name]
    for seed in range(SEEDS):
        for house in houses(trick):
            player = PLAYERS[seed % (3 if game.name == "quoridor" else 2)]
            match, cheats = await until_the_cheat(game, name, house, player, seed)
            position = match.position.position
            (shown,) = cheats
            wrong_turn = position.turn != house
            assert wrong_turn or not _legal(game, position, shown), f"{shown} is legal, with seed {seed}"
            assert wrong_turn == (name in OUT_OF_TURN), f"with seed {seed}"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("C_AI_DUP", "is taken by"),
        ("C_AI_OUT_OF_BOUND", "is not a field"),
        ("C_AI_FLIP_TABLE_RANDOMLY", "is not an action"),
        ("TELEPORT", "is not next to"),
        ("WALL_OUTSIDE", "a wall such as"),
        ("PAWN_OUTSIDE", "is a square from"),
        ("WALL_CROSS", "crosses|overlaps|already"),
        ("WALK_THROUGH_WALL", "a wall lies between"),
        ("PUT_11_WALLS", "has no walls left"),
        ("WALL_BLOCKING", "without a way"),
    ],
)
async def test_a_trick_breaks_the_rule_that_it_is_named_for(name: str, reason: str) -> None:
    game = next(catalogue()[game] for game, tricks in TRICKS.items() if name in tricks)
    for seed in range(SEEDS):
        match, (shown,) = await until_the_cheat(game, name, seed % 2, random_player, seed)
        position = match.position.position
        with pytest.raises(Illegal, match=reason):
            position.play(game.read(shown, position))


@pytest.mark.parametrize(("game", "name"), EVERY)
async def test_after_a_trick_nothing_but_a_flip_is_right(game: Game[Any, Any], name: str) -> None:
    for house in houses(TRICKS[game.name][name]):
        match, _ = await until_the_cheat(game, name, house, random_player, 1)
        assert match.to_move == 1 - house, "the clock of the bot runs"
        if match.position.crossing:
            cross(game, match, 1 - house)
        assert [*match.position.moves()] == [FLIP]
        right_before = game.write(next(iter(match.position.position.moves())))
        for wrong in (right_before, {"action": "flip"}, FLIP, None):
            assert not _legal(match.game, match.position, wrong)
        match.play(1 - house, {"action": FLIP, "position": "C"}, 1.0)
        assert match.result is not None
        assert match.result.winner == 1 - house


def cross(game: Game[Any, Any], match: Match, bot: int) -> None:
    """A legal move that was sent before its bot could know of the cheat neither wins nor loses."""
    assert not _legal(match.game, match.position, {"action": "flip"})
    flip, legal, *_ = match.position.moves()
    assert flip == FLIP
    match.play(bot, game.write(legal), 0.5)
    assert match.verdict is None
    assert match.to_move == bot


async def test_who_was_to_move_when_the_house_cheated_may_have_moved() -> None:
    """Only then, and only once: the others had nothing to do but to wait."""
    for game, tricks in TRICKS.items():
        for each in tricks:
            match, _ = await until_the_cheat(
                catalogue()[game], each, tricks[each].seat or 0, random_player, 1
            )
            assert match.position.crossing == (each in OUT_OF_TURN)


def test_before_a_trick_a_flip_is_wrong() -> None:
    game = catalogue()["tic-tac-toe"]
    match = Match(rigged(game, 1, TRICKS[game.name]["C_AI_DUP"]), ("one", "other"), 0.0)
    with pytest.raises(Illegal, match="is not an action"):
        match.play(0, {"action": FLIP}, 0.0)
    assert match.result is not None
    assert match.result.winner == 1


def test_nobody_but_the_house_can_show_what_it_likes() -> None:
    """What a bot sends is data; a cheat is an object that no data becomes."""
    game = catalogue()["tic-tac-toe"]
    rules = rigged(game, 1, TRICKS[game.name]["C_AI_DUP"])
    for sent in ({"shown": {"action": FLIP}, "last": True}, {"shown": {}}, [{"shown": {}}, True]):
        with pytest.raises(Illegal):
            rules.read(sent, rules.opening({}))
