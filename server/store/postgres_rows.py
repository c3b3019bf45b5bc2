"""Rows of the journal in a PostgreSQL database: reading and writing them in a session.

Not here: which host may write, and under which numbers.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, LiteralString

from server.store.journal import Jot, over
from server.store.postgres_database import Connection, Statement
from tournament.chain import START
from tournament.entries import Entry
from tournament.store import Conflict

BATCH = 2_000  # rows that are read at a time

LATEST = "SELECT head FROM journal WHERE tournament = %s ORDER BY number DESC LIMIT 1"
JOT = """
    INSERT INTO jotted SELECT * FROM unnest(%s::text[], %s::integer[], %s::text[], %s::text[], %s::bigint[])
    ON CONFLICT (match, ply)
    DO UPDATE SET moves = excluded.moves, times = excluded.times, epoch = excluded.epoch
"""


def latest(session: Connection, tournament: str) -> bytes:
    """The head of a tournament's latest entry."""
    found = session.execute(LATEST, (tournament,)).fetchone()
    return found[0] if found else START


def head_of(entry: Entry, there: Sequence[tuple[str, str, str, bytes]]) -> bytes | None:
    """The head of an entry, if it is among the rows; raises `Conflict` if a different one is there."""
    for tournament, kind, body, _ in there:
        if (tournament, kind, body) != (entry.tournament, entry.kind, entry.body):
            raise Conflict(f"{tournament}: {body} is kept, {entry.body} came")
    return there[0][3] if there else None


def write_jots(session: Connection, entries: Sequence[Entry], jots: Sequence[Jot]) -> None:
    """Write these moves, and forget those of matches that the entries conclude."""
    for statement, given in jotting(entries, jots):
        session.execute(statement, given)


def jotting(entries: Sequence[Entry], jots: Sequence[Jot]) -> Iterator[Statement]:
    """The statements that do so."""
    if jots:
        yield JOT, columns([(jot.match, jot.ply, jot.moves, jot.times, jot.epoch) for jot in jots])
    if ended := over(entries):
        yield "DELETE FROM jotted WHERE match = ANY(%s)", (ended,)


def columns(rows: Iterable[tuple[Any, ...]]) -> list[list[Any]]:
    """Rows as the arrays that `unnest` takes."""
    return [list(column) for column in zip(*rows, strict=True)]


def batches(session: Connection, query: LiteralString) -> Iterator[list[tuple[Any, ...]]]:
    """The rows that are found, in batches, of which only one is held in memory at a time."""
    with session.cursor(name="all") as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(BATCH):
            yield rows
