"""What is said on the Arena's wire: commands, the events of a stream, answers.

The Arena serves any game whose moves its commands can express and that an
illegal move ends: its wire has no way to ask for another. Apart from the cases
of evaluations (`cases.py`), nothing in the Arena knows one game from another.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from msgspec import UNSET, Struct, UnsetType, ValidationError, convert, to_builtins
from msgspec.json import encode

from games.catalogue import catalogue
from games.game import SHOWN, Game, Illegal, quoted
from server.http.head import HttpError
from server.http.wire import JSON, PRIVATE, event_stream

FLIP = "(╯°□°)╯︵ ┻━┻"
ANSWER = JSON + PRIVATE
STREAM = event_stream(*PRIVATE)


class Command(Struct, frozen=True):
    """What a bot does. Other fields that it sends are ignored."""

    action: str
    position: str | UnsetType | None = UNSET  # some bots write null where there is none

    def __post_init__(self) -> None:
        if self.position is None and self.action != FLIP:
            raise ValueError("a move has a position, and this one has null")


def games() -> tuple[str, ...]:
    """The games that the Arena serves."""
    return tuple([name for name, game in catalogue().items() if expressible(game)])


def expressible(game: Game[Any, Any]) -> bool:
    """Whether bots can play a game by commands, as far as its first moves show."""
    first = (game.write(move) for move in game.opening({}).moves())
    return game.faults == "forfeit" and all(map(_is_command, first))


def written(message: Mapping[str, Any]) -> bytes:
    """An event of the stream."""
    return b"data: %b\n\n" % encode(message)


def refused_move(sent: Any, game: Game[Any, Any], position: Any) -> Mapping[str, Any]:
    """What may not be played, shown as a move and cut; bots of other protocols may have sent anything."""
    with suppress(Illegal):  # what is against the rules can be read; elsewhere it may be written short
        sent = game.write(game.read(sent, position))
    match sent:
        case {"action": action} if action == FLIP:
            return {"action": FLIP}
        case {"action": str() as action, "position": str() as place}:
            return {"action": action[:SHOWN], "position": place[:SHOWN]}
        case {"action": str() as action}:
            return {"action": action[:SHOWN]}
        case _:
            return {"action": quoted(sent)}


def ended() -> HttpError:
    return HttpError(423, "Battle already ended")


def _is_command(move: object) -> bool:
    try:
        return to_builtins(convert(move, Command)) == move
    except ValidationError:
        return False
