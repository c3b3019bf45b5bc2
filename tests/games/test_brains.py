"""What is true of the house brains in every game, in two games made for the purpose, and how strong they are.

Time is counted in questions to `stop`, which are positions looked at: so a slow machine plays the same moves.
"""

from collections.abc import Iterable
from functools import cache, reduce
from itertools import combinations_with_replacement, product
from math import inf
from operator import xor
from random import Random
from typing import Any

import pytest
from msgspec import Struct, structs

from games import brains, connect4, tictactoe
from games.brains import BRAINS, Brain, alphabeta, first, greedy
from games.catalogue import catalogue
from games.game import Game, Outcome
from tests.effort import tries
from tests.games.play import each_game, random_match


class Budget:
    """Says no so many times, and yes for ever after; counts what it is asked."""

    def __init__(self, questions: float = inf) -> None:
        self.questions, self.asked = questions, 0

    def __call__(self) -> bool:
        self.asked += 1
        return self.asked > self.questions


# Two games


class Nim(Struct, frozen=True):
    """Who takes the last bean wins. With `again`, who clears a heap before that moves once more."""

    heaps: tuple[int, ...] = (3, 4, 5)
    again: bool = False
    turn: int = 0
    outcome: Outcome | None = None

    def moves(self) -> Iterable[tuple[int, int]]:
        return [(heap, beans) for heap, most in enumerate(self.heaps) for beans in range(1, most + 1)]

    def play(self, move: tuple[int, int]) -> "Nim":
        heap, beans = move
        heaps = (*self.heaps[:heap], self.heaps[heap] - beans, *self.heaps[heap + 1 :])
        if not any(heaps):
            return Nim(heaps, self.again, self.turn, Outcome(self.turn, "has taken the last bean"))
        return Nim(heaps, self.again, self.turn if self.again and not heaps[heap] else 1 - self.turn)


class Trap(Struct, frozen=True):
    """Seat 0 attacks (0) or waits. The last of the answers to an attack wins, and looks worst of all."""

    answers: int
    others: int | None  # who wins after the other answers
    path: tuple[int, ...] = ()

    @property
    def turn(self) -> int:
        return len(self.path) % 2

    @property
    def outcome(self) -> Outcome | None:
        if len(self.path) < 3:
            return None
        met = self.path[1] == self.answers - 1
        return Outcome(None if self.path[0] else 1 if met else self.others, "three moves have been made")

    def moves(self) -> Iterable[int]:
        return () if self.outcome else range((2, self.answers, 1)[len(self.path)])

    def play(self, move: int) -> "Trap":
        return Trap(self.answers, self.others, (*self.path, move))


def promise(position: Any) -> float:
    """To attack looks better than to wait, and the last answer better yet for seat 0."""
    return 0.9 if position.path[:2] == (0, position.answers - 1) else 0.5 - 0.4 * position.path[0]


NIM = structs.replace(tictactoe.GAME, name="heaps", start=Nim, short=str)  # of the rest nothing is asked
AGAIN = structs.replace(NIM, name="heaps-again", start=lambda: Nim(again=True))
TRAP = structs.replace(NIM, name="trap", evaluate=promise)

every_game = pytest.mark.parametrize(
    "game", [pytest.param(game, id=game.name) for game in (*catalogue().values(), NIM, AGAIN)]
)
every_brain = pytest.mark.parametrize("name", BRAINS)


# Plain reckoning, to compare with


def positions(game: Game[Any, Any], seed: int, count: int) -> list[Any]:
    """Some positions of a match of random moves, and the last two, in which there is something to see."""
    random = Random(seed)
    *early, last_but_one, last = (
        position for position in random_match(game, {}, random).positions if position.outcome is None
    )
    return [*random.sample(early, min(count, len(early))), last_but_one, last]


def worth(game: Game[Any, Any], position: Any, seat: int, depth: int, ply: int = 0) -> float:
    """Minimax from the book: what a position is worth to a seat."""
    if position.outcome is not None:
        winner = position.outcome.winner
        return 0 if winner is None else 1000 - ply if winner == seat else ply - 1000
    if depth == 0:
        good = game.evaluate(position) if game.evaluate else 0
        return -good if seat else good
    best = max if position.turn == seat else min
    return best(worth(game, position.play(move), seat, depth - 1, ply + 1) for move in position.moves())


