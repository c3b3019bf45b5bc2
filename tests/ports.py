"""Ports for servers that are to be found again where they were, or that cannot say which they got.

They lie below those that the system gives to connections: a server that is started again would now and then
find that a client of somebody else has been given its port meanwhile. And a port is given to one process of
tests until that process ends, for its server may not listen yet, or be down for a while.
"""

import fcntl
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import SystemRandom

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST, HIGHEST = 10_000, 32_768  # where the system does not say what it gives to connections

_given: set[int] = set()  # to somebody in this process
_locks = os.open(Path(tempfile.gettempdir()) / f"quintain-ports-{os.getuid()}", os.O_RDWR | os.O_CREAT, 0o600)
"""A file whose bytes are never written: the one at a port's number is locked by the process that has it."""


def free_ports(count: int) -> list[int]:
    """So many on which nobody listens now, and that no other test will be given."""
    below = int(RANGE.read_text().split()[0]) if RANGE.exists() else HIGHEST
    found: list[int] = []
    while len(found) < count:
        port = SystemRandom().randrange(min(LOWEST, below - 1), below)
        if port not in _given and _is_ours(port) and _is_free(port):
            _given.add(port)
            found.append(port)
    return found


@contextmanager
def refusing() -> Iterator[int]:
    """A port at which connections are refused: it is taken, and nobody listens.

    One that has just been given up is soon somebody else's, or that of the very client that dials it.
    """
    with socket.socket() as taken:  # which others cannot share, as it does not say that they may
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


def _is_ours(port: int) -> bool:
    try:
        fcntl.lockf(_locks, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, port)
    except OSError:
        return False  # another process of tests has it
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False  # somebody has it
    return True
