"""Disk space that is kept back, and given up when the disk is full.

Giving it up leaves room to keep the matches in play, and for an organiser to look
around. The organiser still has to make room on the disk.
"""

import os
from pathlib import Path


class Reserve:
    def __init__(self, path: Path, size: int) -> None:
        self._path = path
        self._size = size
        self._held = False

    def take(self) -> bool:
        """Hold the reserve, if the disk has twice its size free; returns whether it is held."""
        if not self._held and self._free() >= 2 * self._size:
            try:
                with self._path.open("wb") as file:
                    _fill(file.fileno(), self._size)
                self._held = True
            except OSError:
                self.give_up()
        return self._held

    def give_up(self) -> None:
        self._held = False
        self._path.unlink(missing_ok=True)

    def _free(self) -> int:
        there = os.statvfs(self._path.parent)
        return there.f_bavail * there.f_frsize


def _fill(file: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:  # macOS
        for _ in range(0, size, 1 << 20):
            os.write(file, bytes(1 << 20))
