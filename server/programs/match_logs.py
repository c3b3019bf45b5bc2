"""A program's standard error, in a file for each match.

A line belongs to the match that the program was last asked about. What it says before
its first match is in `before-the-first-match.log`.
"""

import re
from pathlib import Path
from threading import Lock
from typing import IO

from server.exits import Failure
from server.programs.terminal import note

BEFORE = "before-the-first-match"
LARGEST = 10_000_000  # bytes of one file: a program that prints in a loop must not fill the disk
CUT = b"quintain: the rest was left out, because there was too much of it\n"
LONGEST_NAME = 100  # characters: the host chooses the names of matches


class MatchLogs:
    def __init__(self, folder: Path) -> None:
        """Make the folder; raises `Failure` if that fails."""
        self._folder = folder
        self._lock = Lock()  # one thread reads what programs say, and another asks them
        self._file: IO[bytes] | None = None
        self._room = LARGEST
        self._match: str | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Failure(f"{folder}: cannot be made: {error.strerror}") from None
        self.begin(BEFORE)

    def begin(self, match: str) -> None:
        """Have what comes from now on belong to this match."""
        with self._lock:
            if match != self._match:
                self._close()
                self._match, self._room = match, LARGEST

    def take(self, line: bytes) -> None:
        """Keep a line. A full disk costs lines, but no match."""
        with self._lock:
            if self._room <= 0:
                return
            self._room -= len(line)
            try:
                if self._file is None:
                    self._file = self._path().open("ab", buffering=0)
                self._file.write(line if self._room > 0 else CUT)
            except OSError as error:
                self._room = 0
                note(f"quintain: {self._path()}: cannot be written: {error.strerror}")

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def _path(self) -> Path:
        """The file of the match, which is within the folder whatever the match's name is."""
        name = re.sub(r"[^A-Za-z0-9_.-]", "_", self._match or BEFORE)[:LONGEST_NAME]
        return self._folder / f"{name.lstrip('.') or '_'}.log"
