"""`quintain export`, `import`, `backup`, `restore` and `doctor`, as their users meet them."""

import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Collection, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import count
from multiprocessing.connection import wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import trustme
from msgspec import structs
from structlog.testing import capture_logs

from server.commands.keeping import StoreOptions as Where
from server.commands.keeping import backup, export, import_, restore
from server.commands.kept_tournament import kept_tournament
from server.config import settings
from server.doctor import Diagnosis, Severity, examination
from server.exits import DONE, FAILED, INTERRUPTED, MISUSED, ConfigError, Failure, Unavailable, Unusable
from server.export.transfer import bring_in, leaving
from server.export.verify import verify
from server.store import journal, sqlite_database
from server.store.choice import beside, opened
from server.store.data_folder import locked, prepared
from server.store.restore import restored as put_back
from server.store.schema import NothingKept
from server.store.sqlite import Sqlite
from server.store.sqlite_database import connected
from server.store.sqlite_reader import SqliteReader
from tests.hang import HANG
from tests.lacking import lacking
from tests.loopback import ipv6
from tests.ports import free_ports
from tests.server.exports import exported, simulated, text, unchained
from tests.server.forked import CONTEXT, LOCK, Forked
from tests.server.killed_restore import restored_and_killed
from tests.server.rights import GIVE_AWAY, READ_ALL, WRITE_ALL
from tests.server.served import ROOT
from tests.server.store.faults import little_room
from tests.server.store.postgresql import Server
from tests.server.store.postgresql import running as running_postgresql
from tests.server.test_certificate import issue
from tournament import entries
from tournament.entries import Entry
from tournament.events import Ending
from tournament.facts import AnyFact, Claimed, Concluded, Dealt, Drew, Entered, Kept, Opened, Ordered, Turned
from tournament.facts import State as Stage
from tournament.format import Pairing
from tournament.record import LATEST

pytestmark = pytest.mark.slow

HOST_ORDER = Kept("", 5.0, Ordered("the organiser", "drain"))


@pytest.fixture(scope="module")
def server() -> Any:
    with running_postgresql() as server:
        yield server


def filled(path: Path) -> list[Entry]:
    """A journal with two tournaments, a claim and an order in it."""
    facts = [HOST_ORDER, *simulated(7), Kept("one", 99.0, Claimed("bot-3", "ab" * 32))]
    rows = [entries.entry(n, each.tournament, each.when, each.fact) for n, each in enumerate(facts, 1)]
    with closing(Sqlite(path)) as engine:
        engine.write(rows)
    return rows


def facts_of(path: Path) -> dict[str, list[tuple[float, str]]]:
    """What is kept, tournament by tournament: that is all whose order means something."""
    found: dict[str, list[tuple[float, str]]] = {}
    with closing(SqliteReader(path)) as reader:
        for row in reader.kept():
            found.setdefault(row.tournament, []).append((row.when, row.body))
    return found


def moved(path: Path) -> list[bytes]:
    with closing(SqliteReader(path)) as reader:
        return list(leaving(reader, ()))


def test_a_file_without_a_tournament_is_not_imported_in_silence(tmp_path: Path) -> None:
    nothing = pytest.raises(Failure, match="there is no tournament in this file")
    with closing(Sqlite(tmp_path / "quintain.sqlite")) as engine, nothing:
        bring_in([], engine, tmp_path)


def test_a_host_that_is_exported_and_imported_is_the_same(tmp_path: Path) -> None:
    filled(tmp_path / "old.sqlite")
    lines = moved(tmp_path / "old.sqlite")
    assert verify(lines).findings == []
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        new = bring_in(lines, engine, tmp_path)
        assert bring_in(lines, engine, tmp_path) == dict.fromkeys(new, 0), "the second time changes nothing"
    assert facts_of(tmp_path / "new.sqlite") == facts_of(tmp_path / "old.sqlite")
    assert moved(tmp_path / "new.sqlite") == lines


def test_an_export_moves_no_cursor_on_a_terminal_and_is_unchanged_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Catches a note of a bot that changes the colours of its organiser's terminal."""
    with closing(Sqlite(tmp_path / "quintain.sqlite")) as engine:
        order = Kept("", 5.0, Ordered("the organiser \x9b31m", "drain"))
        engine.write([entries.entry(1, order.tournament, order.when, order.fact)])
    whole = b"".join(moved(tmp_path / "quintain.sqlite"))
    assert "\x9b".encode() in whole
    where = Where(data=str(tmp_path))
    assert export(all=True, where=where) == DONE
    assert capfdbinary.readouterr().out == whole
    outer, inner = pty.openpty()
    with open(outer, "rb", buffering=0) as screen, open(inner, "w") as terminal:
        monkeypatch.setattr(sys, "stdout", terminal)
        assert export(all=True, where=where) == DONE
        shown = screen.read(65536)
    assert shown.replace(b"\r\n", b"\n") == whole.replace("\x9b".encode(), rb"\x9b")


def deleted_and_opened_again(path: Path) -> tuple[list[Entry], int]:
    """The rows of a store in which the name of a deleted tournament was used again, and how many each has."""
    first = [each for each in simulated(7) if each.tournament == "one"]
    deleted = Kept("one", first[-1].when, Turned(Stage.DELETED))
    second = [structs.replace(each, tournament="one~2") for each in first]
    rows = [
        entries.entry(number, each.tournament, each.when, each.fact)
        for number, each in enumerate([*first, deleted, *second], 1)
    ]
    with closing(Sqlite(path)) as engine:
        engine.write(rows)
    return rows, len(first)


