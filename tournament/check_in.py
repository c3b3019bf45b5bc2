"""Checking in: which entrants have shown, before a tournament starts by itself, that they will play.

Entrants check in by being here, or by an organiser's word, for some time before the start. Whoever has
not checked in is not drawn. A tournament that its organiser starts by hand takes everybody who has
entered.
"""

from collections.abc import Iterator

from msgspec import UNSET

from tournament.facts import NoShow, Opened
from tournament.record import Record

PUNCTUAL = 1.0  # seconds by which a busy host may be late when entrants can begin to check in


def opens_at(opened: Opened) -> float | None:
    """The wall time from which entrants check in by being here; None: nobody checks in."""
    if opened.check_in is UNSET or opened.start is None:
        return None
    return opened.start - opened.check_in


def unchecked(record: Record) -> Iterator[str]:
    """The entrants who are still to check in, in the order of entry."""
    if record.opened.check_in is not UNSET:
        for name in record.entrants:
            if name not in record.checked_in and name not in record.out:
                yield name


def no_shows(record: Record) -> list[NoShow]:
    """The facts to keep when a tournament starts by itself: who is not drawn."""
    return [NoShow(name) for name in unchecked(record)]
