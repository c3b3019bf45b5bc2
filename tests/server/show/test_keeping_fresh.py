"""Snapshots of what has happened, while a host goes on: a process of its own takes each."""

import os
import resource
import socket
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from server.config import Settings
from server.show.child import child_of_ours
from server.show.keeping_fresh import SnapshotOrder, taken
from server.store.data_folder import JOURNAL
from server.store.snapshots import FILE, MANY, folded
from server.store.sqlite import Sqlite
from tests.hang import HANG
from tournament import entries
from tournament.facts import HOST, Ordered

pytestmark = pytest.mark.slow

LITTLE = 1 << 20  # bytes: what happened takes some ten times as many


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path))


def written(settings: Settings, last: int) -> Path:
    """What happened at a host: so many orders."""
    orders = (Ordered("me", "look", str(number)) for number in range(last))
    engine = Sqlite(Path(settings.data) / JOURNAL)
    engine.write([entries.entry(number, HOST, 0.0, order) for number, order in enumerate(orders, 1)])
    engine.close()
    return Path(settings.data) / FILE


@contextmanager
def no_file_left() -> Iterator[None]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


async def test_whoever_has_a_snapshot_taken_needs_no_memory_for_what_has_happened(settings: Settings) -> None:
    path = written(settings, MANY)
    tracemalloc.start()
    try:
        assert await taken(settings, whole=False) == MANY
        assert tracemalloc.get_traced_memory()[1] < LITTLE
    finally:
        tracemalloc.stop()
    engine = Sqlite(Path(settings.data) / JOURNAL)
    assert folded(engine, path).snapshot == MANY
    engine.close()


async def test_none_is_taken_before_it_is_time(settings: Settings) -> None:
    path = written(settings, 10)
    assert await taken(settings, whole=False) == 0
    assert not path.exists()


async def test_where_none_can_be_taken_whoever_asked_goes_on(settings: Settings) -> None:
    assert await taken(settings, whole=False) is None


async def test_where_no_process_can_be_started_whoever_asked_goes_on(settings: Settings) -> None:
    """Catches pages that were gone, and gone again after each start, where the machine was short of files."""
    written(settings, MANY)
    with no_file_left():
        assert await taken(settings, whole=False) is None
    assert await taken(settings, whole=False) == MANY


@pytest.mark.parametrize("whole", [None, False, True])
def test_whoever_asked_and_is_gone_is_not_missed(
    settings: Settings, whole: bool | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """It may end before it has said what it wants, and before it is answered."""
    written(settings, MANY)
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    with theirs:
        child = child_of_ours("server.show.keeping_fresh", (theirs.fileno(),))
    with ours:
        if whole is not None:
            ours.sendall(msgspec.msgpack.encode(SnapshotOrder(settings, whole)))
    assert child.wait(HANG) == 0
    assert capfd.readouterr() == ("", "")
