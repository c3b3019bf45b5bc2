"""A journal that version 1 has written: what it says, and how it is written, are as they were.

`journals/schema-1.sqlite` has every ending there is, matches void and cut short, one in play, and all
kinds of facts that an organiser's orders lead to; `schema-1.json` says what it came to then.
"""

import sqlite3
from pathlib import Path
from typing import Any

import msgspec
import pytest

from server.export.json_views import rows
from tournament import entries
from tournament.events import Ending
from tournament.facts import Concluded, Kept
from tournament.folding import fold
from tournament.record import Record

FOLDER = Path(__file__).parent / "journals"


def written() -> list[tuple[str, float, str]]:
    """Tournament, time and body of each entry. The file is only looked at."""
    database = sqlite3.connect(f"file:{FOLDER / 'schema-1.sqlite'}?immutable=1", uri=True)
    try:
        return database.execute("SELECT tournament, at, body FROM journal ORDER BY number").fetchall()
    finally:
        database.close()


def test_every_fact_of_version_1_is_written_in_the_same_letters_today() -> None:
    bodies = [body for _, _, body in written()]
    assert [entries.body(entries.fact(body)) for body in bodies] == bodies


@pytest.mark.slow
def test_every_result_of_version_1_is_what_it_was() -> None:
    records = fold(Kept(name, when, entries.fact(body)) for name, when, body in written())
    shown = {name: _shown(record) for name, record in records.items()}
    was = msgspec.json.decode((FOLDER / "schema-1.json").read_bytes())
    assert msgspec.json.decode(msgspec.json.encode(shown)) == was
    endings = {match.ending for record in records.values() for match in record.matches.values()}
    assert endings == set(Ending)


def _shown(record: Record) -> dict[str, Any]:
    columns = ("rank", "name", "points", "played", "wins", "draws", "losses")
    return {
        "state": record.state,
        "entrants": sorted(record.entrants),
        "out": sorted(record.out),
        "voided": sorted(record.voided),
        "standings": [{column: row[column] for column in columns} for row in rows(record)],
        "in_play": sorted(record.dealt),
        "results": [_result(match) for match in record.matches.values()],
    }


def _result(match: Concluded) -> dict[str, Any]:
    fields = ("match", "players", "winner", "ending", "why", "score", "plies")
    return {field: getattr(match, field) for field in fields}
