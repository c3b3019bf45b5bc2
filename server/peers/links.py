"""The links of this host to all others: exactly one to each, encrypted, and pinned on both sides.

Of two hosts, the one that came later dials. Each shows the certificate whose fingerprint is in
the database, and is refused if it shows another. A link that is lost is dialled again for as
long as the database says that the other host lives.
"""

import socket
import ssl
from collections import deque
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from math import inf

import structlog
import trio

from server.exits import ConfigError
from server.net.causes import why
from server.net.listening import AT_ONCE, plain
from server.net.tls import untie
from server.net.turns import InTurn, OneARound
from server.peers import identity
from server.peers.health import Problem, named
from server.peers.identity import Identity
from server.peers.leases import Peer
from server.peers.link import Hear, Link, Reply, Serve
from tournament.timekeeper import Timekeeper

AGAIN = 0.25  # seconds until a link that was lost is dialled again
HANDSHAKE = 5.0  # seconds
STRANGERS = 64  # whose handshakes go on; past it the oldest goes: that of a host takes a few milliseconds
BRIEF = 1.0  # seconds: a link that ended sooner was ended by the other host, which does not know this one
REFUSALS = 10  # of links before they are logged: hosts that have just come may be refused once or twice …
RECENT = 60.0  # … within this many seconds
THERE = "if that is a host of yours, start it again with this database"
UNKNOWN = "its other end has no certificate of a host in the database"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Links:
    def __init__(self, own: Identity, peers: Callable[[], Iterable[Peer]], serve: Serve) -> None:
        """`peers` are the other hosts that live, by the latest answer of the database."""
        self.host = 0  # the number of this one
        self.token = ""  # the organiser's, at this host
        self.reply: Reply = lambda answering: answering.lost()
        self.hear: Hear = lambda peer, news: None
        self.linked: Callable[[Link], None] = lambda link: None  # called with every link that begins
        self.timekeeper = Timekeeper()  # of the host that runs
        self._own = own
        self._peers = peers
        self._serve = serve
        self._links: dict[int, Link] = {}
        self._dialling: set[int] = set()
        self._failed: dict[int, str] = {}  # by host: why the latest link that was dialled failed
        self._strangers: dict[
            trio.CancelScope, str
        ] = {}  # links that have not shown whose they are: from where
        self._handshakes = OneARound()  # of strangers: a step takes a millisecond or two
        # By the certificates of the others: making one takes milliseconds, and anybody can connect.
        self._context = lru_cache(1)(partial(identity.context, own, server=True))
        self._refused: deque[float] = deque(maxlen=REFUSALS)  # when links of strangers were refused …
        self._warned = -inf  # … and when that was last logged

    def to(self, peer: int) -> Link | None:
        """The link to a host, while there is one."""
        return self._links.get(peer)

    def all(self) -> Iterable[Link]:
        return self._links.values()

    def problems(self) -> Iterator[Problem]:
        """What is wrong with links just now."""
        now = trio.current_time()
        living = {peer.id: peer for peer in self._peers()}
        for peer in living.values():
            link = self._links.get(peer.id)
            if peer.id in self._failed and (link is None or now - link.begun < BRIEF):
                said = f"there is no link to {named(peer)}: {self._failed[peer.id]}"
                yield Problem(said, "see that hosts reach each other at the addresses that they advertise")
        for number in self._links.keys() - living.keys():
            said = f"there is a link to host {number}, which the database does not know as one that lives"
            yield Problem(said, THERE)
        if self._besieged(now):
            said = f"links are refused, the latest {now - self._refused[-1]:.0f} s ago: {UNKNOWN}"
            yield Problem(said, THERE)

    async def run(self, listeners: Iterable[trio.SocketListener]) -> None:
        """Listen, and dial, until cancelled."""
        async with trio.open_nursery() as nursery:
            for listener in listeners:
                nursery.start_soon(self._listen, listener, nursery)
            while True:
                for peer in self._peers():
                    if peer.alive and peer.id < self.host and peer.id not in self._dialling:
                        self._dialling.add(peer.id)
                        nursery.start_soon(self._dial, peer)
                await trio.sleep(AGAIN)

    # Within

    async def _dial(self, peer: Peer) -> None:
        begun = trio.current_time()
        try:
            host, port = _host(peer.address), peer.address.rpartition(":")[2]
            connected = None
            with trio.move_on_after(HANDSHAKE):
                connected = await trio.open_tcp_stream(host, int(port))
            if connected is None:
                raise TimeoutError(f"nobody answers within {HANDSHAKE:g} s")
            context = identity.context(self._own, [peer.certificate], server=False)
            stream = trio.SSLStream[trio.abc.Stream](connected, context)
            if await _shown(stream, host) == peer.fingerprint:
                await self._keep(stream, peer.id, dialled=True)
                if trio.current_time() - begun < BRIEF:
                    self._failed[peer.id] = "it ends at once: that host may not know this one"
                else:
                    self._failed.pop(peer.id, None)
            else:
                self._failed[peer.id] = "whoever is there has another certificate than the database says"
                await trio.aclose_forcefully(stream)
        except (OSError, ValueError) as error:
            if self._failed.get(peer.id) != (reason := why(error)):  # it is dialled four times a second
                self._failed[peer.id] = reason
                log.warning("a host cannot be reached", host=peer.id, at=peer.address, why=reason)
        finally:
            self._dialling.discard(peer.id)

    async def _listen(self, listener: trio.SocketListener, nursery: trio.Nursery) -> None:
        with plain(listener.socket) as accepting:
            while True:
                await trio.lowlevel.wait_readable(accepting)
                try:
                    for _ in range(AT_ONCE):
                        connected = trio.socket.from_stdlib_socket(accepting.accept()[0])
                        nursery.start_soon(self._accept, trio.SocketStream(connected))
                except BlockingIOError:
                    pass  # all who waited are in
                except OSError as error:
                    log.error("no room for a link", why=str(error))
                    await trio.sleep(AGAIN)

    async def _accept(self, connected: trio.SocketStream) -> None:
        who = _from(connected)
        others = {peer.fingerprint: peer for peer in self._peers() if peer.alive}
        try:
            context = self._context(tuple(sorted(peer.certificate for peer in others.values())))
        except OSError as error:  # it takes a file
            log.error("no room for a link", peer=who, why=str(error))
            await trio.aclose_forcefully(connected)
            return
        way = InTurn(connected)
        way.turns, way.whose = self._handshakes, _host(who)
        stream, shown = trio.SSLStream[trio.abc.Stream](way, context, server_side=True), ""
        self._make_room({_host(peer.address) for peer in others.values()})
        with trio.CancelScope() as scope:
            self._strangers[scope] = _host(who)
            try:
                with suppress(OSError):
                    shown = await _shown(stream, _host(who))
            finally:
                self._strangers.pop(scope, None)
                way.turns = None
        peer = others.get(shown)
        if peer is not None and peer.id > self.host:
            await self._keep(stream, peer.id, dialled=False)
        else:
            self._refused.append(now := trio.current_time())
            if self._besieged(now) and now >= self._warned + RECENT:
                self._warned = now
                log.warning(f"links are refused: {UNKNOWN}", latest=who)
            await trio.aclose_forcefully(stream)

    def _make_room(self, homes: Container[str]) -> None:
        """Have the oldest stranger go if there are many: if possible one who is not where a host is."""
        if len(self._strangers) >= STRANGERS:
            away = (scope for scope, host in self._strangers.items() if host not in homes)
            oldest = next(away, next(iter(self._strangers)))
            del self._strangers[oldest]
            oldest.cancel()

    def _besieged(self, now: float) -> bool:
        """Whether too many links were refused lately for them all to be from hosts that have just come."""
        return len(self._refused) == REFUSALS and now - self._refused[0] < RECENT

    async def _keep(self, stream: trio.abc.Stream, peer: int, *, dialled: bool) -> None:
        link = Link(
            stream,
            peer,
            self._serve,
            dialled=dialled,
            reply=self.reply,
            hear=self.hear,
            token=self.token,
            timekeeper=self.timekeeper,
        )
        self._links[peer] = link
        self.linked(link)
        log.info("linked", host=peer)
        try:
            await link.run()
        finally:
            if self._links.get(peer) is link:
                del self._links[peer]


