"""Every tournament of a store: its record, by the name under which it is kept.

Names are used again once a tournament is deleted, so what a store calls it may be longer than its name.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tournament.archived_record import can_be_archived, put_in_archive
from tournament.facts import HOST, Kept, Opened, State, Turned
from tournament.record import Record

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")  # it stands in addresses and file names
OPEN = "open-"  # how the names of open tables begin, and of nothing else: a game follows
ANEW = "~"  # in a store, between a name that was used before and a number; no name contains it
GONE = Opened("", "round-robin")  # in place of what a deleted tournament was opened with


def kept_as(name: str, earlier: int) -> str:
    """The name under which a store has a tournament, after this many `earlier` ones of its name."""
    return f"{name}{ANEW}{earlier + 1}" if earlier else name


def called(kept_as: str) -> str:
    """The name of the tournament that a store keeps as `kept_as`."""
    return kept_as.partition(ANEW)[0]


def latest_called(name: str, there: Mapping[str, float], is_deleted: Callable[[str], bool]) -> str | None:
    """What a store calls the tournament of a name that is not deleted, else the latest; None: there is none.

    Of each that is `there`, it is given when its latest fact was kept: one that was deleted before the next
    was opened may have been imported later. A clock may have been set back as well, or be another host's, so
    where there are several, it is asked which are deleted.
    """
    own = [kept for kept in reversed([*there]) if kept != HOST and called(kept) == name]
    if len(own) < 2:
        return own[0] if own else None
    latest_first = sorted(own, key=there.__getitem__, reverse=True)
    return next((kept for kept in latest_first if not is_deleted(kept)), latest_first[0])


class DeletedRecord(Record):
    """All that needs to be known of a deleted tournament: that its name in the store is taken.

    There may be tens of thousands, and a new record takes 8 KB. So it becomes one, of which nothing but
    that is known, only when somebody asks for anything else.
    """

    def __init__(self, kept_as: str, *, whole: bool) -> None:
        self.name, self.kept_as, self.whole = called(kept_as), kept_as, whole
        self.state = State.DELETED

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # Python itself asks for these
            raise AttributeError(name)
        known = Record(self.name, GONE, whole=self.whole, kept_as=self.kept_as)
        vars(self).update(vars(known) | vars(self))
        object.__setattr__(self, "__class__", Record)
        return getattr(self, name)


def fold(
    kept: Iterable[Kept],
    records: dict[str, Record] | None = None,
    *,
    whole: bool = True,
) -> dict[str, Record]:
    """Every tournament, by the name under which it is kept; `records` are what came of earlier facts."""
    records = {} if records is None else records
    for entry in kept:
        name = entry.tournament
        if name == HOST:
            continue
        if name in records:
            record = records[name]
            record.add(entry.fact)
            if record.state is State.DELETED:
                records[name] = DeletedRecord(name, whole=whole)
            elif isinstance(entry.fact, Turned) and can_be_archived(record):
                put_in_archive(record)  # or thousands of them would be in memory before the last one is read
        elif isinstance(entry.fact, Opened):
            records[name] = Record(called(name), entry.fact, whole=whole, kept_as=name)
        else:
            raise ValueError(f"{name} has facts from before it was opened")
    return records
