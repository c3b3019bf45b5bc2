"""What root may do beside others, given up: a process may then only do what the rights of files allow.

The numbers and the two calls are Linux's own (`man 7 capabilities`); elsewhere root gives up nothing.
"""

import ctypes
import os
from collections.abc import Collection

GIVE_AWAY, WRITE_ALL, READ_ALL = 0, 1, 2  # CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
VERSION = 0x20080522  # of the two structures: sets of 64 bits, effective, permitted and inheritable
WORDS = 3  # in which the first 32 bits of each set are


def give_up(rights: Collection[int]) -> None:
    """For good, of this process and of whatever it starts."""
    if os.geteuid() != 0 or not rights:
        return
    library = ctypes.CDLL(None, use_errno=True)
    header, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * (2 * WORDS))()
    for call in (library.capget, library.capset):
        if call(header, sets) != 0:
            raise OSError(ctypes.get_errno(), f"{call.__name__} failed")
        for word in range(WORDS):
            sets[word] &= ~sum(1 << right for right in rights)
