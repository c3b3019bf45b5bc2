"""How a match ends other than by the rules of its game: in which words, and whose fault it is.

Pure functions of what has happened in a match. The referee (`tournament/match.py`) decides
that it ends, and when. A sentence says first what decided the match, then what led to it;
it does not depend on how late the referee looked.
"""

from collections.abc import Sequence
from math import inf

from msgspec import Struct

from tournament import causes
from tournament.causes import Cause, as_text, bounded
from tournament.events import (
    CUT_SHORT,
    NOBODY,
    AnyEvent,
    Credited,
    Disconnected,
    Ended,
    Ending,
    Fault,
    Refused,
    Returned,
    absences,
)

LONGEST = 200  # characters of a sentence, roughly: what a bot sent and why it was refused are cut for that
WHY = 90  # characters of the reason for a refusal within a longer sentence


class Gone(Struct, frozen=True):
    """A seat whose player is not there."""

    seat: int
    since: float  # when it was gone …
    until: float = inf  # … and when it has to be there; -inf: it has left for good
    lost: bool = False  # its connection was lost
    held: bool = False  # its clock does not run
    came: bool = True  # it has been here in this match
    returns: bool = False  # it was here before the host was started again, and not since
    out: bool = False  # of the tournament, by an organiser

    @property
    def for_good(self) -> bool:
        return self.until == -inf

    @property
    def fault(self) -> Fault | None:
        """A bot that says goodbye or never comes is at fault; a lost connection may be anybody's fault."""
        if self.out:
            return None
        return Fault.BOT if self.for_good or not self.came else Fault.NETWORK


def gathered(events: Sequence[AnyEvent]) -> list[Cause]:
    """The causes of an end that a log has, in its order."""
    found: list[Cause] = []
    for event in events:
        match event:
            case Refused(at=at, seat=seat, ply=ply, sent=sent, why=why):
                found.append(causes.Refused(at, seat, ply, as_text(sent), why))
            case Disconnected(at=at, seat=seat, ply=ply, why=why):
                found.append(causes.Disconnected(at, seat, ply, why))
            case Returned(at=at, seat=seat, ply=ply):
                found.append(causes.Returned(at, seat, ply))
            case Credited(at=at, seconds=seconds, ply=ply):
                found.append(causes.Credited(at, seconds, ply))
            case _:
                pass
    return causes.in_order(found)


def cut_off(led: Sequence[Cause], seat: int) -> str:
    """What a seat did for which the host hung up on it, if it has not come back since; else ""."""
    for each in reversed(led):
        if isinstance(each, causes.Disconnected | causes.Returned) and each.seat == seat:
            return each.why if isinstance(each, causes.Disconnected) else ""
    return ""


def out_of_time(
    names: tuple[str, str], late: causes.Late, led: list[Cause], lost_at: float | None, flag: float
) -> Ended:
    """The clock of the mover ran out at `flag`; its connection had been lost, if at all, at `lost_at`."""
    loser = names[late.seat]
    brief = f"{loser} ran out of time"
    refused = [
        each
        for each in led
        if isinstance(each, causes.Refused) and (each.seat, each.ply) == (late.seat, late.ply)
    ]
    why = brief
    if lost_at is not None:
        why += f", disconnected {_seconds(flag - lost_at)} earlier{_hung_up(led, late.seat)}"
    elif refused:
        why += f"; {_refusals(refused)}"
    if late.unanswered is not None:
        why += f"; its machine had not answered for {_seconds(late.unanswered)}"
    if late.begun:
        size = f"{late.begun} byte{'s' * (late.begun > 1)}"
        why += f"; {size} of a line had come, without the line break at its end"
    if late.meant is not None:
        why += f"; its last move was sent for ply {late.meant}, and the match was at ply {late.ply}"
    if late.ignored:
        why += f"; its last message had no effect: {_cut(late.ignored)}"
    stood_still = sum(
        each.seconds for each in led if isinstance(each, causes.Credited) and each.ply == late.ply
    )
    if stood_still:
        why += f"; the host had stood still for {_seconds(stood_still)}, which did not count"
    lost = lost_at is not None or late.unanswered is not None
    fault = Fault.NETWORK if lost and not cut_off(led, late.seat) else Fault.BOT
    return Ended(late.at, 1 - late.seat, Ending.TIME, why, fault, bounded([*led, late]), brief)


