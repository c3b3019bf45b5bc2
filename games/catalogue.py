"""Which games there are.

Nobody keeps a list. A module of this folder that declares `GAME` is a game; so
is whatever another package declares under the entry point group
`quintain.games`, which is how other people's games get in.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any

import games
from games.game import Game

GROUP = "quintain.games"


class BadCatalogue(Exception):
    """A game that was installed but cannot be used: the organiser's to mend."""


@cache
def catalogue() -> Mapping[str, Game[Any, Any]]:
    """Every game by its name."""
    found: dict[str, Game[Any, Any]] = {}
    origin: dict[str, str] = {}
    for where, game in (*_own(), *_others()):
        if not isinstance(game, Game):
            raise BadCatalogue(f"{where}: expected a Game, found a {type(game).__name__}")
        if game.name in found:
            raise BadCatalogue(f"{where}: there is a game {game.name!r} already, from {origin[game.name]}")
        found[game.name], origin[game.name] = game, where
    return MappingProxyType(dict(sorted(found.items())))


def _own() -> Iterator[tuple[str, object]]:
    for module in iter_modules(games.__path__):
        name = f"games.{module.name}"
        declared = getattr(import_module(name), "GAME", None)
        if declared is not None:
            yield name, declared


def _others() -> Iterator[tuple[str, object]]:
    for entry in entry_points(group=GROUP):
        where = f"entry point {entry.name} = {entry.value}"
        try:
            yield where, entry.load()
        except Exception as error:
            raise BadCatalogue(f"{where}: cannot be loaded: {error}") from error
