"""Looking up names that strangers give, in threads of their own.

Where a name server does not answer, the system goes on asking for longer than anybody here waits, and
all that time a thread is held. If it were one of the threads that everything shares, whoever gives such
names could hold up the desk, webhooks and tables.
"""

from collections.abc import Callable
from ipaddress import ip_address
from socket import AI_NUMERICHOST, SOCK_STREAM, getaddrinfo

import trio

from server.net.addresses import IP

AT_ONCE = 16  # names that are looked up; others wait for their turn, as long as somebody waits for them

Ask = Callable[[bytes, int], list[IP]]


class LookUps:
    def __init__(self, ask: Ask | None = None) -> None:
        """`ask` looks a name up, with flags of `getaddrinfo`, and may take long."""
        self._ask = ask or _asked
        self._threads = trio.CapacityLimiter(AT_ONCE)

    async def addresses(self, host: str) -> list[IP]:
        """All addresses of a name; raises `OSError` if it has none. An address is not waited for."""
        name = host.encode()  # a str would be taken for a name in Unicode, and some of those for numbers
        try:
            return self._ask(name, AI_NUMERICHOST)
        except OSError:
            pass  # it is a name
        return await trio.to_thread.run_sync(
            self._ask, name, 0, abandon_on_cancel=True, limiter=self._threads
        )


def _asked(name: bytes, flags: int) -> list[IP]:
    found = getaddrinfo(name, None, type=SOCK_STREAM, flags=flags)
    return [ip_address(sockaddr[0]) for *_, sockaddr in found]