def illegal(names: tuple[str, str], refused: Refused, led: list[Cause], *, budget: bool) -> Ended:
    """A refused move costs the match; with a `budget`, because it was one refusal too many."""
    loser, last = (
        names[refused.seat],
        causes.Refused(refused.at, refused.seat, refused.ply, as_text(refused.sent), refused.why),
    )
    brief = why = f"{loser}: {refused.why}"
    if budget:
        brief = f"{loser}: {refused.count} moves were refused, the last because: {refused.why}"
        why = f"{loser}: {refused.count} moves were refused, the last, {_sent(last)}, because: {refused.why}"
    cause = bounded([*led, last])
    return Ended(refused.at, 1 - refused.seat, Ending.ILLEGAL, why, Fault.BOT, cause, brief)


def left(names: tuple[str, str], gone: Gone, at: float, led: list[Cause], *, void: bool) -> Ended:
    """One of the two is gone, for good or for too long; `void` where that costs it nothing yet."""
    name = names[gone.seat]
    left_early, never_came = absences(name)
    brief = never_came if gone.held else f"{name} left the match"
    why = never_came if not gone.came else f"{name} left the match"
    hung_up = _hung_up(led, gone.seat)
    if gone.out:
        why = brief = shut_out(name)
    elif gone.for_good:
        why += hung_up
    elif gone.came and gone.lost:
        earlier = f"disconnected {_seconds(gone.until - gone.since)} earlier{hung_up}"
        why += f": {earlier}{',' if hung_up else ''} and did not come back"
    fault = Fault.BOT if hung_up and not gone.out else gone.fault
    cause = list(led)
    if not gone.for_good:
        cause.append(causes.Absent(at, gone.seat, gone.until - gone.since))
    if void:
        if not gone.out:
            why = left_early if gone.came else never_came
        return Ended(at, None, Ending.VOID, why, fault, bounded(cause))
    return Ended(at, 1 - gone.seat, Ending.LEFT, why, fault, bounded(cause), brief)


def both_gone(gone: Sequence[Gone], at: float, led: list[Cause], *, void: bool) -> Ended:
    """Neither player is there."""
    fault = Fault.BOT if any(each.fault is Fault.BOT for each in gone) else Fault.NETWORK
    return Ended(at, None, Ending.VOID if void else Ending.LEFT, NOBODY, fault, bounded(led))


def not_resumed(names: Sequence[str], at: float, led: list[Cause]) -> Ended:
    """The host was started again, and a player did not come back to the match that its stop interrupted."""
    why = f"{CUT_SHORT}, and {' and '.join(names)} did not come back"
    return Ended(at, None, Ending.VOID, why, Fault.HOST, bounded(led))


def not_kept(name: str) -> str:
    """Why a match cannot go on after a restart: a player knows of more moves than were kept."""
    return f"{CUT_SHORT}, and {name} had been told of a move that was not kept"


def link_lost(name: str) -> str:
    """Why a match is void: a bot cannot come back to it, because the link to another host was lost."""
    return f"the link between two hosts, over which {name} played, was lost"


def voided(why: str) -> str:
    """Why a match in play is void: in the words of the organiser who says so, if there are any."""
    return why or "the organiser voided it"


def shut_out(name: str) -> str:
    """Why a match is lost, or void, over a player that may not play any more."""
    return f"{name} is out of the tournament"


def stayed_away(name: str, *, been: bool, sated: bool = False) -> str:
    """Why a match was lost that was due while a player was away: by its own wish, no longer, or not yet."""
    if sated:
        return f"{name} wanted no more matches"
    return f"{name} was here before, and did not come back" if been else f"{name} did not come"


def _hung_up(led: Sequence[Cause], seat: int) -> str:
    """How a seat that lost its connection brought that about itself, in words; "" if it did not."""
    why = cut_off(led, seat)
    return why and f", because the host hung up on it ({_cut(why)})"


def _refusals(refused: Sequence[causes.Refused]) -> str:
    """What was refused before the clock ran out, in words."""
    last = refused[-1]
    if len(refused) == 1:
        return f"a move was refused before, {_sent(last)}, because {_cut(last.why)}"
    return (
        f"{len(refused)} of its moves were refused before, the last, {_sent(last)}, because {_cut(last.why)}"
    )


def _sent(refused: causes.Refused) -> str:
    return _cut(refused.sent, 40)


def _cut(text: str, most: int = WHY) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f}".removesuffix(".0") + " s"
