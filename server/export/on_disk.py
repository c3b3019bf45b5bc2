"""Lists on disk, of what an export may have too much of for the memory: the lines and facts of a tournament.

Their files have no names: whatever ends the process, nothing is left of them.
"""

import os
from array import array
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Generic, Self, TypeVar, overload

from server.exits import Failure

T = TypeVar("T")


class OnDisk(Sequence[T], Generic[T]):
    """Values that are read anew whenever somebody looks at them."""

    def __init__(self, folder: Path, encode: Callable[[T], bytes], decode: Callable[[bytes], T]) -> None:
        """Raises `Failure` if there is no room for them in the folder, as `append` does."""
        self._folder = folder
        self._encode = encode
        self._decode = decode
        self._ends = array("Q", [0])  # where a value ends, and the next one begins
        try:
            self._file = TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115 - `__exit__` closes it
        except OSError as error:
            raise self._no_room(error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def append(self, value: T) -> None:
        content = memoryview(self._encode(value))
        self._ends.append(self._ends[-1] + len(content))
        try:
            while content:
                content = content[os.write(self._file.fileno(), content) :]
        except OSError as error:
            raise self._no_room(error) from None

    def emptied(self) -> "OnDisk[T]":
        """Forget all values; returns this list."""
        self._file.seek(0)
        self._file.truncate()
        del self._ends[1:]
        return self

    @property
    def size(self) -> int:
        """The bytes of all values."""
        return self._ends[-1]

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> list[T]: ...
    def __getitem__(self, index: int | slice) -> T | list[T]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        index = range(len(self))[index]
        begin, end = self._ends[index], self._ends[index + 1]
        return self._decode(os.pread(self._file.fileno(), end - begin, begin))

    def _no_room(self, error: OSError) -> Failure:
        return Failure(f"{self._folder}: cannot be written: {error.strerror}")
