"""Sending an organiser's orders to a host, and printing the host's answers."""

from collections.abc import Iterable, Iterator
from shlex import quote
from typing import Any

from server.commands.hosts import DeskOptions
from server.exits import DONE
from server.net.escaping import json_line
from server.programs import answers
from server.programs.table import table
from server.programs.terminal import say

MISSING = 10  # who are listed by name, on two lines each
LISTED = 100  # names on a line, or lines of a preview: as many as fill a screen with their affiliations
COLUMNS = ("tournament ", "game ", "format ", "state ", "entrants", "played", "open")


def order(desk: DeskOptions | None, name: str, action: str, body: dict[str, Any], as_json: bool) -> int:
    asked = body.get("preview", False)
    like = answers.Preview if asked else answers.Summary
    answer = (desk or DeskOptions()).remote().post("tournaments", name, action, body=body, like=like)
    if asked and not as_json:
        told = [preview(answer["before"], answer["after"], f"{name}: what it would change at once")]
        say("\n".join([*told, *consequences(body.get("name", ""), answer)]))
    else:
        tell(answer, as_json)
    return DONE


def tell(answer: dict[str, Any], as_json: bool) -> None:
    say(json_line(answer) if as_json else table(COLUMNS, [cells(answer)]))


def cells(found: dict[str, Any]) -> tuple[object, ...]:
    entered = found["entrants"]
    waits = found["wanted"] is not None and found["state"] == "registering"  # later on, more may be let in
    coming = f"{entered:,} of {found['wanted']:,}" if waits else entered
    return (
        *(found[key] for key in ("tournament", "game", "format", "state")),
        coming,
        found["played"],
        found["open"],
    )


def shown(found: dict[str, Any]) -> str:
    entrants: list[dict[str, Any]] = found["entrants"]
    waits = found["state"] == "registering"  # then only those with whom it would begin count
    counted = sum(not (waits and each["gone"]) for each in entrants)
    lines = [table(COLUMNS, [cells(found | {"entrants": counted})]), ""]
    lines.append(f"entrants: {_some(map(_entrant, entrants)) or 'nobody yet'}")
    if found["playing"]:
        lines.append(f"being played: {_some(found['playing'])}")
    if found["eta"] is not None:
        left = f"about {found['eta']:.0f} s"
        lines.append(f"over in {left}" if found["state"] == "running" else f"{left} to go once it is resumed")
    if (deciding := found.get("deciding")) is not None:  # it is null while it is being worked out
        lines += deciding.get("said", ())
    if found["group"] is not None:
        lines.append(f"group: {found['group']}")
    if found.get("ended_early"):
        lines.append("ended early: what was not played counts for nobody")
    if found.get("frozen"):
        lines.append("frozen: everybody sees the standings as they were when they were frozen")
    if found["by_invitation"]:
        lines.append("by invitation: only bots that are invited, or entered by name, take part")
    if waits and found["start_at"] is not None:
        lines.append(f"starts by itself at {found['start_at']}")
    elif waits and found["wanted"] is None and not found["rounds_at"]:
        lines.append(f"starts when you say so: quintain tournament start {found['tournament']}")
    if (next_round := found["next_round"]) is not None:
        after = ", if the one before is over" if next_round["round"] > 1 else ""
        lines.append(f"round {next_round['round']} begins at {next_round['at']}{after}")
    if (checking_in := found["checking_in"]) is not None:
        waited = _some(checking_in["missing"])
        lines.append(f"entrants check in from {checking_in['from']}; still to come: {waited or 'nobody'}")
    if found["missing"] is None:
        lines.append("missing: a data folder does not say who; a running host does")
    elif found["missing"]:
        lines += _missing(found["tournament"], found["missing"])
    return "\n".join(lines)


def _some(names: Iterable[str]) -> str:
    """As many names as can be read."""
    every = [*names]
    more = [f"and {len(every) - LISTED:,} more; --json lists all of them"] if len(every) > LISTED else []
    return ", ".join(every[:LISTED] + more)


def _missing(tournament: str, missing: list[dict[str, Any]]) -> Iterator[str]:
    """Those who are missing, as many as can be read, and how to take them out."""
    for each in missing[:MISSING]:
        yield f"missing: {each['name']}, since {each['since']}"
    if (left_out := len(missing) - MISSING) > 0:
        yield f"missing: {left_out:,} more; --json lists all of them"
    yield "to take somebody out who is missing:"
    for each in missing[:MISSING]:
        yield f"    quintain tournament withdraw {tournament} {_argument(each['name'])}"


def _argument(name: str) -> str:
    """As it has to be typed in a shell: what begins with - would be an option."""
    return f"{'-- ' if name.startswith('-') else ''}{quote(name)}"


def _entrant(found: dict[str, Any]) -> str:
    out = "did not check in" if found.get("no_show") else "out" if found["gone"] else None
    about = ", ".join(each for each in (found.get("affiliation"), found.get("contact"), out) if each)
    return f"{found['name']} ({about})" if about else found["name"]


def preview(before: list[dict[str, Any]], after: list[dict[str, Any]], title: str) -> str:
    """The table before and after: the top of it, and who else has other points."""
    old = {row["name"]: row for row in before}
    pairs: list[tuple[dict[str, Any] | None, ...]] = [(old.pop(row["name"], None), row) for row in after]
    pairs += ((row, None) for row in old.values())
    below = [pair for pair in pairs[LISTED:] if _points(pair[0]) != _points(pair[1])]
    listed = pairs[:LISTED] + below[:LISTED]
    shown = table(
        ("name ", "rank", "new rank", "points", "new points"), (_change(*pair) for pair in listed), title
    )
    left_out = len(pairs) - len(listed)
    return shown + (f"\nand {left_out:,} more; --json lists all of them" if left_out else "")


def consequences(name: str, answer: dict[str, Any]) -> Iterator[str]:
    """What the table of a preview does not show: what becomes of the matches of whoever would be out."""
    if any(row["name"] == name and row.get("annulled") for row in answer["after"]):
        yield f"{name} has not played half of its matches: all of them would count for nobody"
    if to_play := answer.get("to_play"):  # hosts of earlier versions do not say it
        pairings = "1 pairing" if to_play == 1 else f"{to_play:,} pairings"
        yield f"{pairings} that {name} has yet to play would also go to its opponents, one after the other"


def _change(was: dict[str, Any] | None, now: dict[str, Any] | None) -> tuple[object, ...]:
    ranks = [None if row is None else str(row["rank"]) for row in (was, now)]
    return (now or was or {})["name"], *ranks, _points(was), _points(now)


def _points(row: dict[str, Any] | None) -> float | None:
    return None if row is None else row["points"]