def wins(position: Any) -> list[Any]:
    """The moves that win at once."""
    return [
        move
        for move in position.moves()
        if (outcome := position.play(move).outcome) and outcome.winner == position.turn
    ]


# Every brain


@every_game
@every_brain
@pytest.mark.parametrize("questions", [0, 1, 30, 1000])
def test_a_brain_plays_a_legal_move_whenever_it_is_stopped(
    game: Game[Any, Any], name: str, questions: int
) -> None:
    brain = BRAINS[name](game, 1)
    for position in positions(game, questions, 4):
        assert brain(position, Budget(questions)) in list(position.moves())


@every_game
@every_brain
def test_the_same_positions_and_budget_get_the_same_moves(game: Game[Any, Any], name: str) -> None:
    asked = positions(game, 1, 6)
    one, other = BRAINS[name](game, 7), BRAINS[name](game, 7)
    assert [one(each, Budget(500)) for each in asked] == [other(each, Budget(500)) for each in asked]


@every_game
def test_alphabeta_does_not_depend_on_what_it_was_asked_before(game: Game[Any, Any]) -> None:
    asked = positions(game, 2, 4)
    brain = alphabeta(game)
    there = [brain(each, Budget(500)) for each in asked]
    assert [brain(each, Budget(500)) for each in reversed(asked)] == there[::-1]


@every_game
@pytest.mark.parametrize("name", ["greedy", "alphabeta"])
@pytest.mark.parametrize("questions", [0, 1, 40, 700])
def test_whoever_is_told_to_stop_looks_at_no_more_than_it_has_asked_for(
    game: Game[Any, Any], name: str, questions: int
) -> None:
    looked = 0

    def evaluate(position: Any) -> float:
        nonlocal looked
        looked += 1
        return game.evaluate(position) if game.evaluate else 0

    brain = BRAINS[name](structs.replace(game, evaluate=evaluate), 1)
    for position in positions(game, 3, 4):
        looked, budget = 0, Budget(questions)
        brain(position, budget)
        assert looked <= budget.asked <= questions + 2
        assert looked <= questions + 1


@every_game
def test_random_plays_every_move_some_time(game: Game[Any, Any]) -> None:
    position = positions(game, 4, 1)[0]
    moves, brain = list(position.moves()), BRAINS["random"](game, 1)
    chosen = [brain(position, Budget()) for _ in range(12 * len(moves))]
    assert all(move in chosen for move in moves)


@every_game
def test_first_plays_the_first_move(game: Game[Any, Any]) -> None:
    for position in positions(game, 5, 5):
        assert first(game)(position, Budget()) == next(iter(position.moves()))


@pytest.mark.slow
@every_game
def test_greedy_wins_at_once_or_else_improves_as_much_as_is_safe(game: Game[Any, Any]) -> None:
    won = 0
    for seed in range(4):
        for position in positions(game, seed, 4):
            chosen = position.play(greedy(game, seed)(position, Budget()))
            if wins(position):
                won += 1
                assert chosen.outcome.winner == position.turn
                continue
            children = [position.play(move) for move in position.moves()]
            safe = [child for child in children if child.turn == position.turn or not wins(child)] or children
            best = max(worth(game, child, position.turn, 0) for child in safe)
            assert worth(game, chosen, position.turn, 0) == best
            assert chosen in safe
    assert won


# Alpha-beta


@pytest.mark.slow
@every_game
def test_alphabeta_plays_what_plain_minimax_finds_best(game: Game[Any, Any]) -> None:
    """So it forces each win that can be forced in so many plies, as soon as may be, and puts off losses."""
    forced = 0
    for seed in range(tries(1, 2)):
        for position in positions(game, seed, 2):
            seat, moves = position.turn, list(position.moves())
            deepest = max((depth for depth in range(2, 9) if len(moves) ** depth < 5000), default=2)
            for depth in range(1, deepest + 1):
                values = [worth(game, position.play(move), seat, depth - 1, 1) for move in moves]
                choice = alphabeta(game, seed, depth)(position, Budget())
                assert values[moves.index(choice)] == max(values)
                forced += abs(max(values)) > 1
    assert forced


def test_the_seed_decides_between_moves_that_are_equally_good() -> None:
    game = tictactoe.GAME
    assert len({alphabeta(game, seed, depth=1)(game.start(), Budget()) for seed in range(60)}) == 9


