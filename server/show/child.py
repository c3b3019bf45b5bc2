"""Starting and ending child processes with descriptors: the one that shows, and others.

The child ends with its parent: it notices the end of a socket, and asks the kernel to be
killed. It is started from the main thread, because for the kernel the parent is the thread that
forked.

Little is imported here, because show is started first of all: it imports as long as play does.
"""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

ROOT = str(Path(__file__).parents[2])  # where `server` and `games` lie
HANG_UP = getattr(signal, "SIGHUP", signal.SIGTERM)  # not every system has SIGHUP
FOR_ALL = {signal.SIGINT, signal.SIGTERM, HANG_UP}  # a terminal sends them to parent and children alike
OUTLIVED = 2.0  # seconds that a child has to end by itself when it is no longer needed


class Started(NamedTuple):
    """A process that shows, and our ends of its feed and its conduit."""

    child: subprocess.Popen[bytes]
    feed: socket.socket
    conduit: socket.socket


def started() -> Started:
    feed, their_feed = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    conduit, their_conduit = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with their_feed, their_conduit:
        theirs = (their_feed.fileno(), their_conduit.fileno())
        child = child_of_ours("server.show", theirs)
    feed.setblocking(False)
    return Started(child, feed, conduit)


@contextmanager
def started_early(wanted: bool) -> Generator[Started | None]:
    """A show, if `wanted`, started before it can be used; it ends with this context in any case."""
    if not wanted:
        yield None
        return
    early = started()
    with early.feed, early.conduit:
        try:
            yield early
        finally:
            early.child.kill()  # before the feed ends, about which it would complain
            early.child.wait()


def child_of_ours(module: str, theirs: Sequence[int], *arguments: str) -> subprocess.Popen[bytes]:
    """A process that runs a module of ours with these descriptors; call it from the main thread.

    The signals `FOR_ALL` are blocked until the child handles them: they would end it while it
    imports, with a traceback.
    """
    command = [
        sys.executable,
        "-P",  # so that nothing in the current folder is imported
        "-m",
        module,
        *map(str, theirs),
        *arguments,
    ]
    places = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, FOR_ALL)
    try:
        return subprocess.Popen(  # noqa: S603 - ourselves
            command,
            env=os.environ | {"PYTHONPATH": places},
            pass_fds=theirs,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
        )
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def ended(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child whose sockets are closed to end; kill one that hangs."""
    try:
        child.wait(OUTLIVED)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
