"""Calling bots that want to be called: one POST to an address that a stranger gave.

A name is looked up once. Every address that it has must be allowed, and the
connection goes to one of these, so that no second look-up can return something else.
There are no proxies, redirects, cookies or logins here. The response is shown to
nobody; only whether the request could be sent is reported.

`server/net/addresses.py` decides which addresses may be called.
"""

import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from socket import AF_INET, AF_INET6, SOCK_STREAM
from typing import Protocol
from weakref import WeakValueDictionary

import structlog
import trio

from server.net.addresses import IP, Network, Url, allowed, unmapped
from server.net.guard import PEER_GONE
from server.net.limits import Limits
from server.net.look_ups import LookUps
from server.net.shares import SharedPlaces
from server.net.time_limits import within
from server.net.tls import untie
from server.net.trusted import trusted

Connect = Callable[[IP, int], Awaitable[trio.abc.Stream]]
LookUp = Callable[[str, str], Awaitable[list[IP]]]  # a name, and whose it is

TRIED = 4  # addresses of one name, if those before do not answer
SERVERS = 1000  # servers whose last call is remembered
NOBODY = (
    "this host calls nobody: come without an address to call, "
    "or ask the organiser to list its network as `evaluation.networks`"
)

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Forbidden(Exception):
    """An address that is not called from here. The message is for whoever gave it."""


class Caller(Protocol):
    """What users of calls know of them."""

    def permit(self, from_here: bool) -> None:
        """Raise `Forbidden` if no calls at all are made for a client that is, or is not, `from_here`."""

    async def check(self, url: Url) -> None:
        """Raise `Forbidden` if that address cannot be called, as far as is known now."""
        ...

    async def post(self, url: Url, body: bytes) -> bool:
        """Send a JSON body there; returns whether it was sent. No failure of the peer's is raised."""
        ...


async def over_sockets(address: IP, port: int) -> trio.abc.Stream:
    """Connect to that address and to nothing else."""
    plain = trio.socket.socket(AF_INET if address.version == 4 else AF_INET6, SOCK_STREAM)
    try:
        await plain.connect((str(address), port))
    except BaseException:
        plain.close()
        raise
    return trio.SocketStream(plain)


class Outbound(Caller):
    """Calls, a limited number at once, and to one server one after the other, with a pause.

    A server is a port of an address, whatever names that has. Servers that keep the host waiting delay the
    calls for whoever gave their addresses, and few others.
    """

    def __init__(
        self,
        limits: Limits,
        networks: Sequence[Network],
        connect: Connect = over_sockets,
        tls: ssl.SSLContext | None = None,
        *,
        from_here: Sequence[Network] | None = None,
        look_up: LookUp | None = None,
    ) -> None:
        """`networks` may be called for anybody, and `from_here` for clients on this machine."""
        self._limits = limits
        self._networks = {False: networks, True: networks if from_here is None else from_here}
        self._connect = connect
        self._tls = tls
        # Whoever gives names for which nobody answers does not keep bots that are here from being called.
        self._look_up_first = look_up or LookUps().addresses
        self._look_up_again = look_up or LookUps().addresses
        self._calls = SharedPlaces(limits.calls_at_once)
        self._queues: WeakValueDictionary[str, trio.Lock] = WeakValueDictionary()  # by server
        self._next: dict[str, float] = {}  # when a server may be called again

    def permit(self, from_here: bool) -> None:
        if not self._networks[from_here]:
            raise Forbidden(NOBODY)

    async def check(self, url: Url) -> None:
        self.permit(url.from_here)
        if not await self._found(url, self._look_up_first):
            raise Forbidden(f"{url.host} is not known, or nothing that this host may call")

    async def post(self, url: Url, body: bytes) -> bool:
        await self._turn(url.authority)  # before the look-up: no name is asked for more often
        addresses = await self._found(url, self._look_up_again)
        if not addresses:
            return False
        await self._turn(*(f"{each} {url.port}" for each in addresses))
        sent = False
        async with self._calls.one(url.origin):
            # The answer does not matter, nor whether there is one.
            with within(self._limits.call_seconds), suppress(OSError, *PEER_GONE):
                if (stream := await self._open(url, addresses)) is not None:
                    try:
                        await stream.send_all(_request(url, body))
                        sent = True
                        await self._hear_out(stream)
                    finally:
                        untie(stream)
                        await trio.aclose_forcefully(stream)
        log.debug("called", server=url.authority, sent=sent)
        return sent

    async def _turn(self, *servers: str) -> None:
        """Wait until each of these may be called. A call that is given up meanwhile delays no other."""
        for server in dict.fromkeys(servers):
            async with self._queue(server):
                await trio.sleep_until(self._next.get(server, trio.current_time()))
                now = trio.current_time()
                if len(self._next) >= SERVERS:
                    self._next = {each: next_ for each, next_ in self._next.items() if next_ > now}
                self._next[server] = now + self._limits.call_pause_seconds

    def _queue(self, server: str) -> trio.Lock:
        """The lock that the call has which is the next to that server."""
        queue = self._queues.get(server)
        if queue is None:
            queue = self._queues[server] = trio.Lock()
        return queue

    async def _open(self, url: Url, addresses: Sequence[IP]) -> trio.abc.Stream | None:
        """Connect to the first address that answers within its share of the time that is left."""
        context = (self._tls or await trusted()) if url.secure else None
        until = trio.current_time() + self._limits.connect_seconds
        for before, address in enumerate(addresses):
            share = (until - trio.current_time()) / (len(addresses) - before)
            with within(share), suppress(OSError):
                stream = await self._connect(address, url.port)
                if context is None:
                    return stream
                return trio.SSLStream(stream, context, server_hostname=url.host, https_compatible=True)
        return None

    async def _found(self, url: Url, look_up: LookUp) -> list[IP]:
        """The addresses of the host's name that are tried; none, if one that it has may not be called."""
        addresses: list[IP] = []
        with within(self._limits.connect_seconds), suppress(OSError):
            addresses = [*map(unmapped, await look_up(url.host, url.origin))]
        networks = self._networks[url.from_here]
        return addresses[:TRIED] if all(allowed(address, networks) for address in addresses) else []

    async def _hear_out(self, stream: trio.abc.Stream) -> None:
        """Read a little of the answer, for politeness, and drop it."""
        left = self._limits.call_answer_bytes
        while left > 0 and (received := await stream.receive_some(left)):
            left -= len(received)


def _request(url: Url, body: bytes) -> bytes:
    return (
        f"POST {url.target} HTTP/1.1\r\nHost: {url.authority}\r\nUser-Agent: quintain\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    ).encode() + body
