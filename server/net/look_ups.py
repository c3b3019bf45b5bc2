"""Looking up names that strangers give, in threads of their own.

Where a name server does not answer, the system goes on asking for longer than anybody here waits, and
all that time a thread is held. If it were one of the threads that everything shares, whoever gives such
names could hold up the desk, webhooks and tables.
"""

from collections.abc import Callable
from ipaddress import ip_address
from socket import AI_NUMERICHOST, SOCK_STREAM, getaddrinfo
from typing import cast
from weakref import WeakValueDictionary

import trio

from server.net.addresses import IP

AT_ONCE = 16  # names that are looked up; others wait for their turn, as long as somebody waits for them
EACH = 4  # of these, for one client

Ask = Callable[[bytes, int], list[IP]]


class LookUps:
    def __init__(self, ask: Ask | None = None) -> None:
        """`ask` looks a name up, with flags of `getaddrinfo`, and may take long."""
        self._ask = ask or _asked
        self._threads = trio.CapacityLimiter(AT_ONCE)
        self._shares: WeakValueDictionary[str, _Share] = WeakValueDictionary()

    async def addresses(self, host: str, whose: str = "") -> list[IP]:
        """All addresses of a name; raises `OSError` if it has none. An address needs no look-up.

        `whose` is the network of the client that gives the name; "" where that is not counted.
        """
        name = host.encode()  # a str would be taken for a name in Unicode, and some of those for numbers
        try:
            return self._ask(name, AI_NUMERICHOST)
        except OSError:
            pass  # it is a name
        limiter = self._share(whose) if whose else self._threads
        return await trio.to_thread.run_sync(self._ask, name, 0, abandon_on_cancel=True, limiter=limiter)

    def _share(self, whose: str) -> trio.CapacityLimiter:
        share = self._shares.get(whose)
        if share is None:
            share = self._shares[whose] = _Share(self._threads)
        return cast("trio.CapacityLimiter", share)


class _Share:
    """What a thread for one client takes: one of the client's own, and then one of all.

    It is given back when the thread has ended, which may be long after whoever waited for it has gone.
    """

    def __init__(self, all_: trio.CapacityLimiter) -> None:
        self._all = all_
        self._own = trio.CapacityLimiter(EACH)

    async def acquire_on_behalf_of(self, borrower: object) -> None:
        await self._own.acquire_on_behalf_of(borrower)
        try:
            await self._all.acquire_on_behalf_of(borrower)
        except BaseException:
            self._own.release_on_behalf_of(borrower)
            raise

    def release_on_behalf_of(self, borrower: object) -> None:
        self._all.release_on_behalf_of(borrower)
        self._own.release_on_behalf_of(borrower)


def _asked(name: bytes, flags: int) -> list[IP]:
    found = getaddrinfo(name, None, type=SOCK_STREAM, flags=flags)
    return [ip_address(sockaddr[0]) for *_, sockaddr in found]
