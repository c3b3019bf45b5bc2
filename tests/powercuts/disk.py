"""Files that forget, when the power goes, what they were not told to synchronise.

What was written since may be there, or not, or in part: of each write every
sector for itself. A file is there once it was synchronised for the first time,
which is when SQLite's own layer synchronises its folder.
"""

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

import apsw
from msgspec import Struct

SECTOR = 512  # bytes that are written whole or not at all


class PowerCut(Exception):
    """Nothing is answered any more."""


class Write(Struct, frozen=True):
    at: int
    content: bytes


class Truncate(Struct, frozen=True):
    size: int


class File:
    """What is surely on the disk, and what may be."""

    def __init__(self) -> None:
        self.there = False
        self.sure = b""
        self.pending: list[Write | Truncate] = []

    def synchronise(self) -> None:
        self.there = True
        self.sure = bytes(played(self.sure, self.pending))
        self.pending.clear()

    def after_a_cut(self, chance: Random) -> bytes | None:
        """One of the many ways in which it may be found."""
        if not self.there and chance.random() < 0.5:
            return None
        honesty = chance.choice((0.0, 0.5, 1.0))  # how much of what it was not told to keep a disk has kept
        kept: list[Write | Truncate] = []
        for each in self.pending:
            if isinstance(each, Truncate):
                kept += [each] if chance.random() < honesty else []
                continue
            begins = range(0, len(each.content), SECTOR)
            kept += (
                Write(each.at + begin, each.content[begin : begin + SECTOR])
                for begin in begins
                if chance.random() < honesty
            )
        return bytes(played(self.sure, kept))


def played(content: bytes, changes: Iterable[Write | Truncate]) -> bytearray:
    found = bytearray(content)
    for change in changes:
        if isinstance(change, Truncate):
            del found[change.size :]
        else:
            found.extend(bytes(max(0, change.at - len(found))))
            found[change.at : change.at + len(change.content)] = change.content
    return found


class Disk(apsw.VFS):
    """SQLite's own layer, watched, until `power` says that the next operation is not answered."""

    def __init__(self, name: str, power: Callable[[], bool]) -> None:
        self.name = name
        self.files: dict[str, File] = {}
        self.deleted: dict[str, File] = {}  # and may come back, until their folder is synchronised
        self.operations = 0
        self.off = False
        self._power = power
        super().__init__(name, "")

    def operate(self) -> None:
        """Called before each operation that changes what is on the disk."""
        self.operations += 1
        if self.off or not self._power():
            self.off = True
            raise PowerCut

    def xOpen(self, name: Any, flags: list[int]) -> "Opened":
        return Opened(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        self.operate()
        super().xDelete(filename, syncdir)
        gone = self.files.pop(Path(filename).name, None)
        if gone is not None and not syncdir:
            self.deleted[Path(filename).name] = gone

    def cut(self, folder: Path, chance: Random) -> None:
        """Make the files as they may be found."""
        back = {name: file for name, file in self.deleted.items() if chance.random() < 0.5}
        for name, file in (back | self.files).items():
            if (content := file.after_a_cut(chance)) is not None:
                (folder / name).write_bytes(content)


class Opened(apsw.VFSFile):
    def __init__(self, disk: Disk, name: Any, flags: list[int]) -> None:
        super().__init__("", name, flags)
        path = name if isinstance(name, str) else name.filename()
        self._disk = disk
        self._file = disk.files.setdefault(Path(path).name, File())

    def xWrite(self, data: bytes, offset: int) -> None:
        self._disk.operate()
        super().xWrite(data, offset)
        self._file.pending.append(Write(offset, bytes(data)))

    def xTruncate(self, newsize: int) -> None:
        self._disk.operate()
        super().xTruncate(newsize)
        self._file.pending.append(Truncate(newsize))

    def xSync(self, flags: int) -> None:
        self._disk.operate()
        super().xSync(flags)
        if not self._file.there:
            self._disk.deleted.clear()  # the folder was synchronised with it
        self._file.synchronise()


@contextmanager
def unanswered() -> Generator[None]:
    """What SQLite tries although the power has gone is nobody's business."""
    before = sys.unraisablehook
    sys.unraisablehook = lambda what: None if isinstance(what.exc_value, PowerCut) else before(what)
    try:
        yield
    finally:
        sys.unraisablehook = before


class Connection:
    """apsw's, with the words of `sqlite3`."""

    def __init__(self, path: Path, disk: str, synchronous: str, checkpoint: int) -> None:
        """With a `synchronous` of its own choice; the log is written back after so many pages."""
        self._connection = apsw.Connection(str(path), vfs=disk)
        self._synchronous = synchronous
        self.execute(f"PRAGMA wal_autocheckpoint = {checkpoint}")

    @property
    def in_transaction(self) -> bool:
        return self._connection.in_transaction

    @property
    def total_changes(self) -> int:
        return self._connection.total_changes()

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        return self._connection.execute(sql.replace("synchronous = FULL", self._synchronous), parameters)

    def executescript(self, sql: str) -> Any:
        return self._connection.execute(sql)

    def close(self) -> None:
        self._connection.close()
