"""What commands that play have in common: playing on a host, and telling what happens there."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import quintain_bot

from games.catalogue import catalogue
from games.game import BadOption, Illegal
from server.exits import DONE, FAILED, Failure, Misuse
from server.export.words import table_in_words
from server.net.escaping import in_quotes, json_line
from server.programs.answers import Row
from server.programs.report import standings_table
from server.programs.terminal import note, say

OTHER = "the host does not play by the rules of {}, of which it may have another version"


def played(
    choose: Callable[[dict[str, Any]], Any],
    hello: dict[str, Any],
    matches: int | None,
    *,
    as_json: bool,
    record: Path | None = None,
) -> int:
    """Play on a host with the client that authors of bots use, and tell what happens.

    A host may have other rules under the name of a game: then nobody can choose a move.
    """
    game = catalogue()[hello["game"]]

    def chosen(question: dict[str, Any]) -> Any:
        if question["you"] not in game.seats:
            raise Failure(f"{OTHER.format(game.name)}: there is no seat {in_quotes(question['you'])}")
        try:
            return choose(question)
        except (BadOption, Illegal) as why:
            raise Failure(f"{OTHER.format(game.name)}: {why}") from None

    client = logging.getLogger("quintain_bot")
    lines = _Lines()
    client.addHandler(lines)
    client.setLevel(logging.WARNING if as_json else logging.INFO)
    heard = _print_json if as_json else _print_standings
    try:
        quintain_bot.run(chosen, **hello, matches=matches, heard=heard, quiet=True, record=record)
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
            try:
                msgspec.convert(rows, list[Row])
            except ValueError as error:  # half a character is no text either
                raise Failure(f"the standings that came are not those of a host: {error}") from None
            said = table_in_words(final=True, frozen=message.get("frozen", False))
            say(standings_table(rows, f"{tournament}: {said}"))
        case _:
            pass
