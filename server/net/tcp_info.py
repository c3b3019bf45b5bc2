"""What the kernel says of a TCP connection: Linux's `struct tcp_info`, whose fields never move."""

import socket
import struct
import sys


def tcp_info(connected: socket.socket, fields: struct.Struct) -> tuple[int, ...] | None:
    """Some of its fields; None where they are not known, as on other systems, or of what is closed."""
    if sys.platform != "linux":
        return None
    try:
        return fields.unpack(connected.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, fields.size))
    except (OSError, struct.error):  # not TCP, or closed; or a kernel from before 2018, which says less
        return None
