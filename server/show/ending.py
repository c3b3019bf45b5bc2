"""A child that ends with its parent, even if the parent has no time to say so, and for no other reason."""

import ctypes
import signal
import sys

from server.show.child import FOR_ALL

PARENT_DIED = 1  # PR_SET_PDEATHSIG


def end_with_the_parent() -> None:
    """Have the kernel kill this process when the thread that started it is gone; ignore other signals."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DIED, signal.SIGKILL)
    for number in FOR_ALL:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, FOR_ALL)  # children of this process need them unblocked
