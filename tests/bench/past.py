"""A start after a long past: what the tables of a host come to in years, beside a start with nothing.

The journal is made quickly: its rows are those that a host writes, put into the file
directly. Every table has names of its own, and whoever has the higher number usually wins.
A start is that of the process that plays, from opening the journal to taking bots in; in
a process of its own each, so that its memory tells.
"""

import json
import resource
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import trio

from games.catalogue import catalogue
from server.host.host import Host
from server.store import snapshots
from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tournament import entries
from tournament.events import Ending
from tournament.facts import AnyFact, Concluded, Dealt, Drew, Entered, Opened, State, Turned
from tournament.format import Pairing

MATCHES, NAMES = 2_000_000, 20_000
TIMES = 3
PLIES = 20
STYLES = 500  # different matches: of Connect-4, at whatever table, as the journal does not care
GAME = "connect-4"
TABLES = 5
JOURNAL = "quintain.sqlite"
INDEX = "journal_once"

# Without heads: nobody looks at them here.
INSERT = "INSERT INTO journal (number, tournament, at, kind, key, body) VALUES (?, ?, ?, ?, ?, ?)"
Row = tuple[int, str, float, str, str | None, str]


def bench() -> None:
    print(
        f"{f'a start with {MATCHES:,} matches':34}{'seconds':>12}{'goal':>8}{'more memory':>16}{'goal':>10}"
    )
    with TemporaryDirectory() as folder:
        empty, long = Path(folder) / "empty", Path(folder) / "long"
        for each in (empty, long):
            each.mkdir()
        nothing = [started(empty) for _ in range(TIMES)]
        write(long / JOURNAL, MATCHES, NAMES)
        first = started(long)
        again = [started(long) for _ in range(TIMES)]
    least = min(memory for _, memory in nothing)
    for name, seconds, memory, goals in (
        ("nothing is kept", min(took for took, _ in nothing), least, ("-", "-")),
        ("all of it read once", *first, ("-", "150 MB")),
        ("with a snapshot", *map(min, zip(*again, strict=True)), ("2 s", "150 MB")),
    ):
        print(f"{name:34}{seconds:10.2f} s{goals[0]:>8}{memory - least:13.1f} MB{goals[1]:>10}", flush=True)


def started(folder: Path) -> tuple[float, float]:
    """Seconds that a start takes, and megabytes that the process has then had at the most."""
    words = [sys.executable, "-m", "tests.bench.past", str(folder)]
    told = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    seconds, memory = json.loads(told.splitlines()[-1])
    return seconds, memory


def start(folder: Path) -> None:
    began = time.perf_counter()
    with closing(Sqlite(folder / JOURNAL)) as engine:
        host = Host(store=Ledger(engine), load=partial(snapshots.load, engine, folder))

        async def begin() -> float:
            async with trio.open_nursery() as nursery:
                await nursery.start(host.run)
                took = time.perf_counter() - began
                nursery.cancel_scope.cancel()
            return took

        took = trio.run(begin)
    print(json.dumps((took, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)))


def write(path: Path, matches: int, names: int) -> None:
    """A journal with so many matches, over the open tables of five games, by so many names."""
    write_rows(path, rows(matches, names))


def write_rows(path: Path, kept: Iterable[Row]) -> None:
    """A journal of these rows."""
    Sqlite(path).close()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        find = "SELECT sql FROM sqlite_schema WHERE name = ?"
        index: str = connection.execute(find, (INDEX,)).fetchone()[0]
        for setting in ("journal_mode = OFF", "synchronous = OFF", "cache_size = -200000"):
            connection.execute(f"PRAGMA {setting}")
        connection.execute(f"DROP INDEX {INDEX}")
        connection.execute("BEGIN")
        connection.executemany(INSERT, kept)
        connection.execute("COMMIT")
        connection.execute(index)
        connection.execute("PRAGMA journal_mode = WAL")


def rows(matches: int, names: int) -> Iterator[Row]:
    random, number = Random(14), 0
    tables = list(catalogue())[:TABLES]
    share, each = matches // TABLES, names // TABLES
    for game in tables:
        opened: list[AnyFact] = [Opened(game, "open"), Turned(State.RUNNING)]
        for fact in (*opened, *(Entered(f"{game}-{one}") for one in range(each))):
            number += 1
            yield row(number, f"open-{game}", fact)
    shapes = [Shape(random) for _ in range(STYLES)]
    for match in range(1, share + 1):
        for game in tables:
            one, other = random.sample(range(each), 2)
            shape = shapes[random.randrange(STYLES)]
            for kind, key, body in shape.bodies(f"open-{game}", game, match, one, other):
                number += 1
                yield number, f"open-{game}", float(number), kind, key, body


class Shape:
    """The facts of a match, as the text that they are in the journal, but for who it was."""

    def __init__(self, random: Random) -> None:
        moves = _moves(random)
        times = tuple(round(random.random(), 6) for _ in range(PLIES))
        self._upset = random.random() < 0.25
        pairing = Pairing(1_000_001, 1_000_001, "FIRST", "SECOND")
        won = {
            winner: Concluded(
                "TABLE-1000001",
                1_000_001,
                ("FIRST", "SECOND"),
                winner,
                Ending.PLAYED,
                "four in a row",
                (1.0 - winner, float(winner)),
                moves,
                times,
            )
            for winner in (0, 1)
        }
        self._before = [_text(fact) for fact in (Drew((pairing,)), Dealt("TABLE-1000001", 1_000_001))]
        self._won = {winner: _text(fact) for winner, fact in won.items()}

    def bodies(
        self, table: str, game: str, match: int, one: int, other: int
    ) -> Iterator[tuple[str, str | None, str]]:
        winner = int((other > one) != self._upset)
        texts = (*self._before, self._won[winner])
        keys = (None, f"dealt {table}-{match}", f"concluded {table}-{match}")
        for kind, key, text in zip(("drew", "dealt", "concluded"), keys, texts, strict=True):
            text = text.replace("1000001", str(match)).replace("TABLE", table)
            yield kind, key, text.replace("FIRST", f"{game}-{one}").replace("SECOND", f"{game}-{other}")


def _moves(random: Random) -> tuple[int, ...]:
    """So many that a page of the match can show them: nobody has won by then."""
    position, moves = catalogue()[GAME].start(), list[int]()
    while len(moves) < PLIES:
        moves.append(random.choice(list(position.moves())))
        position = position.play(moves[-1])
        if position.outcome is not None:
            position, moves = catalogue()[GAME].start(), []
    return tuple(moves)


def _text(fact: AnyFact) -> str:
    return entries.entry(1, "", 0.0, fact).body


def row(number: int, tournament: str, fact: AnyFact) -> Row:
    entry = entries.entry(number, tournament, float(number), fact)
    return entry.number, entry.tournament, entry.when, entry.kind, entry.key, entry.body


if __name__ == "__main__":
    start(Path(sys.argv[1]))
