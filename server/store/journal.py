"""What is written on disk: rows that any database can hold, the same in all of them.

An `Engine` is a database that keeps such rows and understands none of them. With each entry it
keeps the head of its tournament's chain (`tournament/chain.py`). It is synchronous and knows no event
loop; `server/store/ledger.py` makes a `Store` of it.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec import Struct

from server.exits import Unusable
from server.store.schema import Newer
from tournament import entries as written
from tournament.asides import Aside
from tournament.entries import PAGE, Entry
from tournament.facts import AnyFact, Concluded, Kept, State, Turned
from tournament.store import Jottings

DELETED = written.body(Turned(State.DELETED))
LAST = "SELECT coalesce(max(number), 0) FROM journal"  # in every database
# From one tournament to the next by the index, as there may be millions of entries.
EACH = """
    WITH RECURSIVE kept (tournament) AS (
        SELECT min(tournament) FROM journal
        UNION ALL
        SELECT (SELECT min(tournament) FROM journal WHERE tournament > kept.tournament)
        FROM kept WHERE kept.tournament IS NOT NULL
    )
"""
FIRST = f"""{EACH}
    SELECT tournament, (SELECT number FROM journal WHERE tournament = kept.tournament ORDER BY number LIMIT 1)
    FROM kept WHERE tournament IS NOT NULL
"""  # noqa: S608
LATEST = f"""{EACH}
    SELECT tournament,
           (SELECT at FROM journal WHERE tournament = kept.tournament ORDER BY number DESC LIMIT 1)
    FROM kept WHERE tournament IS NOT NULL
    ORDER BY (SELECT number FROM journal WHERE tournament = kept.tournament ORDER BY number LIMIT 1)
"""  # noqa: S608


class Jot(Struct, frozen=True):
    """Some moves of a match in play, one after the other; or some of what there is beside them.

    The latter have the negative of the first one's number, counted from 1, for a ply, and are in place of
    moves. A Quintain from before there were any passes over them.
    """

    match: str
    ply: int  # of the first move
    moves: str  # a JSON array
    times: str  # seconds spent on each, as a JSON array
    epoch: int = 0  # of the lease under which the match is played, as in an entry


class Reader(Protocol):
    """A database that is read, while others may write."""

    def last(self) -> int:
        """The highest number of an entry; 0 where there is none."""
        ...

    def first(self) -> dict[str, int]:
        """The number of each tournament's first entry. A later one of its name has a greater one."""
        ...

    def latest(self) -> dict[str, float]:
        """When the latest entry of each tournament was kept, in the order of their first ones."""
        ...

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
        """All entries, or those of one tournament, with numbers greater than `after`, in order of number.

        They are read in pages, so that nobody is blocked.
        """
        ...

    def jotted(self) -> Iterable[Jot]:
        """All jots, by match and ply."""
        ...

    def concluded(self, tournament: str, match: str) -> str | None:
        """The body of one match's end: the entry with the key `concluded MATCH`."""
        ...

    def receipt(self, tournament: str, match: str) -> str | None:
        """The head that is kept with the entry of a match's end, in hexadecimal."""
        ...

    def backup(self, path: Path) -> None:
        """Copy all that is kept to a new file, as of one instant, while others write.

        Raises `OSError` or `sqlite3.Error` if the file cannot be written, and `Unavailable` where a server
        goes away meanwhile.
        """
        ...

    def size(self) -> int:
        """How many bytes a backup takes, at the most; 0 where only a server knows."""
        ...

    def check(self) -> list[str]:
        """What is wrong with the database itself, in words; usually empty."""
        ...

    def close(self) -> None:
        """Finish, and close the database."""
        ...


class Engine(Reader, Protocol):
    """A database. One thread at a time calls `write`; others may call the methods that read meanwhile."""

    def write(self, rows: Sequence[Entry | Jot]) -> Sequence[bytes]:
        """Write all of these or none, safe from a power cut when it returns; returns each entry's head.

        An entry may be there already, by its number or by its key: if it is the same, it is skipped; if
        not, `Conflict` is raised. Where hosts share the database, `Stale` is raised for a row whose epoch is
        not that of the tournament's lease. A jot replaces one of the same match and ply. An entry that
        concludes a match deletes all of its jots. Raises `Unavailable` for a failure that may pass; the rows
        may have been written even so.
        """
        ...

    def write_together(self, batches: Iterable[Sequence[Entry | Jot]]) -> None:
        """Write all batches, none of which is there already, or nothing; only one is in memory at a time.

        Raises `Conflict` if an entry is there, and `Unavailable` as above.
        """
        ...

    def take_out(self, tournaments: Collection[str], mark: Entry) -> None:
        """Delete all entries of these tournaments, and write `mark` with the next number, or do neither.

        So no number is ever used again. The room is given back as far as the database can do that by itself.
        """
        ...

    def examine(self) -> None:
        """Look for damage that opening did not look for; may take long.

        Raises `ConfigError` for what it finds, and `Unavailable` where it could not look just now.
        """
        ...

    def hurry(self, seconds: float) -> None:
        """Wait at most that long for a server from now on, whatever is asked of it: the host ends."""
        ...


