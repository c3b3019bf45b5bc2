"""Whether the stated causes of a match's end can have led to it: refusals, absences, the clock that ran out.

Each is judged again. A refused move has to be refused by the rules, and a clock has to have run out by
what earlier moves had left on it. Matches from before causes were kept have none, and are not checked.
"""

from collections.abc import Iterator
from itertools import chain, pairwise
from math import inf
from typing import Any

import msgspec

from games.game import Illegal, Pace, quoted
from server.export.json_views import BY_THE_ORGANISER, moment
from server.store.ledger import SET
from tournament.causes import FIRST, LATEST, SENT, Absent, Cause, Credited, Late, Refused
from tournament.clock import Clock
from tournament.events import NOBODY, Ending, Fault, absences
from tournament.facts import Concluded
from tournament.match import Match

SLACK = 1e-6  # seconds: the rounding of each time that is added up
ROUNDED = 0.002  # seconds: moments are kept to the millisecond
OR_SET_BACK = ": a clock was set back, or the file was changed"
FAULTS: dict[Ending, tuple[Fault | None, ...]] = {
    Ending.PLAYED: (None,),
    Ending.RESIGNED: (None,),
    Ending.ILLEGAL: (Fault.BOT, None),
    Ending.TIME: (Fault.BOT, Fault.NETWORK, None),
    Ending.LEFT: (Fault.BOT, Fault.NETWORK, None),
    Ending.VOID: (Fault.BOT, Fault.NETWORK, Fault.HOST, None),
}


LOST = (Ending.TIME, Ending.ILLEGAL)  # always by somebody's fault


def cause_objections(pace: Pace, match: Match, fact: Concluded, dealt_at: float | None) -> Iterator[str]:
    """Objections to the causes of a match; `match` is in its state after all moves.

    When it was dealt is known of all matches that are younger than causes: these have to be told of.
    """
    if fact.fault not in FAULTS[fact.ending]:
        yield f"what was {fact.ending} is not the fault of the {fact.fault}"
    elif fact.fault is None and fact.ending in LOST and dealt_at is not None:
        yield f"what was lost by {fact.ending} is somebody's fault, and nobody's is told"
    excuses = (NOBODY, *chain.from_iterable(map(absences, fact.players)))
    excused = fact.why in excuses or fact.why.startswith(BY_THE_ORGANISER)  # of whatever was voided later
    if fact.ending is Ending.VOID and fact.fault in (Fault.BOT, Fault.NETWORK) and not excused:
        yield f"{quoted(fact.why)} makes nothing void by the fault of the {fact.fault}"
    yield from _moment_objections(fact, dealt_at)
    if len(fact.cause) > FIRST + LATEST:
        yield f"{len(fact.cause)} causes are told of, and {FIRST + LATEST} are kept at most"
    for cause in fact.cause:
        yield from _place_objections(match, cause) or _refusal_objections(match, cause)
    whole = len(fact.cause) < FIRST + LATEST  # if there were more, those in the middle are left out
    if fact.ending is Ending.TIME and fact.winner is not None and fact.fault is not None:
        yield from _flag_objections(pace, match, fact)
    elif fact.ending is Ending.ILLEGAL and fact.winner is not None and fact.fault is not None:
        last = fact.cause[-1] if fact.cause else None
        if not isinstance(last, Refused) or last.seat != 1 - fact.winner or last.ply != len(fact.moves):
            yield "no refused move is told of that it was lost by"
        elif not _is_said_of(last, fact):
            yield f"{quoted(fact.why)} does not say why the move was refused: {last.why}"
    if fact.ending is Ending.VOID:
        return  # without facts, whatever was voided is void
    kinds = {type(cause) for cause in fact.cause}
    if fact.ending is not Ending.TIME and whole and Late in kinds:
        yield f"a clock ran out, and it was {fact.ending}"
    if fact.ending is not Ending.LEFT and Absent in kinds:
        yield f"somebody was waited for in vain, and it was {fact.ending}"
    if fact.ending is not Ending.ILLEGAL and match.game.faults == "forfeit" and Refused in kinds:
        yield f"a refused move loses in {match.game.title}, and it was {fact.ending}"


