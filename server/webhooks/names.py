"""Looking up the names of receivers, each in threads of its own.

Where a name server does not answer, the system goes on asking for longer than a call may take, and all that
time a thread is held. If it were one of the threads that everything shares, a few such names would hold up
pages, tables and whatever is told to other receivers.
"""

import socket
from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import Any

import trio

EACH = 4  # look-ups of one name at once, those included that nobody waits for any more

Ask = Callable[..., list[Any]]  # as `socket.getaddrinfo`


class NamesOfReceivers(trio.abc.HostnameResolver):
    """There are as many names as the organiser's configuration has."""

    def __init__(self, ask: Ask = socket.getaddrinfo) -> None:
        self._ask = ask
        self._threads = defaultdict[bytes | None, trio.CapacityLimiter](partial(trio.CapacityLimiter, EACH))

    async def getaddrinfo(
        self,
        host: bytes | None,
        port: bytes | str | int | None,
        family: int = 0,
        type: int = 0,
        proto: int = 0,
        flags: int = 0,
    ) -> list[Any]:
        ask, threads = partial(self._ask, host, port, family, type, proto, flags), self._threads[host]
        return await trio.to_thread.run_sync(ask, abandon_on_cancel=True, limiter=threads)

    async def getnameinfo(self, sockaddr: Any, flags: int) -> tuple[str, str]:
        raise NotImplementedError("nobody asks for the name of an address")
