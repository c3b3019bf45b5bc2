"""Ports for servers that are to be found again where they were, or that cannot say which they got.

They lie below those that the system gives to connections: a server that is started again would now and then
find that a client of somebody else has been given its port meanwhile.
"""

import socket
from contextlib import ExitStack
from pathlib import Path
from random import SystemRandom

RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
LOWEST, HIGHEST = 10_000, 32_768  # where the system does not say what it gives to connections


def free_ports(count: int) -> list[int]:
    """So many on which nobody listens now."""
    below = int(RANGE.read_text().split()[0]) if RANGE.exists() else HIGHEST
    found: list[int] = []
    with ExitStack() as probes:
        while len(found) < count:
            probe = probes.enter_context(socket.socket())
            try:
                probe.bind(("127.0.0.1", SystemRandom().randrange(min(LOWEST, below - 1), below)))
            except OSError:
                continue  # somebody has it
            found.append(probe.getsockname()[1])
    return found
