"""When a test gives up waiting: the one bound in seconds that tests have.

Tests wait for events: a line, a fact, the end of a process. Some of them would
wait for ever if what they look for never came, so they give up after `HANG`
seconds, which is so long that only what hangs takes it, on a busy machine too.
Nothing else in the tests is bounded by a clock that a busy machine holds up:
how fast something is, `make bench` measures.

The watchdog (`watchdog.py`) waits longer: it shows where a test that waits for
something without a deadline of its own is standing, and ends its process.
"""

import os
import time
from collections.abc import Callable

HANG = 120.0  # seconds
SLOWLY = 0.02  # seconds of a slow clock to a real one: nobody is late on it, however busy the machine is
LOOK = 0.02  # seconds between two looks at what announces itself to nobody


def wait_for(so: Callable[[], object], what: str = "what was waited for") -> None:
    """Until it is so, asked again and again: for what other processes do and tell nobody."""
    until = time.monotonic() + HANG
    while not so():
        assert time.monotonic() < until, f"{what} did not come in {HANG:g} s"
        time.sleep(LOOK)


def is_alive(process: int) -> bool:
    """Whether there is such a process: one that was ended is there until whoever inherits it has noticed."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
