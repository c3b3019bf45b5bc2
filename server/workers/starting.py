"""Starting a process that plays: `python -m server.workers LINK REQUESTS ZERO`.

It is started from the main thread: the kernel ends it with the thread that forked (`server/show/child.py`).
"""

import socket
import subprocess
from contextlib import ExitStack

from server.show.begin import zero
from server.show.child import child_of_ours

Started = tuple["subprocess.Popen[bytes]", socket.socket, socket.socket]


def started() -> Started:
    """Start a process; returns it with our ends of the link and of the conduit for requests.

    Raises `OSError` if the system does not start it.
    """
    with ExitStack() as ends:
        link, their_link = (ends.enter_context(end) for end in conduit_pair())
        requests, their_requests = (ends.enter_context(end) for end in conduit_pair())
        theirs = (their_link.fileno(), their_requests.fileno())
        child = child_of_ours("server.workers", theirs, zero().hex())
        ends.pop_all()
    their_link.close()
    their_requests.close()
    return child, link, requests


def conduit_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a conduit between two workers."""
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)


def feed_pair() -> tuple[socket.socket, socket.socket]:
    """Both ends of a feed: that of the process that plays, and that of show."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    return ours, theirs
