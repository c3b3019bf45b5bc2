"""Databases whose files are deleted, moved or replaced while a host has them open."""

import os
import shutil
from functools import partial
from pathlib import Path

import pytest

from server.exits import Unavailable
from server.store.journal import Jot
from server.store.sqlite import Sqlite
from server.store.sqlite_database import connected
from tournament import entries
from tournament.entries import Entry
from tournament.facts import Entered

ANN, BOB = (entries.entry(n, "cup", 1.0, Entered(name)) for n, name in enumerate(("ann", "bob"), 1))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The database of a host that has kept one fact, in a folder of its own."""
    folder = tmp_path / "data"
    folder.mkdir()
    return folder / "quintain.sqlite"


@pytest.fixture
def engine(path: Path) -> Sqlite:
    engine = Sqlite(path)
    engine.write([ANN])
    return engine


def kept(path: Path) -> list[Entry]:
    engine = Sqlite(path)
    found = list(engine.kept())
    engine.close()
    return found


def test_nothing_more_is_kept_in_a_file_that_was_cut_short(engine: Sqlite, path: Path) -> None:
    """Catches results that are announced, and are gone at the next start."""
    engine.write([])
    for size in (2048, 0):
        os.truncate(path, size)
        with pytest.raises(Unavailable, match=r"cut short: go back to a backup with `quintain restore`$"):
            engine.write([BOB])
    engine.close()


def test_nothing_more_is_kept_in_a_file_that_was_deleted_and_a_stop_writes_it_again(
    engine: Sqlite, path: Path
) -> None:
    """Catches results that are announced, and are in no file."""
    path.unlink()
    for _ in range(2):
        with pytest.raises(Unavailable, match=r"was deleted: stop the host, and all .* to quintain\.sqlite$"):
            engine.write([BOB])
    engine.close()
    assert path.stat().st_mode & 0o777 == 0o600
    assert kept(path) == [ANN]


def test_of_a_file_that_is_gone_no_copy_is_made_and_nothing_is_put_in_its_place(
    engine: Sqlite, path: Path
) -> None:
    """Catches an empty file there: a stop writes everything beside that, and then no host starts."""
    engine._examined = False  # as a large one that has just been opened
    copy = path.with_name("copy.sqlite")
    path.unlink()
    for look in (partial(engine.backup, copy), engine.examine):
        with pytest.raises(Unavailable, match="was deleted: stop the host"):
            look()
    assert not path.exists()
    assert not copy.exists()
    engine.close()
    assert kept(path) == [ANN]


@pytest.mark.slow  # it waits for the reader, for as long as the host would
def test_a_journal_that_is_gone_cannot_be_read_just_now(path: Path) -> None:
    """Catches an error of the library's, which would be a fault of ours to whoever asks for a match."""
    engine = Sqlite(path)
    shutil.rmtree(path.parent)
    with pytest.raises(Unavailable, match=r"quintain\.sqlite: .* \(.+\)$"):
        engine.concluded("cup", "cup-1")
    with pytest.raises(Unavailable):
        list(engine.kept())
    engine.close()


def test_what_is_left_beside_a_deleted_file_does_not_damage_the_one_that_is_written_again(
    engine: Sqlite, path: Path
) -> None:
    """While somebody reads, the write-ahead log cannot be emptied."""
    for moves in ("x" * 500_000, "[]"):  # then most pages are free, and a new file has none of these
        engine.write([Jot("cup-1", 1, moves, "[]")])
    engine._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    reader = connected(path)
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM journal").fetchone() == (1,)
    engine.write([BOB])
    path.unlink()
    engine.close()
    assert kept(path) == [ANN, BOB]
    assert reader.execute("SELECT count(*) FROM journal").fetchone() == (1,)
    reader.close()


def test_a_folder_that_was_deleted_is_made_again_at_the_stop(engine: Sqlite, path: Path) -> None:
    shutil.rmtree(path.parent)
    with pytest.raises(Unavailable, match="was deleted"):
        engine.write([BOB])
    engine.close()
    assert kept(path) == [ANN]


def test_where_a_folder_is_that_was_deleted_something_else_may_be_and_the_host_stops_all_the_same(
    engine: Sqlite, path: Path
) -> None:
    shutil.rmtree(path.parent)
    path.parent.write_text("a letter")
    engine.close()
    assert path.parent.read_text() == "a letter"


def test_a_file_that_was_moved_away_is_used_again_when_it_is_back(engine: Sqlite, path: Path) -> None:
    away = path.parent.rename(path.parent.with_name("away"))
    with pytest.raises(Unavailable, match="was moved away: move it back"):
        engine.write([BOB])
    away.rename(path.parent)
    engine.write([BOB])
    engine.close()
    assert kept(path) == [ANN, BOB]


def test_a_file_that_was_moved_away_is_whole_where_it_is_after_a_stop(engine: Sqlite, path: Path) -> None:
    away = path.parent.rename(path.parent.with_name("away"))
    engine.close()
    assert not path.exists()
    assert kept(away / path.name) == [ANN]


def test_a_file_that_was_replaced_is_left_alone(engine: Sqlite, path: Path) -> None:
    """As by an organiser who copies a backup to where a host is running."""
    other = path.with_name("monday.sqlite")
    engine.backup(other)
    engine.write([BOB])
    content = other.read_bytes()
    other.rename(path)
    with pytest.raises(Unavailable, match=r"another file is in .* all of it is written to quintain-left\.sq"):
        engine.write([])
    engine.close()
    assert path.read_bytes() == content
    assert kept(path.with_name("quintain-left.sqlite")) == [ANN, BOB]


@pytest.mark.parametrize("end", ["-wal", "-shm"])
def test_without_the_files_beside_it_nothing_is_kept_until_the_host_is_started_again(
    engine: Sqlite, path: Path, end: str
) -> None:
    """Whoever opens the database now makes new ones, and the two know nothing of each other."""
    path.with_name(path.name + end).unlink()
    with pytest.raises(Unavailable, match=f"quintain.sqlite{end}: this was deleted, moved or replaced"):
        engine.write([BOB])
    engine.close()
    assert kept(path) == [ANN]
