"""Estimates of how well a match was played: against every reply there is, and between brains that differ."""

from random import Random
from typing import Any

import pytest
from msgspec import structs

from games import hexagondots, quoridor, santorini, tictactoe
from games.brains import alphabeta, greedy, random
from games.estimate import DEPTH, NEAR, SLIP, Estimate, Slip, estimate, in_words
from games.game import Game
from tests.effort import tries
from tests.games.play import each_game
from tests.steps import steps_taken

pytestmark = pytest.mark.slow

ESTIMATED = (santorini.GAME, quoridor.GAME, hexagondots.GAME)
# Plies of a match that are enough to tell
PLIES = {"santorini": tries(20, 60), "quoridor": tries(4, 24), "hexagon-dots": tries(40, 60)}


def match_of(game: Game[Any, Any], brain: Any, seed: int, plies: int = 400) -> list[Any]:
    """The moves of a match between two of the same."""
    seats, position, moves = (brain(game, seed), brain(game, seed + 1)), game.start(), list[Any]()
    while position.outcome is None and len(moves) < plies:
        move = seats[position.turn](position, lambda: False)
        moves.append(game.write(move))
        position = position.play(move)
    return moves


def worth(position: Any, depth: int, seat: int, evaluate: Any) -> float:
    """What a position is worth to a seat, by trying everything, so many plies deep."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return 0.0 if winner is None else 1.0 if winner == seat else -1.0
    if depth == 0:
        return -evaluate(position) if seat else evaluate(position)
    found = (worth(position.play(move), depth - 1, seat, evaluate) for move in position.moves())
    return max(found) if position.turn == seat else min(found)


def test_it_is_what_trying_everything_says_three_plies_deep() -> None:
    """In Hexagon Dots on a small board, where no position has so many moves that any is left out."""
    game, lots = hexagondots.GAME, Random(1)
    options = {"rows": 3, "cols": 3}
    position, moves = game.opening(options), list[Any]()
    kept, had, slips = [0, 0], [0, 0], list[Slip]()
    while position.outcome is None:
        seat, move = position.turn, lots.choice(list(position.moves()))
        after = position.play(move)
        best = worth(position, DEPTH, seat, game.evaluate)
        lost = best - worth(after, DEPTH - 1, seat, game.evaluate)
        had[seat] += best > -1
        kept[seat] += best > -1 and lost <= NEAR
        if best > -1 and lost >= SLIP:
            slips.append(Slip(len(moves), seat, round(lost, 2)))
        moves.append(game.write(move))
        position = after
    assert estimate(game, options, moves) == Estimate(
        (kept[0], kept[1]), (had[0], had[1]), 0, DEPTH, tuple(slips)
    )
    assert 0 < sum(kept) < sum(had)


@pytest.mark.parametrize("game", ESTIMATED, ids=lambda game: game.name)
def test_whoever_looks_as_far_as_the_estimate_is_better_than_whoever_draws_lots(game: Any) -> None:
    plies = PLIES[game.name]
    lots = estimate(game, {}, match_of(game, random, 1, plies))
    looks = estimate(game, {}, match_of(game, lambda game, seed: alphabeta(game, seed, 2), 1, plies))
    assert lots is not None
    assert looks is not None
    assert sum(lots.kept) / sum(lots.had) + 0.1 < sum(looks.kept) / sum(looks.had)


def test_a_win_that_is_not_taken_is_a_slip_if_what_is_left_is_not_good_either() -> None:
    """Of a match of Santorini whose last move wins, if the one that leaves least is made instead."""
    game = santorini.GAME
    moves = match_of(game, greedy, 3)
    before = game.start()
    for move in moves[:-1]:
        before = before.play(game.read(move, before))
    left = {
        move: worth(after, DEPTH - 1, before.turn, game.evaluate)
        for move in before.moves()
        if (after := before.play(move)).outcome is None
    }
    worst = min(left, key=left.__getitem__)
    assert left[worst] <= 1 - SLIP
    found = estimate(game, {}, [*moves[:-1], game.write(worst)])
    assert found is not None
    assert found.slips[-1] == Slip(len(moves) - 1, before.turn, round(1 - left[worst], 2))
    assert in_words(Slip(16, 0, 0.7), "ann") == "ann may have gone wrong at move 17"


def test_it_costs_no_more_than_it_may_and_says_what_it_could_not_grade() -> None:
    moves = match_of(quoridor.GAME, random, 5, tries(10, 60))
    little = tries(5_000, 20_000)
    whole, short = estimate(quoridor.GAME, {}, moves), estimate(quoridor.GAME, {}, moves, little)
    assert whole is not None
    assert short is not None
    assert short == estimate(quoridor.GAME, {}, moves, little)
    assert whole.ungraded < short.ungraded <= len(moves)
    assert sum(short.had) <= len(moves) - short.ungraded


def test_with_more_looks_no_move_is_less_graded_wherever_they_are_used_up() -> None:
    """They may be used up before a move is looked at, after what was best, or in between."""
    game, options = hexagondots.GAME, {"rows": 3, "cols": 3}
    move = game.write(next(iter(game.opening(options).moves())))
    found = [estimate(game, options, (move,), most) for most in range(10, 400, 5)]
    graded = [(each.ungraded, sum(each.had)) for each in found if each is not None]
    assert graded == sorted(graded, reverse=True)
    assert (graded[0], graded[-1]) == ((1, 0), (0, 1))


@each_game
def test_there_is_one_where_there_is_no_solver_and_something_to_go_by(game: Game[Any, Any]) -> None:
    assert (estimate(game, {}, ()) is None) is (game.solver is not None or game.evaluate is None)
    assert estimate(structs.replace(game, solver=None, evaluate=None), {}, ()) is None
    assert estimate(tictactoe.GAME, {}, ("C",)) is None


@pytest.mark.parametrize("share", [10, 100])
def test_where_not_even_every_move_can_be_looked_at_none_is(share: int) -> None:
    """Catches minutes for a match on the largest board, of which nearly no move was graded after all."""
    game, options, lots = hexagondots.GAME, {"rows": 17, "cols": 17}, Random(1)
    position, moves, legal = game.opening(options), list[Any](), 0
    for _ in range(5):
        found = list(position.moves())
        move, legal = lots.choice(found), legal + len(found)
        moves.append(game.write(move))
        position = position.play(move)
    found = list[Estimate | None]()
    steps = steps_taken(lambda: found.append(estimate(game, options, moves, share * len(moves))))
    assert found == [Estimate((0, 0), (0, 0), len(moves), DEPTH, ())]
    assert steps < 20 * legal
