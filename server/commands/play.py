"""`quintain play`: a program's standard input and output on one side, a host on the other."""

from contextlib import ExitStack
from pathlib import Path, PurePath
from shutil import which
from typing import Any

from quintain_bot import Leave

from server.commands.flags import Count, Flag, Secret
from server.commands.games import GameName, game_named
from server.commands.playing import played
from server.exits import FAILED
from server.programs.interrupts import Interrupts, later
from server.programs.match_logs import MatchLogs
from server.programs.program import Gone, Program, words_of
from server.programs.restarting import Restarting
from server.programs.terminal import note

SLACK = 5.0  # seconds beyond its clock after which a program that does not answer is given up
ENDLESS = 600.0  # the same, if there is no clock
TRIAL = 0.3  # seconds in which a program ends that cannot run, before anybody is told that it plays
LOGS = Path("bot-logs")  # where the standard error of a restarted program goes


def play(
    *,
    game: GameName,
    bot: str,
    name: str | None = None,
    url: str = "tcp://127.0.0.1:8000",
    token: Secret = None,
    tournament: str | None = None,
    matches: Count = None,
    restart: Flag = False,
    logs: Path | None = None,
    record: Path | None = None,
    json: Flag = False,
) -> int:
    """Play with a program of yours, on any host.

    For each turn the program reads one line, the position as JSON, and
    writes one line, its move. A program that exits or does not answer within
    its clock loses the match; with --restart, one that exits is started again.

    Example: a program in any language, in whichever tournament takes entrants:

        quintain play --game santorini --bot "./mybot --fast" --name ann

    Parameters
    ----------
    bot
        The program and its arguments, as in a shell.
    name
        Its name: the program's unless set.
    url
        Where the host is: tcp://…, ws://… or http://….
    token
        The token that the name belongs to; unless set, one is made and remembered.
    tournament
        The tournament to enter; unless set, the host chooses.
    matches
        Leave after this many matches.
    restart
        Restart it when it exits, up to five times a match.
    logs
        A folder for its standard error, one file for each match; bot-logs with --restart unless set.
    record
        Append every message to and from the host to this file.
    json
        Every message of the host as a line of JSON.
    """
    rules = game_named(game)
    folder = logs or (LOGS if restart else None)
    kept = None if folder is None else MatchLogs(folder)

    def start() -> Program:
        return Program(bot, errors=None if kept is None else kept.take)

    def told(sentence: str) -> None:
        note(f"quintain: {sentence}")

    if folder is not None:
        told(f"what the program says on standard error is kept in {folder}, one file for each match")
    lost = False

    def choose(question: dict[str, Any]) -> object:
        nonlocal lost
        if kept is not None:
            kept.begin(question["match"])
        left = question["clock"][rules.seats.index(question["you"])]
        try:
            return program.ask(question, ENDLESS if left is None else left + SLACK)
        except (Gone, TimeoutError) as why:
            lost = True
            told(str(why))
            raise Leave from None

    hello = {"game": game, "name": name or called(bot), "url": url, "token": token, "tournament": tournament}
    with Interrupts(), ExitStack() as ending:
        if kept is not None:
            ending.callback(kept.close)
        with later():  # or a SIGTERM at its very start would leave the program running
            program = Restarting(start, told, SLACK) if restart else start()
            ending.callback(program.end)
        if isinstance(program, Program) and (why := program.gone_within(TRIAL)) is not None:
            told(f"{why}, before it was asked anything")
            return FAILED
        code = played(choose, hello, matches, as_json=json, record=record)
    for line in program.unasked[:1]:
        told(f"a line that answered nothing was passed over: {line}")
    return FAILED if lost else code


def called(command: str) -> str:
    """A bot's default name, as far as names allow it: that of its program, or of what an interpreter runs."""
    first, *others = words_of(command)
    if which(PurePath(first).name) is None:
        others = []  # of a program that is not installed all other words are arguments
    named = [word for word in others if Path(word).is_file()]
    named += reversed([word for word in others if not word.startswith("-")])
    stem = PurePath([*named, first][0]).stem
    plain = "".join(letter for letter in stem if letter.isascii() and (letter.isalnum() or letter in "_.-"))
    return plain[:32] or "bot"
