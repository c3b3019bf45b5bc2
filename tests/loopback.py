"""Whether this machine has an IPv6 loopback: found by connecting over it, and asking no code of ours.

Containers often have none, and cannot get one: there a test is skipped, under
continuous integration too. Where there is one, nothing is skipped.
"""

import socket

import pytest


def _connects() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as listener:
            socket.create_connection(listener.getsockname()[:2]).close()
    except OSError:
        return False
    return True


HAS_IPV6 = _connects()
ipv6 = pytest.mark.skipif(not HAS_IPV6, reason="this system has no IPv6 loopback")
