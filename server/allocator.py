"""How the C library deals with memory that has been freed: here, it gives it back to the system.

Left alone, glibc has up to eight heaps for each processor, one for each thread that allocates much,
and every large block that is freed makes it keep larger ones. A host reads and writes its journal
in threads, some megabytes at a time, so it would hold some hundred megabytes that it does not use.

With only one heap, glibc gives back by itself the free memory at its end. It keeps free memory between
blocks that are in use, so the most that was ever needed at once would stay. Giving that back takes longer
the more there is, and all allocations wait meanwhile.
"""

import ctypes
import sys
from collections.abc import Callable

import trio

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as in <malloc.h>
LARGE = 128 << 10  # bytes: a larger block is taken from the system, and goes back to it when it is freed
PAUSE = 60.0  # seconds between two looks for what is free
LITTLE = 16 << 20  # bytes: this much is given back within some two milliseconds
COUNTS = (
    "arena",
    "ordblks",
    "smblks",
    "hblks",
    "hblkhd",
    "usmblks",
    "fsmblks",
    "uordblks",
    "fordblks",
    "keepcost",
)


class Counted(ctypes.Structure):
    """What `mallinfo2` counts; `fordblks` are the bytes that are free."""

    _fields_ = [(name, ctypes.c_size_t) for name in COUNTS]


def give_back() -> None:
    """Set this up. Call it before there are threads; it does nothing with another C library."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, LARGE), (TRIM_THRESHOLD, LARGE)):
            mallopt(option, value)


async def trim(idle: Callable[[], bool] = lambda: True) -> None:
    """Give back free memory between blocks in use, again and again until cancelled; only with glibc.

    While this process is not `idle`, it gives back only small amounts.
    """
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    malloc_trim, mallinfo = getattr(library, "malloc_trim", None), getattr(library, "mallinfo2", None)
    if mallinfo is not None:
        mallinfo.restype = Counted
    while malloc_trim is not None:
        if idle() or (mallinfo is not None and mallinfo().fordblks <= LITTLE):
            malloc_trim(0)
        await trio.sleep(PAUSE)
