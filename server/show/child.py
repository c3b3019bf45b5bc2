"""Starting and ending child processes with descriptors: the one that shows, and others.

The child ends with its parent: it notices the end of a socket, and asks the kernel to be
killed. It is started from the main thread, because for the kernel the parent is the thread that
forked.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

from server.exits import Failure
from server.show.forked import Forked

ROOT = str(Path(__file__).parents[2])  # where `server` and `games` lie
HANG_UP = getattr(signal, "SIGHUP", signal.SIGTERM)  # not every system has SIGHUP
FOR_ALL = {signal.SIGINT, signal.SIGTERM, HANG_UP}  # a terminal sends them to parent and children alike
OUTLIVED = 2.0  # seconds that a child has to end by itself when it is no longer needed


Child = subprocess.Popen[bytes] | Forked


class Started(NamedTuple):
    """A process for pages, and our ends of its feed and its conduit."""

    child: Child
    feed: socket.socket
    conduit: socket.socket


def started(start: Callable[[Sequence[int]], Child] | None = None) -> Started:
    """A show. `start` is given its descriptors; unless set, it imports all it needs by itself.

    Raises `OSError` if the system does not start it.
    """
    with ExitStack() as ends:
        feed, their_feed = (
            ends.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        )
        conduit, their_conduit = (
            ends.enter_context(end) for end in socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        )
        theirs = (their_feed.fileno(), their_conduit.fileno())
        child = child_of_ours("server.show", theirs) if start is None else start(theirs)
        ends.pop_all()
    their_feed.close()
    their_conduit.close()
    feed.setblocking(False)
    return Started(child, feed, conduit)


@contextmanager
def started_early(main: Callable[[int, int], int] | None) -> Generator[Started | None]:
    """A show that is a copy of this process and runs `main`; it ends with this context in any case."""
    if main is None:
        yield None
        return
    try:
        with signals_blocked():
            early = started(partial(Forked, main))
    except OSError as error:
        raise Failure(
            f"the process for pages cannot be started: {error.strerror}; --show 0 runs without it"
        ) from None
    with early.feed, early.conduit:
        try:
            yield early
        finally:
            early.child.kill()  # before the feed ends, about which it would complain
            early.child.wait()


def child_of_ours(module: str, theirs: Sequence[int], *arguments: str) -> subprocess.Popen[bytes]:
    """A process that runs a module of ours with these descriptors; call it from the main thread."""
    command = [
        sys.executable,
        "-P",  # so that nothing in the current folder is imported
        "-m",
        module,
        *map(str, theirs),
        *arguments,
    ]
    places = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    with signals_blocked():
        return subprocess.Popen(  # noqa: S603 - ourselves
            command,
            env=os.environ | {"PYTHONPATH": places},
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )


@contextmanager
def signals_blocked() -> Generator[None]:
    """A child started in here has the signals `FOR_ALL` blocked until it handles them.

    They would end it while it imports, with a traceback.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FOR_ALL)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(child: Child) -> None:
    """Wait for a child whose sockets are closed to end; kill one that hangs."""
    try:
        child.wait(OUTLIVED)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
