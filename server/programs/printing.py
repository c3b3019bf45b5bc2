"""Writing results to standard output, which may be a full disk, or a program that has ended."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

from server.exits import Failure


@contextmanager
def printing() -> Generator[None]:
    """Results are written to standard output, and flushed, within this: one line says why they cannot be."""
    try:
        yield
    except BrokenPipeError:  # its reader has gone, and need not be told
        raise
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the end would try the rest again
        raise Failure(f"standard output cannot be written: {error.strerror}") from None
