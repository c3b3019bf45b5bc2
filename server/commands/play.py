"""`quintain play`: a program's standard input and output on one side, a host on the other."""

from pathlib import PurePath
from typing import Any

from quintain_bot import Leave

from server.commands.flags import Count, Flag
from server.commands.games import GameName, game_named
from server.commands.playing import played
from server.exits import FAILED
from server.programs.program import Gone, Program
from server.programs.terminal import note

SLACK = 5.0  # seconds beyond its clock until a program that does not answer is given up
ENDLESS = 600.0  # the same, if there is no clock


def play(
    *,
    game: GameName,
    bot: str,
    name: str | None = None,
    url: str = "tcp://127.0.0.1:8000",
    token: str | None = None,
    tournament: str | None = None,
    matches: Count = None,
    json: Flag = False,
) -> int:
    """Play with a program of yours, on any host.

    For each of its turns the program reads one line, the position as JSON,
    and writes one line, its move. It is lost with the match if it ends, or
    does not answer within its clock.

    Example: a program in any language, in whichever tournament takes entrants:

        quintain play --game santorini --bot "./mybot --fast" --name ann

    Parameters
    ----------
    bot
        The program and its arguments, as in a shell.
    name
        What it is called: as the program unless set.
    url
        Where the host is: tcp://…, ws://… or http://….
    token
        What the name belongs to; unless set one is made up and remembered.
    tournament
        The tournament to enter; unless set the host finds a place.
    matches
        Leave after so many.
    json
        Every message of the host as a line of JSON.
    """
    rules = game_named(game)
    program, lost = Program(bot), False

    def choose(question: dict[str, Any]) -> object:
        nonlocal lost
        left = question["clock"][rules.seats.index(question["you"])]
        try:
            return program.ask(question, ENDLESS if left is None else left + SLACK)
        except (Gone, TimeoutError) as why:
            lost = True
            note(f"quintain: {why}")
            raise Leave from None

    hello = {"game": game, "name": name or _called(bot), "url": url, "token": token, "tournament": tournament}
    try:
        code = played(choose, hello, matches, as_json=json)
    finally:
        program.end()
    for line in program.unasked[:1]:
        note(f"quintain: a line that answered nothing was passed over: {line}")
    return FAILED if lost else code


def _called(command: str) -> str:
    """A bot's default name: that of its file, or the command's last word, as far as a name may have it."""
    stem = PurePath(command.split()[-1] if command.split() else "").stem
    plain = "".join(letter for letter in stem if letter.isascii() and (letter.isalnum() or letter in "_.-"))
    return plain[:32] or "bot"
