"""The journal in an SQLite file: real faults of real disks, upgrades, copies."""

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import pytest
from msgspec import structs
from structlog.testing import capture_logs

from server.exits import FAILED, ConfigError, Failure, Unavailable, Unusable
from server.store import journal, sqlite, sqlite_reader
from server.store.copies import backups, whole_or_none
from server.store.journal import Jot
from server.store.reserve import SPENT, Reserve
from server.store.sqlite import Sqlite
from server.store.sqlite_database import Connection, connected, reading
from server.store.sqlite_reader import MIGRATIONS
from tests.server.store.faults import little_room, no_more_files
from tests.server.store.test_laws import EVERY_KIND, PLAYED, WON
from tournament import entries
from tournament.asides import Thought
from tournament.entries import Entry
from tournament.facts import Concluded, Drew, Entered, Kept
from tournament.format import Pairing
from tournament.record import PIECE
from tournament.store import Conflict

LONG = "x" * 100_000


def migrate_by(monkeypatch: pytest.MonkeyPatch, migrations: Sequence[Path]) -> None:
    """Have this be a Quintain with these migrations."""
    for module in (sqlite, sqlite_reader):
        monkeypatch.setattr(module, "MIGRATIONS", migrations)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "quintain.sqlite"


@pytest.fixture
def engine(path: Path) -> Iterator[Sqlite]:
    engine = Sqlite(path)
    yield engine
    engine.close()


def entered(first: int, *names: str) -> list[Entry]:
    return [entries.entry(number, "cup", 1.0, Entered(name)) for number, name in enumerate(names, first)]


def test_times_are_written_as_whole_microseconds_and_read_from_seconds_as_well(engine: Sqlite) -> None:
    one = structs.replace(PLAYED, times=(0.1, 1.25e-4, 17.0, 0.0, 3600.000001))
    row = entries.entry(1, "cup", 1.0, one)
    assert '"times":[100000,125,17000000,0,3600000001]' in row.body
    seconds = "0.1,1.25e-4,17.0,0.0,3600.000001"
    old = structs.replace(row, body=row.body.replace("100000,125,17000000,0,3600000001", seconds))
    assert journal.kept(row) == journal.kept(old) == Kept("cup", 1.0, one)
    read = entries.fact(row.body)
    assert isinstance(read, Concluded)
    assert {type(each) for each in read.times} == {float}


def test_a_draw_that_is_written_in_pieces_is_the_same_letter_by_letter() -> None:
    for count in (PIECE - 1, PIECE, PIECE + 1, 3 * PIECE):
        fact = Drew(tuple(Pairing(number, 1, 'a"[]', None) for number in range(count)), 1 + count % 2)
        body = entries.entry(1, "cup", 1.0, fact).body
        assert body == msgspec.json.encode(fact).decode()
        assert entries.fact(body) == fact


def large(number: int) -> list[Entry]:
    return entered(number, f"{number} {LONG}")


def test_writing_again_whether_it_was_written_or_not_is_writing_once(engine: Sqlite) -> None:
    rows = [entries.entry(number, "cup", 1.0, fact) for number, fact in enumerate(EVERY_KIND, 1)]
    moves = [Jot("cup-9", 1, '["NW","SE"]', "[0.5,0.25]")]
    engine.write([Jot("cup-9", 1, '["NW"]', "[0.5]")])  # of which nobody knew whether it was written
    for _ in range(3):
        engine.write([*moves, *rows])
    last = len(rows) + 3
    engine.write([*rows[5:], *entered(last, "zoe")])
    assert list(engine.kept()) == [*rows, *entered(last, "zoe")]
    assert list(engine.jotted()) == moves
    assert engine.last() == last


@pytest.mark.parametrize("count", [0, 1, entries.PAGE, entries.PAGE + 1])
def test_entries_after_a_number_come_all_and_in_order_however_many_pages_they_fill(
    engine: Sqlite, count: int
) -> None:
    rows = [row for n in range(1, count + 4) for row in entered(2 * n, f"bot {n}")]  # there are gaps
    engine.write(rows)
    for after in (6, 7):
        assert list(engine.kept(after)) == rows[3:]
    assert list(engine.kept()) == rows