@pytest.mark.parametrize("game", [tictactoe.GAME, NIM], ids=["tic-tac-toe", "heaps"])
def test_a_single_move_is_played_without_a_question(game: Game[Any, Any]) -> None:
    forced = [
        position
        for seed in range(20)
        for position in random_match(game, {}, Random(seed)).positions
        if len(list(position.moves())) == 1
    ]
    assert forced
    for position in forced:
        budget = Budget()
        assert [alphabeta(game)(position, budget)] == list(position.moves())
        assert budget.asked == 0


def test_it_stops_deepening_when_there_is_nothing_left_to_find() -> None:
    for game, depth in ((tictactoe.GAME, 9), (NIM, 12)):
        whole, without_limit = Budget(), Budget()
        alphabeta(game, depth=depth)(game.start(), whole)
        alphabeta(game)(game.start(), without_limit)
        assert without_limit.asked == whole.asked


@pytest.mark.parametrize("columns", ["223344", "2233", "22334"], ids=["a win", "a win in three", "a loss"])
def test_the_search_ends_when_the_end_of_the_game_is_forced(columns: str) -> None:
    position, budget = connect4.start(), Budget(1000)
    for column in columns:
        position = position.play(int(column))
    alphabeta(connect4.GAME)(position, budget)
    assert budget.asked < 1000


def test_nothing_is_left_out_of_two_plies_nor_where_there_are_few_moves() -> None:
    for others in (0, None):
        wide, few = Trap(brains.WIDE + 20, others), Trap(brains.WIDE, others)
        assert alphabeta(TRAP, depth=2)(wide.play(0), Budget()) == brains.WIDE + 19
        assert alphabeta(TRAP, depth=3)(few, Budget()) == 1


def test_when_there_are_many_moves_only_those_that_look_best_are_searched_deep_unless_they_all_lose() -> None:
    wide = brains.WIDE + 20
    assert alphabeta(TRAP, depth=3)(Trap(wide, others=None), Budget()) == 0
    assert alphabeta(TRAP, depth=3)(Trap(wide, others=0), Budget()) == 1


def test_most_of_what_minimax_would_look_at_is_cut_off() -> None:
    budget = Budget()
    alphabeta(connect4.GAME, depth=6)(connect4.start(), budget)
    assert budget.asked < 7**6 / 10


@pytest.mark.slow
def test_what_is_remembered_is_bounded_and_forgetting_costs_nothing_but_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(brains, "TABLE", 20)
    for seed in range(tries(1, 5)):
        moves = list(Nim().moves())
        Random(seed).shuffle(moves)
        search = brains._Search(Nim(), moves, lambda _: 0.0, Budget())
        search.deepen(12)
        assert len(search.recent) <= 20
        assert len(search.older) <= 20
        assert reduce(xor, Nim().play(search.choice).heaps) == 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("game", [NIM, AGAIN], ids=["heaps", "heaps-again"])
def test_it_wins_as_soon_and_loses_as_late_as_can_be(game: Game[Any, Any], seed: int) -> None:
    for heaps in combinations_with_replacement(range(5), 3):
        if 0 < sum(heaps) <= 8:
            position = Nim(heaps, again=game is AGAIN)
            values = {move: worth(game, position.play(move), 0, depth=8) for move in position.moves()}
            assert values[alphabeta(game, seed)(position, Budget())] == max(values.values())


