"""Playing by hand: the page on which a person plays, and the board with what may be clicked.

The page speaks the house protocol over websocket, as any bot does (`static/play.js`), and
asks here for the board: a game's own drawing, and over it a spot for every legal move. A
game that has no spots has a list of its moves under the drawing.
"""

from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

from games.game import Game
from games.svg import element
from server.host.names import LONGEST
from server.host.practice import opponents
from server.pages.story import Story

TEMPLATE = "play.html"
PICTURE, GROUP = 'role="img"', 'role="group"'  # a picture has no parts; a group can contain things to click
END = "</svg>"
BEHIND: dict[str, Any] = {"ply": None, "board": None}  # the page is ahead of the process for pages


def page(game: Game[Any, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """What the template is given; play begins at once if the query names an opponent."""
    return {
        "game": game,
        "opponents": list(opponents(game)),
        "name": query.get("name", ""),
        "longest": LONGEST,
        "against": query.get("against"),
    }


def board(story: Story, ply: int, seat: str) -> dict[str, Any]:
    """The board after this many plies, with what `seat` may play, if it is to move."""
    if ply > len(story.plies):
        return BEHIND
    game, position = story.game, story.positions[ply]
    mover: int = position.turn
    drawn = story.drawing(ply)
    asked: bool = story.ended is None and position.outcome is None and game.seats[mover] == seat
    if asked and ply == len(story.plies):
        if game.spot is None:
            drawn += "".join(_choices(game, position))
        else:
            drawn = drawn.replace(PICTURE, GROUP, 1).removesuffix(END) + "".join(_spots(game, position)) + END
    return {"ply": ply, "board": drawn}


def _spots(game: Game[Any, Any], position: Any) -> Iterator[str]:
    if game.spot is not None:
        for move in position.moves():
            words = game.spelled(move, position)
            yield element(
                "g",
                element("title", escape(words)) + game.spot(move, position),
                class_="spot",
                data_move=game.short(move),
                role="button",
                tabindex=0,
                aria_label=words,
            )


def _choices(game: Game[Any, Any], position: Any) -> Iterator[str]:
    yield '<div class="choices">'
    for move in position.moves():
        words = escape(game.spelled(move, position))
        yield element("button", words, type="button", data_move=game.short(move))
    yield "</div>"
