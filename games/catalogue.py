"""Which games there are.

Nobody keeps a list. A module of this folder that declares `GAME` is a game; so
is whatever another package declares under the entry point group
`quintain.games`, which is how other people's games get in.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, cast

import games
from games.game import Game, quoted
from games.soundness import expect_sound

GROUP = "quintain.games"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,58}")  # it stands in addresses and in names of tournaments


class Named(Protocol):
    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


class BadCatalogue(Exception):
    """Something was installed that cannot be used, or is missing: the organiser has to mend it."""


@cache
def catalogue() -> Mapping[str, Game[Any, Any]]:
    """Every game by its name."""
    kind: type[Game[Any, Any]] = Game
    others = tuple(_others())
    found = by_name(kind, (*_own(), *others))
    for where, game in others:
        _expect_to_begin(where, cast("Game[Any, Any]", game))
    return found


def game_kept(name: str) -> Game[Any, Any]:
    """The game of a tournament that is kept; raises `BadCatalogue` if it is no longer installed."""
    try:
        return catalogue()[name]
    except KeyError:
        found = f"a tournament of the game {quoted(name)} is kept, and the game is not installed"
        raise BadCatalogue(f"{found}: install its package again") from None


def by_name(kind: type[T], declared: Iterable[tuple[str, object]]) -> Mapping[str, T]:
    """The declared values by their names; `declared` also says where each was. Raises `BadCatalogue`."""
    found: dict[str, T] = {}
    origin: dict[str, str] = {}
    for where, each in declared:
        if not isinstance(each, kind):
            raise BadCatalogue(f"{where}: expected a {kind.__name__}, found a {type(each).__name__}")
        name = cast("object", each.name)  # whatever another package has made of it
        if not (isinstance(name, str) and NAME.fullmatch(name)):
            expected = 'a letter or digit, and at most 58 more or "_", "." and "-"'
            raise BadCatalogue(f"{where}: expected as its name {expected}, not {quoted(name)}")
        if name in found:
            what = kind.__name__.lower()
            raise BadCatalogue(f"{where}: there is a {what} {name!r} already, from {origin[name]}")
        found[name], origin[name] = each, where
    return MappingProxyType(dict(sorted(found.items())))


def installed(group: str) -> Iterator[tuple[str, object]]:
    """What other packages declare under an entry point group; raises `BadCatalogue`."""
    for entry in entry_points(group=group):
        where = f"entry point {entry.name} = {entry.value}"
        try:
            yield where, entry.load()
        except Exception as error:
            raise BadCatalogue(f"{where}: cannot be loaded: {error}") from error


def _own() -> Iterator[tuple[str, object]]:
    for module in iter_modules(games.__path__):
        name = f"games.{module.name}"
        declared = getattr(import_module(name), "GAME", None)
        if declared is not None:
            yield name, declared


def _others() -> Iterable[tuple[str, object]]:
    return installed(GROUP)


def _expect_to_begin(where: str, game: Game[Any, Any]) -> None:
    """Raises `BadCatalogue` if somebody else's game has no sound first move: no match of it could begin."""
    try:
        opening = game.opening({})
        expect_sound(game.write(next(iter(opening.moves()))), opening)
    except Exception as error:
        raise BadCatalogue(f"{where}: the game cannot begin: {in_words(error)}") from error


def in_words(error: BaseException) -> str:
    """What a game has raised, for whoever has installed it."""
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
