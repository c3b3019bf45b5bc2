"""`quintain tournament …`: an organiser's desk for a running host, by its HTTP API."""

import json as reading
from collections.abc import Callable, Sequence
from inspect import getdoc, signature
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, Parameter

from server.commands import tournament_entrants
from server.commands.flags import Count, Entrants, Flag, Positive, Seconds, Seed, TournamentFlags
from server.commands.formats import FormatName
from server.commands.games import GameName
from server.commands.hosts import DeskOptions, HostOptions
from server.commands.tournament_answers import COLUMNS, cells, order, shown, tell
from server.exits import DONE, Failure, Misuse
from server.net.escaping import json_line
from server.programs.answers import Summary
from server.programs.download import Download
from server.programs.table import table
from server.programs.terminal import expect_consent, note, say, say_unchanged

HELP = """Manage the tournaments of a running host.

Commands that change something need the organiser's token. An export has
contacts with it, and what came after a freeze. It is looked for in --token,
QUINTAIN_TOKEN and the host's data folder.

Example: a tournament of eight that starts when all have come:

    quintain tournament create friday --game santorini --entrants 8
"""

app = App(name="tournament", help=HELP, help_format="plaintext")
Command = TypeVar("Command", bound=Callable[..., int])

# Parameters of several commands, with the help for commands that do not describe them themselves.
SHARED = {
    "name": "The tournament.",
    "bot": "The bot to take out.",
    "why": "The reason, for the record; if a match is voided while it is being played, everybody is told it.",
    "preview": "Change nothing, and print the standings before and after.",
    "yes": "Do not ask first.",
    "json": "The tournament as a JSON object.",
}


def command(function: Command) -> Command:
    """Make a function a command, and add `SHARED` parameters to its docstring, which is its help.

    `Parameter(help=...)` would not do: a docstring that describes fewer than two parameters is read in
    another style, in which `Example:` is a heading, and the text below it is not shown.
    """
    text = getdoc(function) or ""
    described = text.splitlines()
    heading = "" if "Parameters" in described else "\n\nParameters\n----------"
    missing = [name for name in signature(function).parameters if name in SHARED and name not in described]
    function.__doc__ = text + heading + "".join(f"\n{name}\n    {SHARED[name]}" for name in missing)
    return app.command(function)


for each in tournament_entrants.COMMANDS:
    command(each)


@app.command(name="list")
def list_all(*, host: HostOptions | None = None, json: Flag = False) -> int:
    """List the tournaments, open tables included.

    Example: for a program to read:

        quintain tournament list --json

    Parameters
    ----------
    json
        One JSON object instead of a table.
    """
    found = (host or HostOptions()).remote().whole("tournaments", "tournaments")
    say(json_line(found) if json else table(COLUMNS, map(cells, found["tournaments"])))
    return DONE


@command
def show(name: str, *, data: Path | None = None, host: HostOptions | None = None, json: Flag = False) -> int:
    """Show how a tournament stands: who takes part, who is missing, how long it will last.

    Example: from a data folder, without a host:

        quintain tournament show friday --data quintain-data

    Parameters
    ----------
    data
        A data folder to read instead of asking a host, unless --url is given too.
    json
        One JSON object instead.
    """
    if data is None or host is not None:
        found = (host or HostOptions()).remote().whole("entrants", "tournaments", name)
    else:
        from server.commands.kept_tournament import kept_tournament

        found = kept_tournament(data, name)
    say(json_line(found) if json else shown(found))
    return DONE


