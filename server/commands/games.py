"""The flag `--game`: the games that its help lists, and the game that it names.

Importing this imports every game there is, which takes some hundredths of a second.
"""

from typing import Annotated, Any

from cyclopts import Parameter

from games.catalogue import catalogue
from games.game import Game
from server.exits import Misuse
from server.net.escaping import in_quotes


def listed(names: list[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


GameName = Annotated[str, Parameter(help=f"The game: {listed([*catalogue()])}.")]


def game_named(name: str) -> Game[Any, Any]:
    if name not in catalogue():
        raise Misuse(f"there is no game {in_quotes(name)}; there are: {', '.join(catalogue())}")
    return catalogue()[name]