async def _shown(stream: trio.SSLStream[trio.abc.Stream], who: str) -> str:
    """The fingerprint of the certificate that the other side proves to have; "" if none here knows it.

    A host that has just come is known to the others a moment later. Raises `OSError` where no handshake
    comes about, as with a host that dies. Unless it returns a fingerprint, it closes the stream.
    """
    reason, unknown = f"no handshake within {HANDSHAKE:g} s", False
    with trio.move_on_after(HANDSHAKE):
        try:
            await stream.do_handshake()
            return identity.fingerprint(stream.getpeercert(binary_form=True))
        except trio.BrokenResourceError as error:
            reason, unknown = why(error), isinstance(error.__cause__, ssl.SSLCertVerificationError)
        except trio.Cancelled:
            await trio.aclose_forcefully(stream)
            raise
        finally:
            untie(stream)
    log.info("a link has come to nothing", peer=who, why=reason)
    await trio.aclose_forcefully(stream)
    if unknown:
        return ""
    raise ConnectionError(reason)


def _from(connected: trio.SocketStream) -> str:
    """The address of the peer that connected, if it is still there."""
    try:
        host, port, *_ = connected.socket.getpeername()
    except OSError:
        return "unknown"
    return f"{host}:{port}"


def _host(address: str) -> str:
    """What comes before the port."""
    return (address.rpartition(":")[0] or address).strip("[]").removeprefix("::ffff:")


async def listening(address: str) -> list[trio.SocketListener]:
    """Listen for other hosts at `HOST:PORT`. Raises `ConfigError`."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"peers: expected ADDRESS:PORT, where other hosts reach this one, not {address!r}")
    try:
        return await trio.open_tcp_listeners(int(port), host=host.strip("[]") or None)
    except (OSError, socket.gaierror) as error:
        raise ConfigError(f"peers: cannot listen on {address}: {error.strerror}") from None
