"""A copy has its name once it is whole, and leaves nothing behind otherwise."""

import os
import sys
import time
from pathlib import Path
from types import FrameType

import pytest

from server.store import private
from server.store.copies import ABANDONED, BESIDE, PART, backups, expect_room, whole_or_none


def run_out_of_room(target: Path) -> None:
    with whole_or_none(target) as part:
        for end in ("", "-journal", *BESIDE):
            part.with_name(part.name + end).write_bytes(b"half")
        raise OSError("no room")


def test_a_copy_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    with whole_or_none(target) as part:
        part.write_bytes(b"half")
        assert not target.exists()
        assert part.name.endswith(PART), "a host that died is known to have left it"
        part.write_bytes(b"all of it")
    assert target.read_bytes() == b"all of it"
    assert list(tmp_path.iterdir()) == [target]


def test_a_copy_that_fails_leaves_the_earlier_one_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    target.write_bytes(b"earlier")
    with pytest.raises(OSError, match="no room"):
        run_out_of_room(target)
    assert target.read_bytes() == b"earlier"
    assert list(tmp_path.iterdir()) == [target]


def test_a_signal_between_two_steps_leaves_nothing(tmp_path: Path) -> None:
    """Catches a file that was made just before the signal, and that nobody was yet to remove."""

    def interrupt(frame: FrameType, event: str, _: object) -> None:
        if event == "return" and frame.f_code is private.create.__code__:
            sys.setprofile(None)
            raise KeyboardInterrupt

    def copy() -> None:
        with whole_or_none(tmp_path / "copy.sqlite"):
            raise AssertionError("it was interrupted before")

    sys.setprofile(interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            copy()
    finally:
        sys.setprofile(None)
    assert list(tmp_path.iterdir()) == []


def test_what_is_left_of_copies_whose_makers_were_killed_is_removed_by_the_next(tmp_path: Path) -> None:
    """Each is as large as the journal, and has a name of its own: they would fill the disk."""
    others = ["monday.sqlite.part", "monday.tar.0123abcd.part", "monday.sqlite"]
    with whole_or_none(tmp_path / "monday.sqlite") as killed, whole_or_none(tmp_path / "b.sqlite") as goes_on:
        for file in (killed, Path(f"{killed}-journal"), goes_on, *(tmp_path / name for name in others)):
            file.write_bytes(b"half")
            if file != goes_on:
                os.utime(file, (0, time.time() - ABANDONED - 60))
        with whole_or_none(tmp_path / "tuesday.sqlite"):
            pass
        assert {file.name for file in tmp_path.iterdir()} == {"tuesday.sqlite", goes_on.name, *others}
        killed.touch()


def test_two_copies_with_one_name_may_be_made_at_once(tmp_path: Path) -> None:
    target = tmp_path / "copy.sqlite"
    with whole_or_none(target) as one, whole_or_none(target) as other:
        one.write_bytes(b"one")
        other.write_bytes(b"other")
    assert target.read_bytes() == b"one", "the one that was finished last"
    assert list(tmp_path.iterdir()) == [target]


def test_only_the_user_of_the_host_may_read_a_copy(tmp_path: Path) -> None:
    with whole_or_none(tmp_path / "copy.sqlite") as part:
        part.write_bytes(b"addresses of bots")
    assert (tmp_path / "copy.sqlite").stat().st_mode & 0o077 == 0


def test_backups_lie_beside_the_database(tmp_path: Path) -> None:
    assert backups(tmp_path / "journal.sqlite").parent == tmp_path


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="only Linux has such a disk everywhere")
def test_a_disk_that_does_not_say_how_much_room_it_has_is_no_reason_to_make_no_copy(tmp_path: Path) -> None:
    assert os.statvfs("/proc").f_bavail == 0
    expect_room(1 << 60, Path("/proc"))
    with pytest.raises(OSError, match=r"takes up to 1,152,921,504,606,846,976 bytes, and [\d,]+ are free"):
        expect_room(1 << 60, tmp_path)
