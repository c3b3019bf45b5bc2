"""Ctrl-C before a command has begun: it ends at once, with its exit code and without a traceback.

Most of a start is importing. A `KeyboardInterrupt` would come out between two imports, where nobody expects
it, or be lost in the middle of one. Nothing is open yet that would have to be closed.

A host that is starting is ended just as by a crash, which is safe at any moment.
"""

import signal
import sys

from server.exits import leave


def leave_at_once() -> None:
    """From now on, have Ctrl-C end this process, unless it was started so that Ctrl-C is ignored.

    Until a host listens, SIGTERM ends it as well: without a handler the system drops that where a host is
    the first process of a container.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, leave)
    if sys.argv[1:2] == ["serve"] and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, leave)


def leave_as_usual() -> None:
    """Have Ctrl-C raise `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
