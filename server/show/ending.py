"""A child that ends with its parent, even if the parent has no time to say so, and otherwise by itself alone.

It also has a name of its own in what `ps` and `top` list: its command may be its parent's.
"""

import ctypes
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager

import structlog

from server.exits import FAILED, Unavailable, first_of
from server.show.child import FOR_ALL

PARENT_DIED, NAME = 1, 15  # PR_SET_PDEATHSIG, PR_SET_NAME

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def end_with_the_parent(name: str) -> None:
    """Have the kernel kill this process when the thread that started it is gone; ignore other signals.

    `name` is what the process is called from now on: 15 characters at the most.
    """
    if sys.platform == "linux":
        library = ctypes.CDLL(None)
        library.prctl(PARENT_DIED, signal.SIGKILL)
        library.prctl(NAME, name.encode())
    for number in FOR_ALL:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FOR_ALL)  # children of this process need them unblocked


@contextmanager
def ending_where_the_journal_is_away() -> Generator[None]:
    """End with one line if the journal cannot be read: the parent starts this process again until it can."""
    away: Unavailable | None = None
    try:
        yield
    except* Unavailable as failures:
        away = first_of(failures)
    if away is not None:
        log.warning("the journal cannot be read, and this process ends", why=str(away))
        sys.exit(FAILED)
