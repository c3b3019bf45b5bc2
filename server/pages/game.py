"""What the page of a game shows: rules, notation, and how to connect, with a match by hand.

The games of the house have a page of rules each, in `templates/games/`. Of any
other game the description at the head of its file is shown: who adds a game
adds nothing here.
"""

from collections.abc import Iterator
from functools import cache
from inspect import getdoc, getmodule, signature
from typing import Any

from markupsafe import Markup
from msgspec import Struct

from games.brains import greedy
from games.catalogue import catalogue
from games.game import Game
from server.host.host import OPEN
from server.pages.rendering import ENVIRONMENT
from server.protocols.house import messages
from tournament.match import Match

SEED = 5  # of the players in the example
PLIES = 3  # of the example
DRAWN = 12  # plies of the board that is shown

OLD = {  # the protocols that came with the games, beside that of the house
    "connect-4": ("connect-4", "c4-arena, over websockets"),
    "hexagon-dots": ("hexagon-dots", "Hexagon Dots, over HTTP"),
    "quoridor": ("arena", "the Arena, over HTTP"),
    "santorini": ("santorini", "Santorini, over TCP"),
    "tic-tac-toe": ("arena", "the Arena, over HTTP"),
}


class Said(Struct, frozen=True):
    """A line of the example: what ann types, or what she is told."""

    typed: bool
    text: str


@cache
def about(name: str) -> dict[str, Any]:
    """All that does not change while the host runs; made once for each game."""
    game = catalogue()[name]
    template = f"games/{name}.html"
    rules = None
    if template in ENVIRONMENT.list_templates():
        rules = Markup(ENVIRONMENT.get_template(template).render())  # noqa: S704 - a page of our own
    paragraphs = (getdoc(getmodule(game.start)) or "").split("\n\n")
    options = {key: option.default for key, option in signature(game.start).parameters.items()}
    return {
        "game": game,
        "rules": rules,
        "paragraphs": paragraphs,
        "options": options,
        "example": list(_example(game)),
        "board": Markup(_board(game)),  # noqa: S704 - a game's own drawing
        "moves": _moves(game),
        "old": OLD.get(name),
    }


def _position(game: Game[Any, Any], plies: int) -> Iterator[tuple[Any, Any]]:
    """A few plies between house bots: each position, with the move that led there."""
    brains: tuple[Any, ...] = greedy(game, SEED), greedy(game, SEED + 1)
    position: Any = game.start()
    for _ in range(plies):
        if position.outcome is not None:
            return
        move = brains[position.turn](position, _never)
        position = position.play(move)
        yield position, move


def _board(game: Game[Any, Any]) -> str:
    *_, (position, move) = _position(game, DRAWN)
    return game.draw(position, move)


def _moves(game: Game[Any, Any]) -> list[tuple[str, str]]:
    """How moves are written: as people type them, and as programs do."""
    written = {game.short(move): messages.encode(game.write(move)).decode() for _, move in _position(game, 8)}
    return [*written.items()][-4:]


def _example(game: Game[Any, Any]) -> Iterator[Said]:
    """What ann types into `nc`, and what she is told, until bob is to move."""
    yield Said(True, f'{{"type":"hello","name":"ann","game":"{game.name}"}}')
    match = Match(game, ("ann", "bob"), 0.0, name=f"{OPEN}{game.name}-1")
    yield _told(messages.Welcome(name="ann", token="keep-this-to-come-back", game=game.name, tournament=None))  # noqa: S106
    state = game.show(match.position, match.names)
    clock = match.clock.pace
    yield _told(messages.Begin(match.name, game.seats[0], match.names, clock, state))
    yield _told(messages.turn(match, 0, 0.0))
    for number, (_, move) in enumerate(_position(game, PLIES), 1):
        seat, at = match.position.turn, float(number)
        match.play(seat, game.write(move), at)
        if seat == 0:
            yield Said(True, game.short(move))
        yield _told(messages.turn(match, number, at))


def _told(message: messages.ToBot) -> Said:
    return Said(False, messages.encode(message).decode())


def _never() -> bool:
    return False
