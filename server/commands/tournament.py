"""`quintain tournament …`: an organiser's desk for a host that runs, by its HTTP API."""

import json as reading
from collections.abc import Callable
from inspect import getdoc, signature
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, TypeVar

from cyclopts import App, Parameter
from cyclopts.validators import Number

from server.commands.flags import (
    Absent,
    CheckIn,
    Confidence,
    Count,
    Entrants,
    Flag,
    Group,
    Most,
    Places,
    RoundEvery,
    RoundsAt,
    StartAt,
    Within,
)
from server.commands.games import GameName
from server.commands.hosts import Desk, Host
from server.exits import DONE, Failure, Misuse
from server.net.escaping import json_line
from server.programs.terminal import note, say, table

HELP = """Look after the tournaments of a host that runs.

What changes something wants the organiser's token, which is looked for in
--token, QUINTAIN_TOKEN and the host's data folder.

Example: a tournament of eight, which starts when they have come:

    quintain tournament create friday --game santorini --entrants 8
"""
COLUMNS = ("tournament ", "game ", "format ", "state ", "entrants", "played", "open")

app = App(name="tournament", help=HELP, help_format="plaintext")
Positive = Annotated[float | None, Parameter(validator=Number(gt=0))]
Command = TypeVar("Command", bound=Callable[..., int])

# What several commands take, with its help for the commands that do not describe it themselves.
SHARED = {
    "name": "The tournament.",
    "bot": "Who is to go.",
    "why": "The reason, for the record.",
    "preview": "Change nothing, and print the standings before and after.",
    "json": "The tournament as a JSON object.",
}


def command(function: Command) -> Command:
    """Make a function a command, and add what is `SHARED` to its docstring, which is its help.

    `Parameter(help=...)` would not do: a docstring that describes fewer than two parameters is read in
    another style, in which `Example:` is a heading, and what is below it is not shown.
    """
    text = getdoc(function) or ""
    described = text.splitlines()
    heading = "" if "Parameters" in described else "\n\nParameters\n----------"
    missing = [name for name in signature(function).parameters if name in SHARED and name not in described]
    function.__doc__ = text + heading + "".join(f"\n{name}\n    {SHARED[name]}" for name in missing)
    return app.command(function)


@app.command(name="list")
def list_all(*, host: Host | None = None, json: Flag = False) -> int:
    """List the tournaments, open tables included.

    Example: for a program to read:

        quintain tournament list --json

    Parameters
    ----------
    json
        One JSON object instead of a table.
    """
    found = (host or Host()).remote().whole("tournaments", "tournaments")
    if json:
        say(json_line(found))
    elif found["tournaments"]:
        say(table(COLUMNS, map(_cells, found["tournaments"])))
    else:
        say("There are no tournaments.")
    return DONE


@command
def show(name: str, *, data: Path | None = None, host: Host | None = None, json: Flag = False) -> int:
    """Show how a tournament stands: who takes part, who is missing, how long it will last.

    Example: without a host, what a data folder has of it:

        quintain tournament show friday --data quintain-data

    Parameters
    ----------
    data
        A data folder to read instead of asking a host.
    json
        One JSON object instead.
    """
    if data is None:
        found = (host or Host()).remote().whole("entrants", "tournaments", name)
    else:
        from server.commands.kept_tournament import kept_tournament

        found = kept_tournament(data, name)
    say(json_line(found) if json else _shown(found))
    return DONE