def test_two_tournaments_of_one_name_move_together_and_each_is_exported_as_itself(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The name of a deleted one was used again: both have a match of the name `one-1`."""
    _, each_has = deleted_and_opened_again(tmp_path / "old.sqlite")
    lines = moved(tmp_path / "old.sqlite")
    assert verify(lines).findings == []
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        assert bring_in(lines, engine, tmp_path) == {"one": each_has + 1, "one~2": each_has}
        assert set(bring_in(lines, engine, tmp_path).values()) == {0}
    assert facts_of(tmp_path / "new.sqlite") == facts_of(tmp_path / "old.sqlite")
    with closing(SqliteReader(tmp_path / "new.sqlite")) as reader:
        openings = [json.loads(next(leaving(reader, [name]))) for name in ("one", "one~2", "one~1")]
        with pytest.raises(Failure, match="there is no tournament 'one~3'; there are: one, one~2"):
            list(leaving(reader, ["one~3"]))
    assert [line["tournament"] for line in openings] == ["one"] * 3
    assert [line.get("kept_as") for line in openings] == ["one~2", "one~2", None]
    assert [line["state"] == "deleted" for line in openings] == [False, False, True]
    (tmp_path / "old.jsonl").write_bytes(b"".join(lines))
    assert import_(str(tmp_path / "old.jsonl"), where=Where(data=str(tmp_path / "data"))) == DONE
    told = [f"one: {each_has + 1} new facts", f"one, number 2 of that name: {each_has} new facts"]
    assert capsys.readouterr().out.splitlines() == told


def test_an_import_that_was_broken_off_is_gone_on_with(tmp_path: Path) -> None:
    rows = filled(tmp_path / "old.sqlite")
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        engine.write(rows[:20])
        bring_in(moved(tmp_path / "old.sqlite"), engine, tmp_path)
    assert facts_of(tmp_path / "new.sqlite") == facts_of(tmp_path / "old.sqlite")


def test_what_is_in_a_file_twice_is_kept_once_and_counted_once(tmp_path: Path) -> None:
    """Catches "0 new facts" for two exports in one file, of which the first was kept."""
    filled(tmp_path / "old.sqlite")
    lines = moved(tmp_path / "old.sqlite")
    for number, source in enumerate((lines, lines * 2)):
        with closing(Sqlite(tmp_path / f"new-{number}.sqlite")) as engine:
            new = bring_in(source, engine, tmp_path)
            assert new == {name: len([*engine.kept(0, name)]) for name in new}
        assert facts_of(tmp_path / f"new-{number}.sqlite") == facts_of(tmp_path / "old.sqlite")


def test_an_import_into_an_earlier_copy_of_a_host_takes_all_that_has_happened_since(tmp_path: Path) -> None:
    """A tournament may have been deleted since then, and another opened under its name."""
    rows, each_has = deleted_and_opened_again(tmp_path / "old.sqlite")
    lines = moved(tmp_path / "old.sqlite")
    for already in (1, each_has, each_has + 1, len(rows)):
        copy = tmp_path / f"{already}.sqlite"
        with closing(Sqlite(copy)) as engine:
            engine.write(rows[:already])
            new = bring_in(lines, engine, tmp_path)
        assert sum(count or 0 for count in new.values()) == len(rows) - already
        assert facts_of(copy) == facts_of(tmp_path / "old.sqlite")


def table_of_long_matches(path: Path, matches: int, plies: int = 300) -> None:
    """A journal with one open table. Nobody has played these moves, and an import does not replay them."""
    moves, names = tuple(range(plies)), ("ann", "bob")
    facts: list[AnyFact] = [Opened("tic-tac-toe", "open"), Turned(Stage.RUNNING), *map(Entered, names)]
    for number in range(1, matches + 1):
        match, times = f"open-{number}", tuple(1e-6 * (number + ply) for ply in moves)
        facts += Drew((Pairing(number, number, *names),)), Dealt(match, number)
        facts.append(Concluded(match, number, names, 0, Ending.LEFT, "bob left", (1.0, 0.0), moves, times))
    with closing(Sqlite(path)) as engine:
        engine.write([entries.entry(number, "open", 1.0, fact) for number, fact in enumerate(facts, 1)])


def peak_of(act: Callable[[], object]) -> int:
    """How many bytes of memory that took at the most."""
    tracemalloc.start()
    try:
        act()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_an_import_needs_less_memory_than_the_tournament_does(tmp_path: Path) -> None:
    """Catches one that cannot be done where there is no room for half a million matches at once."""
    peaks, size = list[int](), 0
    for matches in (1, 100, 300):  # an import has two hundred entries in memory, three of each match
        table_of_long_matches(tmp_path / f"old-{matches}.sqlite", matches, plies=150)
        (tmp_path / "old.jsonl").write_bytes(b"".join(moved(tmp_path / f"old-{matches}.sqlite")))
        size = (tmp_path / "old.jsonl").stat().st_size
        with (
            closing(Sqlite(tmp_path / f"new-{matches}.sqlite")) as engine,
            (tmp_path / "old.jsonl").open("rb") as source,
        ):
            peaks.append(peak_of(lambda: bring_in(source, engine, tmp_path)))
            assert engine.last() == 4 + 3 * matches
    assert peaks[2] - peaks[1] < size / 4


def test_an_export_needs_less_memory_than_the_tournament_does(tmp_path: Path) -> None:
    peaks, size = list[int](), 0
    for matches in (1, 3 * LATEST // 2, 5 * LATEST // 2):  # a record has more of its latest matches
        table_of_long_matches(tmp_path / f"{matches}.sqlite", matches, plies=20)
        size = (tmp_path / f"{matches}.sqlite").stat().st_size
        with closing(SqliteReader(tmp_path / f"{matches}.sqlite")) as reader:
            peaks.append(peak_of(lambda: all(leaving(reader, ()))))
    assert peaks[2] - peaks[1] < size / 4


def test_verify_needs_less_memory_than_the_tournament_does(tmp_path: Path) -> None:
    """Catches a gigabyte for fifty thousand matches, of a command that an author of a bot may run as well."""
    peaks, size = list[int](), 0
    for matches in (1, 15, 45):
        table_of_long_matches(tmp_path / f"{matches}.sqlite", matches)
        (tmp_path / "exported.jsonl").write_bytes(b"".join(moved(tmp_path / f"{matches}.sqlite")))
        size = (tmp_path / "exported.jsonl").stat().st_size
        with (tmp_path / "exported.jsonl").open("rb") as source:
            peaks.append(peak_of(lambda: verify(source)))
    assert peaks[2] - peaks[1] < size / 4


class OfOne(SqliteReader):
    """Has only the entries of one tournament."""

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterator[Entry]:
        assert tournament == "one"
        return super().kept(after, tournament)


def test_whoever_asks_for_one_tournament_does_not_read_all_others(tmp_path: Path) -> None:
    """Catches a minute and a half for a tournament of six matches, beside two million others."""
    path = prepared(str(tmp_path / "data")) / "quintain.sqlite"
    filled(path)
    with closing(OfOne(path)) as reader:
        assert json.loads(next(leaving(reader, ["one"])))["tournament"] == "one"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE journal SET body = 'unreadable' WHERE tournament <> 'one'")
        connection.commit()
    assert kept_tournament(tmp_path / "data", "one")["tournament"] == "one"


def test_an_export_that_goes_on_while_a_host_keeps_more_is_as_of_when_it_began(tmp_path: Path) -> None:
    table_of_long_matches(tmp_path / "old.sqlite", 2)
    before = moved(tmp_path / "old.sqlite")
    with closing(Sqlite(tmp_path / "old.sqlite")) as engine:
        lines = leaving(engine, ())
        found = [next(lines)]
        engine.write([entries.entry(engine.last() + 1, "open", 2.0, Entered("cas"))])
        assert [*found, *lines] == before


def test_an_import_that_finds_no_room_keeps_nothing_and_leaves_nothing(tmp_path: Path) -> None:
    where, folder = Where(data=str(tmp_path / "data")), prepared(str(tmp_path / "data"))
    table_of_long_matches(tmp_path / "old.sqlite", 100)
    (tmp_path / "old.jsonl").write_bytes(b"".join(moved(tmp_path / "old.sqlite")))
    opened(where.settings(), folder).close()
    before = {*folder.iterdir(), folder / "lock"}
    for room in (70_000, 140_000, 210_000):
        with little_room(room), pytest.raises(Failure, match=r"data: cannot be written: File too large"):
            import_(str(tmp_path / "old.jsonl"), where=where)
        assert {*folder.iterdir()} == before
    assert facts_of(folder / "quintain.sqlite") == {}
    assert import_(str(tmp_path / "old.jsonl"), where=where) == DONE


def test_a_tournament_that_went_on_in_another_way_is_left_as_it_is_and_all_others_are_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every host has tables of the same names, at which other matches were played."""
    kept = filled(tmp_path / "old.sqlite")
    lines = moved(tmp_path / "old.sqlite")
    (tmp_path / "old.jsonl").write_bytes(b"".join(lines))
    new = tmp_path / "data/quintain.sqlite"
    prepared(str(new.parent))
    with closing(Sqlite(new)) as engine:
        (first, *_) = [row for row in kept if row.tournament == "one"]
        engine.write([first, entries.entry(first.number + 1, "one", 100.0, Claimed("bot-4", "cd" * 32))])
    before = facts_of(new)["one"]
    assert import_(str(tmp_path / "old.jsonl"), where=Where(data=str(new.parent))) == FAILED
    assert "one is there already, and not as in this file" in capsys.readouterr().err
    assert facts_of(new) == facts_of(tmp_path / "old.sqlite") | {"one": before}


def caught_at_a_backup(folder: Path) -> tuple[Forked, Path]:
    """A backup to `copy.sqlite` that is half done, and the folder in which that is to be."""
    path, copies = prepared(str(folder / "data")) / "quintain.sqlite", folder / "copies"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:  # so much that its copy is caught at it
        connection.execute("CREATE TABLE filler AS SELECT zeroblob(100000000)")
        connection.commit()
    process = Forked(("backup", str(copies / "copy.sqlite"), "--data", "data"), folder, os.environ)
    while process.poll() is None and not list(copies.glob("*.part")):
        pass
    return process, copies


def test_a_backup_that_is_ended_by_a_signal_leaves_nothing(tmp_path: Path) -> None:
    """As systemd or `timeout` ends one that takes too long."""
    process, copies = caught_at_a_backup(tmp_path)
    process.send_signal(signal.SIGTERM)
    assert process.communicate() == ("", "")
    assert process.wait() == INTERRUPTED
    assert list(copies.iterdir()) == []


def test_a_backup_replaces_no_file_that_somebody_makes_meanwhile(tmp_path: Path) -> None:
    process, copies = caught_at_a_backup(tmp_path)
    process.send_signal(signal.SIGSTOP)
    (copies / "copy.sqlite").write_bytes(b"another one")
    process.send_signal(signal.SIGCONT)
    said, complaint = process.communicate()
    assert (process.wait(), said) == (FAILED, "")
    assert "there is a file of that name already, and a backup replaces no file" in complaint
    assert [file.read_bytes() for file in copies.iterdir()] == [b"another one"]


def test_when_two_live_tournaments_have_one_name_the_one_that_is_there_stays(tmp_path: Path) -> None:
    """A host would show the other one alone."""
    filled(tmp_path / "here.sqlite")
    facts = [each for each in simulated(7) if each.tournament == "one"]
    rows = [entries.entry(n, "one~2", each.when, each.fact) for n, each in enumerate(facts, 1)]
    with closing(Sqlite(tmp_path / "there.sqlite")) as there:
        there.write(rows)
        again = list(leaving(there, ()))
    with closing(Sqlite(tmp_path / "here.sqlite")) as engine:
        before = list(engine.kept())
        assert bring_in(again, engine, tmp_path) == {"one~2": None}
        assert list(engine.kept()) == before
        engine.write([entries.entry(engine.last() + 1, "one", 200.0, Turned(Stage.DELETED))])
        assert bring_in(again, engine, tmp_path) == {"one~2": len(rows)}
        assert bring_in(again, engine, tmp_path) == {"one~2": 0}


def test_what_no_host_can_have_kept_is_not_imported(tmp_path: Path) -> None:
    """Catches a file that a host would crash on each time that it starts."""
    lines = unchained(exported(simulated(7)))
    spoilt = [line for line in lines if not (line["type"] == "fact" and line["fact"]["type"] == "entered")]
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        with pytest.raises(Failure, match=r"line \d+: .* has not entered"):
            bring_in(text(spoilt), engine, tmp_path)
        with pytest.raises(Failure, match="one has no facts"):
            bring_in(text(exported(simulated(7), facts=False)), engine, tmp_path)
        with pytest.raises(Failure, match="not all of this fact is there"):
            bring_in(text(exported(simulated(7), everything=False)), engine, tmp_path)
        with pytest.raises(Failure, match="line 1: "):
            bring_in([b"junk\n"], engine, tmp_path)
        assert engine.last() == 0
        with pytest.raises(Failure, match=r"the chain of two has \d+ facts"):
            bring_in(text([*exported(simulated(7))[:-3], *exported(simulated(7))[-2:]]), engine, tmp_path)


def renamed(name: str, kept_as: str) -> list[Any]:
    """An export in which the tournament `one` has another name, and is kept under another."""
    lines = unchained(exported(simulated(7)))
    for line in lines:
        if line.get("tournament") == "one":
            line["tournament"] = kept_as if line["type"] == "fact" else name
            if line["type"] == "tournament":
                line["kept_as"] = kept_as
    return lines


@pytest.mark.parametrize(
    ("name", "kept_as"),
    [("~", "~"), ("a\n", "a\n"), ("one", "uno"), ("one", "~2"), ("one", "one~x"), ("..", "..")],
)
def test_what_no_host_can_have_called_a_tournament_is_not_imported(
    tmp_path: Path, name: str, kept_as: str
) -> None:
    with (
        closing(Sqlite(tmp_path / "new.sqlite")) as engine,
        pytest.raises(Failure, match=r"line \d+: no tournament is called "),
    ):
        bring_in(text(renamed(name, kept_as)), engine, tmp_path)


def test_no_tournament_is_imported_that_would_stand_in_the_place_of_an_open_table(tmp_path: Path) -> None:
    """Bots are sent there by the name: those of that game would have no table for as long as it is kept."""
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        for game, format in (("tic-tac-toe", "round-robin"), ("connect-4", "open")):
            rows = [entries.entry(1, "open-tic-tac-toe", 1.0, Opened(game, format))]
            path = tmp_path / f"{format}.sqlite"
            with closing(Sqlite(path)) as forged:
                forged.write(rows)
            why = f"names that begin with open- are those of open tables, and this is a {format} of {game};"
            with pytest.raises(Failure, match=f"line 2: {why}"):
                bring_in(moved(path), engine, tmp_path)
        assert engine.last() == 0


def test_a_file_of_what_is_unknown_here_is_refused_in_a_line_that_names_it(tmp_path: Path) -> None:
    """A game of another package may not be installed, and an integer may be longer than any of a game."""
    lines = unchained(exported(simulated(7)))
    game = [
        line | {"fact": line["fact"] | {"game": "nim"}}
        if line.get("fact", {}).get("type") == "opened"
        else line
        for line in lines
    ]
    moves = [line | {"moves": [2**70], "times": [1.0]} if line["type"] == "match" else line for line in lines]
    with closing(Sqlite(tmp_path / "new.sqlite")) as engine:
        with pytest.raises(Failure, match=r'line \d+: there is no game "nim"; there are: '):
            bring_in(text(game), engine, tmp_path)
        with pytest.raises(Failure, match=r"line \d+: "):
            bring_in(text(moves), engine, tmp_path)


def test_a_host_moves_to_postgresql_and_back(tmp_path: Path, server: Server) -> None:
    from server.store.postgres import Postgres
    from server.store.postgres_reader import PostgresReader

    filled(tmp_path / "old.sqlite")
    lines, url = moved(tmp_path / "old.sqlite"), server.database()
    with closing(Postgres(url)) as engine:
        bring_in(lines, engine, tmp_path)
        with closing(PostgresReader(url)) as reader:
            assert list(leaving(reader, ())) == lines, "also while a host has it"
    with closing(PostgresReader(url)) as reader:
        reader.backup(tmp_path / "copy.sqlite")
        assert reader.check() == []
    assert facts_of(tmp_path / "copy.sqlite") == facts_of(tmp_path / "old.sqlite")


def test_nothing_is_put_into_a_database_while_hosts_share_it(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    from server.store.shared import SharedPostgres

    monkeypatch.setenv("QUINTAIN_SHOW", "1")
    url, data = server.database(), str(tmp_path / "data")
    (tmp_path / "shared.toml").write_text(f'store = "{url}"\npeers = "127.0.0.1:0"\n')
    where = Where(data=data, config=str(tmp_path / "shared.toml"))
    filled(tmp_path / "old.sqlite")
    (tmp_path / "old.jsonl").write_bytes(b"".join(moved(tmp_path / "old.sqlite")))
    with closing(SharedPostgres(url)):
        with pytest.raises(Failure, match="another host is using it"):
            import_(str(tmp_path / "old.jsonl"), where=where)
        with pytest.raises(Failure, match="another host is using it"):
            restore(str(tmp_path / "old.sqlite"), where=where)
    assert import_(str(tmp_path / "old.jsonl"), where=where) == DONE


def test_a_backup_is_made_beside_a_host_and_goes_back_where_it_came_from(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = Where(data=str(tmp_path / "data"))
    folder = prepared(str(tmp_path / "data"))
    path, copy = folder / "quintain.sqlite", tmp_path / "copy.sqlite"
    rows = filled(path)
    with closing(Sqlite(path)) as host:
        backup(str(copy), where=where)
        host.write([Entry(len(rows) + 1, "", 6.0, "ordered", None, "{}")])
    with pytest.raises(Failure, match="there is a file of that name"):
        backup(str(copy), where=where)
    with pytest.raises(Failure, match="--force"):
        restore(str(copy), where=where)
    with locked(folder), pytest.raises(ConfigError, match="another host"):
        restore(str(copy), force=True, where=where)
    after = path.read_bytes()
    restore(str(copy), force=True, where=where)
    with closing(SqliteReader(path)) as reader:
        assert list(reader.kept()) == rows
    (aside,) = (folder / "backups").glob("before-restore-*.sqlite")
    assert aside.read_bytes() == after, "as it was, down to the last byte"
    assert f"{aside}: what was there before" in capsys.readouterr().out


def test_the_journal_of_a_host_that_runs_or_was_killed_is_restored_with_what_is_in_its_log(
    tmp_path: Path, server: Server
) -> None:
    """A journal is as good as a backup of it, and a copy of its folder too."""
    from server.store.postgres_reader import PostgresReader

    path, copied = tmp_path / "quintain.sqlite", tmp_path / "copied.sqlite"
    rows = filled(path)
    with closing(Sqlite(path)) as host:
        rows.append(Entry(len(rows) + 1, "", 6.0, "ordered", None, '{"type":"ordered"}'))
        host.write(rows[-1:])
        for end in ("", "-wal"):
            shutil.copy(path.with_name(path.name + end), copied.with_name(copied.name + end))
        for source in (path, copied):
            folder = prepared(str(tmp_path / f"from-{source.stem}"))
            found = settings(None, {}, {"data": str(folder)})
            put_back(source, found, folder, "now", force=False)
            url = server.database()
            put_back(source, structs.replace(found, store=url), folder, "now", force=False)
            with closing(PostgresReader(url)) as database, closing(SqliteReader(folder / path.name)) as file:
                assert (file.last(), database.last()) == (len(rows), len(rows))
                assert [row.body for row in file.kept()] == [row.body for row in database.kept()]


def test_a_backup_that_finds_no_room_is_refused_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = prepared(str(tmp_path / "data"))
    filled(folder / "quintain.sqlite")
    monkeypatch.chdir(tmp_path)
    with little_room(20_000), pytest.raises(Failure, match=r"^copy\.sqlite: no copy could be made: "):
        backup("copy.sqlite", where=Where(data=str(folder)))
    assert os.listdir(tmp_path) == ["data"]


def test_a_restore_that_finds_no_room_leaves_everything_as_it_was(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    rows = filled(folder / "quintain.sqlite")
    with closing(Sqlite(tmp_path / "copy.sqlite")) as large:
        large.write([Entry(1, "", 1.0, "ordered", None, "x" * 200_000)])
    before = sorted(folder.rglob("*"))
    for store in ({}, {"store": "postgresql://nobody@127.0.0.1:1/nothing"}):
        found = settings(None, {}, {"data": str(folder)} | store)
        with little_room(100_000), pytest.raises(Failure, match=r"quintain\.sqlite: cannot be written: "):
            put_back(tmp_path / "copy.sqlite", found, folder, "now", force=True)
    assert sorted(folder.rglob("*")) == before
    with closing(SqliteReader(folder / "quintain.sqlite")) as reader:
        assert list(reader.kept()) == rows


def test_a_backup_finds_the_room_that_one_has_left_whose_maker_was_killed(tmp_path: Path) -> None:
    """Catches one that was never made again, for the room that half of an earlier one took."""
    filled(tmp_path / "quintain.sqlite")
    (disk := tmp_path / "disk").mkdir()
    begun = f"{disk}/monday.sqlite.01234567.part"
    full = f"head -c {(1 << 20) - 8192} /dev/zero > {begun} && touch -d '1 day ago' {begun}"
    alone = ("unshare", "--map-root-user", "--mount", "sh", "-c")
    small = f"mount -t tmpfs -o size=1M tmpfs {disk}"
    if not shutil.which("unshare") or subprocess.run([*alone, small], capture_output=True).returncode != 0:
        lacking("no disks of our own: nobody but root may have a small one here")
    made = f"{sys.executable} -m server backup {disk}/tuesday.sqlite --data {tmp_path}"
    run = subprocess.run([*alone, f"{small} && {full} && {made}"], cwd=ROOT, capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


OTHER_DISK = Path("/dev/shm")  # noqa: S108 - on Linux it is in memory


def test_what_was_there_before_is_kept_also_where_the_backups_are_on_another_disk(tmp_path: Path) -> None:
    if not OTHER_DISK.is_dir():
        lacking("there is no other disk here")
    folder = prepared(str(tmp_path / "data"))
    path, found = folder / "quintain.sqlite", settings(None, {}, {"data": str(folder)})
    filled(tmp_path / "copy.sqlite")
    with closing(Sqlite(path)) as host:
        host.write([Entry(1, "", 6.0, "ordered", None, "x" * 200_000)])
        left = {end: path.with_name(path.name + end).read_bytes() for end in ("", "-wal")}
    for end, content in left.items():  # as by a host that was killed
        path.with_name(path.name + end).write_bytes(content)
    before = sorted(folder.iterdir())
    with TemporaryDirectory(dir=OTHER_DISK) as other:
        (folder / "backups").symlink_to(other)
        with little_room(150_000), pytest.raises(Failure, match=r"cannot be written: File too large"):
            put_back(tmp_path / "copy.sqlite", found, folder, "now", force=True)
        assert (os.listdir(other), sorted(folder.iterdir())) == ([], sorted([*before, folder / "backups"]))
        aside = put_back(tmp_path / "copy.sqlite", found, folder, "now", force=True)
        assert aside is not None
        assert {end: aside.with_name(aside.name + end).read_bytes() for end in left} == left
    assert sorted(folder.iterdir()) == [folder / "backups", path]
    assert facts_of(path) == facts_of(tmp_path / "copy.sqlite")


def test_a_journal_that_is_a_link_to_another_disk_stays_one_and_what_was_there_before_is_kept(
    tmp_path: Path,
) -> None:
    folder = prepared(str(tmp_path / "data"))
    link, place = folder / "quintain.sqlite", tmp_path / "disk" / "journal.sqlite"
    place.parent.mkdir()
    link.symlink_to("../disk/journal.sqlite")
    filled(tmp_path / "copy.sqlite")
    with closing(Sqlite(link)) as host:
        host.write([Entry(1, "", 6.0, "ordered", None, "{}")])
        left = {end: place.with_name(place.name + end).read_bytes() for end in ("", "-wal")}
    for end, content in left.items():  # as by a host that was killed
        place.with_name(place.name + end).write_bytes(content)
    found = settings(None, {}, {"data": str(folder)})
    aside = put_back(tmp_path / "copy.sqlite", found, folder, "now", force=True)
    assert aside is not None
    assert {end: aside.with_name(aside.name + end).read_bytes() for end in left} == left
    assert (link.is_symlink(), aside.is_symlink(), os.listdir(place.parent)) == (True, False, [place.name])
    assert facts_of(place) == facts_of(tmp_path / "copy.sqlite")


def test_a_restore_that_is_killed_before_any_step_loses_nothing_in_silence(tmp_path: Path) -> None:
    """The next start finds all of what was there, or all of the backup, or it says that it finds nothing."""
    rows = [Entry(number, "", 6.0, "ordered", None, "{}") for number in (1, 2)]
    with closing(Sqlite(tmp_path / "copy.sqlite")) as backup:
        backup.write([Entry(7, "", 6.0, "ordered", None, "{}")])
    journal = tmp_path / "quintain.sqlite"
    Sqlite(journal).close()
    with closing(Sqlite(journal)) as host:
        host.write(rows)
        left = {end: journal.with_name(journal.name + end).read_bytes() for end in ("", "-wal")}
    found, refusals = list[int](), list[str]()
    for steps in count():
        folder = prepared(str(tmp_path / str(steps)))
        for end, content in left.items():  # as by a host that was killed
            (folder / f"quintain.sqlite{end}").write_bytes(content)
        killed = CONTEXT.Process(target=restored_and_killed, args=(folder, tmp_path / "copy.sqlite", steps))
        with LOCK:
            killed.start()
        wait([killed.sentinel], HANG)
        with LOCK:
            ended = killed.exitcode
        there = settings(None, {}, {"data": str(folder)})
        try:
            with closing(opened(there, folder)) as engine:
                found.append(engine.last())
        except Unusable as refused:
            refusals.append(str(refused))
            put_back(tmp_path / "copy.sqlite", there, folder, "later", force=True)
        if ended == DONE:
            break
    assert found == sorted(found)
    assert set(found) == {2, 7}
    assert all("it is empty" in said and "the newest backup is " in said for said in refusals)


def test_a_restore_clears_away_what_killed_ones_have_left(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    filled(tmp_path / "copy.sqlite")
    copies = [
        folder / f"quintain.sqlite{end}" for end in (".part", ".0a1b2c3d.part", ".0a1b2c3d.part-journal")
    ]
    in_a_folder = folder / "quintain.sqlite.k2_x.part" / "quintain.sqlite"
    in_a_folder.parent.mkdir()
    for left in (*copies, in_a_folder):
        shutil.copy(tmp_path / "copy.sqlite", left)
    put_back(copies[1], settings(None, {}, {"data": str(folder)}), folder, "now", force=False)
    assert sorted(folder.iterdir()) == [folder / "quintain.sqlite", copies[1]], "only what was asked for"
    assert facts_of(folder / "quintain.sqlite") == facts_of(tmp_path / "copy.sqlite")


def test_what_was_there_before_is_kept_of_every_restore_however_soon_the_next_comes(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    found = settings(None, {}, {"data": str(folder)})
    rows = filled(folder / "quintain.sqlite")
    filled(tmp_path / "copy.sqlite")
    with closing(Sqlite(folder / "quintain.sqlite")) as host:
        host.write([Entry(len(rows) + 1, "", 6.0, "ordered", None, "{}")])
    kept = [put_back(tmp_path / "copy.sqlite", found, folder, "now", force=True) for _ in range(3)]
    lasts: list[int] = []
    for aside in filter(None, kept):
        with closing(SqliteReader(aside)) as reader:
            lasts.append(reader.last())
    assert lasts == [len(rows) + 1, len(rows), len(rows)]


def test_what_a_killed_host_has_left_beside_a_deleted_journal_does_not_damage_the_backup_restored(
    tmp_path: Path,
) -> None:
    folder = prepared(str(tmp_path / "data"))
    path = folder / "quintain.sqlite"
    filled(tmp_path / "copy.sqlite")
    filled(path)
    with closing(Sqlite(path)) as host:
        for number in range(100, 200):
            host.write([Entry(number, "", 6.0, "ordered", None, "x" * 500)])
        left = {end: path.with_name(path.name + end).read_bytes() for end in ("-wal", "-shm")}
    path.unlink()
    for end, content in left.items():
        path.with_name(path.name + end).write_bytes(content)
    put_back(tmp_path / "copy.sqlite", settings(None, {}, {"data": str(folder)}), folder, "now", force=False)
    with closing(SqliteReader(path)) as reader:
        assert reader.check() == []
    assert facts_of(path) == facts_of(tmp_path / "copy.sqlite")


def test_a_backup_of_an_older_quintain_is_restored_into_a_file_or_a_database(
    tmp_path: Path, server: Server
) -> None:
    from server.store.postgres_reader import PostgresReader

    old, folder = Path(__file__).parent / "store/journals/schema-1.sqlite", prepared(str(tmp_path / "data"))
    before, found = old.read_bytes(), settings(None, {}, {"data": str(folder)})
    put_back(old, found, folder, "now", force=False)
    Sqlite(folder / "quintain.sqlite").close()
    url = server.database()
    put_back(old, structs.replace(found, store=url), folder, "now", force=False)
    with (
        closing(PostgresReader(url)) as database,
        closing(SqliteReader(folder / "quintain.sqlite")) as file,
    ):
        assert list(map(journal.kept, database.kept())) == list(map(journal.kept, file.kept()))
        assert database.last() == file.last() > 0
    assert old.read_bytes() == before


@pytest.mark.parametrize("damage", ["cut short", "no database"])
def test_a_backup_that_cannot_be_read_says_nothing_of_other_backups(tmp_path: Path, damage: str) -> None:
    """Catches an organiser who is told that there is none, while sound ones lie beside the damaged one."""
    folder = prepared(str(tmp_path / "data"))
    filled(folder / "quintain.sqlite")
    (folder / "backups").mkdir()
    backup = folder / "backups/regular-20260101-000000.sqlite"
    whole = (folder / "quintain.sqlite").read_bytes()
    backup.write_bytes(whole[: len(whole) // 2] if damage == "cut short" else b"not a database" * 100)
    said = r": this (backup is damaged|is not a backup): [^;]*$"
    with pytest.raises(Failure, match=f"^{re.escape(str(backup))}{said}"):
        put_back(backup, settings(None, {}, {"data": str(folder)}), folder, "now", force=True)
    assert (folder / "quintain.sqlite").read_bytes() == whole


@pytest.mark.parametrize("tables", ["", "CREATE TABLE journal_of_somebody (day)"], ids=["empty", "another"])
def test_a_file_that_no_host_has_made_takes_the_place_of_nothing(tmp_path: Path, tables: str) -> None:
    """A copy that a full disk cut to nothing is a sound database to SQLite."""
    folder = tmp_path / "data"
    rows = filled(prepared(str(folder)) / "quintain.sqlite")
    with closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copy:
        copy.executescript(tables)
    with pytest.raises(Failure, match="this is not a backup: no host has kept anything in it"):
        restore(str(tmp_path / "copy.sqlite"), force=True, where=Where(data=str(folder)))
    with closing(SqliteReader(folder / "quintain.sqlite")) as reader:
        assert list(reader.kept()) == rows


def test_an_export_is_no_backup(tmp_path: Path) -> None:
    """It was called a damaged database, of which there was no backup in a folder beside it."""
    export = tmp_path / "friday.jsonl"
    export.write_text('{"type":"tournament","tournament":"friday"}\n')
    with pytest.raises(
        Failure, match=r"friday\.jsonl: this is not a backup: it is not an SQLite file$"
    ) as told:
        restore(str(export), force=True, where=Where(data=str(tmp_path / "data")))
    assert not isinstance(told.value, ConfigError)


def test_a_damaged_or_missing_backup_is_not_restored(tmp_path: Path) -> None:
    where = Where(data=str(tmp_path / "data"))
    with pytest.raises(Failure, match="no such file"):
        restore(str(tmp_path / "nothing"), where=where)
    with pytest.raises(Failure, match="expected a file, and this is a folder"):
        restore(str(tmp_path), where=where)
    filled(tmp_path / "copy.sqlite")
    content = bytearray((tmp_path / "copy.sqlite").read_bytes())
    content[5000:9000] = b"x" * 4000
    (tmp_path / "copy.sqlite").write_bytes(content)
    with pytest.raises((Failure, ConfigError), match=r"copy\.sqlite: "):
        restore(str(tmp_path / "copy.sqlite"), where=where)
    assert not (tmp_path / "data" / "quintain.sqlite").exists()


def command(
    folder: Path, *arguments: str, source: str = "", without: Collection[int] = ()
) -> "subprocess.CompletedProcess[str]":
    process = Forked(arguments, folder, {"PATH": ""}, source.encode(), without)
    out, errors = process.communicate()
    return subprocess.CompletedProcess(arguments, process.wait(), out, errors)


def test_what_a_command_logs_is_not_among_its_results(tmp_path: Path) -> None:
    """Here it upgrades what an older Quintain has kept, and says so."""
    old = Path(__file__).parent / "store/journals/schema-1.sqlite"
    shutil.copy(old, prepared(str(tmp_path / "old")) / "quintain.sqlite")
    filled(tmp_path / "new.sqlite")
    lines = b"".join(moved(tmp_path / "new.sqlite")).decode()
    run = command(tmp_path, "import", "--data", "old", source=lines)
    assert run.returncode == 0, run.stderr
    assert all(line.endswith(" new facts") for line in run.stdout.splitlines()), run.stdout
    begun = run.stderr.index("has kept is copied before it is upgraded")
    done = run.stderr.index("a copy was kept before the upgrade")
    assert begun < done  # in between, of a long journal, nothing else is said


def test_the_commands_work_together(tmp_path: Path) -> None:
    filled(prepared(str(tmp_path / "quintain-data")) / "quintain.sqlite")
    everything = command(tmp_path, "export", "--all")
    assert (everything.returncode, everything.stderr) == (0, "")
    brought = command(tmp_path, "import", "--data", "other", source=everything.stdout)
    assert brought.returncode == 0, brought.stderr
    assert "one: " in brought.stdout
    one = command(tmp_path, "export", "two", "--data", "other")
    assert {json.loads(line).get("tournament", "two") for line in one.stdout.splitlines()} == {"two"}
    unknown = command(tmp_path, "export", "three")
    assert (unknown.returncode, unknown.stdout) == (1, "")
    assert unknown.stderr == "quintain: there is no tournament 'three'; there are: one, two\n"
    neither = command(tmp_path, "export")
    assert neither.returncode == 2
    nothing = command(tmp_path, "export", "--all", "--data", "nowhere")
    assert nothing.returncode == 2
    assert nothing.stderr.startswith("quintain: nowhere/quintain.sqlite: there is no such file")
    elsewhere = command(tmp_path, "export", "--all", "--store", "mysql://root@localhost/x")
    assert elsewhere.returncode == 2
    assert "expected postgresql://" in elsewhere.stderr


# The doctor


def states(tmp_path: Path, **changed: Any) -> dict[str, Severity]:
    ports = {"tcp": 0, "websocket": 0, "http": 0}
    found = settings(None, {}, {"data": str(tmp_path / "data"), "ports": ports, **changed})
    answers = [*examination(found)]
    assert not [answer.said for answer in answers if "(and 0 more)" in answer.said or "\n" in answer.said]
    return {answer.about: answer.state for answer in answers}


def test_the_doctor_finds_nothing_wrong_where_a_host_can_run(tmp_path: Path) -> None:
    assert Severity.FAULT not in states(tmp_path).values()
    filled(prepared(str(tmp_path / "data")) / "quintain.sqlite")
    assert states(tmp_path)["journal"] is Severity.OK


def test_the_doctor_looks_for_room_on_the_disk_of_the_journal_too(tmp_path: Path) -> None:
    """Catches one that finds room where a host needs none, because the journal is a link to another disk."""
    if not OTHER_DISK.is_dir():
        lacking("there is no other disk here")
    folder = prepared(str(tmp_path / "data"))
    with TemporaryDirectory(dir=OTHER_DISK) as disk:
        filled(Path(disk) / "journal.sqlite")
        (folder / "quintain.sqlite").symlink_to(Path(disk) / "journal.sqlite")
        answers = list(examination(settings(None, {}, {"data": str(folder)})))
    own, journals = (answer.said for answer in answers if answer.about == "space")
    assert own.endswith(" GiB are free")
    assert journals.endswith(" GiB are free where the journal is")


def test_the_doctor_finds_a_damaged_journal(tmp_path: Path) -> None:
    path = prepared(str(tmp_path / "data")) / "quintain.sqlite"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_schema SET sql = 'nonsense' WHERE name = 'journal'")
        connection.commit()
    assert states(tmp_path)["journal"] is Severity.FAULT


def test_the_doctor_finds_a_journal_so_damaged_that_only_one_thing_can_be_said_of_it(tmp_path: Path) -> None:
    path = prepared(str(tmp_path / "data")) / "quintain.sqlite"
    filled(path)
    content = bytearray(path.read_bytes())
    for place in range(2 * 4096, 3 * 4096, 37):  # no fact is there
        content[place] ^= 0x5A
    path.write_bytes(content)
    assert states(tmp_path)["journal"] is Severity.FAULT


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE journal SET body = substr(body, 1, 9) WHERE number = 2",
        "INSERT INTO jotted VALUES ('cup-9', 1, '[\"NW\",', '[0.5]')",
    ],
    ids=["a fact", "moves of a match in play"],
)
def test_the_doctor_finds_what_cannot_be_read(tmp_path: Path, damage: str) -> None:
    path = prepared(str(tmp_path / "data")) / "quintain.sqlite"
    filled(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(damage)
        connection.commit()
    assert states(tmp_path)["journal"] is Severity.FAULT


def test_a_host_that_cannot_read_a_fact_names_the_file_and_the_newest_backup(tmp_path: Path) -> None:
    path = prepared(str(tmp_path / "data")) / "quintain.sqlite"
    filled(path)
    newest = path.parent / "backups" / "monday.sqlite"
    newest.parent.mkdir()
    shutil.copy(path, newest)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE journal SET body = substr(body, 1, 9) WHERE number = 2")
        connection.commit()
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    ended = command(tmp_path, "serve", *ports, "--data", str(path.parent))
    (said,) = [line for line in ended.stderr.splitlines() if line.startswith("quintain: ")]
    assert ended.returncode == MISUSED
    assert said.startswith(
        f"quintain: {path}: this database cannot be used: one, entry 2: this cannot be read: "
    )
    assert said.endswith(f"; the newest backup is {newest}")


def answers(folder: Path, store: str = "") -> dict[str, Diagnosis]:
    found = settings(None, {}, {"data": str(folder), "store": store})
    return {answer.about: answer for answer in reversed(list(examination(found)))}


def test_the_doctor_sends_nobody_back_to_a_backup_for_a_journal_that_is_only_of_another_version(
    tmp_path: Path,
) -> None:
    folder = prepared(str(tmp_path / "data"))
    shutil.copy(Path(__file__).parent / "store/journals/schema-1.sqlite", folder / "quintain.sqlite")
    older = answers(folder)["journal"]
    assert older.state is Severity.OK
    assert "was written by an older Quintain (schema 1" in older.said
    with closing(sqlite3.connect(folder / "quintain.sqlite")) as connection:
        connection.execute("PRAGMA user_version = 99")
    newer = answers(folder)["journal"]
    assert (newer.state, newer.advice) == (Severity.FAULT, "use that one, or a later one")


def test_what_somebody_else_has_locked_is_waited_for_and_no_damage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_database, "BUSY_TIMEOUT", 50)
    folder = prepared(str(tmp_path / "data"))
    path = folder / "quintain.sqlite"
    filled(path)
    with closing(connected(path)) as other:
        other.execute("PRAGMA locking_mode = EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        found = answers(folder)["journal"]
        assert (found.state, found.advice) == (Severity.FAULT, "a host waits for it")
        assert found.said == f"{path}: somebody else has locked it (database is locked)"
        for opened in (SqliteReader, Sqlite):
            with pytest.raises(Unavailable, match="somebody else has locked it"):
                opened(path)


@pytest.mark.parametrize(
    "left",
    ["snapshot", "snapshot-whole", "boards", "quintain.sqlite-wal", "backups/regular-20260101-000000.sqlite"],
)
def test_a_journal_that_was_emptied_is_not_taken_for_a_new_one(tmp_path: Path, left: str) -> None:
    """Catches a host that begins anew without a word, and in time replaces its last good backup."""
    folder = prepared(str(tmp_path / "data"))
    path, found = folder / "quintain.sqlite", settings(None, {}, {"data": str(folder)})
    path.touch()
    opened(found, folder).close()  # a host was killed before it had kept anything
    os.truncate(path, 0)
    with locked(folder):
        running = answers(folder)["journal"]
    assert (running.state, running.said) == (Severity.FAULT, f"{path} is empty, and a host is running")
    (folder / "backups").mkdir()
    (folder / left).touch()
    with pytest.raises(
        Unusable, match=r"it is empty, though .*; (the newest backup is|there is no backup in)"
    ):
        opened(found, folder)
    assert answers(folder)["journal"].state is Severity.FAULT
    path.unlink()
    opened(found, folder).close()


@pytest.mark.parametrize("size", [1, 30, 99])
def test_a_journal_that_was_cut_down_to_a_few_bytes_is_damaged_and_neither_new_nor_old(
    tmp_path: Path, size: int
) -> None:
    """To SQLite a file of one byte is a new database, and the schema of one cut in its header is 0."""
    folder = prepared(str(tmp_path / "data"))
    path, found = folder / "quintain.sqlite", settings(None, {}, {"data": str(folder)})
    opened(found, folder).close()
    os.truncate(path, size)
    for open_it in (lambda: opened(found, folder), lambda: beside(found)):
        with pytest.raises(Unusable, match="it was cut short; there is no backup in"):
            open_it()
    examined = answers(folder)["journal"]
    assert examined.state is Severity.FAULT
    assert examined.advice == "`quintain restore` goes back to a backup", "and not where there is none"


def test_a_folder_in_the_place_of_the_journal_is_called_that(tmp_path: Path) -> None:
    """It was called a file of another user, or a database that cannot be opened."""
    folder = prepared(str(tmp_path / "data"))
    found = settings(None, {}, {"data": str(folder)})
    (folder / "quintain.sqlite").mkdir()
    for open_it in (lambda: opened(found, folder), lambda: beside(found)):
        with pytest.raises(Unusable, match=r"it is a folder, .* \(move it away\); there is no backup in"):
            open_it()
    assert answers(folder)["journal"].state is Severity.FAULT


def test_a_database_in_which_no_host_has_kept_anything_yet_is_not_called_that_of_an_older_one(
    tmp_path: Path,
) -> None:
    """As a host leaves it that is killed in its first moment."""
    folder = prepared(str(tmp_path / "data"))
    with closing(connected(folder / "quintain.sqlite")) as database:
        database.execute("PRAGMA journal_mode = WAL")
    with pytest.raises(NothingKept, match="no host has kept anything here"):
        beside(settings(None, {}, {"data": str(folder)}))
    assert answers(folder)["journal"].said == "nothing has been kept yet"


def test_a_link_to_a_disk_that_is_missing_is_not_taken_for_a_new_journal(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    path, found = folder / "quintain.sqlite", settings(None, {}, {"data": str(folder)})
    path.symlink_to(tmp_path / "journal.sqlite")
    opened(found, folder).close()  # nothing has been kept yet: it is made there
    (tmp_path / "journal.sqlite").rename(tmp_path / "on another disk")
    (folder / "snapshot").touch()
    with pytest.raises(Unusable, match="it is a link to a file that is not there, though a host has kept"):
        opened(found, folder)
    assert answers(folder)["journal"].state is Severity.FAULT
    (tmp_path / "on another disk").rename(tmp_path / "journal.sqlite")
    opened(found, folder).close()


def test_the_doctor_finds_that_the_journal_of_a_running_host_is_gone(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    with locked(folder):
        found = answers(folder)["journal"]
    assert (found.state, found.said) == (
        Severity.FAULT,
        f"{folder / 'quintain.sqlite'} is gone, and a host is running",
    )
    assert answers(folder)["journal"].state is Severity.OK


@pytest.mark.parametrize(("closed", "host"), [("", "warning"), ("quintain.sqlite", "ok")])
def test_the_doctor_and_others_say_that_another_users_folder_or_journal_cannot_be_read(
    tmp_path: Path, closed: str, host: str
) -> None:
    """Catches a journal that was called unusable, and of which there was no backup."""
    folder = prepared(str(tmp_path / "data"))
    filled(folder / "quintain.sqlite")
    (folder / "lock").touch()
    (folder / closed).chmod(0o000)
    try:
        examined = bound_by_rights("doctor", "--json", "--data", str(folder))
        others = [
            bound_by_rights(*words, "--data", str(folder)) for words in (("export", "one"), ("backup",))
        ]
    finally:
        folder.chmod(0o700)
    found = {check["about"]: check for check in reversed(json.loads(examined.stdout)["checks"])}
    assert found["host"]["state"] == host
    unread = f"{folder / 'quintain.sqlite'}: cannot be read: Permission denied"
    assert (found["journal"]["said"], found["journal"]["state"]) == (unread, "fault")
    assert found["journal"]["advice"] == "run this as the user that the host runs as"
    assert {(each.returncode, each.stderr) for each in others} == {(2, f"quintain: {unread}\n")}


def test_the_doctor_says_of_a_database_whether_it_is_away_or_only_new(tmp_path: Path, server: Server) -> None:
    folder = prepared(str(tmp_path / "data"))
    url = server.database()
    new = answers(folder, url)
    assert {new["journal"].state, new["database"].state} == {Severity.OK}
    assert new["journal"].said == "nothing has been kept yet"
    away = answers(folder, url.replace(f":{server.port}/", f":{free_ports(1)[0]}/"))
    assert {away["journal"].state, away["database"].state} == {Severity.FAULT}
    assert away["journal"].advice == away["database"].advice == "see to the PostgreSQL server"


def test_the_doctor_finds_a_port_that_is_taken_unless_it_is_the_host_s(tmp_path: Path) -> None:
    import socket

    folder = prepared(str(tmp_path / "data"))
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        ports = {"tcp": other.getsockname()[1], "websocket": 0, "http": 0}
        assert states(tmp_path, ports=ports)["tcp"] is Severity.FAULT
        with locked(folder):
            assert states(tmp_path, ports=ports)["tcp"] is Severity.OK


def test_the_doctor_does_not_blame_another_program_for_an_address_that_this_machine_does_not_have(
    tmp_path: Path,
) -> None:
    changed = {"bind": "192.0.2.9", "ports": {"tcp": 0, "websocket": 0, "http": 0}}
    found = settings(None, {}, {"data": str(tmp_path / "data"), **changed})
    doors = [each for each in examination(found) if each.about in ("tcp", "websocket", "http")]
    assert [each.state for each in doors] == [Severity.FAULT] * 3
    assert {each.advice for each in doors} == {
        "set `bind` to an address of this machine: 0.0.0.0 is all of IPv4, :: all of IPv6"
    }


@ipv6
@pytest.mark.parametrize(
    ("taken", "bind", "state"),
    [
        ("::1", "127.0.0.1", Severity.FAULT),
        ("::1", "::1", Severity.FAULT),
        ("127.0.0.1", "::", Severity.OK),
    ],
)
def test_the_doctor_looks_at_a_port_on_all_addresses_on_which_a_host_would_listen_and_on_no_other(
    taken: str, bind: str, state: Severity, tmp_path: Path
) -> None:
    """Catches one that calls a port free with which no host starts."""
    import socket

    with socket.create_server(
        (taken, 0), family=socket.AF_INET6 if ":" in taken else socket.AF_INET
    ) as other:
        ports = {"tcp": other.getsockname()[1], "websocket": 0, "http": 0}
        assert states(tmp_path, ports=ports, bind=bind)["tcp"] is state


def test_the_doctor_finds_a_certificate_that_starts_no_host_or_that_clients_do_not_trust_for_long(
    tmp_path: Path,
) -> None:
    tls = {"certificate": str(tmp_path / "host.pem"), "key": str(tmp_path / "host.key")}
    authority = trustme.CA()
    issue(authority, tmp_path)
    assert states(tmp_path, tls=tls)["certificate"] is Severity.OK
    issue(authority, tmp_path, not_after=datetime(2020, 1, 1, tzinfo=UTC))
    assert states(tmp_path, tls=tls)["certificate"] is Severity.WARNING
    issue(authority, tmp_path, not_after=datetime.now(UTC) + timedelta(days=10))
    assert states(tmp_path, tls=tls)["certificate"] is Severity.WARNING
    authority.issue_cert("localhost").private_key_pem.write_to_path(tls["key"])
    assert states(tmp_path, tls=tls)["certificate"] is Severity.FAULT


def test_the_doctor_finds_a_folder_that_is_none(tmp_path: Path) -> None:
    """Catches advice to give somebody rights, where `--data` names the journal itself for instance."""
    file = tmp_path / "data"
    file.write_text("a file")
    for folder in (file, file / "within"):
        found = answers(folder)["folder"]
        assert (found.state, found.said) == (Severity.FAULT, f"{file} is a file, and a folder was expected")
        with pytest.raises(ConfigError, match=r": expected a folder, and a file is in the way$"):
            prepared(str(folder))


def test_the_doctor_speaks_in_lines_or_json_and_ends_with_one_where_something_is_wrong(
    tmp_path: Path,
) -> None:
    (tmp_path / "data").write_text("a file")
    bad = command(tmp_path, "doctor", "--json", "--data", "data")
    found = json.loads(bad.stdout)
    assert (bad.returncode, found["ok"]) == (1, False)
    assert all(check["advice"] for check in found["checks"] if check["state"] != "ok")
    (tmp_path / "quintain.toml").write_text("prot = 1")
    spoilt = command(tmp_path, "doctor")
    assert spoilt.returncode == 1
    assert spoilt.stdout.startswith("fault    configuration: quintain.toml: prot is not known")


def test_a_folder_on_a_full_disk_is_refused_in_one_line(tmp_path: Path) -> None:
    """An empty file still fits on such a disk, and then the database is said to be at fault."""
    with (
        little_room(4096),
        pytest.raises(ConfigError, match=r"friday: nothing can be kept in this folder: File too large$"),
    ):
        prepared(str(tmp_path / "friday"))
    assert list((tmp_path / "friday").iterdir()) == []
    assert prepared(str(tmp_path / "friday")) == tmp_path / "friday"


FULL = Path("/dev/full")  # a file that says of whatever is written to it that the disk is full
on_linux = pytest.mark.skipif(not FULL.exists(), reason="there is no /dev/full here")


@on_linux
def test_on_a_full_disk_a_start_gives_up_the_reserve_of_a_killed_host_and_only_that(tmp_path: Path) -> None:
    """Catches a host that cannot be started again on a full disk, although it has kept some room back."""
    folder = prepared(str(tmp_path / "friday"))
    probe, reserve = folder / ".writable", folder / "reserve"
    probe.symlink_to(FULL)
    with pytest.raises(Failure, match=r"until there is room: No space left on device$") as full:
        prepared(str(folder))
    assert full.value.code == FAILED, "a service is started again: there may be room by then"
    probe.symlink_to(FULL)
    reserve.write_bytes(bytes(1000))
    with locked(folder), pytest.raises(ConfigError, match="another host"):
        prepared(str(folder))
    assert reserve.exists(), "a host that runs needs it"
    probe.symlink_to(FULL)
    with capture_logs() as logs:
        assert prepared(str(folder)) == folder
    assert not reserve.exists()
    assert [line["event"] for line in logs] == ["the disk is full, and the reserve is given up"]


def expect_to_be_bound() -> None:
    """Root may do everything: that it need not be so is known of Linux alone."""
    if os.geteuid() == 0 and sys.platform != "linux":
        lacking("root gives up nothing here")


def bound_by_rights(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Run a command that may not write what it has no right to, as root otherwise may."""
    expect_to_be_bound()
    return command(ROOT, *arguments, without=(WRITE_ALL, READ_ALL))


def test_what_was_kept_can_be_read_where_nothing_can_be_written_any_more(tmp_path: Path) -> None:
    """As on a disk that has failed: SQLite wants to put a write-ahead log beside a database."""
    folder = prepared(str(tmp_path / "data"))
    filled(folder / "quintain.sqlite")
    before = command(tmp_path, "export", "--all", "--data", "data").stdout
    folder.chmod(0o500)
    try:
        read = bound_by_rights("export", "--all", "--data", str(folder))
        copied = bound_by_rights("backup", str(tmp_path / "copy.sqlite"), "--data", str(folder))
    finally:
        folder.chmod(0o700)
    assert (read.returncode, read.stdout, read.stderr) == (0, before, "")
    assert copied.returncode == 0
    assert facts_of(tmp_path / "copy.sqlite") == facts_of(folder / "quintain.sqlite")


def test_what_was_kept_can_be_read_on_a_full_disk_and_the_doctor_finds_it_sound(tmp_path: Path) -> None:
    folder = prepared(str(tmp_path / "data"))
    rows = filled(folder / "quintain.sqlite")
    with little_room(20_000):  # SQLite needs more beside a database
        found = {each.about: each for each in examination(settings(None, {}, {"data": str(folder)}))}
        with closing(SqliteReader(folder / "quintain.sqlite")) as reader:
            assert list(reader.kept()) == rows
    assert (found["journal"].state, found["journal"].said) == (Severity.OK, f"sound; {len(rows)} facts")


def test_what_a_killed_host_kept_can_be_read_on_a_full_disk_without_the_index_beside_it(
    tmp_path: Path,
) -> None:
    """As in a copy of a data folder without it: SQLite wants to make it again, and there is no room."""
    killed, folder = prepared(str(tmp_path / "killed")), prepared(str(tmp_path / "data"))
    with closing(Sqlite(killed / "quintain.sqlite")) as engine:
        rows = [
            entries.entry(1, "", 98.0, HOST_ORDER.fact),
            entries.entry(2, "one", 99.0, Claimed("ann", "ab" * 32)),
        ]
        engine.write(rows)
        for name in ("quintain.sqlite", "quintain.sqlite-wal"):
            shutil.copyfile(killed / name, folder / name)
    with little_room(30_000):
        reader = SqliteReader(folder / "quintain.sqlite")
    with closing(reader):
        assert list(reader.kept()) == rows
        assert reader.check() == []
        reader.backup(tmp_path / "copy.sqlite")
    assert facts_of(tmp_path / "copy.sqlite") == facts_of(killed / "quintain.sqlite")


def test_a_backup_in_another_users_folder_is_refused_in_one_line(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir(0o000)
    try:
        found = bound_by_rights("restore", str(theirs / "copy.sqlite"), "--data", str(tmp_path / "data"))
    finally:
        theirs.chmod(0o700)
    said = f"quintain: {theirs / 'copy.sqlite'}: cannot be read: Permission denied\n"
    assert (found.returncode, found.stderr) == (FAILED, said)


def test_an_export_from_a_database_needs_the_key_in_the_data_folder_and_says_so(
    tmp_path: Path, server: Server
) -> None:
    url, folder = server.database(), prepared(str(tmp_path / "data"))
    filled(tmp_path / "copy.sqlite")
    where = structs.replace(settings(None, {}, {}), store=url)
    put_back(tmp_path / "copy.sqlite", where, folder, "now", force=False)
    folder.chmod(0o000)
    try:
        found = bound_by_rights("export", "one", "--store", url, "--data", str(folder))
    finally:
        folder.chmod(0o700)
    assert (found.returncode, found.stdout) == (MISUSED, "")
    assert found.stderr.startswith(f"quintain: {folder / 'signing-key'}: the host's key cannot be read: ")
    assert found.stderr.count("\n") == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")
def test_what_root_makes_in_the_folder_of_a_host_belongs_to_the_user_of_that(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    os.chown(folder, 12_345, 12_346)
    filled(tmp_path / "copy.sqlite")
    where = Where(data=str(folder))
    restore(str(tmp_path / "copy.sqlite"), where=where)
    backup(where=where)
    restore(str(tmp_path / "copy.sqlite"), force=True, where=where)
    (tmp_path / "copy.jsonl").write_bytes(b"".join(moved(tmp_path / "copy.sqlite")))
    import_(str(tmp_path / "copy.jsonl"), where=where)
    assert {path.name for path in folder.iterdir()} == {"quintain.sqlite", "lock", "backups"}
    assert len(list((folder / "backups").iterdir())) == 2
    assert {(path.stat().st_uid, path.stat().st_gid) for path in folder.rglob("*")} == {(12_345, 12_346)}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files for others")
def test_where_root_may_give_nothing_away_what_it_makes_stays_its_own(tmp_path: Path) -> None:
    """As in many containers."""
    expect_to_be_bound()
    folder = tmp_path / "data"
    folder.mkdir()
    os.chown(folder, 12_345, 12_346)
    filled(tmp_path / "copy.sqlite")
    words = ("restore", str(tmp_path / "copy.sqlite"), "--data", str(folder))
    assert command(tmp_path, *words, without=(GIVE_AWAY,)).returncode == DONE
    assert {path.stat().st_uid for path in folder.iterdir()} == {0}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lock", "cannot be opened: Permission denied: perhaps another user has started a host here"),
        (
            "quintain.sqlite",
            "expected a file that this host may read and write, found a file that it may not",
        ),
        (
            "quintain.sqlite-shm",
            "expected a file that this host may read and write, found a file that it may",
        ),
    ],
)
def test_a_file_that_belongs_to_somebody_else_is_named_in_one_line(
    tmp_path: Path, name: str, said: str
) -> None:
    folder = prepared(str(tmp_path / "data"))
    filled(folder / "quintain.sqlite")
    (folder / name).touch()
    (folder / name).chmod(0o000)
    found = bound_by_rights("import", "-", "--data", str(folder))
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"quintain: {folder / name}: {said}")
    assert found.stderr.count("\n") == 1