@command
def create(
    name: str,
    *,
    game: GameName,
    format: FormatName = "round-robin",
    entrants: Entrants = None,
    rounds: Count = None,
    seed: Seed = None,
    turn: Positive = None,
    bank: Positive = None,
    gain: Seconds = 0.0,
    option: Annotated[tuple[str, ...], Parameter(negative="", show_default=False)] = (),
    how: TournamentFlags | None = None,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Open a tournament, which bots enter by connecting.

    Example: a tournament in which a player who cannot move draws:

        quintain tournament create cup --game santorini --option stuck=draws

    Parameters
    ----------
    name
        Its name: letters, digits, _ . and -.
    entrants
        Take no more than this many, and start when they have come, unless --start-at says when.
    rounds
        How many rounds, where the format leaves it open.
    seed
        The number that decides what is otherwise equal. Unless set, the host chooses one, and shows its
        hash at once.
    turn
        Seconds for each move. Without any of turn, bank and gain the clock is the game's own.
    bank
        Seconds for all moves of a match.
    gain
        Seconds added to the bank after each move.
    option
        An option of the game, as NAME=VALUE; may be given several times.
    """
    wanted: dict[str, Any] = {"name": name, "game": game, "format": format}
    how = how or TournamentFlags()
    given = {"entrants": entrants, "rounds": rounds, "seed": seed, **how.given()}
    wanted |= {key: value for key, value in given.items() if value is not None}
    if (places := how.places) is not None and entrants is not None and places > entrants:
        raise Misuse(f"with {entrants} entrants, 0 (all) to {entrants} places can be settled, not {places}")
    if turn is not None or bank is not None or gain:
        wanted["pace"] = {"turn": turn, "bank": bank, "gain": gain}
    if option:
        wanted["options"] = _options(option)
    tell((desk or DeskOptions()).remote().post("tournaments", body=wanted, like=Summary), json)
    return DONE


@command
def start(name: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Start a tournament with the entrants it has.

    Example:

        quintain tournament start friday
    """
    return order(desk, name, "start", {}, json)


@command
def pause(name: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Begin no more matches; those in play go on to their end.

    Example:

        quintain tournament pause friday
    """
    return order(desk, name, "pause", {}, json)


@command
def resume(name: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Resume a tournament that was paused.

    Example:

        quintain tournament resume friday
    """
    return order(desk, name, "resume", {}, json)


@command
def end(name: str, *, desk: DeskOptions | None = None, yes: Flag = False, json: Flag = False) -> int:
    """End a tournament with what was played.

    No more matches begin, those in play go on to their end, and then it is
    over. What was not played counts for nobody. This cannot be undone, so on
    a terminal you are asked first.

    Example: time is up, and the hall closes:

        quintain tournament end friday
    """
    if not yes:
        expect_consent(f"End {name} for good? What was not played counts for nobody.")
    return order(desk, name, "end", {}, json)


@command
def freeze(name: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Show the public the standings as they are now, until you unfreeze them.

    Example:

        quintain tournament freeze friday
    """
    return order(desk, name, "freeze", {}, json)


@command
def unfreeze(name: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Show the public the live standings again.

    Example:

        quintain tournament unfreeze friday
    """
    return order(desk, name, "unfreeze", {}, json)


@command
def delete(name: str, *, desk: DeskOptions | None = None, yes: Flag = False, json: Flag = False) -> int:
    """Delete a tournament that is not running: its results stay in the journal, and its name becomes free.

    This cannot be undone, so on a terminal you are asked first.

    Example:

        quintain tournament delete friday
    """
    if not yes:
        expect_consent(f"Delete {name} for good? Nothing of it is shown any more.")
    return order(desk, name, "delete", {}, json)


@command
def export(name: str, *, output: Path | None = None, desk: DeskOptions | None = None) -> int:
    """Write a tournament as JSON Lines: entrants, pairings, matches, standings.

    `quintain verify` checks it. `quintain import` does not take it: that needs
    what `quintain export` writes on the host's machine, with digests of tokens.

    Without the organiser's token it is what everybody may see: no contacts, and
    while standings are frozen, nothing that came later. With a wrong one,
    nothing is written.

    Example:

        quintain tournament export friday --output friday.jsonl

    Parameters
    ----------
    output
        The file to write; standard output unless set. A new file is for nobody
        else to read: the organiser's export has contacts.
    """
    from server.store import private

    with Download() as lines:
        (desk or DeskOptions()).remote().download_for_organiser(lines, "tournaments", name, "export")
        if output is None:
            say_unchanged(lines)
            return DONE
        try:
            if not output.exists():  # later writes keep its rights
                private.create(output)
            with output.open("wb") as file:
                file.writelines(lines)
        except OSError as error:
            raise Failure(f"{output}: cannot be written: {error.strerror}") from None
    note(f"{lines.lines:,} lines are in {output}")
    return DONE


def _options(given: Sequence[str]) -> dict[str, Any]:
    found = dict[str, Any]()
    for text in given:
        name, value = _option(text)
        if name in found:
            raise Misuse(f"--option: expected each option once, and got {name} again")
        found[name] = value
    return found


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Misuse(f"an option is NAME=VALUE, not {text!r}")
    try:
        return name, reading.loads(value)
    except (ValueError, RecursionError):  # it is a text
        return name, value
