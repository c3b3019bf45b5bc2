"""A child that ends with its parent, also where the parent has no time to say so."""

import ctypes
import signal
import sys

PARENT_DIED = 1  # PR_SET_PDEATHSIG


def end_with_the_parent() -> None:
    """Have the kernel kill this process when the thread that started it is gone."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGKILL)