@pytest.mark.slow
def test_connect_4_counts_places_that_complete_a_four_own_rows_twice_and_the_middle() -> None:
    lines = [
        [(column + step * right, row + step * up) for step in range(4)]
        for (right, up), column, row in product([(0, 1), (1, 0), (1, 1), (1, -1)], range(7), range(6))
        if column + 3 * right < 7 and 0 <= row + 3 * up < 6
    ]
    for position in (
        each for seed in range(20) for each in random_match(connect4.GAME, {}, Random(seed)).positions
    ):
        board = connect4.show(position, ("", ""))
        owner = {(at // 6, at % 6): board[at] for at in range(42)}
        good = 0
        for seat, sign in ((1, 1), (2, -1)):
            good += sign * sum(
                3 - abs(column - 3) for (column, _), who in owner.items() if who == seat and 0 < column < 6
            )
            places = {
                place
                for line in lines
                for place in line
                if owner[place] == 0 and all(owner[other] == seat for other in line if other != place)
            }
            good += sign * sum(16 if row % 2 == seat - 1 else 8 for _, row in places)
        assert connect4.evaluate(position) == good / 1000


# Strength

OPENING = 2  # random plies before a match of brains, so that no two are the same


def endings(game: Game[Any, Any], brain: Brain, seat: int) -> set[int | None]:
    """Who wins, over all that can be played against a brain."""
    move = cache(lambda position: brain(position, Budget()))
    winners, left = set[int | None](), [game.start()]
    while left:
        position = left.pop()
        if position.outcome is not None:
            winners.add(position.outcome.winner)
        else:
            moves = [move(position)] if position.turn == seat else position.moves()
            left += [position.play(each) for each in moves]
    return winners


def score(game: Game[Any, Any], one: Brain, other: Brain, questions: tuple[int, int], openings: int) -> float:
    """The share of the points that `one` makes from random openings, each played with both sides."""
    points = 0.0
    for opening, seat in product(range(openings), (0, 1)):
        played = random_match(game, {}, Random(opening)).positions[: OPENING + 1]
        position, ply = next(each for each in reversed(played) if each.outcome is None), len(played)
        while position.outcome is None and ply < (game.ply_limit or inf):
            mine = position.turn == seat
            move = (one if mine else other)(position, Budget(questions[not mine]))
            position, ply = position.play(move), ply + 1
        winner = position.outcome.winner if position.outcome else None
        points += 0.5 if winner is None else winner == seat
    return points / (2 * openings)


@pytest.mark.parametrize("seat", [0, 1])
def test_it_never_loses_at_tic_tac_toe_whatever_is_played(seat: int) -> None:
    assert 1 - seat not in endings(tictactoe.GAME, alphabeta(tictactoe.GAME, seed=seat), seat)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("seed", range(10))
def test_it_beats_first_at_tic_tac_toe(seed: int, seat: int) -> None:
    game = tictactoe.GAME
    pair = [first(game), first(game)]
    pair[seat] = alphabeta(game, seed)
    position = game.start()
    while position.outcome is None:
        position = position.play(pair[position.turn](position, Budget()))
    assert position.outcome.winner == seat


@pytest.mark.parametrize(
    ("moves", "depth", "worth"),
    [
        ([0, 3, 1, 4], 1, 1),  # seat 0 is to move and wins
        ([0, 3, 1, 4, 8], 1, -1),  # seat 1 is, and does
        ([4, 1], 4, 0),
        ([4, 1], 5, 1),  # a trap for two wins is four plies away
        ([0, 4], 9, 0),
    ],
)
def test_worth_is_for_seat_0_and_sees_what_is_forced(moves: list[int], depth: int, worth: int) -> None:
    game = tictactoe.GAME
    value = brains.worth(game, reduce(lambda position, move: position.play(move), moves, game.start()), depth)
    assert (value > brains.SURE) - (value < -brains.SURE) == worth


@pytest.mark.slow
@each_game
def test_the_brains_are_in_order_of_strength(game: Game[Any, Any]) -> None:
    random, greedy, alphabeta = (BRAINS[name](game, 1) for name in ("random", "greedy", "alphabeta"))
    questions = tries(300, 1000)
    assert score(game, greedy, random, (1000, 1), openings=tries(3, 10)) > 0.7
    assert score(game, alphabeta, random, (questions, 1), openings=tries(3, 5)) > 0.8


# Matches of Quoridor are long and close: many would be needed to tell. Those of the other two take longest.
LONG = ("quoridor", "santorini", "hexagon-dots")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.campaign] * (name in LONG)) for name in catalogue()],
)
def test_whoever_looks_further_is_stronger(name: str) -> None:
    game = catalogue()[name]
    greedy, alphabeta = (BRAINS[name](game, 1) for name in ("greedy", "alphabeta"))
    assert score(game, alphabeta, greedy, (2000, 1000), openings=tries(3, 4)) > 0.5


@pytest.mark.slow
def test_ten_times_the_time_is_clearly_stronger_at_connect_4() -> None:
    game = connect4.GAME
    little = tries(300, 500)
    pair = alphabeta(game, 1), alphabeta(game, 2)
    assert score(game, *pair, (10 * little, little), openings=tries(2, 10)) > 0.65
