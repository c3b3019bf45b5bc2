"""Backups that the host makes by itself, regularly: each is verified before it counts; old ones are deleted.

A backup that cannot be made, or turns out damaged, is logged and tried again, and no older one is deleted
for it. Files that people have put into the folder stay: only files that are named as ours are, by a time,
are deleted.
"""

import sqlite3
import time
from calendar import timegm
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import structlog
import trio

from server.config import Backups
from server.exits import ConfigError, Unavailable
from server.store import private
from server.store.copies import PART, expect_room
from server.store.journal import Engine
from server.store.ledger import InThread
from server.store.reserve import free
from server.store.sqlite_database import only_read
from server.store.sqlite_reader import SqliteReader

PREFIX = "regular-"
STAMP = "%Y%m%d-%H%M%S"  # UTC, between the prefix and the end of a name
LOOK = 3600.0  # seconds between two looks at the wall clock, which somebody may have set
OTHERS = 60.0  # seconds between two looks whether the host that makes them for all is still there
RETRY = 300.0  # seconds until a backup that failed is tried again, unless the next is due before

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Damaged(Exception):
    """A copy differs from its original. The message is for the organiser."""


class RegularBackups:
    """`folder` is where the copies go; `wall` tells the time by which they are named and found to be due."""

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        wanted: Backups,
        *,
        wall: Callable[[], float] = time.time,
        in_thread: InThread = trio.to_thread.run_sync,
        mine: Callable[[], bool] = lambda: True,
        free: Callable[[Path], float] = free,
    ) -> None:
        """`mine` says whether it is this host that makes them, where several share the database.

        `free` returns for how many bytes there is room in a folder.
        """
        self.failures = 0  # since the host's start
        self.trouble = ""  # why the latest could not be made; "" if it was
        self.made: float | None = None  # when the latest one was made, by the wall clock
        self.elsewhere = False  # whether another host makes them for all, as it was when one was due here
        self._engine = engine
        self._folder = folder
        self._wanted = wanted
        self._wall = wall
        self._in_thread = in_thread
        self._mine = mine
        self._free = free

    async def run(self) -> None:
        """Make backups until cancelled. A restart delays none: the files in the folder show what is due."""
        self.made = await self._in_thread(self._latest)
        while True:
            if (seconds := self._due_in()) > 0:
                await trio.sleep(min(seconds, LOOK))
                continue
            try:
                self.elsewhere = not await self._in_thread(self._mine)
                if self.elsewhere:
                    await trio.sleep(OTHERS)
                    continue
                await self._in_thread(self._make, abandon_on_cancel=True)
            except (OSError, sqlite3.Error, Unavailable, ConfigError, Damaged) as error:
                self.failures += 1
                self.trouble = str(error)
                log.error("no backup could be made", why=self.trouble, folder=str(self._folder))
                await trio.sleep(min(RETRY, self._wanted.every))
            else:
                self.trouble, self.made = "", self._wall()

    def _due_in(self) -> float:
        if self.made is None or self.made > self._wall():  # the clock was set back
            return 0.0
        return max(0.0, self.made + self._wanted.every - self._wall())

    def _make(self) -> None:
        if not self._folder.parent.exists():  # one in its place would be in the way of whoever moves it back
            raise Unavailable(f"{self._folder.parent}: there is no such folder any more")
        private.make_folder(self._folder)
        path = self._folder / f"{PREFIX}{time.strftime(STAMP, time.gmtime(self._wall()))}.sqlite"
        for begun in (path, *self._folder.glob(f"{PREFIX}*{PART}*")):  # left by a host that died
            begun.unlink(missing_ok=True)
        expect_room(self._engine.size(), self._folder, self._free)
        before = self._engine.last()
        self._engine.backup(path)
        try:
            entries = verified(path, at_least=before)
        except Exception:
            path.unlink(missing_ok=True)
            raise
        for old in self._ours()[: -self._wanted.keep]:
            old.unlink(missing_ok=True)
        log.info("backed up", file=str(path), bytes=path.stat().st_size, entries=entries)

    def _ours(self) -> list[Path]:
        """Our own backups, the oldest first: one of a time to come was made before the clock was set back."""
        now, made = self._wall(), dict[Path, float]()
        for path in self._folder.glob(f"{PREFIX}*.sqlite"):
            with suppress(ValueError):  # a foreign name that begins like ours
                made[path] = _time_of(path)
        return sorted(made, key=lambda path: (made[path] <= now, made[path]))

    def _latest(self) -> float | None:
        ours = self._ours()
        return _time_of(ours[-1]) if ours else None


def _time_of(path: Path) -> float:
    """When a backup was made, by its name; raises `ValueError` for a foreign one."""
    return float(timegm(time.strptime(path.stem.removeprefix(PREFIX), STAMP)))


def verified(path: Path, at_least: int) -> int:
    """Check a copy as a restore would; returns how many entries it has.

    Raises `Damaged`, or `ConfigError` if it is not a database of ours.
    """
    with closing(SqliteReader(path, only_read)) as reader:
        if wrong := reader.check():
            raise Damaged(f"{path}: this copy is damaged: {wrong[0]}")
        if (last := reader.last()) < at_least:
            raise Damaged(f"{path}: expected entries up to {at_least} in this copy, found them up to {last}")
    with closing(only_read(path)) as connection:  # counted by SQLite: a Python thread would hold up matches
        return connection.execute("SELECT count(*) FROM journal").fetchone()[0]
