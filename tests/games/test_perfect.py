"""Perfect play, against oracles that try everything, and against a solver by somebody else."""

from collections.abc import Callable
from importlib.util import find_spec
from random import Random
from typing import Any

import pytest
from msgspec import structs

from games import connect4, tictactoe
from games.connect4 import Connect4
from games.connect4_solver import Solver, solver
from games.game import Game
from games.perfect import CALLED, Grades, Mistake, grades, in_words, trying_everything
from tests import oracles
from tests.effort import tries
from tests.games.play import each_game
from tests.lacking import lacking
from tests.oracles.connect4 import Connect4 as SlowConnect4
from tests.oracles.tictactoe import TicTacToe as SlowTicTacToe

pytestmark = pytest.mark.slow

LATE = 33  # discs: an oracle that remembers nothing can try the rest
FIRST_MOVES = (-1, -1, 0, 1, 0, -1, -1)  # what each is worth to whoever makes it: known since 1988

own = pytest.mark.parametrize("begin", [lambda: Solver().worth, solver], ids=["own", "installed"])


def slow(position: Any, known: dict[str, int]) -> int:
    """What an oracle's position is worth to the seat to move, by trying everything."""
    shown = str((position.show(("", "")), position.turn))
    if position.winner != oracles.OPEN:
        return 0 if position.winner is None else 1 if position.winner == position.turn else -1
    if shown not in known:
        known[shown] = max(-slow(position.play(move), known) for move in position.moves())
    return known[shown]


def at_random(game: Game[Any, Any], random: Random, plies: int) -> tuple[Any, list[Any]]:
    """A position that is not over after so many plies, and the moves to it."""
    while True:
        position, moves = game.start(), list[Any]()
        while len(moves) < plies and position.outcome is None:
            moves.append(random.choice(list(position.moves())))
            position = position.play(moves[-1])
        if position.outcome is None:
            return position, moves


def test_tic_tac_toe_is_known_from_every_position_that_a_match_can_reach() -> None:
    worth, known, seen = trying_everything(), dict[str, int](), set[tictactoe.TicTacToe]()

    def walk(position: tictactoe.TicTacToe, oracle: SlowTicTacToe) -> None:
        if position not in seen:
            seen.add(position)
            assert worth(position, -1) == slow(oracle, known)
            for move in position.moves():
                walk(position.play(move), oracle.play(tictactoe.FIELDS[move]))

    walk(tictactoe.start(), SlowTicTacToe())
    assert len(seen) == 5478


@own
def test_connect_4_is_known_where_an_oracle_can_try_everything(begin: Callable[[], Any]) -> None:
    random = Random(4)
    for _ in range(tries(10, 40)):
        position, moves = at_random(connect4.GAME, random, LATE + random.randrange(8))
        oracle = SlowConnect4()
        for move in moves:
            oracle = oracle.play(str(move))
        expected = slow(oracle, {})
        for at_least in range(-1, expected + 1):
            assert begin()(position, at_least) == expected, moves


@own
def test_the_last_disc_of_connect_4_may_win(begin: Callable[[], Any]) -> None:
    """With three places left nobody has a four in one, and the seat to move gets the last place."""
    moves = [int(column) for column in "145160116234466635036002142403051523553"]
    position = connect4.start()
    for move in moves:
        position = position.play(move)
    assert all(position.play(move).outcome is None for move in position.moves())
    assert begin()(position, -1) == 1


def test_both_solvers_of_connect_4_say_the_same_of_whole_matches() -> None:
    expect_bitbully()
    random, theirs = Random(7), solver()
    for _ in range(tries(6, 40)):
        here, positions = Solver(10**9), [at_random(connect4.GAME, random, 19)[0]]
        while positions[-1].outcome is None:
            positions.append(positions[-1].play(random.choice(list(positions[-1].moves()))))
        for position in reversed(positions):
            assert here.worth(position) == theirs(position, -1), position


def test_the_first_moves_of_connect_4_are_worth_what_is_known_of_them() -> None:
    expect_bitbully()
    worth, start = solver(), connect4.start()
    assert worth(start, -1) == 1
    assert tuple(-(worth(start.play(move), -1) or 0) for move in range(7)) == FIRST_MOVES


def test_what_a_solver_knows_does_not_depend_on_how_fast_the_machine_is() -> None:
    def known() -> tuple[int | None, int | None, int]:
        here = Solver(2_000)
        late = at_random(connect4.GAME, Random(1), 24)[0]
        return here.worth(late), here.worth(connect4.start()), here.left

    assert known() == known()
    assert known()[0] is not None
    assert known()[1] is None


def test_moves_that_take_too_long_to_judge_are_not_graded() -> None:
    hasty = structs.replace(connect4.GAME, solver=lambda: Solver(3_000).worth)
    moves = at_random(connect4.GAME, Random(2), 34)[1]
    found = grades(hasty, {}, moves)
    assert found is not None
    assert 5 <= found.ungraded < len(moves)
    assert sum(found.had) <= len(moves) - found.ungraded
    assert all(mistake.ply >= found.ungraded for mistake in found.mistakes)


def test_a_mistake_says_what_there_was_and_what_is_left() -> None:
    found = grades(tictactoe.GAME, {}, ["C", "N", "E", "W", "SW", "NE", "NW"])
    assert found is not None
    assert [(each.ply, each.seat, each.best, each.came) for each in found.mistakes] == [
        (1, 1, "draw", "loss"),
        (4, 0, "win", "draw"),
    ]
    assert (found.accuracy, found.ungraded) == ((0.75, 0.5), 0)
    assert in_words(found.mistakes[1], "ann") == "ann threw away a win at move 5"
    assert in_words(Mistake(16, 0, "win", "loss"), "ann") == "ann threw away a win at move 17 and was lost"


def test_whoever_had_nothing_to_lose_has_no_accuracy() -> None:
    assert grades(tictactoe.GAME, {}, ()) == Grades((0, 0), (0, 0), 0, ())
    found = grades(tictactoe.GAME, {}, ["C"])
    assert found is not None
    assert found.accuracy == (1.0, None)


def test_nobody_knows_perfect_play_under_a_limit_of_plies() -> None:
    assert grades(tictactoe.GAME, {"ply_limit": 4}, ["C", "N"]) is None


@each_game
def test_grades_add_up_in_every_game_that_has_them(game: Game[Any, Any]) -> None:
    if game.solver is None:
        assert grades(game, {}, ()) is None
        return
    random = Random(3)
    for _ in range(5):
        position, played = at_random(game, random, 4)
        while position.outcome is None:
            played.append(random.choice(list(position.moves())))
            position = position.play(played[-1])
        found = grades(game, {}, [game.write(move) for move in played])
        assert found is not None
        assert len(found.mistakes) == sum(found.had) - sum(found.kept)
        assert [each.ply for each in found.mistakes] == sorted(each.ply for each in found.mistakes)
        assert sum(found.had) + found.ungraded <= len(played)
        worst = list(CALLED.values())  # from the best to the worst
        assert all(worst.index(each.best) < worst.index(each.came) for each in found.mistakes)


def expect_bitbully() -> None:
    if find_spec("bitbully") is None:
        lacking("the package bitbully is not installed (the extra `analysis`)")


def test_a_position_that_is_over_is_known_without_a_search() -> None:
    over = Connect4()
    for move in (0, 1, 0, 1, 0, 1, 0):
        over = over.play(move)
    here = Solver(0)
    assert here.worth(over) == (1 if over.turn == 0 else -1)
    assert over.outcome is not None
