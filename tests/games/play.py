"""Playing games in tests: which games and options there are, and matches of random moves.

Knows no rules: what is true of one game alone is in the test of that game.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import strategies as st

from games.catalogue import catalogue
from games.game import Game, Illegal

Options = Mapping[str, Any]

LONG = 2000  # plies: no game whose rules end it lasts longer


class Played(NamedTuple):
    """A match: `positions[n]` is the one before `moves[n]`."""

    moves: list[Any]
    positions: list[Any]

    @property
    def last(self) -> Any:
        return self.positions[-1]


def variants(game: Game[Any, Any]) -> list[Options]:
    """A game with options is put to the tests under its defaults and under these."""
    return [{}, *game.variants]


def titled(game: Game[Any, Any], options: Options) -> str:
    return "-".join([game.name, *(str(value) for value in options.values())])


each_game = pytest.mark.parametrize(
    "game", [pytest.param(game, id=game.name) for game in catalogue().values()]
)

each_variant = pytest.mark.parametrize(
    ("game", "options"),
    [
        pytest.param(game, options, id=titled(game, options), marks=pytest.mark.slow if options else ())
        for game in catalogue().values()
        for options in variants(game)
    ],
)


def playout(data: st.DataObject, game: Game[Any, Any], options: Options) -> Played:
    """A match as hypothesis likes it: stopped anywhere, or at its end."""
    most = data.draw(st.integers(0, 20) | st.integers(0, 200), label="plies at most")
    played = Played([], [game.opening(options)])
    while len(played.moves) < most and played.last.outcome is None:
        moves = list(played.last.moves())
        step(played, moves[data.draw(st.integers(0, len(moves) - 1))])
    return played


def random_match(game: Game[Any, Any], options: Options, random: Random) -> Played:
    """A match of random moves to its end, or to the limit of the game, or for a long time."""
    played = Played([], [game.opening(options)])
    while len(played.moves) < (game.ply_limit or LONG) and played.last.outcome is None:
        step(played, random.choice(list(played.last.moves())))
    return played


def step(played: Played, move: Any) -> None:
    played.positions.append(played.last.play(move))
    played.moves.append(move)


def replay(game: Game[Any, Any], options: Options, moves: Sequence[Any]) -> Any:
    position = game.opening(options)
    for move in moves:
        position = position.play(move)
    return position


def refusal(game: Game[Any, Any], position: Any, sent: object) -> str:
    """What a bot is told that sends this, which is not played."""
    with pytest.raises(Illegal) as refused:
        position.play(game.read(sent, position))
    return str(refused.value)
