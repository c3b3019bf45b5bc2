"""How the C library deals with memory that has been freed: here, it gives it back to the system.

Left alone, glibc has up to eight heaps for each processor, one for each thread that allocates much,
and every large block that is freed makes it keep larger ones. A host reads and writes its journal
in threads, some megabytes at a time, so it would hold some hundred megabytes that it does not use.

Of the one heap that there is then, glibc gives back by itself what is free at its end. What is free between
blocks that are in use it keeps, so the most that was ever needed at once would stay.
"""

import ctypes
import sys

import trio

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as in <malloc.h>
LARGE = 128 << 10  # bytes: a larger block is taken from the system, and goes back to it when it is freed
PAUSE = 60.0  # seconds between two looks for what is free: each takes a millisecond, the first one more


def give_back() -> None:
    """From now on. To be called before there are threads; does nothing where the C library is another."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, LARGE), (TRIM_THRESHOLD, LARGE)):
            mallopt(option, value)


async def trim() -> None:
    """Give back what is free between blocks in use, again and again until cancelled; nothing elsewhere."""
    malloc_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    while malloc_trim is not None:
        malloc_trim(0)
        await trio.sleep(PAUSE)
