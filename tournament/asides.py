"""What there is of a match in play beside its moves: how long bots say they thought, notes, what went wrong.

A store keeps it as it keeps the moves, so the record of a match that went on after a restart says what it
would have said without one.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from games.game import Quoted
from tournament import causes, events
from tournament.causes import Cause, as_text, bounded
from tournament.notes import Noted, Notes


class Thought(Struct, frozen=True, gc=False, array_like=True, tag="thought"):
    """A bot says that it spent so many seconds on a move."""

    ply: int  # the number of the move, 1 for the first
    seconds: float


class Remark(Struct, frozen=True, array_like=True, tag="note"):
    """A bot has noted something with a move."""

    noted: Noted

    @property
    def ply(self) -> int:
        return self.noted.ply


class Trouble(Struct, frozen=True, array_like=True, tag="trouble"):
    """What may be a cause of the end: a refusal, a lost connection. Its time is the wall clock's."""

    cause: causes.Trouble
    text: bool = False  # whether what was refused is a text, and not JSON that was sent

    @property
    def ply(self) -> int:
        return self.cause.ply


Aside = Thought | Remark | Trouble
Incident = events.Refused | events.Disconnected | events.Returned | events.Credited


def trouble(event: Incident, epoch: float) -> Trouble:
    """What is kept of an event; `epoch` is the wall clock's time when the event loop's was 0."""
    at = round(event.at + epoch, 3)
    match event:
        case events.Refused(seat=seat, ply=ply, sent=sent, why=why):
            text = isinstance(sent, str) and (not isinstance(sent, Quoted) or sent.startswith('"'))
            return Trouble(causes.Refused(at, seat, ply, as_text(sent), why), text)
        case events.Disconnected(seat=seat, ply=ply, why=why):
            return Trouble(causes.Disconnected(at, seat, ply, why))
        case events.Returned(seat=seat, ply=ply):
            return Trouble(causes.Returned(at, seat, ply))
        case events.Credited(seconds=seconds, ply=ply):
            return Trouble(causes.Credited(at, seconds, ply))


def before(asides: Sequence[Aside], plies: int, known: int = 0) -> int:
    """How many of these belong to so many plies; at least as many as are `known` to do so.

    What is said with the move that decides a match is there before that move, which is told with the end.
    """
    found = len(asides)
    while found > known and asides[found - 1].ply > plies:
        found -= 1
    return found


def noted(asides: Sequence[Aside]) -> Notes:
    """The notes among these."""
    return tuple([aside.noted for aside in asides if isinstance(aside, Remark)])


def led(asides: Sequence[Aside]) -> tuple[Cause, ...]:
    """What may have led to the end, as it is kept with that."""
    return bounded(causes.in_order(aside.cause for aside in asides if isinstance(aside, Trouble)))


def away(asides: Sequence[Aside]) -> set[int]:
    """The seats whose connections were lost, and that have not come back."""
    found = set[int]()
    for aside in asides:
        match aside:
            case Trouble(cause=causes.Disconnected(seat=seat)):
                found.add(seat)
            case Trouble(cause=causes.Returned(seat=seat)):
                found.discard(seat)
            case _:
                pass
    return found


def happened(asides: Sequence[Aside], epoch: float) -> Iterator[Incident]:
    """What went wrong, as events of the match, by an event loop whose time 0 was `epoch`."""
    refusals = Counter[int]()
    for aside in asides:
        if not isinstance(aside, Trouble):
            continue
        cause = aside.cause
        at = cause.at - epoch
        match cause:
            case causes.Refused(seat=seat, ply=ply, sent=sent, why=why):
                refusals[seat] += 1
                yield events.Refused(at, seat, ply, _sent(sent, aside.text), why, refusals[seat])
            case causes.Disconnected(seat=seat, ply=ply, why=why):
                yield events.Disconnected(at, ply, seat=seat, why=why)
            case causes.Returned(seat=seat, ply=ply):
                yield events.Returned(at, ply, seat=seat)
            case causes.Credited(seconds=seconds, ply=ply):
                yield events.Credited(at, ply, seconds=seconds)


def _sent(kept: str, text: bool) -> Any:
    """What was sent, given how it is kept; as people may see it, if there was more of it."""
    written = f'"{kept}"' if text else kept
    try:
        return json.loads(written)
    except (ValueError, RecursionError):
        return Quoted(written)
