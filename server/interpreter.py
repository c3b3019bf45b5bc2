"""What a process sets of its interpreter, once all that it begins with is there."""

import gc
import sys

SURPLUS = 50_000  # objects that came and have not gone, when the collector looks at the young ones …
LARGE_SURPLUS = 200_000  # … where matches are played, which wait meanwhile …
OLDER = 2_400_000  # … and at older ones
SWITCH = 0.0005  # seconds that a thread waits for a busy event loop, at each of its steps


def calm(surplus: int = SURPLUS) -> None:
    """Collect less often: what is here now stays, and with a thousand matches most objects live long.

    The collector looks when so many more objects came than went, at all that has come since it looked last.
    Nearly all of that is in use, and everybody waits meanwhile: a tenth of a second with a thousand matches.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(surplus, OLDER // surplus, 1_000)


def let_threads_in() -> None:
    """Have the event loop give way sooner to a thread that writes or reads."""
    sys.setswitchinterval(SWITCH)
