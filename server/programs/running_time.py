"""The time in which this process runs, for a referee that can be stopped.

Whoever stops a command, with Ctrl-Z for instance, stops its referee, and not the programs that it asks:
their answers lie unread until it goes on. A busy machine may do the same for a moment. By this clock
none of that is anybody's time.
"""

import time
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Self

Now = Callable[[], float]

BEAT = 0.05  # seconds between two looks at the time
TOLERANCE = 0.05  # seconds of lateness that a look may have: the machine is busy with what is asked for


class RunningTime:
    """Seconds, without those in which the process stood still; of each such time one beat is counted.

    Any thread may call it. While it is entered, it is looked at in every beat, so that whoever calls it
    first after a standstill notices that.
    """

    def __init__(self, now: Now = time.monotonic) -> None:
        self._now = now
        self._looked = now()
        self._stood_still = 0.0
        self._looking = Lock()
        self._over = Event()
        self._thread = Thread(target=self._look, daemon=True)

    def __call__(self) -> float:
        with self._looking:
            at = self._now()
            late = at - self._looked - BEAT
            if late > TOLERANCE:
                self._stood_still += late
            self._looked = at
            return at - self._stood_still

    def __enter__(self) -> Self:
        self()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(BEAT):
            self()
