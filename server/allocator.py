"""How the C library deals with memory that has been freed: here, it gives it back to the system.

Left alone, glibc has up to eight heaps for each processor, one for each thread that allocates much,
and every large block that is freed makes it keep larger ones. A host reads and writes its journal
in threads, some megabytes at a time, so it would hold some hundred megabytes that it does not use.
"""

import ctypes
import sys

TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8  # as in <malloc.h>
LARGE = 128 << 10  # bytes: a larger block is taken from the system, and goes back to it when it is freed


def give_back() -> None:
    """From now on. To be called before there are threads; does nothing where the C library is another."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None) if sys.platform == "linux" else None
    if mallopt is not None:
        for option, value in ((ARENA_MAX, 1), (MMAP_THRESHOLD, LARGE), (TRIM_THRESHOLD, LARGE)):
            mallopt(option, value)