@command
def create(
    name: str,
    *,
    game: GameName,
    format: str = "round-robin",
    entrants: Entrants = None,
    rounds: Count = None,
    seed: int | None = None,
    turn: Positive = None,
    bank: Positive = None,
    gain: Annotated[float, Parameter(validator=Number(gte=0))] = 0.0,
    option: Annotated[tuple[str, ...], Parameter(negative="")] = (),
    absent: Absent = None,
    start_at: StartAt = None,
    rounds_at: RoundsAt = (),
    round_every: RoundEvery = None,
    check_in: CheckIn = None,
    group: Group = None,
    confidence: Confidence = None,
    places: Places = None,
    within: Within = None,
    games: Most = None,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Open a tournament, which bots enter by connecting.

    Example: who cannot move draws:

        quintain tournament create cup --game santorini --option stuck=draws

    Parameters
    ----------
    name
        What it is called: letters, digits, _ . and -.
    format
        Its format: round-robin, double-round-robin, swiss, knockout, gauntlet, ladder or decide.
    entrants
        It starts by itself when so many have come, and takes no more.
    rounds
        How many rounds, where the format leaves that open.
    seed
        Decides what is otherwise equal. Unless set, the host chooses one, shows its hash at once and the
        seed itself when lots are drawn.
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
    given = {"entrants": entrants, "rounds": rounds, "seed": seed}
    given |= {"absent": absent, "start_at": start_at, "group": group}
    given |= {"rounds_at": list(rounds_at) or None, "round_every": round_every, "check_in": check_in}
    given |= {"confidence": confidence, "places": places, "within": within, "games": games}
    wanted |= {key: value for key, value in given.items() if value is not None}
    if places is not None and entrants is not None and places > entrants:
        raise Misuse(f"of {entrants} entrants 0 (all) to {entrants} places can be settled, not {places}")
    if turn is not None or bank is not None or gain:
        wanted["pace"] = {"turn": turn, "bank": bank, "gain": gain}
    if option:
        wanted["options"] = dict(map(_option, option))
    _tell((desk or Desk()).remote().post("tournaments", body=wanted), json)
    return DONE


@command
def start(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Start a tournament with the entrants that it has.

    Example:

        quintain tournament start friday
    """
    return _order(desk, name, "start", {}, json)


@command
def pause(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Deal nothing more; what is being played goes on to its end.

    Example:

        quintain tournament pause friday
    """
    return _order(desk, name, "pause", {}, json)


@command
def resume(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Go on with a tournament that was paused.

    Example:

        quintain tournament resume friday
    """
    return _order(desk, name, "resume", {}, json)


@command
def freeze(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Show the public the standings as they are now, until they thaw.

    Example:

        quintain tournament freeze friday
    """
    return _order(desk, name, "freeze", {}, json)


@command
def unfreeze(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Show the public the standings as they come.

    Example:

        quintain tournament unfreeze friday
    """
    return _order(desk, name, "unfreeze", {}, json)


@command
def enter(
    name: str,
    *bot: str,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    invitations: Path | None = None,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Enter bots that come late, where the format takes them; or invite all on a list.

    Example: everybody who has signed up, with an invitation to send to each:

        quintain tournament enter friday --from list.csv --invitations letters

    Parameters
    ----------
    bot
        Who is to be entered: one or more.
    from_
        A CSV file of bots to invite before it begins, with the headings name, affiliation, contact.
    invitations
        A folder for the invitations: a file for each bot, with the token that nobody else has.
    affiliation
        Whose the bot is: everybody sees it. The list has its own.
    contact
        How to reach them: only an organiser sees it. The list has its own.
    """
    said = _said_of(affiliation, contact)
    if (from_ is None) != (invitations is None):
        raise Misuse("--from and --invitations go together: the list, and the folder for what comes of it")
    if from_ is not None and invitations is not None:
        if bot or said:
            raise Misuse("expected bots or --from, not both")
        return _invite_all(desk or Desk(), name, from_, invitations, json)
    if not bot:
        raise Misuse("expected one bot or more to enter")
    answers = [
        (desk or Desk()).remote().post("tournaments", name, "enter", body={"name": each, **said})
        for each in bot
    ]
    _tell(answers[-1], json)
    return DONE


def _invite_all(desk: Desk, name: str, source: Path, folder: Path, json: bool) -> int:
    from server.commands.entrant_list import Invited, invite, read

    invited, remote = read(source), desk.remote()

    def ask(bot: Invited) -> str:
        said = _said_of(bot.affiliation or None, bot.contact or None)
        return remote.post("tournaments", name, "invite", body={"name": bot.name, **said})["token"]

    about = remote.get("tournaments", name)
    written = [*map(str, invite(invited, folder, about, remote.url, ask))]
    if json:
        say(json_line({"tournament": name, "invited": [each.name for each in invited], "files": written}))
    else:
        say(f"{len(written)} bots are invited to {name}; their invitations are in {folder}")
    return DONE


@command
def delete(name: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Delete a tournament that is not running: its results stay in the journal, and its name becomes free.

    Example:

        quintain tournament delete friday
    """
    return _order(desk, name, "delete", {}, json)


@command
def describe(
    name: str,
    bot: str,
    *,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Say whose a bot is, which everybody sees, and how to reach them, which only an organiser sees.

    Example:

        quintain tournament describe friday bob --affiliation "ETH Zürich"

    Parameters
    ----------
    bot
        Which entrant.
    affiliation
        Whose it is; "" takes back what was said.
    contact
        How to reach them; "" takes back what was said.
    """
    if not (said := _said_of(affiliation, contact)):
        raise Misuse("expected --affiliation, --contact or both")
    return _order(desk, name, "describe", {"name": bot, **said}, json)


@command
def check_in(name: str, bot: str, *, desk: Desk | None = None, json: Flag = False) -> int:
    """Have an entrant count as checked in, whether it is here or not.

    Example:

        quintain tournament check-in friday bob

    Parameters
    ----------
    bot
        Which entrant.
    """
    return _order(desk, name, "check-in", {"name": bot}, json)


@command
def invite(
    name: str,
    bot: str,
    *,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Enter a bot that is to come with a token, and print that: nobody else can have the name.

    Example:

        quintain tournament invite friday bob

    Parameters
    ----------
    bot
        Who is invited.
    affiliation
        Whose it is: everybody sees it.
    contact
        How to reach them: only an organiser sees it.
    json
        The name and the token as a JSON object.
    """
    body = {"name": bot, **_said_of(affiliation, contact)}
    told = (desk or Desk()).remote().post("tournaments", name, "invite", body=body)
    say(json_line(told) if json else told["token"])
    return DONE


@command
def release(name: str, bot: str, *, bind: Flag = False, desk: Desk | None = None, json: Flag = False) -> int:
    """Release the name of a bot that came without a token: it belongs to whichever bot comes next under it.

    Example: a bot has moved to another machine:

        quintain tournament release friday bob

    Parameters
    ----------
    bot
        Whose name it is.
    bind
        Have it belong to a new token instead, and print that.
    json
        The answer as a JSON object.
    """
    if not bind:
        return _order(desk, name, "release", {"name": bot}, json)
    told = (desk or Desk()).remote().post("tournaments", name, "release", body={"name": bot, "bind": True})
    say(json_line(told) if json else told["token"])
    return DONE


@command
def withdraw(
    name: str, bot: str, *, preview: Flag = False, desk: Desk | None = None, json: Flag = False
) -> int:
    """Take a bot out of a tournament.

    Example: what that would do to the standings:

        quintain tournament withdraw friday bob --preview

    Parameters
    ----------
    json
        The answer as a JSON object.
    """
    return _order(desk, name, "withdraw", {"name": bot, "preview": preview}, json)


@command
def disqualify(
    name: str,
    bot: str,
    *,
    why: str = "",
    preview: Flag = False,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Take a bot out of a tournament, and give its matches to its opponents.

    Example:

        quintain tournament disqualify friday bob --why "two bots in one"

    Parameters
    ----------
    json
        The answer as a JSON object.
    """
    return _order(desk, name, "disqualify", {"name": bot, "why": why, "preview": preview}, json)


@command
def void(
    name: str,
    match: str,
    *,
    why: str = "",
    preview: Flag = False,
    desk: Desk | None = None,
    json: Flag = False,
) -> int:
    """Have a match count for nothing and be played again.

    Example:

        quintain tournament void friday friday-7 --why "a loose cable"

    Parameters
    ----------
    match
        The match.
    json
        The answer as a JSON object.
    """
    return _order(desk, name, "void", {"match": match, "why": why, "preview": preview}, json)


@command
def export(name: str, *, output: Path | None = None, host: Host | None = None) -> int:
    """Write all of a tournament as JSON Lines: entrants, pairings, matches, standings.

    Example:

        quintain tournament export friday --output friday.jsonl

    Parameters
    ----------
    output
        The file to write; standard output unless set.
    """
    lines = (host or Host()).remote().text("tournaments", name, "export")
    if output is None:
        for line in lines.splitlines():
            say(json_line(reading.loads(line)))
        return DONE
    try:
        output.write_text(lines, encoding="utf-8")
    except OSError as error:
        raise Failure(f"{output}: cannot be written: {error.strerror}") from None
    note(f"{len(lines.splitlines())} lines are in {output}")
    return DONE


def _said_of(affiliation: str | None, contact: str | None) -> dict[str, str]:
    said = {"affiliation": affiliation, "contact": contact}
    return {key: text for key, text in said.items() if text is not None}


# What is said


def _order(desk: Desk | None, name: str, action: str, body: dict[str, Any], as_json: bool) -> int:
    answer = (desk or Desk()).remote().post("tournaments", name, action, body=body)
    if "before" in answer and not as_json:
        say(_preview(answer["before"], answer["after"], f"{name}: what it would change"))
    else:
        _tell(answer, as_json)
    return DONE


def _tell(answer: dict[str, Any], as_json: bool) -> None:
    say(json_line(answer) if as_json else table(COLUMNS, [_cells(answer)]))


def _cells(found: dict[str, Any]) -> tuple[object, ...]:
    coming = found["entrants"] if found["wanted"] is None else f"{found['entrants']} of {found['wanted']}"
    return (
        *(found[key] for key in ("tournament", "game", "format", "state")),
        coming,
        found["played"],
        found["open"],
    )


def _shown(found: dict[str, Any]) -> str:
    entrants: list[dict[str, Any]] = found["entrants"]
    lines = [table(COLUMNS, [_cells(found | {"entrants": len(entrants)})]), ""]
    lines.append(f"entrants: {', '.join(map(_entrant, entrants)) or 'nobody yet'}")
    if found["playing"]:
        lines.append(f"being played: {', '.join(found['playing'])}")
    if found["eta"] is not None:
        lines.append(f"over in about {found['eta']:.0f} s")
    lines += found.get("deciding", {}).get("said", ())
    if found["group"] is not None:
        lines.append(f"group: {found['group']}")
    if found["start_at"] is not None and found["state"] == "registering":
        lines.append(f"starts by itself at {found['start_at']}")
    if (next_round := found["next_round"]) is not None:
        lines.append(f"round {next_round['round']} begins at {next_round['at']}, if the one before is over")
    if (checking_in := found["checking_in"]) is not None:
        waited = ", ".join(checking_in["missing"])
        lines.append(f"entrants check in from {checking_in['from']}; still to come: {waited or 'nobody'}")
    for each in found["missing"]:
        lines.append(f"missing: {each['name']}, since {each['since']}")
    if found["missing"]:
        lines.append("to take somebody out who is missing:")
        tournament = found["tournament"]
        lines += (
            f"    quintain tournament withdraw {tournament} {quote(each['name'])}"
            for each in found["missing"]
        )
    return "\n".join(lines)


def _entrant(found: dict[str, Any]) -> str:
    out = "did not check in" if found.get("no_show") else "gone" if found["gone"] else None
    about = ", ".join(each for each in (found.get("affiliation"), found.get("contact"), out) if each)
    return f"{found['name']} ({about})" if about else found["name"]


def _preview(before: list[dict[str, Any]], after: list[dict[str, Any]], title: str) -> str:
    old = {row["name"]: row for row in before}
    rows: list[tuple[object, ...]] = []
    for row in after:
        was = old.pop(row["name"], None)
        rank, points = (None, None) if was is None else (was["rank"], f"{was['points']:g}")
        rows.append((row["name"], rank, row["rank"], points, f"{row['points']:g}"))
    rows += ((name, row["rank"], None, f"{row['points']:g}", None) for name, row in old.items())
    return table(("name ", "rank", "new rank", "points", "new points"), rows, title)


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Misuse(f"an option is NAME=VALUE, not {text!r}")
    try:
        return name, reading.loads(value)
    except ValueError:
        return name, value
