"""What commands that play have in common: the host, and telling what happens there."""

import logging
from collections.abc import Callable
from typing import Any

import quintain_bot

from server.exits import DONE, Failure, Misuse
from server.net.escaping import json_line
from server.programs.report import standings_table
from server.programs.terminal import note, say


def played(
    choose: Callable[[dict[str, Any]], Any], hello: dict[str, Any], matches: int | None, *, as_json: bool
) -> int:
    """Play on a host by the client that authors of bots use, and tell what happens."""
    logging.getLogger("quintain_bot").addHandler(_Notes())
    heard = _print_json if as_json else Told(hello["name"], hello["game"])
    try:
        quintain_bot.run(choose, **hello, matches=matches, heard=heard)
    except ValueError as error:
        if not str(error).startswith("expected an address"):
            raise
        raise Misuse(str(error)) from None
    except (quintain_bot.Refused, quintain_bot.Unreachable) as error:
        raise Failure(str(error)) from None
    return DONE


class Told:
    """The host's messages, in words."""

    def __init__(self, name: str, game: str) -> None:
        self._name, self._game = name, game
        self._you = ""

    def __call__(self, message: dict[str, Any]) -> None:
        match message:
            case {"type": "welcome", "tournament": str(tournament)}:
                say(f"{self._name} takes part in {tournament}")
            case {"type": "welcome"}:
                say(f"{self._name} sits at the open table of {self._game}")
            case {"type": "begin", "match": match, "you": you, "players": [first, second]}:
                self._you = you
                say(f"{match} begins: {first} against {second}")
            case {"type": "end", "match": match, "winner": winner, "why": why}:
                say(f"{match}: {self._result(winner)} ({why})")
            case {"type": "refused", "reason": reason}:
                note(f"refused: {reason}")
            case {"type": "standings", "rows": rows, "tournament": tournament}:
                say(standings_table(rows, f"{tournament}: the final standings"))
            case _:
                pass

    def _result(self, winner: str | None) -> str:
        if winner is None or winner == "draw":
            return "a draw" if winner else "nobody has won"
        return f"{self._name} has {'won' if winner == self._you else 'lost'}"


def _print_json(message: dict[str, Any]) -> None:
    say(json_line(message))


class _Notes(logging.Handler):
    """Prints what the client logs about its connections."""

    def emit(self, record: logging.LogRecord) -> None:
        note(record.getMessage())
