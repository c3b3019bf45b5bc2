"""What led to the end of a match, why an entrant is out, and what a table is: words for pages and terminals.

The first two are given as the API has them (`json_views.py`). Causes contain what a bot has sent,
escaped for JSON; callers escape it for the place where they show it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

FAULTS = {
    "bot": "the bot's own fault",
    "network": "the fault of the connection",
    "host": "the fault of the host",
}
LAST = ("late", "absent")  # kinds that come with the end, not before a move


def whose(fault: str, causes: Sequence[Mapping[str, Any]]) -> str:
    """Whose fault an end was; neither bot may have been there."""
    seats = {cause.get("seat") for cause in causes if cause.get("kind") in LAST}
    return "the bots' own fault" if fault == "bot" and seats == {0, 1} else FAULTS[fault]


def in_words(cause: Mapping[str, Any], players: Sequence[str]) -> str:
    """One cause in words; an unknown kind is only named."""
    match cause:
        case {"kind": "refused", "seat": int(seat), "sent": sent, "why": why}:
            return f"{players[seat]}: {sent} was refused: {why}"
        case {"kind": "disconnected", "seat": int(seat), "why": why}:
            return f"the host hung up on {players[seat]}: {why}"
        case {"kind": "disconnected", "seat": int(seat)}:
            return f"{players[seat]} lost its connection"
        case {"kind": "returned", "seat": int(seat)}:
            return f"{players[seat]} came back"
        case {"kind": "credited", "seconds": seconds}:
            return f"the host stood still for {seconds:.1f} s, and gave that time back"
        case {"kind": "late", "seat": int(seat), "deadline": deadline}:
            begun = ", and sent a line without the line break at its end" if cause.get("begun") else ""
            meant = ", and sent a move for another ply" if "meant" in cause else ""
            ignored = f", and sent what had no effect: {cause['ignored']}" if cause.get("ignored") else ""
            silent = cause.get("unanswered")
            vanished = f", and its machine had not answered for {silent:.0f} s" if silent else ""
            return f"{players[seat]} had {deadline:.1f} s for this move{vanished}{begun}{meant}{ignored}"
        case {"kind": "absent", "seat": int(seat), "seconds": seconds}:
            return f"the host waited {seconds:.0f} s for {players[seat]}"
        case _:
            return str(cause.get("kind"))


def out_in_words(row: Mapping[str, Any]) -> str:
    """Why an entrant is out of its tournament; "" if it is in."""
    return f"{row.get('out', '')}{', results annulled' if row.get('annulled') else ''}"


def table_in_words(*, final: bool, frozen: bool) -> str:
    """What a table of standings is."""
    if frozen:
        return "the standings, as an organiser froze them"
    return "the final standings" if final else "the standings so far"


def before_move(causes: Sequence[Mapping[str, Any]], ply: int) -> list[Mapping[str, Any]]:
    """What happened between the previous move and the one with this number, 1 for the first."""
    return [cause for cause in causes if cause["kind"] not in LAST and cause.get("ply") == ply - 1]
