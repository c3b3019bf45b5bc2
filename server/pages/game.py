"""What the page of a game shows: rules, notation, and how to connect, with a match by hand.

All of it comes from the game itself and from the dialects that can express it:
a new game or dialect needs nothing here.
"""

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

import structlog
from markupsafe import Markup
from msgspec import Struct

from games.brains import greedy
from games.catalogue import catalogue
from games.game import Game
from server.host.opening import OPEN
from server.pages.protocols import SOURCES
from server.pages.story import NO_BOARD
from server.protocols.catalogue import dialects
from server.protocols.dialect import Dialect, OverHttp, OverTcp, OverWebsocket
from server.protocols.house import messages
from tournament.match import Match

SEED = 5  # of the players in the example
PLIES = 3  # of the example
DRAWN = 12  # plies of the board that is shown
SHOWN = 4  # moves that were played, as examples of how moves are written

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

WAYS = {OverTcp: "TCP", OverWebsocket: "websocket", OverHttp: "HTTP"}  # what carries dialects, in words

T = TypeVar("T")


class LinkedName(Struct, frozen=True):
    """A name, and the page on protocols that is about it, if there is one."""

    name: str
    page: str | None


class Spoken(Struct, frozen=True):
    """A dialect, and what carries it."""

    dialect: LinkedName
    over: tuple[LinkedName, ...]


class ExampleLine(Struct, frozen=True):
    """A line of the example: what ann types, or what she is told."""

    typed: bool
    text: str


@cache
def about(name: str) -> dict[str, Any]:
    """The part that does not change while the host runs; made once for each game."""
    game = catalogue()[name]
    first_paragraph, *_ = game.rules.split("\n\n")
    return {
        "game": game,
        "rules": html(game.rules),
        "description": html(first_paragraph).striptags(),
        "example": _tried(game, lambda: list(_example(game)), []),
        "board": _tried(game, lambda: _board(game), NO_BOARD.format(game.title)),
        "moves": _tried(game, lambda: _moves(game), []),
        "spoken": [*map(_spoken, _dialects(name))],
    }


def with_games(text: str, names: Iterable[str]) -> str:
    """The file for assistants, with those of the games that it does not have: they were added to Quintain."""
    before, heading, after = text.partition("\n## Trying it\n")
    added = (_for_assistants(name) for name in names if f": `{name}`\n" not in text)
    return "".join((before, *added, heading, after))


def html(markdown: str) -> Markup:
    """Markdown as HTML. HTML in it is shown as text."""
    from markdown_it import MarkdownIt  # imported here, or every start of the host would pay for it

    return Markup(MarkdownIt("commonmark", {"html": False}).render(markdown))  # noqa: S704


def _dialects(game: str) -> list[Dialect]:
    """The dialects that can express a game; first those that can express any game."""
    able = [each for each in dialects().values() if each.games is None or game in each.games]
    return sorted(able, key=lambda each: each.games is not None)


def _spoken(dialect: Dialect) -> Spoken:
    """A dialect with its transports, each with a page of its own if it needs one, such as `house-http`."""
    ways = {WAYS[type(way)]: f"{dialect.name}-{WAYS[type(way)].lower()}" for way in dialect.carried_by}
    over = (LinkedName(way, page if page in SOURCES else None) for way, page in ways.items())
    return Spoken(LinkedName(dialect.title, dialect.name if dialect.name in SOURCES else None), tuple(over))


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


def _tried(game: Game[Any, Any], made: Callable[[], T], otherwise: T) -> T:
    """A part of the page, which a game that fails at it leaves to the others."""
    try:
        return made()
    except Exception as error:
        log.error("a game fails to say how it is played", game=game.name, exc_info=error)
        return otherwise


def _board(game: Game[Any, Any]) -> Markup:
    *_, (position, move) = _position(game, DRAWN)
    return Markup(game.draw(position, move))  # noqa: S704 - a game's own drawing


def _moves(game: Game[Any, Any]) -> list[tuple[str, str]]:
    """How moves are written: as people type them, and as programs do.

    They were played. Where other legal moves are typed at another length, there is one of each length too:
    it is of another kind, such as a wall beside steps.
    """
    steps = [*_position(game, 8)]
    played = [*{game.short(move): move for _, move in steps}.items()][-SHOWN:]
    seen = {len(short) for short, _ in played}
    legal = ((game.short(move), move) for position, _ in steps for move in position.moves())
    others = {len(short): (short, move) for short, move in legal if len(short) not in seen}
    shown = [*played, *others.values()][: 2 * SHOWN]
    return [(short, messages.encode(game.write(move)).decode()) for short, move in shown]


@cache
def _for_assistants(name: str) -> str:
    """The section on a game, made once: one that fails leaves the file to the others."""
    game = catalogue()[name]
    failed = f"\n### {game.title}: `{name}`\n\nThis game fails on this host.\n"
    return _tried(game, lambda: _section(game), failed)


def _section(game: Game[Any, Any]) -> str:
    played = [position for position, _ in _position(game, DRAWN)]
    first, second = game.seats
    if game.faults == "forfeit":
        cost = "An illegal move loses the match."
    else:
        cost = "An illegal move is refused, and the bot may try again."
    limit = f" After {game.ply_limit} plies it is a draw." if game.ply_limit else ""
    return f"""
### {game.title}: `{game.name}`

{game.rules.strip()}

- Seats: `{first}` begins, then `{second}`. {cost}{limit}
- Moves: {", ".join(f"`{short}` or `{written}`" for short, written in _moves(game))}.
- State: for instance `{messages.encode(game.show(played[len(played) // 2], ("ann", "bob"))).decode()}`
"""


def _example(game: Game[Any, Any]) -> Iterator[ExampleLine]:
    """What ann types into `nc`, and what she is told, until bob is to move: she enters no tournament."""
    table = f"{OPEN}{game.name}"
    yield ExampleLine(True, f'{{"type":"hello","name":"ann","game":"{game.name}","tournament":"{table}"}}')
    match = Match(game, ("ann", "bob"), 0.0, name=f"{table}-1")
    yield _told(messages.Welcome(name="ann", token="keep-this-to-come-back", game=game.name, tournament=None))  # noqa: S106
    state = game.show(match.position, match.names)
    clock = match.clock.pace
    yield _told(messages.Begin(match.name, game.seats[0], match.names, clock, state))
    yield _told(messages.turn(match, 0, 0.0))
    for number, (_, move) in enumerate(_position(game, PLIES), 1):
        seat, at = match.position.turn, float(number)
        match.play(seat, game.write(move), at)
        if seat == 0:
            yield ExampleLine(True, game.short(move))
        yield _told(messages.turn(match, number, at))


def _told(message: messages.ToBot) -> ExampleLine:
    return ExampleLine(False, messages.encode(message).decode())


def _never() -> bool:
    return False
