"""A child that ends with its parent, even if the parent has no time to say so, and for no other reason.

It also has a name of its own in what `ps` and `top` list: its command may be its parent's.
"""

import ctypes
import signal
import sys

from server.show.child import FOR_ALL

PARENT_DIED, NAME = 1, 15  # PR_SET_PDEATHSIG, PR_SET_NAME


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
