"""Disk space that is kept back, and given up when the disk is full.

Giving it up leaves room to keep the matches in play, and for an organiser to look
around. The organiser still has to make room on the disk.
"""

import os
from math import inf
from pathlib import Path

import structlog

BLOCK = 512  # bytes, in which the system counts what a file takes of the disk
SPENT = "the disk is full, and the reserve is given up"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Reserve:
    def __init__(self, path: Path, size: int) -> None:
        """`size` in bytes; 0: nothing is kept back."""
        self._path = path
        self._size = size
        self._held = size == 0

    def take(self) -> bool:
        """Hold the reserve, if the disk has twice its size free; returns whether it is held.

        A host that was killed has left its own behind: that is held as it is, because there may be no room
        to make another.
        """
        if not self._held:
            self._held = self._is_there() or self._made()
        return self._held

    def spend(self) -> None:
        """Give it up because the disk is full: that is said, for play goes on as if there were room."""
        if self._held and self._size:
            log.warning(SPENT, folder=str(self._path.parent))
        self.give_up()

    def give_up(self) -> None:
        """Delete it, or leave it to the next start, where its folder has become read-only meanwhile."""
        self._held = self._size == 0
        try:
            self._path.unlink(missing_ok=True)
        except OSError as error:
            log.warning("the reserve cannot be given up", file=str(self._path), why=error.strerror)

    def _is_there(self) -> bool:
        """Whether there is a whole one of this size."""
        try:
            there = self._path.stat()
        except OSError:
            return False
        return there.st_size == self._size and there.st_blocks * BLOCK >= self._size

    def _made(self) -> bool:
        self.give_up()  # half of one, or of another size
        if not 2 * self._size <= self._free() < inf:  # not known: it would be tried again at each commit
            return False
        try:
            with self._path.open("wb") as file:
                _fill(file.fileno(), self._size)
        except OSError:
            self.give_up()
            return False
        return True

    def _free(self) -> float:
        return free(self._path.parent)


def free(folder: Path) -> float:
    """For how many bytes its disk has room; inf if it does not say, as some do not over a network."""
    there = os.statvfs(folder)
    return there.f_bavail * there.f_frsize if there.f_blocks else inf


def _fill(file: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:  # macOS
        for _ in range(0, size, 1 << 20):
            os.write(file, bytes(1 << 20))
