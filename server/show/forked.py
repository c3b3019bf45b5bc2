"""A copy of this process that goes on as another one: all that both need is imported once, for both.

Importing is most of what a start costs. Only a process that has one thread may be copied, so this is for
the first show, before there is an event loop; later ones are started by `child.py`.
"""

import os
import select
import subprocess
import sys
import traceback
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NoReturn

MOST = 1 << 20  # no process has a descriptor beyond
FAILED = 1
STANDARD = (0, 1, 2)  # input, output, errors


class Forked:
    """A child that runs `main` with these descriptors and has no others; returns in the parent alone.

    It can be ended and waited for like a `subprocess.Popen`.
    """

    def __init__(self, main: Callable[..., int], theirs: Sequence[int]) -> None:
        self.returncode: int | Any = None  # None until it is known that it has ended, as in Popen
        sys.stdout.flush()  # or both would write what is not written yet
        sys.stderr.flush()
        gone, lives = os.pipe()  # the child's end of it is closed when it ends, however it does
        self.pid = os.fork()
        if not self.pid:
            _become(main, theirs, lives)
        os.close(lives)
        self._gone = gone

    def poll(self) -> int | None:
        if self.returncode is None:
            reaped, status = os.waitpid(self.pid, os.WNOHANG)
            if reaped:
                self._end(status)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is not None:
            return self.returncode
        if timeout is not None:
            end = select.poll()
            end.register(self._gone, select.POLLIN)
            if not end.poll(timeout * 1_000):
                raise subprocess.TimeoutExpired("a copy of this process", timeout)
        return self._end(os.waitpid(self.pid, 0)[1])

    def send_signal(self, number: int) -> None:
        if self.poll() is None:  # else its number may be somebody else's by now
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)

    def _end(self, status: int) -> int:
        os.close(self._gone)
        self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode


def _become(main: Callable[..., int], theirs: Sequence[int], lives: int) -> NoReturn:
    """Run `main` and end: whatever the parent is in the middle of, only the parent goes on with."""
    code = FAILED
    try:
        _keep_only(sorted((*STANDARD, *theirs, lives)))
        null = os.open(os.devnull, os.O_RDONLY)
        os.dup2(null, 0)
        os.close(null)
        os.dup2(2, 1)  # standard output is for what the parent says
        code = main(*theirs)
    except SystemExit as end:
        sys.stderr.write(f"{end}\n")
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stderr.flush()
        finally:
            os._exit(code)


def _keep_only(kept: Sequence[int]) -> None:
    for before, after in pairwise((-1, *kept, MOST)):
        if before + 1 < after:  # Python takes an empty range for all that follows
            os.closerange(before + 1, after)
