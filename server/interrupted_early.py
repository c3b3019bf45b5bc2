"""Ctrl-C before a command has begun: it ends at once, with its exit code and without a traceback.

Most of a start is importing. A `KeyboardInterrupt` would come out between two imports, where nobody expects
it, or be lost in the middle of one. Nothing is open yet that would have to be closed.
"""

import os
import signal
from types import FrameType

from server.exits import INTERRUPTED


def leave_at_once() -> None:
    """From now on, have Ctrl-C end this process, unless it was started so that Ctrl-C is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def leave_as_usual() -> None:
    """Have Ctrl-C raise `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(number: int, frame: FrameType | None) -> None:
    os._exit(INTERRUPTED)
