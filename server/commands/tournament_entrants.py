"""`quintain tournament …`, for single entrants: who comes in, to whom a bot belongs, and who goes.

`tournament.py` makes commands of these functions.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from cyclopts import Parameter

from server.commands.flags import Flag
from server.commands.hosts import DeskOptions
from server.commands.tournament_answers import order, tell
from server.exits import DONE, Failure, Misuse
from server.net.escaping import json_line
from server.net.hosts import is_oneself
from server.programs.answers import Invited as Invitation
from server.programs.answers import Summary, Whole
from server.programs.interrupts import Interrupts, later
from server.programs.terminal import note, say


def enter(
    name: str,
    *bot: str,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    invitations: Path | None = None,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Enter bots by name: late, if the format allows it, or before the start of a tournament by invitation.

    The first bot that comes under such a name gets it. With --from, everybody
    on a list is invited.

    Example: everybody who has signed up, with an invitation to send to each:

        quintain tournament enter friday --from list.csv --invitations letters

    Parameters
    ----------
    bot
        The bots to enter: one or more.
    from_
        A CSV file of bots to invite before it begins, with the headings name, affiliation, contact.
    invitations
        A folder for the invitations: a file for each bot, with the token that nobody else has, and
        addresses that begin with --url.
    affiliation
        Whose bot it is, which everybody sees. A list has its own.
    contact
        How to reach them, which only organisers see. A list has its own.
    """
    said = _said_of(affiliation, contact)
    if (from_ is None) != (invitations is None):
        raise Misuse("--from and --invitations go together: the list, and the folder for the invitations")
    if from_ is not None and invitations is not None:
        if bot or said:
            raise Misuse("expected bots or --from, not both")
        return _invite_all(desk or DeskOptions(), name, from_, invitations, json)
    if not bot:
        raise Misuse("expected one bot or more to enter")
    remote, answers = (desk or DeskOptions()).remote(), list[Any]()
    for each in bot:
        try:
            answers.append(
                remote.post("tournaments", name, "enter", body={"name": each, **said}, like=Summary)
            )
        except Failure:
            if answers:
                note(f"quintain: in {name} now: {', '.join(bot[: len(answers)])}; but not {each}")
            raise
    tell(answers[-1], json)
    return DONE


def _invite_all(desk: DeskOptions, name: str, source: Path, folder: Path, json: bool) -> int:
    from server.commands.entrant_list import Invited, invite, read

    invited, remote = read(source), desk.remote()

    def ask(bot: Invited) -> str:
        said = _said_of(bot.affiliation or None, bot.contact or None)
        body = {"name": bot.name, **said}
        return remote.post("tournaments", name, "invite", body=body, like=Invitation)["token"]

    about = remote.get("tournaments", name, like=Whole)
    written, letters = list[str](), invite(invited, folder, about, remote.url, ask)
    try:
        with Interrupts():
            for _ in invited:
                with later():  # or a bot would be invited with a token that nobody has
                    written.append(str(next(letters)))
    except (Failure, KeyboardInterrupt):
        if 0 < len(written) < len(invited):
            first = "the first is" if len(written) == 1 else f"the first {len(written):,} are"
            note(
                f"quintain: of the list, {first} invited to {name}, but not {invited[len(written)].name}"
                " nor those after it; to go on, give a list of the others, and another folder"
            )
        raise
    if json:
        say(json_line({"tournament": name, "invited": [each.name for each in invited], "files": written}))
    elif len(written) == 1:
        say(f"1 bot is invited to {name}; its invitation is in {folder}")
    else:
        say(f"{len(written):,} bots are invited to {name}; their invitations are in {folder}")
    if is_oneself(urlsplit(remote.url).netloc):
        note(
            f"the invitations lead to {remote.url}, which only programs on this machine reach: for others, "
            "invite again, into another folder, with --url and the address by which they reach the host"
        )
    return DONE


