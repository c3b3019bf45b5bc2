"""The games and their slow twins in `tests/oracles/` agree, position by position.

A match is led by the oracle, now in one mood, now in another (`rarities.py`),
and at every position the real game must have the same moves, turn, outcome and
JSON, and take or refuse every string that could be a move just as the oracle does.
"""

from collections.abc import Callable, Iterable, Mapping
from itertools import product
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from games.catalogue import catalogue
from games.game import Game, Illegal, typed
from tests.effort import tries
from tests.games.play import Options, refusal, titled, variants
from tests.games.rarities import MOODS, RARE, SEEN, chosen
from tests.oracles import OPEN
from tests.oracles.connect4 import Connect4
from tests.oracles.hexagondots import HexagonDots
from tests.oracles.quoridor import Quoridor
from tests.oracles.santorini import Santorini
from tests.oracles.tictactoe import FIELDS, TicTacToe

pytestmark = pytest.mark.slow  # the oracles are: perft and the laws are there for the daily loop

ORACLES: Mapping[str, Callable[..., Any]] = {
    "tic-tac-toe": TicTacToe,
    "connect-4": Connect4,
    "santorini": Santorini,
    "quoridor": Quoridor,
    "hexagon-dots": HexagonDots,
}

NAMES = ("Ann", "Bob")
TRIED = tries(24, 8)  # plies from one position in which every try is compared to the next
# Whole matches for each set of options: enough that all that is rare is among them.
MATCHES = {
    "tic-tac-toe": tries(60, 100),
    "connect-4": tries(80, 240),
    "santorini": tries(9, 36),
    "quoridor": tries(6, 16),
    "hexagon-dots": tries(2, 15),
}

each_twin = pytest.mark.parametrize("name", ORACLES)
each_twin_variant = pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param(game, options, id=titled(game, options))
        for game in map(catalogue().__getitem__, ORACLES)
        for options in variants(game)
    ],
)


def compare(game: Game[Any, Any], position: Any, oracle: Any) -> None:
    assert {game.short(move) for move in position.moves()} == oracle.moves()
    assert (position.outcome is None) == (oracle.winner == OPEN)
    if position.outcome is None:
        assert position.turn == oracle.turn
    else:
        assert position.outcome.winner == oracle.winner
    shown = msgspec.json.decode(msgspec.json.encode(game.show(position, NAMES)))
    assert unordered(shown) == unordered(oracle.show(NAMES))


def unordered(shown: Any) -> Any:
    """The lists whose order says nothing, sorted."""
    if not isinstance(shown, dict):
        return shown
    return {
        key: sorted(value, key=repr) if key in ("walls", "lines", "hexagons") else value
        for key, value in shown.items()
    }


def compare_every_try(game: Game[Any, Any], position: Any, oracle: Any) -> None:
    legal = oracle.moves()
    for short in conceivable(game, oracle):
        assert is_taken(game, position, short) == (short in legal), short


def is_taken(game: Game[Any, Any], position: Any, short: str) -> bool:
    try:
        position.play(game.read(typed(short), position))
    except Illegal:
        return False
    return True


def conceivable(game: Game[Any, Any], oracle: Any) -> Iterable[str]:
    """What a bot might try: every move of the game, and what lies one beyond the board."""
    match game.name:
        case "tic-tac-toe":
            return [*FIELDS, "NNE", "NS", "O", "X"]
        case "connect-4":
            return map(str, range(-1, 8))
        case "santorini":
            numbers = range(-1, 7)
            steps = (f"{worker} {x} {y}" for worker in range(4) for x, y in product(numbers, numbers))
            return [*steps, *(f"{x} {y}" for x, y in product(numbers, numbers))]
        case "quoridor":
            squares = [f"{column}{row}" for column in "abcdefghij" for row in range(11)]
            return squares + [square + lie for square in squares for lie in "hv"]
        case _:
            ends = product(range(-1, oracle.rows + 1), range(-1, oracle.cols + 1))
            steps = [step for step in product(range(3), range(-2, 3)) if step > (0, 0)]
            tried = product(ends, steps)
            return (f"{row},{col} {row + down},{col + right}" for (row, col), (down, right) in tried)


@each_twin_variant
@settings(max_examples=tries(6, 3000))
@given(data=st.data())
def test_a_game_and_its_oracle_agree_wherever_a_match_leads(
    data: st.DataObject, game: Game[Any, Any], options: Options
) -> None:
    mood = data.draw(st.sampled_from(MOODS[game.name]), label="mood")
    plies = data.draw(st.integers(0, 60), label="plies at most")
    position, oracle = game.opening(options), ORACLES[game.name](**options)
    for _ in range(plies):
        if oracle.winner != OPEN:
            break
        move = chosen(oracle, mood, lambda moves: data.draw(st.sampled_from(moves)))
        note(move)
        position, oracle = position.play(game.read(typed(move), position)), oracle.play(move)
        compare(game, position, oracle)
    compare_every_try(game, position, oracle)


@pytest.mark.parametrize(
    ("name", "played", "sent", "told"),
    [
        ("tic-tac-toe", ["NW"], "NW", "NW is taken by O"),
        ("tic-tac-toe", ["NW", "N"], "NW", "NW is taken by O"),
        ("tic-tac-toe", ["NW", "N"], "N", "N is taken by X"),
        ("tic-tac-toe", ["NW", "SW", "N", "S", "NE"], "C", "the game is over"),
        ("tic-tac-toe", ["NW", "SW", "N", "S", "NE"], "N", "the game is over"),
        (
            "tic-tac-toe",
            [],
            {"action": "putSymbol"},
            '"position" has to be one of NW N NE W C E SW S SE',
        ),
        ("tic-tac-toe", [], {"action": "flip"}, '"flip" is not an action of this game; expected "putSymbol"'),
        ("connect-4", [0] * 6, 0, "column 0 is full"),
        ("connect-4", [0, 1, 0, 1, 0, 1, 0], 0, "the game is over"),
        ("connect-4", [], 7, "there is no column 7; the columns are 0 to 6"),
        ("connect-4", [], True, "a move is the number of a column, 0 to 6, not true"),
    ],
)
def test_a_refusal_names_the_rule_and_the_place(
    name: str, played: list[object], sent: object, told: str
) -> None:
    game = catalogue()[name]
    position = game.start()
    for move in played:
        position = position.play(game.read(move, position))
    assert refusal(game, position, sent) == told


@each_twin
def test_a_game_and_its_oracle_agree_in_whole_matches_with_all_that_is_rare(name: str) -> None:
    game = catalogue()[name]
    seen: set[str] = set()
    for options, number in product(variants(game), range(MATCHES[name])):
        random = Random(number)
        mood = MOODS[name][number % len(MOODS[name])]
        position, oracle = game.opening(options), ORACLES[name](**options)
        for ply in range(game.ply_limit or 300):
            compare(game, position, oracle)
            if ply % TRIED == 0 or oracle.winner != OPEN:
                compare_every_try(game, position, oracle)
            if oracle.winner != OPEN:
                break
            move = chosen(oracle, mood, random.choice)
            before, oracle = oracle, oracle.play(move)
            position = position.play(game.read(typed(move), position))
            seen |= SEEN[name](before, move, oracle)
    assert seen >= RARE[name]
