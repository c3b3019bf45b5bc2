"""A test that waits without a deadline of its own ends its process, and it is shown where it was standing.

Pytest's `faulthandler_timeout` does the same with a thread that is started and joined for each test,
which takes some ten milliseconds on a busy machine. This one is wound up twice a minute.
"""

import faulthandler
import os
import sys
import time

SECONDS = 300.0  # above what tests allow for anything themselves: tests/hang.py
AT_ONCE = 0.1  # of these seconds, for all tests that begin meanwhile


class Watchdog:
    """A plugin of pytest. Another process takes the place of one that ends."""

    def __init__(self, seconds: float = SECONDS) -> None:
        assert sys.__stderr__ is not None
        self._seconds = seconds
        self._shown = os.dup(sys.__stderr__.fileno())  # while a test runs, the other one is captured
        self._due = 0.0

    def pytest_runtest_setup(self) -> None:
        now = time.monotonic()
        if now >= self._due:
            self._due = now + AT_ONCE * self._seconds
            faulthandler.dump_traceback_later(self._seconds, file=self._shown, exit=True)

    def pytest_unconfigure(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        os.close(self._shown)
