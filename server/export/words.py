"""What led to the end of a match, and why an entrant plays no more, in words: for pages and for terminals.

Causes are as the API has them (`json_views.causes_shown`). They contain what a bot has sent,
escaped for JSON; callers escape it for the place where they show it.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tournament.record import Record  # whose import takes longer than many a command

FAULTS = {
    "bot": "the bot's own fault",
    "network": "the fault of the connection",
    "host": "the fault of the host",
}
LAST = ("late", "absent")  # kinds that come with the end, not before a move


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
            return f"{players[seat]} had {deadline:.1f} s for this move"
        case {"kind": "absent", "seat": int(seat), "seconds": seconds}:
            return f"{players[seat]} was waited for {seconds:.0f} s"
        case _:
            return str(cause.get("kind"))


def why_out(record: "Record", name: str) -> str:
    """Why an entrant plays no more; "" if it does."""
    if name in record.disqualified:
        return "disqualified"
    if name in record.no_shows:
        return "did not check in"
    return "withdrawn" if record.entrants[name].gone else ""


def before_move(causes: Sequence[Mapping[str, Any]], ply: int) -> list[Mapping[str, Any]]:
    """What happened between the previous move and the one with this number, 1 for the first."""
    return [cause for cause in causes if cause["kind"] not in LAST and cause.get("ply") == ply - 1]
