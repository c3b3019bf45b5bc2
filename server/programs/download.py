"""What a host gives that may be longer than there is memory: in a temporary file, until all of it has come.

The file has no name: whatever ends the process, nothing is left of it. Nobody knows beforehand how long it
will be, so it may take half of the room that is free, and what else is on the disk goes on.
"""

import os
from codecs import getincrementaldecoder
from collections.abc import Iterable, Iterator
from pathlib import Path
from shutil import disk_usage
from tempfile import TemporaryFile, gettempdir
from typing import Self

from server.exits import Failure

Utf8 = getincrementaldecoder("utf-8")


class Download:
    def __init__(self) -> None:
        """Raises `Failure` if there can be no temporary files."""
        try:
            self._folder = Path(gettempdir())
            self._file = TemporaryFile(dir=self._folder)  # noqa: SIM115 - `__exit__` closes it
            self.most = disk_usage(self._folder).free // 2  # bytes
        except OSError as error:
            raise Failure(f"temporary files cannot be written: {error.strerror or error}") from None
        self.lines = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def take(self, parts: Iterable[bytes]) -> None:
        """Take all of it; raises `UnicodeDecodeError` if it is no text, `Failure` if there is no room."""
        text, room = Utf8(), self.most
        for part in parts:
            if (room := room - len(part)) < 0:
                few = f"half of the free room is {self.most:,} bytes, and that is too little"
                raise Failure(f"{self._folder}: {few}; TMPDIR names another folder")
            text.decode(part)
            self.lines += part.count(b"\n")
            content = memoryview(part)
            try:
                # Past the file's buffer, which could not be closed where there is no room for it
                while content:
                    content = content[os.write(self._file.fileno(), content) :]
            except OSError as error:
                raise Failure(f"{self._folder}: cannot be written: {error.strerror}") from None
        text.decode(b"", final=True)

    def __iter__(self) -> Iterator[bytes]:
        """The lines, from the first on."""
        self._file.seek(0)
        return iter(self._file)
