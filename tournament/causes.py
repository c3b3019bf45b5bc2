"""What led to the end of a match, oldest first: moves refused, connections lost, clocks that ran out.

A referee collects these causes from the match's log, by the event loop's time. With a result
they are kept by the wall clock. The sentence that goes with them is made in
`tournament/verdicts.py`.
"""

import json
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

import msgspec
from msgspec import Struct, structs

from games.game import Quoted, quoted

FIRST, LATEST = 8, 32  # causes that are kept of a match: how it began to go wrong, and how it ended
SENT = 100  # characters of what a bot sent that are kept


class Moment(Struct, frozen=True, gc=False, tag_field="kind", tag=str.lower):
    """`at` is the event loop's time within a match, and seconds since the epoch in the store."""

    at: float


class Refused(Moment, frozen=True, gc=False):
    """A move could not be read or may not be played."""

    seat: int
    ply: int  # moves that had been played
    sent: str  # as text, escaped, `SENT` characters at most
    why: str


class Disconnected(Moment, frozen=True, gc=False, omit_defaults=True):
    """A seat lost its connection."""

    seat: int
    ply: int
    why: str = ""  # where the host hung up: what the bot had done


class Returned(Moment, frozen=True, gc=False):
    """A seat came back."""

    seat: int
    ply: int


class Credited(Moment, frozen=True, gc=False):
    """The host stood still, and gave that time back to whoever was thinking."""

    seconds: float
    ply: int


class Late(Moment, frozen=True, gc=False, omit_defaults=True):
    """The clock ran out."""

    seat: int
    ply: int
    deadline: float  # seconds that the seat had for this move
    spent: float  # seconds that it spent on it until it was stopped
    begun: int = 0  # bytes of a line that had come without its end: some bots forget the line break
    meant: int | None = None  # the ply for which its last move was sent, if that was another
    unanswered: float | None = None  # seconds for which its machine had not answered, if it was asked in vain
    ignored: str = ""  # why its last message that was no move had no effect, if one came when it was asked


class Absent(Moment, frozen=True, gc=False):
    """A player did not come, or did not come back."""

    seat: int
    seconds: float  # that the match waited


Trouble = Refused | Disconnected | Returned | Credited  # which need not end a match
Cause = Trouble | Late | Absent


def in_order(causes: Iterable[Cause]) -> list[Cause]:
    """The causes as they became known: what comes late here happened late.

    Something that a bot sent to another host arrived there before this host knew of it.
    """
    found: list[Cause] = []
    latest = -inf
    for cause in causes:
        latest = max(latest, cause.at)
        found.append(cause if cause.at == latest else structs.replace(cause, at=latest))
    return found


def bounded(causes: Sequence[Cause]) -> tuple[Cause, ...]:
    """The first and the latest: a bot can have thousands of them."""
    if len(causes) <= FIRST + LATEST:
        return tuple(causes)
    return (*causes[:FIRST], *causes[-LATEST:])


def moved_by(causes: Iterable[Cause], seconds: float) -> tuple[Cause, ...]:
    """The causes by another clock, which is this many seconds ahead; to the millisecond."""
    return tuple([structs.replace(cause, at=round(cause.at + seconds, 3)) for cause in causes])


def as_text(sent: Any) -> str:
    """What a bot sent, as people may see it: words as they are, anything else as JSON; never raises."""
    match sent:
        case Quoted():
            text = sent.removeprefix('"').removesuffix('"')
        case str():
            text = json.dumps(sent[: SENT + 1])[1:-1]
        case _:
            try:
                text = msgspec.json.encode(sent).decode()
            except (TypeError, ValueError, OverflowError, RecursionError):
                text = quoted(sent)
    text = "".join(each if each.isprintable() else "\ufffd" for each in text[: SENT + 1])
    return text if len(text) <= SENT else text[: SENT - 1] + "…"