def _moment_objections(fact: Concluded, dealt_at: float | None) -> Iterator[str]:
    moments = [cause.at for cause in fact.cause]
    if fact.ended is not None:
        moments.append(fact.ended)
    if any(later < earlier - ROUNDED for earlier, later in pairwise(moments)):
        yield "what led to its end is not in the order in which it happened"
    # A clock that was set back, by what a store makes up for, may have it begin before it was dealt.
    after = 0.0 if dealt_at is None or fact.began is None else fact.began - dealt_at
    if dealt_at is not None and fact.began is None:
        yield f"it was dealt at {moment(dealt_at)}, and does not say when it began"
    elif after > ROUNDED:
        yield f"it says it began {after:g} seconds after it was dealt"
    elif after < -SET:
        yield f"it says it began {-after:g} seconds before it was dealt{OR_SET_BACK}"
    if fact.began is None:
        return
    if any(cause.at < fact.began - SET for cause in fact.cause):
        yield f"what led to its end happened before it began{OR_SET_BACK}"
    if fact.ended is None:
        return
    late = sum(cause.spent for cause in fact.cause if isinstance(cause, Late))
    lasted, thought = fact.ended - fact.began, sum(max(0.0, spent) for spent in fact.times) + late
    if lasted < 0:
        yield "it ended before it began"
    elif thought > lasted + ROUNDED + SLACK * len(fact.times):
        yield f"its moves took {thought:.3f} seconds, and it lasted {lasted:.3f}"


def _is_said_of(refused: Refused, fact: Concluded) -> bool:
    """Whether the sentence of an end is about that refusal, which lost it by itself or as one too many."""
    loser = fact.players[refused.seat]
    if fact.why == f"{loser}: {refused.why}":
        return True
    return fact.why.startswith(f"{loser}: ") and fact.why.endswith(f" because: {refused.why}")


def _place_objections(match: Match, cause: Cause) -> list[str]:
    seat = 0 if isinstance(cause, Credited) else cause.seat
    ply = 0 if isinstance(cause, Absent) else cause.ply
    if seat in (0, 1) and 0 <= ply < len(match.positions):
        return []
    return [f"what led to its end has seat {seat} after {ply} moves, and there were {len(match.moves)}"]


def _flag_objections(pace: Pace, match: Match, fact: Concluded) -> Iterator[str]:
    """Objections to a clock that ran out, by what earlier moves had left on it."""
    late = next((cause for cause in fact.cause if isinstance(cause, Late)), None)
    if late is None or late.ply != len(fact.moves) or late.seat != match.position.turn:
        yield f"it is not told how much time {fact.players[match.position.turn]} had, and how much it spent"
        return
    clock, now = Clock(pace), 0.0
    for position, spent in zip(match.positions, fact.times, strict=False):
        clock.start(position.turn, now)
        now += max(0.0, spent)
        clock.stop(now)
    clock.start(late.seat, now)
    had = clock.allowed
    if had == inf or abs(had - late.deadline) > SLACK * (len(fact.times) + 1):
        yield f"it had {had:.6f} seconds for its move by its clock, and not {late.deadline:.6f}"
    elif late.spent <= late.deadline:
        yield f"it spent {late.spent:.6f} of {late.deadline:.6f} seconds, which is in time"


def _refusal_objections(match: Match, refused: Cause) -> Iterator[str]:
    if not isinstance(refused, Refused):
        return
    position = match.positions[refused.ply]
    if position.turn != refused.seat or len(refused.sent) >= SENT:
        return  # out of turn, or too long to be kept whole: it cannot be judged again
    if not _may_be_refused(match, position, refused):
        yield f"{quoted(refused.sent)} is said to have been refused after {refused.ply} moves, and is legal"


def _may_be_refused(match: Match, position: Any, refused: Refused) -> bool:
    """Whether what was sent is illegal, given how it is kept: a text as it is, anything else as JSON."""
    as_text = _why_illegal(match, position, refused.sent)
    try:
        found = msgspec.json.decode(refused.sent)
    except (ValueError, RecursionError):
        return as_text is not None
    if _why_illegal(match, position, found) is not None:
        return True
    if isinstance(found, dict | list) and as_text is not None:  # a text that looks like one is quoted as such
        return refused.why == as_text or quoted(refused.sent) in refused.why
    return as_text is not None


def _why_illegal(match: Match, position: Any, sent: Any) -> str | None:
    """Why something is no move; None if it is one."""
    try:
        position.play(match.game.read(sent, position))
    except (Illegal, RecursionError) as illegal:
        return str(illegal)
    return None