def describe(
    name: str,
    bot: str,
    *,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Set an entrant's affiliation, which everybody sees, and its contact, which only organisers see.

    Example:

        quintain tournament describe friday bob --affiliation "ETH Zürich"

    Parameters
    ----------
    bot
        Which entrant.
    affiliation
        Whose bot it is; "" removes what was set.
    contact
        How to reach them; "" removes what was set.
    """
    if not (said := _said_of(affiliation, contact)):
        raise Misuse("expected --affiliation, --contact or both")
    return order(desk, name, "describe", {"name": bot, **said}, json)


def check_in(name: str, bot: str, *, desk: DeskOptions | None = None, json: Flag = False) -> int:
    """Count an entrant as checked in, whether it is here or not.

    Example:

        quintain tournament check-in friday bob

    Parameters
    ----------
    bot
        Which entrant.
    """
    return order(desk, name, "check-in", {"name": bot}, json)


def invite(
    name: str,
    bot: str,
    *,
    affiliation: str | None = None,
    contact: str | None = None,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Enter a bot, and print a token for it: nobody else can use the name.

    Example:

        quintain tournament invite friday bob

    Parameters
    ----------
    bot
        The bot to invite.
    affiliation
        Whose bot it is, which everybody sees.
    contact
        How to reach them, which only organisers see.
    json
        The name and the token as a JSON object.
    """
    body = {"name": bot, **_said_of(affiliation, contact)}
    told = (desk or DeskOptions()).remote().post("tournaments", name, "invite", body=body, like=Invitation)
    say(json_line(told) if json else told["token"])
    return DONE


def release(
    name: str, bot: str, *, bind: Flag = False, desk: DeskOptions | None = None, json: Flag = False
) -> int:
    """Release the name of a bot that came without a token: the next bot that comes under it gets it.

    Example: a bot has moved to another machine:

        quintain tournament release friday bob

    Parameters
    ----------
    bot
        Whose name it is.
    bind
        Bind it to a new token instead, and print the token.
    json
        The answer as a JSON object.
    """
    if not bind:
        return order(desk, name, "release", {"name": bot}, json)
    told = (
        (desk or DeskOptions())
        .remote()
        .post("tournaments", name, "release", body={"name": bot, "bind": True}, like=Invitation)
    )
    say(json_line(told) if json else told["token"])
    return DONE


def withdraw(
    name: str,
    bot: str,
    *,
    why: str = "",
    preview: Flag = False,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Take a bot out of a tournament.

    Example: what that would do to the standings:

        quintain tournament withdraw friday bob --preview

    Parameters
    ----------
    json
        The answer as a JSON object.
    """
    return order(desk, name, "withdraw", {"name": bot, "why": why, "preview": preview}, json)


def disqualify(
    name: str,
    bot: str,
    *,
    why: str = "",
    preview: Flag = False,
    desk: DeskOptions | None = None,
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
    return order(desk, name, "disqualify", {"name": bot, "why": why, "preview": preview}, json)


def void(
    name: str,
    match: str,
    *,
    why: str = "",
    preview: Flag = False,
    desk: DeskOptions | None = None,
    json: Flag = False,
) -> int:
    """Void a match: it counts for nothing, and is played again.

    On a ladder, at an open table and in a tournament that was ended early
    it only stops counting.

    Example:

        quintain tournament void friday friday-7 --why "a loose cable"

    Parameters
    ----------
    match
        The match.
    json
        The answer as a JSON object.
    """
    return order(desk, name, "void", {"match": match, "why": why, "preview": preview}, json)


def _said_of(affiliation: str | None, contact: str | None) -> dict[str, str]:
    said = {"affiliation": affiliation, "contact": contact}
    return {key: text for key, text in said.items() if text is not None}


COMMANDS: tuple[Callable[..., int], ...] = (
    enter,
    describe,
    check_in,
    invite,
    release,
    withdraw,
    disqualify,
    void,
)