T = TypeVar("T")


class Unreadable(Unusable):
    """A row that somebody has changed, or that was damaged, in a database that is sound otherwise."""

    def __init__(self, message: str, what: str) -> None:
        super().__init__(message)
        self.what = what  # cannot be read, and why


class TooNew(Unusable, Newer):
    """A row that a newer Quintain has written. Nothing is damaged, and no backup would be of any use."""

    remedy = "what is kept was written by a newer Quintain: upgrade this one"


_encoder = msgspec.json.Encoder(order="deterministic")


def fact(row: Entry) -> AnyFact:
    """The fact in a row; raises `Unusable` if it was changed so that nobody can read it, or is too new."""
    return _fact(row.body, f"{row.tournament}, entry {row.number}")


def kept(row: Entry) -> Kept:
    """The fact in a row, with whose it is; raises `Unusable` as above."""
    return Kept(row.tournament, row.when, fact(row))


def concluded(reader: Reader, tournament: str, match: str) -> Concluded:
    """A match that is over, with all its moves; raises `KeyError` if there is none of that name."""
    body = reader.concluded(tournament, match)
    found = None if body is None else _fact(body, f"{tournament}, end of match {match}")
    if not isinstance(found, Concluded):
        raise KeyError(f"{tournament} has no match {match} in the journal")
    return found


def receipt(reader: Reader, tournament: str, match: str) -> str:
    """The receipt for a match's end; raises `KeyError` if no match of that name is over."""
    found = reader.receipt(tournament, match)
    if found is None:
        raise KeyError(f"{tournament} has no match {match} in the journal")
    return found


def is_deleted(reader: Reader, tournament: str) -> bool:
    """Whether the tournament that is kept under that name was deleted. All its entries are looked at."""
    return any(row.body == DELETED for row in reader.kept(0, tournament))


def entries(reader: Reader, tournament: str, after: int) -> Sequence[Entry]:
    """One page of a tournament's entries."""
    return list(islice(reader.kept(after, tournament), PAGE))


def paged(page: Callable[[int], Sequence[tuple[Any, ...]]], after: int) -> Iterator[Entry]:
    """All entries after a number; `page` returns the next `PAGE` rows after a number."""
    rows: Sequence[tuple[Any, ...]] = ()
    while not rows or len(rows) == PAGE:
        rows = page(after)
        if not rows:
            return
        yield from (Entry(*row) for row in rows)
        after = rows[-1][0]


def over(rows: Iterable[Entry | Jot]) -> list[str]:
    """The matches that these rows conclude."""
    return [
        row.key.partition(" ")[2]
        for row in rows
        if isinstance(row, Entry) and row.kind == "concluded" and row.key
    ]


def _fact(body: str, where: str) -> AnyFact:
    try:
        return written.fact(body)
    except (msgspec.MsgspecError, TypeError) as error:
        if kind := written.unknown_kind(body):
            what = f"{where}: was written by a newer Quintain (this one knows no fact of the kind {kind!r})"
            raise TooNew(what) from error
        raise _unreadable(where, error) from error


def _unreadable(where: str, error: Exception) -> Unusable:
    what = f"{where}: this cannot be read: {error}"
    return Unreadable(f"the journal is damaged: {what}; go back to a backup", what)


def jot(match: str, ply: int, moves: Sequence[Any], times: Sequence[float], epoch: int = 0) -> Jot:
    return Jot(match, ply, _encoder.encode(moves).decode(), _encoder.encode(times).decode(), epoch)


def jot_asides(match: str, number: int, asides: Sequence[Aside], epoch: int) -> Jot:
    """The same for what there is beside moves, of which the first has that number."""
    return Jot(match, -number, _encoder.encode(asides).decode(), "[]", epoch)


def jotted(jots: Iterable[Jot]) -> dict[str, Jottings]:
    """What was jotted down, by match, up to the first move that is missing; raises `Unusable`."""
    found: dict[str, Jottings] = {}
    beside: dict[str, list[Jot]] = {}  # the asides of each match, the latest first
    for each in jots:
        if each.ply < 0:
            beside.setdefault(each.match, []).append(each)
            continue
        moves, times, asides = found.get(each.match, Jottings())
        if each.ply == len(moves) + 1:
            more = _read(each, each.moves, list[Any])
            spent = _read(each, each.times, list[float])
            found[each.match] = Jottings((*moves, *more), (*times, *spent), asides)
    for match, latest_first in beside.items():
        moves, times, _ = found.get(match, Jottings())
        asides = list[Aside]()
        for each in reversed(latest_first):
            if each.ply == -(len(asides) + 1):
                asides += _read(each, each.moves, list[Aside])
        found[match] = Jottings(moves, times, asides).so_far()
    return found


def _read(jot: Jot, written: str, kind: type[T]) -> T:
    try:
        return msgspec.json.decode(written, type=kind)
    except (msgspec.MsgspecError, TypeError) as error:
        where = f"move {jot.ply}" if jot.ply > 0 else f"what was said beside its moves, {-jot.ply},"
        raise _unreadable(f"match {jot.match}, from {where} on", error) from error
