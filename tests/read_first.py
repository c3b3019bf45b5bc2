"""Where nothing has been compiled yet, one process reads all tests, and the others wait for its bytecode.

In a fresh clone all workers of pytest would begin to read the tests at the same moment, find no bytecode, and
each would compile nearly all of what is imported.
"""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HAVE_READ = "tests-are-read"  # a file beside the bytecode: locked by whoever reads first, and then not empty


def bytecode() -> Path | None:
    """The folder of its own in which bytecode is kept, if there is one."""
    return Path(sys.pycache_prefix) if sys.pycache_prefix and not sys.dont_write_bytecode else None


@contextmanager
def read_first(folder: Path | None) -> Iterator[None]:
    """In this block all tests are read; whoever fails to leaves it to the next one."""
    if folder is None:
        yield
        return
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / HAVE_READ).open("ab") as note:
        fcntl.flock(note, fcntl.LOCK_EX)
        if os.fstat(note.fileno()).st_size == 0:
            yield
            note.write(b"yes\n")
            return
    yield
