"""Refusing what cannot be asked of a tournament, in words for whoever asked; here, to take part in it."""

from math import inf

from tournament.facts import State
from tournament.record import Record
from tournament.sizes import largest


class Refusal(Exception):
    """What somebody asked of a tournament cannot be done. The message says why."""


class NotNow(Refusal):
    """It cannot be done just now, which is no fault of whoever asked: the same may be done later."""


class NotThere(Refusal):
    """It is about an entrant or a match that the tournament does not have."""


class Over(Refusal):
    """The tournament is over, or was deleted: nobody plays there any more."""


class Senseless(Refusal):
    """It makes no sense, however the tournament stands."""


class TakenOut(Refusal):
    """Somebody whom an organiser has taken out comes again."""


class HeldElsewhere(Refusal):
    """Another process of the host holds it: a bot that comes over a new connection is led there."""


def takes_entrants(record: Record) -> bool:
    """Whether somebody new may enter by coming."""
    return admits(record) and not _full(record)


def admits(record: Record) -> bool:
    """Whether somebody new may enter by coming, if there is room. After the start, that is never so again."""
    return record.format.endless or (record.state is State.REGISTERING and not record.opened.by_invitation)


def expect_room(record: Record, *, let_in: bool) -> None:
    """Raise `Refusal` where nobody new is taken in.

    `let_in`: an organiser lets in somebody who cannot enter by coming, as nobody can after the start.
    """
    expect_not_over(record)
    if record.ended_early:
        raise Refusal(f"{record.name} is over")
    if record.state is State.REGISTERING:
        if record.opened.by_invitation and not let_in:
            raise Refusal(
                f"{record.name} is by invitation: its organiser can let you in,"
                f" with quintain tournament enter {record.name} NAME"
            )
        if _full(record):
            raise _is_full(record, room(record))
    elif not record.format.endless and not record.format.late:
        raise Refusal(f"{record.name} has begun, and a {record.format.name} takes no more entrants")
    elif not record.format.endless and not let_in:
        raise Refusal(
            f"{record.name} has begun: its organiser can still let you in,"
            f" with quintain tournament enter {record.name} NAME"
        )
    elif record.format.endless and not let_in and _full(record):
        raise _is_full(record, room(record))
    elif record.contestants >= (most := _most(record)):
        raise _is_full(record, most)


def expect_not_over(record: Record) -> None:
    """Raise `Over` where nobody plays any more."""
    if record.state is State.DELETED:
        raise Over(f"{record.name} was deleted")
    if record.state is State.FINISHED:
        raise Over(f"{record.name} is over")


def expect_not_out(record: Record, name: str) -> None:
    """Raise `Refusal` where a bot that was taken out of the tournament comes again."""
    if name in record.no_shows:
        why = f"{name} had not checked in to {record.name} when that began, and is not drawn"
        raise Refusal(f"{why}: its organiser can still let you in" if record.format.late else why)
    if (why := taken_out(record, name)) is not None:
        raise why


def taken_out(record: Record, name: str) -> TakenOut | None:
    """Why nothing is dealt there any more to somebody whom the organiser has taken out, if that was done."""
    if name in record.disqualified:
        return TakenOut(f"{name} was disqualified from {record.name}: ask its organiser why")
    if has_withdrawn(record, name):
        return TakenOut(f"{name} was withdrawn from {record.name}: ask its organiser why")
    return None


def has_withdrawn(record: Record, name: str) -> bool:
    """Whether an entrant was withdrawn, and not disqualified."""
    return name in record.out and name not in record.no_shows and name not in record.disqualified


def room(record: Record) -> float:
    """For how many entrants there is room before it begins."""
    return _most(record) if record.opened.entrants is None else record.opened.entrants


def _most(record: Record) -> float:
    """How many entrants it can have at any time, whatever was asked for: late entries count, too."""
    return inf if record.format.endless else largest(record.format, record.opened.terms)


def _full(record: Record) -> bool:
    return record.contestants >= room(record)


def _is_full(record: Record, most: float) -> Refusal:
    return Refusal(f"{record.name} is full: it takes {most}")
