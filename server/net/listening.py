"""Listening sockets: opening them, and accepting connections, each in a task of its own.

Every door accepts through here, so that the caps of `server/net/admission.py` hold for all of them together.
"""

import errno
import socket
import ssl
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import partial
from typing import Never

import structlog
import trio

from server.net.admission import Admission, Visitor
from server.net.guard import Guard, Waiting, start_in_turn
from server.net.introduction import introduced
from server.net.limits import Limits
from server.net.proxy_header import BadHeader
from server.net.readiness import readiness
from server.net.served_connection import ServedConnection
from server.net.sockets import SocketWire, set_options
from server.net.time_limits import within
from server.net.tls_wire import TlsWire
from server.net.turns import OneARound, Turns
from server.net.wire import Served, Wire

AT_ONCE = 4  # connections accepted before other tasks get their turn: while more come, matches go on
PAUSE = 0.1  # seconds before the next try where the system had no room for a connection
LOOPBACK, OTHER_LOOPBACK = "127.0.0.1", "::1"
OWN_MACHINE = (LOOPBACK, "localhost")  # settings that mean both loopback addresses
TRIES = 8  # to find a port that is free on both: one free on one is nearly always free on the other

NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS)
NOT_LISTENING = (errno.EBADF, errno.EINVAL, errno.ENOTSOCK)  # any other error is that of one connection

Attend = Callable[[Wire, Visitor], Awaitable[Served | None]]
Count = Callable[[int], None]  # called with 1 when a connection is attended, and with -1 when it has ended
Listen = Callable[[str, int, Limits], Awaitable[list[socket.socket]]]

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def listeners(host: str, port: int, limits: Limits) -> list[socket.socket]:
    """Sockets that listen: one, or one for each address that `host` has. Port 0 picks a free one."""
    opened = await trio.open_tcp_listeners(port, host=host, backlog=limits.backlog)
    return [plain(listener.socket) for listener in opened]


class CannotListen(Exception):
    """A port is taken, or an address is not this machine's. The message is for the organiser."""

    def __init__(self, host: str, port: int, error: OSError) -> None:
        super().__init__(f"cannot listen on {host} port {port}: {error.strerror}")


def addresses(bind: str) -> tuple[str, ...]:
    """The addresses at which to listen, by the setting `bind`.

    If the system has IPv6, this machine has two loopback addresses, and some clients take `localhost` for
    one, some for the other.
    """
    if bind not in OWN_MACHINE:
        return (bind,)
    return (LOOPBACK, OTHER_LOOPBACK) if has_other_loopback() else (LOOPBACK,)


