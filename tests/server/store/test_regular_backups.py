"""Backups that the host makes by itself: when, how many, and what becomes of one that fails."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server import figures
from server.config import Backups
from server.store.regular_backups import OTHERS, PREFIX, RETRY, Damaged, RegularBackups, verified
from server.store.sqlite import Sqlite
from server.store.sqlite_reader import SqliteReader
from tournament import entries
from tournament.facts import Entered

DAY = 86400.0
BEGAN = 1_700_000_000.0


class Disk(Sqlite):
    """A journal whose copies come to nothing while the disk fails."""

    fails = False
    begun: Callable[[Path], None] = staticmethod(lambda path: None)

    def backup(self, path: Path) -> None:
        self.begun(path)
        super().backup(path)
        if self.fails:
            path.write_bytes(b"x" * path.stat().st_size)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Disk]:
    engine = Disk(tmp_path / "quintain.sqlite")
    engine.write([entries.entry(number, "cup", 1.0, Entered(f"bot-{number}")) for number in range(1, 6)])
    yield engine
    engine.close()


async def here(work: Any, **options: Any) -> Any:
    """Instead of a thread."""
    await trio.lowlevel.checkpoint()
    return work()


def backups(engine: Sqlite, folder: Path, keep: int = 3, every: float = DAY) -> RegularBackups:
    wall = lambda: BEGAN + trio.current_time()  # noqa: E731
    return RegularBackups(engine, folder, Backups(every, keep), wall=wall, in_thread=here)


def ours(folder: Path) -> list[Path]:
    return list(folder.glob(f"{PREFIX}2*"))


async def run(copies: RegularBackups, seconds: float) -> list[str]:
    """The events that are logged in that time."""
    with capture_logs() as logs, trio.move_on_after(seconds):
        await copies.run()
    return [line["event"] for line in logs]


async def test_the_first_is_made_at_once_and_the_next_when_it_is_due_and_only_so_many_are_kept(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    folder = tmp_path / "backups"
    assert await run(backups(engine, folder), 10.0) == ["backed up"]
    (first,) = folder.iterdir()
    assert await run(backups(engine, folder), 0.9 * DAY) == [], "a restart does not begin anew"
    assert await run(backups(engine, folder), 4 * DAY) == ["backed up"] * 4
    assert len(list(folder.iterdir())) == 3
    assert not first.exists()


async def test_what_is_kept_can_be_restored_with_all_that_there_was(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    await run(backups(engine, tmp_path), 10.0)
    (copy,) = ours(tmp_path)
    reader = SqliteReader(copy)
    assert list(reader.kept()) == list(engine.kept())
    reader.close()
    assert copy.stat().st_mode & 0o077 == 0, "nobody else can read it"


async def test_what_people_have_put_there_stays(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    names = ("20260101-000000.sqlite", "regular-notes.txt", "friday.sqlite", f"{PREFIX}last-year.sqlite")
    theirs = [tmp_path / name for name in names]
    for each in theirs:
        each.touch()
    await run(backups(engine, tmp_path, keep=1), 3.5 * DAY)
    assert all(each.exists() for each in theirs)
    assert len([each for each in ours(tmp_path) if each.suffix == ".sqlite" and each not in theirs]) == 1


async def test_one_that_fails_is_told_of_tried_again_and_costs_none_that_is_there(
    engine: Disk, tmp_path: Path, autojump_clock: MockClock
) -> None:
    folder = tmp_path / "backups"
    await run(backups(engine, folder, keep=1), 10.0)
    (before,) = folder.iterdir()
    copies = backups(engine, folder, keep=1)

    engine.fails = True
    logged = await run(copies, DAY + 2.5 * RETRY)
    assert set(logged) == {"no backup could be made"}
    assert copies.failures == len(logged) >= 2
    assert "cannot be used" in copies.trouble
    assert list(folder.iterdir()) == [before]
    engine.fails = False
    assert await run(copies, 10.0) == ["backed up"]
    assert copies.trouble == ""


async def test_one_for_which_the_disk_has_no_room_is_not_begun(
    engine: Disk, tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches a copy that fills the disk before it fails: all clocks stop until it is gone."""
    folder, room = tmp_path / "backups", 0
    begun = list[Path]()
    engine.begun = begun.append
    copies = RegularBackups(engine, folder, Backups(DAY, 3), in_thread=here, free=lambda there: room)
    assert await run(copies, 10.0) == ["no backup could be made"]
    assert "and 0 are free" in copies.trouble
    assert not begun
    room = engine.size()
    assert await run(copies, 10.0) == ["backed up"]
    assert begun[0].stat().st_size <= room


async def test_no_folder_is_made_in_place_of_one_that_was_moved_away(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches one into which `mv`, with which it is moved back, puts the journal."""
    copies = backups(engine, tmp_path / "data" / "backups")
    assert await run(copies, 10.0) == ["no backup could be made"]
    assert copies.trouble.endswith("data: there is no such folder any more")
    assert not (tmp_path / "data").exists()


async def test_what_a_host_has_left_that_died_over_it_is_cleared_away(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    begun = f"{PREFIX}20200101-000000.sqlite.0a1b2c3d.part"
    left = [tmp_path / f"{begun}{end}" for end in ("", "-journal", "-wal", "-shm")]
    for each in left:
        each.touch()
    await run(backups(engine, tmp_path), 10.0)
    assert not any(each.exists() for each in left)


async def test_a_clock_that_was_set_back_puts_no_backup_off(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    before = [tmp_path / f"{PREFIX}2100010{day}-000000.sqlite" for day in (1, 2, 3)]
    for each in before:
        each.touch()
    copies = backups(engine, tmp_path, keep=3)
    assert await run(copies, 10.0) == ["backed up"]
    assert [each.exists() for each in before] == [False, True, True], "the oldest makes room"
    assert await run(backups(engine, tmp_path, keep=3), 0.5 * DAY) == [], "a restart does not begin anew"
    assert await run(copies, 2 * DAY) == ["backed up"] * 2
    assert not any(each.exists() for each in before)
    assert len(ours(tmp_path)) == 3


def test_a_copy_counts_only_if_it_is_whole(engine: Sqlite, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    engine.backup(copy)
    assert verified(copy, at_least=5) == 5
    assert os.listdir(tmp_path).count("copy.sqlite-wal") == 0, "to look changes nothing"
    with pytest.raises(Damaged, match=r"expected entries up to 6 .* up to 5"):
        verified(copy, at_least=6)
    content = bytearray(copy.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    copy.write_bytes(content)
    with pytest.raises(Exception, match=r"damaged|malformed|cannot be used"):
        verified(copy, at_least=5)


async def test_where_another_host_makes_them_for_all_none_is_made_here_until_it_is_gone(
    engine: Sqlite, tmp_path: Path, autojump_clock: MockClock
) -> None:
    gone = 600.0
    copies = RegularBackups(
        engine,
        tmp_path,
        Backups(DAY, 3),
        wall=lambda: BEGAN + trio.current_time(),
        in_thread=here,
        mine=lambda: trio.current_time() > gone,
    )
    assert await run(copies, gone) == []
    assert not list(figures.backups(copies)), "or its latest would seem to be of 1970"
    assert await run(copies, 2 * OTHERS) == ["backed up"]
    assert len(list(figures.backups(copies))) == 2