def test_whoever_reads_what_is_kept_has_nothing_locked_and_finds_what_was_written_meanwhile(
    engine: Sqlite,
) -> None:
    engine.write([row for n in range(1, entries.PAGE + 2) for row in entered(n, f"bot {n}")])
    reading = iter(engine.kept())
    next(reading)
    engine.write(entered(entries.PAGE + 2, "zoe"))
    assert engine._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone() == (0, 0, 0)
    assert sum(1 for _ in reading) == entries.PAGE + 1


def test_a_number_that_is_anothers_is_a_conflict(engine: Sqlite) -> None:
    """Catches two hosts that write to one journal."""
    engine.write(entered(1, "ann"))
    elsewhere = entries.entry(1, "cap", 1.0, Entered("ann"))
    for other in (*entered(1, "cas"), elsewhere):
        with pytest.raises(Conflict):
            engine.write([*entered(2, "bob"), other])
    assert list(engine.kept()) == entered(1, "ann")


def test_a_full_database_is_trouble_that_passes(engine: Sqlite) -> None:
    engine.write(large(1))
    (pages,) = engine._writer.execute("PRAGMA page_count").fetchone()
    engine._writer.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(Unavailable, match=r"quintain\.sqlite: the disk is full"):
        engine.write([*entered(2, "ann"), *large(3)])
    assert engine.last() == 1, "all or none"
    engine._writer.execute(f"PRAGMA max_page_count = {2 * pages + 100}")
    engine.write([*entered(2, "ann"), *large(3)])
    assert engine.last() == 3
    assert engine.check() == []


def test_a_disk_that_takes_no_more_is_trouble_that_passes(engine: Sqlite, path: Path) -> None:
    engine.write(large(1))
    with little_room(path.with_name(f"{path.name}-wal").stat().st_size + 5000):
        for _ in range(3):
            with pytest.raises(Unavailable, match="the disk f"):
                engine.write(large(2))
    assert engine.last() == 1
    engine.write(large(2))
    assert engine.last() == 2
    assert engine.check() == []


def test_what_somebody_else_has_locked_is_trouble_that_passes(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "BUSY_TIMEOUT", 50)
    engine, other = Sqlite(path), connected(path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(Unavailable, match="somebody else has locked it"):
        engine.write(entered(1, "ann"))
    other.execute("ROLLBACK")
    engine.write(entered(1, "ann"))
    assert engine.last() == 1
    other.close()
    engine.close()


def test_a_database_that_has_become_read_only_is_trouble_that_passes(engine: Sqlite) -> None:
    engine._writer.execute("PRAGMA query_only = ON")
    with pytest.raises(Unavailable, match="it is read-only"):
        engine.write(entered(1, "ann"))
    engine._writer.execute("PRAGMA query_only = OFF")
    engine.write(entered(1, "ann"))
    assert engine.last() == 1


def test_on_a_full_disk_the_reserve_is_given_up_and_taken_again_when_there_is_room(path: Path) -> None:
    reserve = Reserve(path.with_name("reserve"), 1 << 20)
    engine = Sqlite(path, reserve)
    assert path.with_name("reserve").stat().st_size == 1 << 20
    engine._writer.execute("PRAGMA max_page_count = 40")
    with capture_logs() as logs:
        for _ in range(2):
            with pytest.raises(Unavailable):
                engine.write([*large(1), *large(2)])
    assert not path.with_name("reserve").exists()
    assert [line["event"] for line in logs] == [SPENT], "or an organiser takes what follows for the end of it"
    engine._writer.execute("PRAGMA max_page_count = 1000000")
    engine.write(large(1))
    assert path.with_name("reserve").exists()
    engine.close()
    assert not path.with_name("reserve").exists()


def test_a_host_that_was_killed_without_its_reserve_has_it_again_at_the_next_start(path: Path) -> None:
    engine = Sqlite(path, Reserve(path.with_name("reserve"), 1 << 20))
    engine._writer.execute("PRAGMA max_page_count = 40")
    with pytest.raises(Unavailable):
        engine.write([*large(1), *large(2)])
    assert not path.with_name("reserve").exists()
    engine._hang_up()  # as the kernel does it
    engine = Sqlite(path, Reserve(path.with_name("reserve"), 1 << 20))
    assert path.with_name("reserve").stat().st_size == 1 << 20
    engine.close()


class NoMoreRoom(Reserve):
    """On a disk that has no more room than what is there already."""

    def _free(self) -> int:
        return 0


def test_the_reserve_of_a_killed_host_is_held_where_there_is_no_room_for_another(path: Path) -> None:
    there = path.with_name("reserve")
    assert Reserve(there, 1 << 20).take()
    assert NoMoreRoom(there, 1 << 20).take()
    assert there.stat().st_size == 1 << 20
    for left in (b"half of one", bytes(2 << 20)):
        there.write_bytes(left)
        assert not NoMoreRoom(there, 1 << 20).take(), "this is none of that size"
        assert not there.exists()


def test_where_nothing_is_to_be_kept_back_nothing_is_missing(path: Path) -> None:
    with capture_logs() as logs:
        Sqlite(path, Reserve(path.with_name("reserve"), 0)).close()
    assert not [line for line in logs if "no room" in line["event"]]
    assert not path.with_name("reserve").exists()


def test_a_reserve_that_cannot_be_given_up_is_said_and_hinders_nothing(path: Path) -> None:
    """As in a folder that has become read-only: a host that was told to stop there ended in a traceback."""
    there = path.with_name("reserve")
    engine = Sqlite(path, Reserve(there, 1 << 20))
    there.unlink()
    there.mkdir()  # no file that could be deleted, for root either
    with capture_logs() as logs:
        engine.close()
    assert [line["event"] for line in logs] == ["the reserve cannot be given up"]


def test_a_reserve_is_not_taken_of_a_disk_that_has_no_more_than_that(path: Path) -> None:
    assert not Reserve(path.with_name("reserve"), 1 << 60).take()
    assert not path.with_name("reserve").exists()


def test_what_cannot_be_written_from_the_start_is_said_in_a_line(path: Path) -> None:
    Sqlite(path).close()

    def read_only(path: Path) -> Connection:
        return sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True, isolation_level=None)

    with pytest.raises(ConfigError, match=r"quintain\.sqlite: this database cannot be used: .*readonly"):
        Sqlite(path, connect=read_only)


