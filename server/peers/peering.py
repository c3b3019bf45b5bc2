"""The whole of sharing: what a host that shares its database has beside what every host has."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any

import structlog
import trio

from server.exits import ConfigError, Unavailable
from server.export.json_views import moment
from server.host.host import Host
from server.http.routes import HttpDoor
from server.pages.desk.sessions import Sessions
from server.peers import identity
from server.peers.abroad import Peers
from server.peers.channel import FarEnd
from server.peers.health import Health, Problem, health
from server.peers.keeping import LeaseKeeper
from server.peers.leases import Card, Peer
from server.peers.ledger import SharedLedger
from server.peers.link import attended
from server.peers.links import Links, listening
from server.peers.messages import Open
from server.peers.overdue import Overdue
from server.peers.registry import PostgresRegistry
from server.peers.requests import Relayed
from server.peers.watching import Watching
from server.protocols import handed
from server.store.duties import BACKUPS, PostgresDuties
from server.store.shared import SharedPostgres

ADVICE = "see to the PostgreSQL server; a host that it no longer knows has to be started again"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class RelayedPeer:
    """A relayed bot, admitted by the host where it came in."""

    def __init__(self, wire: FarEnd) -> None:
        self._wire = wire

    def authenticated(self) -> None:
        self._wire.known()


class Peering:
    def __init__(self, engine: SharedPostgres, url: str) -> None:
        self._url = url
        self._engine = engine
        self._registry = PostgresRegistry(url, deadline=engine.deadline)
        self._own = identity.made()
        self.keeping = LeaseKeeper(self._registry)
        self.ledger = SharedLedger(engine, self.keeping)
        self.links = Links(self._own, self._others, self._serve)
        self.peers = Peers(self.keeping, self.ledger, engine, self.links.to)
        self.watching = Watching(self.links.all, self.peers.link)
        self.address = ""  # at which the others reach this host
        self._host: Host | None = None

    async def begin(
        self,
        nursery: trio.Nursery,
        listeners: Sequence[trio.SocketListener],
        address: str,
        version: str,
    ) -> None:
        """Make this host known to the others, and hold leases; raises `ConfigError` without a database."""
        self.address = address
        card = Card(address, self._own.fingerprint, self._own.certificate, version)
        try:
            self._engine.host = self.links.host = await self.keeping.register(card)
        except Unavailable as error:
            raise ConfigError(f"peers: {error}") from None
        await nursery.start(self.keeping.run)
        nursery.start_soon(Overdue(self.keeping.leases, self._registry.hold).run)
        nursery.start_soon(self.links.run, listeners)

    async def listen(self, nursery: trio.Nursery, at: str, advertised: str, version: str) -> None:
        """Begin, listening for other hosts at `at`; they reach this one at `advertised`, if that is given."""
        listeners = await listening(at)
        address, port = at.rpartition(":")[0], listeners[0].socket.getsockname()[1]
        await self.begin(nursery, listeners, advertised or f"{address}:{port}", version)

    def serve(self, host: Host) -> None:
        """Share the tournaments of a host that is about to run."""
        self._host = host
        self.peers.serve(host)
        self.links.timekeeper = host.timekeeper
        host.group = self

    def relayed(self, doors: Iterable[HttpDoor], token: str, sessions: Sessions | None) -> Relayed:
        """The `Relayed` that has other hosts answer requests for these doors."""
        return Relayed(self.peers, self.links, doors, token, sessions, self.watching)

    @property
    def last(self) -> int:
        """The number of the latest entry of the journal that this host knows to be safe."""
        return max(self._engine.reached, self.peers.read)

    def holders(self) -> Mapping[str, str]:
        """The addresses of the hosts that hold tournaments, by their names."""
        return self.keeping.leases.holders()

    def hosts(self) -> list[dict[str, Any]]:
        """The hosts that live, or did within the hour."""
        leases, now = self.keeping.leases, time.time()
        held = Counter(lease.host for lease in leases.all.values())
        return [
            {
                "host": peer.id,
                "address": peer.address,
                "version": peer.version,
                "alive": peer.alive,
                "draining": peer.draining,
                "starting": peer.starting,
                "heartbeat": moment(now - peer.age),
                "tournaments": held[peer.id] if peer.alive else 0,
                "this": peer.id == leases.host,
            }
            for peer in self.keeping.seen
        ]

    def health(self) -> Health:
        """What is wrong with all hosts, as far as it is known here."""
        why = self.keeping.why
        own = [Problem(f"the leases of this host cannot be renewed: {why}", ADVICE)] if why else []
        return health(self.keeping.seen, [*own, *self.links.problems()])

    async def come_in(self) -> None:
        """Let others count on this host, which is ready now: at its start it said that it takes nothing."""
        try:
            await self.peers.say_whether_willing()
        except Unavailable as error:
            log.warning("others hear of this host a little later", why=str(error))

    async def give_up(self, seconds: float) -> None:
        """Let other hosts go on at once, if the database answers; nobody waits for that any longer."""
        self._engine.hurry(seconds)
        try:
            await self.peers.give_up()
        except Unavailable as error:
            log.warning("others go on in a second", why=str(error))

    def backs_up(self) -> bool:
        """Whether it is this host that makes backups for all. Raises `Unavailable`; for a thread."""
        with closing(PostgresDuties(self._url, self.links.host)) as duties:
            return duties.mine(BACKUPS)

    def close(self) -> None:
        self._registry.close()

    # Within

    def _others(self) -> list[Peer]:
        leases = self.keeping.leases
        return [peer for peer in leases.peers if peer.alive and peer.id != leases.host]

    def _serve(self, wire: FarEnd, opened: Open) -> None:
        if self._host is None:
            wire.close()
        else:
            attended(self._host.guard, partial(attend, self._host, self.peers))(wire, opened)


async def attend(host: Host, peers: Peers, wire: FarEnd, opened: Open) -> None:
    """Serve a bot that has come in at another host."""
    await peers.caught_up(opened.tournament)
    visitor, settled = RelayedPeer(wire), opened.again
    await handed.attend(host, wire, visitor, opened.door, opened.path, wire.pieces, settled=settled)
