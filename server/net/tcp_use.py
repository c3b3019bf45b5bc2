"""How much has been written to a TCP connection and read from it, by all that have a descriptor of it.

The kernel counts for all of them together. So a process that lent its connection to another
process, which then died, knows whether the peer was told anything, and whether it was
heard.
"""

import socket
import struct

from server.net.tcp_info import tcp_info

try:
    import fcntl
    import termios
except ImportError:  # not a Unix
    fcntl = termios = None

# Of Linux's `struct tcp_info`: the state; bytes received, not yet sent, sent, and of these sent again.
INFO = struct.Struct("=B127xQ8xI52xQQ")
TAKEN = struct.Struct("=120xQ")  # of the same: bytes that the peer's kernel has acknowledged
OPEN = (1, 8)  # the states in which this end may still write: established, and the peer has ended its side


def tcp_use(connected: socket.socket) -> tuple[int, int] | None:
    """Bytes written and bytes read so far; None if that is not known, or nothing more can be written."""
    if fcntl is None or termios is None or (info := tcp_info(connected, INFO)) is None:
        return None
    state, received, unsent, sent, again = info
    try:
        (unread,) = struct.unpack("=i", fcntl.ioctl(connected, termios.FIONREAD, bytes(4)))
    except OSError:
        return None
    return (sent - again + unsent, received - unread) if state in OPEN else None


def tcp_taken(connected: socket.socket) -> int | None:
    """Bytes that the peer's machine has taken so far, whether or not they were read; None if not known."""
    info = tcp_info(connected, TAKEN)
    return None if info is None else info[0]