def test_what_is_no_database_is_refused_with_the_newest_backup(path: Path) -> None:
    engine = Sqlite(path)
    engine.write(large(1))
    backups(path).mkdir()
    engine.backup(backups(path) / "monday.sqlite")
    engine.close()
    content = bytearray(path.read_bytes())
    content[8192:16384] = b"\xff" * 8192
    path.write_bytes(content)
    (backups(path) / "before-restore-now.sqlite").write_bytes(content)  # damaged, too, and put aside for it
    (backups(path) / "sunday.sqlite").symlink_to("on a disk that is not there")
    with pytest.raises(ConfigError, match=r"cannot be used: .*; the newest backup is .*monday\.sqlite"):
        Sqlite(path)
    path.write_bytes(b"a letter, and no database at all\n" * 100)
    with pytest.raises(ConfigError, match="cannot be used: file is not a database"):
        Sqlite(path)


def test_what_is_no_database_does_not_stay_open(path: Path) -> None:
    """Catches a connection that goes with the garbage, of which Python 3.13 warns."""
    path.write_bytes(b"a letter, and no database at all\n" * 100)
    with pytest.raises(sqlite3.DatabaseError) as kept:  # and with it whatever was open meanwhile
        reading(path)
    assert not any(is_open(number, path) for number in range(256)), kept.value


def is_open(number: int, path: Path) -> bool:
    """Whether this descriptor is of this file."""
    with suppress(OSError):
        return os.path.samestat(os.fstat(number), path.stat())
    return False


@pytest.mark.slow
def test_a_damaged_database_is_refused_in_one_line_that_says_whether_there_is_a_backup(path: Path) -> None:
    engine = Sqlite(path)
    engine.write([row for number in range(1, 20) for row in large(number)])
    engine.close()
    content = bytearray(path.read_bytes())
    for place in range(2 * 4096, len(content), 37):
        content[place] ^= 0x5A
    path.write_bytes(content)
    with pytest.raises(ConfigError, match=r"cannot be used: [^*\n]+; there is no backup in .*backups$"):
        Sqlite(path)


