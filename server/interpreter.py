"""What a process sets of its interpreter, once all that it begins with is there."""

import gc
import sys

SWITCH = 0.0005  # seconds that a thread waits for a busy event loop, at each of its steps


def calm() -> None:
    """Collect less often: what is here now stays, and with a thousand matches most objects live long."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 1_000)


def let_threads_in() -> None:
    """Have the event loop give way sooner to a thread that writes or reads."""
    sys.setswitchinterval(SWITCH)
