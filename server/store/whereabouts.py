"""Whether a database's files are still where the host opened them, and as long as they were.

A file that was deleted or moved away can be written as before. SQLite does not look, so results would go on
being announced, and nobody would know before the next start finds nothing. Nor does it look whether the file
was cut short, until it wants what is gone.
"""

import os
from pathlib import Path

from server.store.copies import BESIDE

Identity = tuple[int, int]  # device and number of a file


class Whereabouts:
    def __init__(self, path: Path) -> None:
        """The database at `path` is open. A file that is not on a real disk is taken to be where it was."""
        files = (path, *(path.with_name(path.name + end) for end in BESIDE))
        self._path = path
        self._known = {file: found for file in files if (found := _identity(file)) is not None}
        self._file = os.open(path, os.O_RDONLY)
        self._size = 0  # the greatest so far: nothing that a host does makes it smaller

    def gone(self) -> str:
        """What is wrong, and what to do about it, for an organiser; "" if every file is in its place."""
        for file, known in self._known.items():
            if (found := _identity(file)) != known:
                return f"{file}: {self._what(file, gone=found is None)}"
        return ""

    def astray(self) -> str:
        """The same, also of a file that was cut short: for the thread that writes, as it grows meanwhile."""
        if why := self.gone():
            return why
        if (size := os.fstat(self._file).st_size) < self._size:
            return f"{self._path}: this was cut short: go back to a backup with `quintain restore`"
        self._size = size
        return ""

    def copy_to(self) -> Path | None:
        """The path to copy everything to before the database is closed; None if its file was not deleted."""
        if os.fstat(self._file).st_nlink:
            return None
        place = self._path
        while place.exists():  # another host's, or a backup that somebody has put there
            place = place.with_name(f"{place.stem}-left.sqlite")
        return place

    def close(self) -> None:
        """Forget the file. SQLite has to have closed it before: its locks would be given up as well."""
        os.close(self._file)

    def _what(self, file: Path, *, gone: bool) -> str:
        if file != self._path:
            return "this was deleted, moved or replaced: stop the host, and start it again"
        what = "this was" if gone else "another file is in the place of this one, which was"
        if (copy := self.copy_to()) is not None:
            return f"{what} deleted: stop the host, and all of it is written to {copy.name}"
        return f"{what} moved away: move it back"


def _identity(file: Path) -> Identity | None:
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
