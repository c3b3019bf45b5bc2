"""How long it takes to a peer and back, as the kernel has measured it.

The kernel times its own segments until they are acknowledged, by the peer's kernel. So it takes no message of
ours, and however long a bot thinks is not in it. The shortest of the last minutes is taken, because a kernel
may delay an acknowledgement.
"""

import socket
import struct

from server.net.tcp_info import tcp_info

INFO = struct.Struct("=148xI")  # of Linux's `struct tcp_info`: the shortest round trip, in microseconds
UNKNOWN = 2**32 - 1


def round_trip(connected: socket.socket) -> float | None:
    """Seconds; None where that is not known."""
    if (info := tcp_info(connected, INFO)) is None:
        return None
    (shortest,) = info
    return None if shortest == UNKNOWN else shortest / 1e6
