"""How facts are written on disk: rows that any database can hold, the same in all of them.

An `Engine` is a database that keeps such rows and understands none of them. It
is synchronous and knows no event loop; `server/store/ledger.py` makes a `Store` of it.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from tournament.record import AnyFact, Kept
from tournament.store import Story, unique


class Unavailable(Exception):
    """Nothing can be kept just now, for a reason that may pass: the message, in words for an organiser."""


class Entry(Struct, frozen=True):
    """A line of the journal."""

    number: int  # 1, 2, 3 … with gaps, given by the one who writes: so a line may be written twice
    tournament: str
    when: float  # wall time
    kind: str  # of fact: its tag
    key: str | None  # what there is one of in the tournament; None: there may be any number
    body: str  # the fact as JSON: equal facts are equal letter by letter


class Jot(Struct, frozen=True):
    """Some moves of a match in play, one after the other."""

    match: str
    ply: int  # of the first of them
    moves: str  # as JSON, an array
    times: str  # seconds spent on each, the same


class Reader(Protocol):
    """A database that is read, while others may write."""

    def last(self) -> int:
        """The highest number of an entry; 0 where there is none."""
        ...

    def kept(self) -> Iterable[Entry]:
        """All entries, by their numbers."""
        ...

    def jotted(self) -> Iterable[Jot]:
        """All jots, by match and ply."""
        ...

    def concluded(self, tournament: str, match: str) -> str | None:
        """The body of one match's end: the entry with the key `concluded MATCH`."""
        ...

    def backup(self, path: Path) -> None:
        """Copy all that is kept to a new file, as of one instant, while others write."""
        ...

    def check(self) -> list[str]:
        """What is wrong with the database itself, in words; nothing, usually."""
        ...

    def close(self) -> None:
        """Leave nothing half done."""
        ...


class Engine(Reader, Protocol):
    """A database. `write` is called by one thread at a time; what reads may be called by others meanwhile."""

    def write(self, rows: Sequence[Entry | Jot]) -> None:
        """Write all of these or none, safe from a power cut when it returns.

        An entry may be there already, by its number or by its key: the same is passed over, another
        raises `Conflict`. A jot takes the place of one from the same ply on. An entry that concludes a
        match takes all of its jots with it. Raises `Unavailable` for what may pass; it may have been
        written even so.
        """
        ...


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder[AnyFact](AnyFact)


def entry(number: int, tournament: str, when: float, fact: AnyFact) -> Entry:
    tag: Any = fact.__struct_config__.tag
    return Entry(number, tournament, when, tag, unique(fact) or None, _encoder.encode(fact).decode())


def kept(row: Entry) -> Kept:
    return Kept(row.tournament, row.when, fact(row.body))


def fact(body: str) -> AnyFact:
    return _decoder.decode(body)


def over(rows: Iterable[Entry | Jot]) -> list[str]:
    """The matches that these conclude."""
    return [
        row.key.partition(" ")[2]
        for row in rows
        if isinstance(row, Entry) and row.kind == "concluded" and row.key
    ]


def jot(match: str, ply: int, moves: Sequence[Any], times: Sequence[float]) -> Jot:
    return Jot(match, ply, _encoder.encode(moves).decode(), _encoder.encode(times).decode())


def stories(jots: Iterable[Jot]) -> dict[str, Story]:
    """What was jotted down, by match; of each as far as nothing is missing."""
    found: dict[str, Story] = {}
    for each in jots:
        moves, times = found.get(each.match, ((), ()))
        if each.ply == len(moves) + 1:
            more, spent = msgspec.json.decode(each.moves), msgspec.json.decode(each.times, type=list[float])
            found[each.match] = (*moves, *more), (*times, *spent)
    return found