@pytest.mark.slow
def test_damage_in_a_large_database_is_found_once_it_is_open(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking at all of it would make every start as long as its past."""
    engine = Sqlite(path)
    engine.write([row for number in range(1, 20) for row in large(number)])
    engine.close()
    content = path.read_bytes()
    monkeypatch.setattr(sqlite, "LARGE", len(content) - 1)
    sound = Sqlite(path)
    sound.examine()
    sound.close()
    sound = Sqlite(path)
    with no_more_files(), pytest.raises(Unavailable, match="it cannot be opened"):
        sound.examine()  # which is no damage
    sound.examine()
    sound.close()
    middle = len(content) // 2 // 4096 * 4096
    path.write_bytes(content[:middle] + b"\xff" * 4096 + content[middle + 4096 :])
    engine = Sqlite(path)
    with pytest.raises(ConfigError, match="this database cannot be used"):
        engine.examine()
    engine.close()
    monkeypatch.setattr(sqlite, "LARGE", len(content))
    with pytest.raises(ConfigError, match="this database cannot be used"):
        Sqlite(path)


def test_damage_under_a_host_is_told_as_such_by_whatever_meets_it(path: Path) -> None:
    """Catches tracebacks: for whoever looks at an old match, and of the host that keeps a new one."""
    engine = Sqlite(path)
    engine.write([row for number in range(1, 20) for row in large(number)])
    engine.close()
    engine = Sqlite(path)
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    for meet in (
        lambda: list(engine.kept()),
        lambda: engine.concluded("cup", "cup-1"),
        lambda: engine.write(entered(20, "zoe")),
    ):
        with pytest.raises(Unusable, match=r"this database cannot be used: .*there is no backup in"):
            meet()
    engine.close()


def test_a_row_that_cannot_be_read_is_damage_and_named(engine: Sqlite, path: Path) -> None:
    engine.write([entries.entry(1, "cup", 1.0, PLAYED)])
    other = connected(path)
    other.execute("UPDATE journal SET body = substr(body, 1, 20)")
    other.close()
    with pytest.raises(Unusable, match="cup, entry 1: this cannot be read"):
        list(map(journal.kept, engine.kept()))
    with pytest.raises(Unusable, match=f"cup, end of match {PLAYED.match}: this cannot be read"):
        journal.concluded(engine, "cup", PLAYED.match)


def test_a_kind_of_fact_that_only_a_newer_quintain_knows_is_no_damage(engine: Sqlite, path: Path) -> None:
    """Catches the advice to go back to a backup, given by the older of two hosts that share a database."""
    engine.write([entries.entry(1, "cup", 1.0, PLAYED)])
    with closing(connected(path)) as other:
        other.execute("""UPDATE journal SET body = '{"type":"weighed","name":"zoe"}'""")
    with pytest.raises(
        journal.TooNew, match=r"cup, entry 1: was written by a newer Quintain .*'weighed'"
    ) as told:
        list(map(journal.kept, engine.kept()))
    assert "backup" not in f"{told.value} {told.value.remedy}"


@pytest.mark.parametrize("column", ["moves", "times"])
def test_moves_that_cannot_be_read_are_damage_and_named(engine: Sqlite, path: Path, column: str) -> None:
    """Catches a host that could not start any more, with a traceback."""
    engine.write([Jot("cup-9", 1, '["NW","SE"]', "[0.5,0.25]")])
    other = connected(path)
    other.execute(f"UPDATE jotted SET {column} = substr({column}, 1, 5)")  # noqa: S608
    other.close()
    with pytest.raises(Unusable, match="match cup-9, from move 1 on: this cannot be read"):
        journal.jotted(engine.jotted())


def test_what_was_said_beside_moves_counts_up_to_the_first_piece_that_is_missing() -> None:
    moves = journal.jot("cup-1", 1, ["NW", "N", "NE"], [0.5, 0.5, 0.5])
    first, lost, last = (Thought(ply, 0.25) for ply in (1, 2, 3))
    pieces = [journal.jot_asides("cup-1", number, [each], 0) for number, each in ((3, last), (1, first))]
    assert journal.jotted([*pieces, moves])["cup-1"].asides == (first,)
    pieces.insert(1, journal.jot_asides("cup-1", 2, [lost], 0))
    assert journal.jotted([*pieces, moves])["cup-1"].asides == (first, lost, last)


def test_what_a_newer_quintain_has_written_is_left_alone(path: Path) -> None:
    Sqlite(path).close()
    newer = connected(path)
    newer.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    newer.close()
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="was written by a newer Quintain"):
        Sqlite(path)
    with pytest.raises(ConfigError, match="was written by a newer Quintain"):
        sqlite.SqliteReader(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("version", [0, 1, len(MIGRATIONS)])
def test_what_another_program_has_written_is_left_alone(path: Path, version: int) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE recipes (name)")
        other.execute(f"PRAGMA user_version = {version}")
        other.commit()
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="this is the database of another program: move it away"):
        Sqlite(path)
    assert path.read_bytes() == before


def test_an_upgrade_keeps_a_copy_and_is_done_once(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Sqlite(path)
    engine.write(entered(1, "ann"))
    engine.close()
    (tmp_path / "next.sql").write_text("ALTER TABLE journal ADD COLUMN more TEXT; CREATE TABLE also (x);")
    migrate_by(monkeypatch, [*MIGRATIONS, tmp_path / "next.sql"])
    for _ in range(2):
        engine = Sqlite(path)
        assert engine._writer.execute("SELECT number, more FROM journal").fetchall() == [(1, None)]
        engine.close()
    (copy,) = backups(path).iterdir()
    migrate_by(monkeypatch, MIGRATIONS)
    before = Sqlite(copy)
    assert list(before.kept()) == entered(1, "ann")
    before.close()


def test_whoever_goes_back_to_an_older_quintain_and_upgrades_again_has_a_copy_of_both_times(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "next.sql").write_text("ALTER TABLE journal ADD COLUMN more TEXT;")
    newer = [*MIGRATIONS, tmp_path / "next.sql"]
    for number, name in enumerate(("ann", "bob"), 1):
        migrate_by(monkeypatch, MIGRATIONS)
        for copy in backups(path).glob("*.sqlite"):  # the older Quintain begins with what it knew
            path.write_bytes(copy.read_bytes())
        engine = Sqlite(path)
        engine.write(entered(number, name))
        engine.close()
        migrate_by(monkeypatch, newer)
        Sqlite(path).close()
    migrate_by(monkeypatch, MIGRATIONS)
    lasts: list[int] = []
    for copy in backups(path).iterdir():
        older = sqlite.SqliteReader(copy)
        lasts.append(older.last())
        older.close()
    assert sorted(lasts) == [1, 2]


def test_an_upgrade_that_fails_changes_nothing(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Sqlite(path)
    engine.write(entered(1, "ann"))
    engine.close()
    (tmp_path / "next.sql").write_text("CREATE TABLE also (x); CREATE TABLE journal (x);")
    migrate_by(monkeypatch, [*MIGRATIONS, tmp_path / "next.sql"])
    with pytest.raises(ConfigError, match="already exists"):
        Sqlite(path)
    migrate_by(monkeypatch, MIGRATIONS)
    engine = Sqlite(path)
    assert list(engine.kept()) == entered(1, "ann")
    assert not engine._writer.execute("SELECT * FROM sqlite_schema WHERE name = 'also'").fetchall()
    engine.close()


def test_an_upgrade_without_room_is_tried_again_by_a_later_start_and_sends_nobody_to_a_backup(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = list[Failure]()
    (tmp_path / "next.sql").write_text("CREATE TABLE also (x);")
    for room in (0, 1_000, 30_000, 50_000, 200_000):  # bytes: it fails at other steps
        path = tmp_path / str(room) / "quintain.sqlite"
        path.parent.mkdir()
        migrate_by(monkeypatch, MIGRATIONS)
        engine = Sqlite(path)
        engine.write([Entry(1, "", 1.0, "ordered", None, LONG)])
        engine.close()
        migrate_by(monkeypatch, [*MIGRATIONS, tmp_path / "next.sql"])
        try:
            with little_room(room):
                Sqlite(path).close()
        except Failure as failure:
            failures.append(failure)
        Sqlite(path).close()
    assert {failure.code for failure in failures} == {FAILED}
    assert not any("the newest backup" in str(failure) for failure in failures)
    assert any("the copy before an upgrade" in str(failure) for failure in failures)


def test_an_upgrade_whose_copy_has_no_place_is_refused_in_a_line(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate_by(monkeypatch, MIGRATIONS[:-1])
    Sqlite(path).close()
    migrate_by(monkeypatch, MIGRATIONS)
    backups(path).write_text("")  # it should be a folder
    with pytest.raises(ConfigError, match="the copy before an upgrade cannot be written: File exists"):
        Sqlite(path)


def test_a_copy_is_of_one_instant_and_never_half_there(engine: Sqlite, tmp_path: Path) -> None:
    engine.write(entered(1, "ann", "bob"))
    reading = engine.kept()
    next(iter(reading))
    engine.backup(tmp_path / "copy.sqlite")
    engine.write(entered(3, "cas"))
    copy = Sqlite(tmp_path / "copy.sqlite")
    assert list(copy.kept()) == entered(1, "ann", "bob")
    copy.close()
    assert len(list(reading)) == 1
    assert not list(tmp_path.glob("*.part"))


def test_two_that_copy_to_one_name_at_once_do_not_disturb_each_other(engine: Sqlite, tmp_path: Path) -> None:
    engine.write(entered(1, "ann"))
    target = tmp_path / "copy.sqlite"
    with whole_or_none(target) as part:
        engine._writer.execute("VACUUM INTO ?", (str(part),))
        engine.backup(target)
        assert part.stat().st_size > 0
    copy = sqlite.SqliteReader(target)
    assert list(copy.kept()) == entered(1, "ann")
    copy.close()
    assert len(list(tmp_path.glob("copy*"))) == 1


def test_a_copy_that_finds_no_room_leaves_nothing_behind(engine: Sqlite, tmp_path: Path) -> None:
    """A host whose disk is full waits for the room that it takes."""
    for number in range(1, 11):
        engine.write(large(number))
    with little_room(500_000), pytest.raises(sqlite3.OperationalError):
        engine.backup(tmp_path / "copies.sqlite")
    assert not list(tmp_path.glob("copies*"))
    engine.backup(tmp_path / "copies.sqlite")
    assert len(list(tmp_path.glob("copies*"))) == 1


def test_readers_can_change_nothing(engine: Sqlite) -> None:
    with engine._reader() as reader, pytest.raises(sqlite3.OperationalError, match="readonly"):
        reader.execute("DELETE FROM journal")


def test_closing_closes_every_connection_also_in_the_middle_of_what_is_read(
    engine: Sqlite, path: Path
) -> None:
    """Catches a doctor that meets moves which cannot be read, and leaves a connection to the collector."""
    engine.write([journal.jot("cup-1", 1, ["NW"], [0.5]), journal.jot("cup-1", 2, ["N"], [0.5])])
    made: list[sqlite3.Connection] = []

    def noted(path: Path) -> Connection:
        made.append(sqlite3.connect(path, isolation_level=None))
        return made[-1]

    reader = sqlite.SqliteReader(path, noted)
    rest = iter(reader.jotted())
    assert next(rest).ply == 1
    reader.close()
    for connection in made:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            connection.execute("SELECT 1")
    assert [each.ply for each in rest] == [2]


def test_a_person_with_a_shell_sees_tables(engine: Sqlite, path: Path) -> None:
    facts = [*EVERY_KIND, WON]
    engine.write([entries.entry(number, "cup", 0.0, fact) for number, fact in enumerate(facts, 1)])
    shell = sqlite3.connect(path)
    seen = {
        view: shell.execute(f"SELECT * FROM {view}").fetchall()  # noqa: S608
        for (view,) in shell.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall()
    }
    shell.close()
    assert seen["tournaments"] == [("cup", "1970-01-01 00:00:00", "connect-4", "swiss", None, "paused")]
    assert seen["entrants"] == [("cup", "ann", 1500.5, "1970-01-01 00:00:00")]
    assert seen["pairings"] == [("cup", 1, 1, "ann", "bob"), ("cup", 2, 1, "cas", None)]
    assert [(row[1], row[3:7], row[9], row[11]) for row in seen["matches"]] == [
        ("cup-2", ("bob", "ann", None, "time"), 5, 1),
        ("cup-1", ("ann", "bob", 0, "played"), 0, 0),
    ]
    assert seen["orders"][0][2:] == ("1970-01-01 00:00:00", "the organiser", "void", "cup-2: a cable")
