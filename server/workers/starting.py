"""Starting a process that plays: `python -m server.workers LINK REQUESTS`.

The first ones are copies of the process that starts them (`server/show/forked.py`). Later ones are started
from the main thread: the kernel ends each with the thread that forked (`server/show/child.py`).
"""

import socket
import struct
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial

from server.show.begin import zero
from server.show.child import Child, child_of_ours, ends, signals_blocked
from server.show.forked import Forked

Started = tuple[Child, socket.socket, socket.socket]

CLOCK = struct.Struct("d")  # the first packet on a link: what worker 0's clock says when `perf_counter` is 0


def started() -> Started:
    """Start a process; returns it with our ends of the link and of the conduit for requests.

    Raises `OSError` where the machine has no process, memory or file left for it.
    """
    return _told_the_time(_started(partial(child_of_ours, "server.workers")))


def next_of(early: list[Started]) -> Started:
    """One of those that were started early; when there is none any more, as `started`."""
    return _told_the_time(early.pop()) if early else started()


@contextmanager
def started_early(count: int, main: Callable[..., int]) -> Generator[list[Started]]:
    """So many copies of this process that run `main`, or as many as there is room for.

    They end with this context in any case.
    """
    early: list[Started] = []
    with ExitStack() as running:
        # Where there is no room for one, whoever asks for more tries again, and says what is missing.
        with suppress(OSError), signals_blocked():
            early.extend(running.enter_context(_copy(main)) for _ in range(count))
        yield early


@contextmanager
def _copy(main: Callable[..., int]) -> Generator[Started]:
    child, link, requests = _started(partial(Forked, main))
    with link, requests:
        try:
            yield child, link, requests
        finally:
            child.kill()
            child.wait()


def _started(start: Callable[[Sequence[int]], Child]) -> Started:
    with (
        ends(socket.SOCK_SEQPACKET) as (link, their_link),
        ends(socket.SOCK_SEQPACKET) as (requests, their_requests),
    ):
        child = start((their_link.fileno(), their_requests.fileno()))
    return child, link, requests


def _told_the_time(process: Started) -> Started:
    with suppress(BrokenPipeError):  # it has ended, which whoever hears it notices
        process[1].send(CLOCK.pack(zero()))
    return process


def conduit_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a conduit between two workers."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def feed_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a feed: that of the process that plays, and that of show."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return ours, theirs
