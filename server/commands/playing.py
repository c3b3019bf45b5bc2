"""What commands that play have in common: playing on a host, and telling what happens there."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import quintain_bot

from server.exits import DONE, FAILED, Failure, Misuse
from server.export.words import table_in_words
from server.net.escaping import json_line
from server.programs.report import standings_table
from server.programs.terminal import note, say


def played(
    choose: Callable[[dict[str, Any]], Any],
    hello: dict[str, Any],
    matches: int | None,
    *,
    as_json: bool,
    record: Path | None = None,
) -> int:
    """Play on a host with the client that authors of bots use, and tell what happens."""
    client = logging.getLogger("quintain_bot")
    lines = _Lines()
    client.addHandler(lines)
    client.setLevel(logging.WARNING if as_json else logging.INFO)
    heard = _print_json if as_json else _print_standings
    try:
        quintain_bot.run(choose, **hello, matches=matches, heard=heard, quiet=True, record=record)
    except ValueError as error:
        if not str(error).startswith(("expected an address", "expected a token")):
            raise
        raise Misuse(str(error)) from None
    except OSError as error:
        if record is None or error.filename != str(record):
            raise
        raise Failure(f"{record}: cannot be written: {error.strerror}") from None
    except (quintain_bot.Refused, quintain_bot.Unreachable) as error:
        raise Failure(str(error)) from None
    return FAILED if lines.unwritten else DONE


class _Lines(logging.Handler):
    """Prints what the client says; problems, such as a lost connection, are no results.

    A disk that is full costs lines, but no match.
    """

    unwritten = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            (note if record.levelno >= logging.WARNING else say)(record.getMessage())
        except Failure as failure:
            self.unwritten = True
            note(f"quintain: {failure}")


def _print_json(message: dict[str, Any]) -> None:
    say(json_line(message))


def _print_standings(message: dict[str, Any]) -> None:
    match message:
        case {"type": "standings", "rows": rows, "tournament": tournament}:
            said = table_in_words(final=True, frozen=message.get("frozen", False))
            say(standings_table(rows, f"{tournament}: {said}"))
        case _:
            pass
