"""Settings of the interpreter that a process makes once all its initial objects exist."""

import gc
import sys

SURPLUS = 50_000  # new objects that have not gone, at which the collector looks at the young ones …
LARGE_SURPLUS = 200_000  # … where matches are played, which wait meanwhile …
OLDER = 2_400_000  # … and at older ones
SWITCH = 0.0005  # seconds that a thread waits for a busy event loop, at each of its steps


def calm(surplus: int = SURPLUS) -> None:
    """Collect less often: objects that exist now stay, and with a thousand matches most objects live long.

    When this many more objects came than went, the collector looks at all that have come since its last look.
    Nearly all of these are in use, and everybody waits meanwhile: a tenth of a second with a thousand
    matches.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(surplus, OLDER // surplus, 1_000)


def let_threads_in() -> None:
    """Make the event loop give way sooner to a thread that writes or reads."""
    sys.setswitchinterval(SWITCH)