def has_other_loopback() -> bool:
    """Whether this system has an IPv6 loopback."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind((OTHER_LOOPBACK, 0))
    except OSError:
        return False
    return True


async def opened(
    hosts: Sequence[str], port: int, limits: Limits, listen: Listen = listeners
) -> list[socket.socket]:
    """Sockets that listen on the same port of all these; raises `CannotListen`.

    If no port is found that is free on all of them, they listen on the first alone.
    """
    first, *others = hosts
    for _ in range(TRIES):
        sockets = await _listen(first, port, limits, listen)
        try:
            for other in others:
                sockets += await _listen(other, sockets[0].getsockname()[1], limits, listen)
        except CannotListen:
            close(sockets)
            if port:
                raise
        else:
            return sockets
    sockets = await _listen(first, port, limits, listen)
    log.warning("no port was free on every address", listening=where(sockets[0]), not_on=", ".join(others))
    return sockets


async def _listen(host: str, port: int, limits: Limits, listen: Listen) -> list[socket.socket]:
    try:
        return await listen(host, port, limits)
    except OSError as error:
        raise CannotListen(host, port, error) from None


def close(sockets: Iterable[socket.socket]) -> None:
    for each in sockets:
        each.close()


def where(listener: socket.socket) -> str:
    """The address to connect to: `127.0.0.1:8000`, `[::1]:8000`."""
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


async def serve(
    listener: socket.socket,
    attend: Attend,
    *,
    guard: Guard,
    admission: Admission,
    limits: Limits,
    tls: Callable[[], ssl.SSLContext] | None = None,
    headers: bool = False,
    count: Count = lambda change: None,
    before_passing_on: Callable[[], None] = lambda: None,
) -> Never:
    """Accept forever, each connection in a task of the guard. The listener is closed at the end.

    `tls` is called for the context of each connection, and `before_passing_on` is as in `StreamWire`. With
    `headers`, a proxy of ours may say first for whom it connects, in the PROXY protocol.
    """
    full = False
    secured = None if tls is None else partial(_over_tls, tls, guard, before_passing_on)
    set_options(listener)
    watcher = readiness()
    accepted: Waiting = deque()
    turns = Turns() if headers else None
    handshakes = OneARound()
    with listener:
        while True:
            await trio.lowlevel.wait_readable(listener)
            await trio.lowlevel.checkpoint_if_cancelled()  # its guard may have gone in that moment
            try:
                for _ in range(AT_ONCE):
                    connected, address = listener.accept()
                    wire = SocketWire(connected, _host(address[0]), watcher)
                    full = False
                    if visitor := admission.admit(wire):
                        may = turns if visitor.proxied else None
                        attended = partial(
                            _attended, attend, wire, visitor, guard, limits, secured, handshakes, may, count
                        )
                        start_in_turn(guard, accepted, attended)
                    else:
                        wire.close()
            except BlockingIOError:
                pass  # all who waited are in
            except OSError as error:
                if error.errno in NOT_LISTENING:
                    raise
                if error.errno in NO_ROOM:
                    if not full:
                        log.error("no room for a connection", why=error.strerror, here=len(admission))
                    full = True
                    await trio.sleep(PAUSE)


def _over_tls(
    tls: Callable[[], ssl.SSLContext], guard: Guard, before_passing_on: Callable[[], None], beneath: Wire
) -> TlsWire:
    return TlsWire(beneath, tls(), guard, before_passing_on)


async def _attended(
    attend: Attend,
    connected: SocketWire,
    visitor: Visitor,
    guard: Guard,
    limits: Limits,
    secured: Callable[[Wire], TlsWire] | None,
    handshakes: OneARound,
    introductions: Turns | None,
    count: Count,
) -> None:
    wire: Wire = connected
    served = False
    try:
        source = ""
        if introductions is not None:
            source = await introduced(connected, limits.handshake_seconds, introductions)
        if source and not visitor.introduced_as(source):
            return
        if secured is not None:
            wire = secured(connected)
            with within(limits.handshake_seconds) as limit:
                await wire.shake_hands(handshakes)
            if limit.cancelled_caught:
                return
        served = True
        await _Accepted(wire, visitor, guard, count).run(partial(attend, wire, visitor))
    except BadHeader as error:
        log.warning("cut", peer=wire.peer, why=str(error))
    finally:
        if not served:
            visitor.leave()
            wire.close()


class _Accepted(ServedConnection):
    """A connection that was accepted here, and is counted while it lasts."""

    __slots__ = ("_count", "_visitor")

    def __init__(self, wire: Wire, visitor: Visitor, guard: Guard, count: Count) -> None:
        super().__init__(wire, guard)
        self._visitor = visitor
        self._count = count
        count(1)

    def ended(self) -> None:
        self._count(-1)
        self._visitor.leave()


def plain(listener: trio.socket.SocketType) -> socket.socket:
    """The plain socket in trio's, so that accepting makes plain sockets too."""
    plain = socket.socket(listener.family, listener.type, listener.proto, listener.detach())
    plain.setblocking(False)
    return plain


def _host(address: str) -> str:
    """The address without an IPv6 zone, and as IPv4 if it is IPv4 through an IPv6 socket."""
    host = address.partition("%")[0]
    return host.removeprefix("::ffff:") if "." in host else host
