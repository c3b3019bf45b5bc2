"""What honest bots play: of each game one match, move by move, so that its result is known beforehand."""

from collections.abc import Mapping
from functools import cache
from random import Random
from typing import Any

from msgspec import Struct

from games.catalogue import catalogue
from games.game import Game

TRIES = 40  # random matches, of which the shortest with a winner is the script
OPTIONS: Mapping[str, Mapping[str, Any]] = {"hexagon-dots": {"rows": 3, "cols": 3, "end": "hexagons"}}
GAMES = ("tic-tac-toe", "quoridor", "connect-4", "santorini", "hexagon-dots")


class Script(Struct, frozen=True):
    """A whole match: the moves as the game itself has them, and the seat that wins by them."""

    game: Game[Any, Any]
    moves: tuple[Any, ...]
    winner: int

    @property
    def written(self) -> list[Any]:
        """The moves as the wire and the record have them."""
        return [self.game.write(move) for move in self.moves]

    @property
    def opening(self) -> Any:
        return self.game.opening(OPTIONS.get(self.game.name, {}))


@cache
def script(name: str) -> Script:
    game = catalogue()[name]
    matches = (_played(game, Random(seed)) for seed in range(TRIES))
    return min((match for match in matches if match is not None), key=lambda match: len(match.moves))


def _played(game: Game[Any, Any], random: Random) -> Script | None:
    """One random match, if it has a winner. In Quoridor both hurry: at random it would take for ever."""
    position, moves = game.opening(OPTIONS.get(game.name, {})), list[Any]()
    while position.outcome is None and len(moves) != game.ply_limit:
        possible = list(position.moves())
        if game.name == "quoridor":
            steps = [move for move in possible if len(game.short(move)) == 2]
            forward = -1 if position.turn else 1
            move = max(steps, key=lambda step: (int(game.short(step)[1]) * forward, random.random()))
        else:
            move = random.choice(possible)
        moves.append(move)
        position = position.play(move)
    if position.outcome is None or position.outcome.winner is None:
        return None
    return Script(game, tuple(moves), position.outcome.winner)
