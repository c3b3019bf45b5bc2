"""How facts are written on disk: rows that any database can hold, the same in all of them.

An `Engine` is a database that keeps such rows and understands none of them. It
is synchronous and knows no event loop; `server/store/ledger.py` makes a `Store` of it.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec
from msgspec import Struct, structs

from tournament.record import PIECE, AnyFact, Concluded, Drew, Kept
from tournament.store import Story, unique

MICRO = 1_000_000  # microseconds in a second
PAGE = 2_000  # entries that are read at a time


class Unavailable(Exception):
    """Nothing can be kept just now, for a reason that may pass: the message, in words for an organiser."""


class Entry(Struct, frozen=True):
    """A line of the journal."""

    number: int  # 1, 2, 3 … with gaps, given by the writer, so that writing a line twice does no harm
    tournament: str
    when: float  # wall time
    kind: str  # of fact: its tag
    key: str | None  # of a fact of which the tournament has only one; None: there may be any number
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

    def kept(self, after: int = 0) -> Iterable[Entry]:
        """All entries with a greater number, by their numbers; read in pages, so as to block nobody."""
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
        """Finish and let go of the database."""
        ...


class Engine(Reader, Protocol):
    """A database. `write` is called by one thread at a time; what reads may be called by others meanwhile."""

    def write(self, rows: Sequence[Entry | Jot]) -> None:
        """Write all of these or none, safe from a power cut when it returns.

        An entry may be there already, by its number or by its key: if it is the same, it is skipped; if
        not, `Conflict` is raised. A jot replaces one of the same match and ply. An entry that concludes a
        match deletes all of its jots. Raises `Unavailable` for a failure that may pass; the rows may have
        been written even so.
        """
        ...

    def examine(self) -> None:
        """Look for damage, as far as opening it did not: that may take long. Raises `ConfigError`."""
        ...


_encoder = msgspec.json.Encoder(order="deterministic")
_decoder = msgspec.json.Decoder[AnyFact](AnyFact)


def entry(number: int, tournament: str, when: float, fact: AnyFact) -> Entry:
    tag: Any = fact.__struct_config__.tag
    return Entry(number, tournament, when, tag, unique(fact) or None, _body(fact))


def _body(fact: AnyFact) -> str:
    """As JSON. What takes long is done in pieces, because no other thread gets a turn during one of them."""
    if isinstance(fact, Concluded) and (micros := _in_micros(fact.times)):
        return _encoder.encode(structs.replace(fact, times=micros)).decode()
    if not isinstance(fact, Drew) or len(fact.pairings) <= PIECE:
        return _encoder.encode(fact).decode()
    pieces = (fact.pairings[start : start + PIECE] for start in range(0, len(fact.pairings), PIECE))
    pairings = ",".join(_encoder.encode(piece).decode()[1:-1] for piece in pieces)
    return _encoder.encode(Drew(())).decode().replace("[]", f"[{pairings}]")


def kept(row: Entry) -> Kept:
    return Kept(row.tournament, row.when, fact(row.body))


def fact(body: str) -> AnyFact:
    found = _decoder.decode(body)
    if isinstance(found, Concluded) and found.times and isinstance(found.times[0], int):
        return structs.replace(found, times=tuple(micros / MICRO for micros in found.times))
    return found


def _in_micros(times: Sequence[float]) -> tuple[int, ...]:
    """The same as whole microseconds, a third of the letters; nothing where they are not whole.

    Seconds are written with a point, as all times once were: so they are told apart.
    """
    micros = tuple(round(seconds * MICRO) for seconds in times)
    same = all(each / MICRO == seconds for each, seconds in zip(micros, times, strict=True))
    return micros if same else ()


def paged(page: Callable[[int], Sequence[tuple[Any, ...]]], after: int) -> Iterator[Entry]:
    """All entries after that number, where `page` returns the next `PAGE` rows after a number."""
    rows: Sequence[tuple[Any, ...]] = ()
    while not rows or len(rows) == PAGE:
        rows = page(after)
        if not rows:
            return
        yield from (Entry(*row) for row in rows)
        after = rows[-1][0]


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
    """What was jotted down, by match, up to the first move that is missing."""
    found: dict[str, Story] = {}
    for each in jots:
        moves, times = found.get(each.match, ((), ()))
        if each.ply == len(moves) + 1:
            more, spent = msgspec.json.decode(each.moves), msgspec.json.decode(each.times, type=list[float])
            found[each.match] = (*moves, *more), (*times, *spent)
    return found
