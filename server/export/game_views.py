"""A game as JSON, for the API and for language models alike."""

from typing import Any

from games.game import Game
from tournament.format import offered


def game_shown(game: Game[Any, Any]) -> dict[str, Any]:
    return {
        "name": game.name,
        "title": game.title,
        "seats": game.seats,
        "pace": game.pace,
        "faults": game.faults,
        "ply_limit": game.ply_limit,
        "options": game.options,
        "formats": list(offered()),
    }
