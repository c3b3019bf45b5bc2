"""What a service manager and its service say to each other: systemd's protocol, in a few lines of our own.

The host says when it is ready and when it stops (`Type=notify`), and takes sockets that the manager
opened before: while the host is restarted, clients wait there and are not refused.
"""

import os
import socket
from collections.abc import MutableMapping

READY, STOPPING = "READY=1", "STOPPING=1"
MORE_TIME = "EXTEND_TIMEOUT_USEC=600000000"  # from now on: ten minutes, as the service file has for a start
DOORS = ("tcp", "websocket", "http")
TIMEOUT = 1.0  # seconds for a manager that reads nothing: nobody is served meanwhile
FAMILIES = (socket.AF_INET, socket.AF_INET6)  # whose peers have addresses, by which they are told apart
FIRST = 3  # the first descriptor: those before are standard input, output and error


class NoSocket(ValueError):
    """The manager passed on something that is no socket for this host. The message is for the organiser."""


def notify(state: str, environment: MutableMapping[str, str] = os.environ) -> bool:
    """Tell the manager, if there is one that wants to know; returns whether it was told."""
    address = environment.get("NOTIFY_SOCKET", "")
    if not address or not hasattr(socket, "AF_UNIX"):
        return False
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as said:
            said.settimeout(TIMEOUT)
            said.connect("\0" + address[1:] if address.startswith("@") else address)
            said.send(state.encode())
    except OSError:
        return False  # failing would not make the manager reachable
    return True


def inherited(environment: MutableMapping[str, str] = os.environ) -> dict[str, list[socket.socket]]:
    """Sockets that listen already, by the names that the manager gave them; raises `NoSocket`.

    They are for this process only, and not for its children.
    """
    if environment.get("LISTEN_PID") != str(os.getpid()):
        return {}
    count, names = environment.pop("LISTEN_FDS", "0"), environment.pop("LISTEN_FDNAMES", "")
    del environment["LISTEN_PID"]
    found: dict[str, list[socket.socket]] = {}
    for number, name in zip(range(FIRST, FIRST + int(count)), names.split(":"), strict=False):
        os.set_inheritable(number, False)
        try:
            opened = socket.socket(fileno=number)
        except OSError as error:
            raise NoSocket(f"expected a socket as descriptor {number}: {error.strerror}") from None
        if name not in DOORS:
            raise NoSocket(f"expected FileDescriptorName= {', '.join(DOORS)}, not {name!r}")
        listens = opened.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        if opened.family not in FAMILIES or opened.type != socket.SOCK_STREAM or not listens:
            raise NoSocket(f"the socket {name!r} of the service manager does not listen for TCP")
        opened.setblocking(False)
        found.setdefault(name, []).append(opened)
    return found
