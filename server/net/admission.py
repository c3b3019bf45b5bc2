"""Who may connect: how many connections each may have, all doors together.

The caps are on open files, on connections from one address, and on strangers, that is,
connections that have not shown who they are. When there are too many, the stranger that has been here
longest is closed first: a flood of idle connections drives itself out. Connections from
this machine and from proxies are limited only by open files; where these run out, the
strangers among them go too, after all others.
"""

import math
from collections import Counter, OrderedDict
from collections.abc import Iterable
from ipaddress import ip_address
from itertools import chain

import structlog

from server.net.addresses import customer
from server.net.hosts import Hosts
from server.net.limits import Limits
from server.net.proxies import Proxies
from server.net.wire import Wire

NO_PROXIES = Proxies()
NO_FILES = "the host may have no more files open"

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Visitor:
    """One connection, as far as admission goes."""

    __slots__ = ("_admission", "network", "proxied", "wire")

    def __init__(self, admission: "Admission", wire: Wire, network: str, proxied: bool = False) -> None:
        self._admission = admission
        self.wire = wire
        self.network = network  # the network under which it is counted; "" if it is not counted
        self.proxied = proxied  # it is a proxy of ours, which passes on what others say

    def client(self, forwarded: str) -> str:
        """The address from which a request came, if `forwarded` is its `X-Forwarded-For`."""
        return self._admission.proxies.client(self.wire.peer, forwarded)

    def objection(self, named: str) -> str:
        """What is wrong with a request to the host of that name, in a sentence; "" where nothing is."""
        hosts = self._admission.hosts
        return "" if hosts is None or self.proxied else hosts.objection(named)

    def introduced_as(self, peer: str) -> bool:
        """A proxy of ours speaks for that address; False if it has too many connections already."""
        return self._admission.introduce(self, peer)

    def authenticated(self) -> None:
        """It has shown who it is: a flood of strangers no longer drives it out."""
        self._admission.knows(self)

    def leave(self) -> None:
        """The connection has ended. A second call does nothing."""
        self._admission.leaves(self)


class Admission:
    """The connections that are here. One `Admission` for all doors of a host."""

    def __init__(
        self,
        limits: Limits,
        files: float = math.inf,
        proxies: Proxies = NO_PROXIES,
        hosts: Hosts | None = None,
    ) -> None:
        """`hosts` are the names that requests may have for this host; None: any."""
        self.proxies = proxies
        self.hosts = hosts
        self._limits = limits
        self._most = files - limits.spare_files
        self.files_beside = 0  # that connections have open, beyond one for each
        self._here: set[Visitor] = set()
        self._of_network: Counter[str] = Counter()
        self._strangers: OrderedDict[Visitor, None] = OrderedDict()  # the oldest first
        self._near: OrderedDict[Visitor, None] = OrderedDict()  # strangers too, but not counted as such

    def admit(self, wire: Wire) -> Visitor | None:
        """Let a connection in, if need be in place of the oldest stranger; None if there is no stranger."""
        proxied = wire.peer in self.proxies  # many may be behind it: the proxy limits how many
        network = "" if proxied else network_of(wire.peer, self._limits.trust_loopback)
        if network and not self._has_room_for(network, wire.peer):
            return None
        if self.free_files <= 0 and not self._evict(chain(self._strangers, self._near), NO_FILES):
            log.warning("cut", peer=wire.peer, why=NO_FILES)
            return None
        visitor = Visitor(self, wire, network, proxied)
        self._here.add(visitor)
        if network:
            self._count(visitor)
        else:
            self._near[visitor] = None
        return visitor

    @property
    def free_files(self) -> float:
        """How many more may be opened for connections."""
        return self._most - len(self._here) - self.files_beside

    def introduce(self, visitor: Visitor, peer: str) -> bool:
        """Count a proxy's connection under the address that it named; False if that address has too many."""
        visitor.wire.peer = peer
        network = network_of(peer, self._limits.trust_loopback)
        if not network or visitor not in self._here:
            return visitor in self._here
        if not self._has_room_for(network, peer):
            return False
        self._near.pop(visitor, None)
        visitor.network = network
        self._count(visitor)
        return True

    def knows(self, visitor: Visitor) -> None:
        self._strangers.pop(visitor, None)
        self._near.pop(visitor, None)

    def leaves(self, visitor: Visitor) -> None:
        if visitor in self._here:
            self._here.remove(visitor)
            self.knows(visitor)
            self._of_network[visitor.network] -= 1
            if self._of_network[visitor.network] <= 0:
                del self._of_network[visitor.network]

    def __len__(self) -> int:
        return len(self._here)

    def _has_room_for(self, network: str, peer: str) -> bool:
        """Make room for one more from a network, if need be in place of strangers; False if there is none.

        `peer` may be one of a class behind one gateway: nothing but the log says why it cannot come in.
        """
        limits = self._limits
        theirs = (visitor for visitor in self._strangers if visitor.network == network)
        if self._of_network[network] >= limits.connections_per_address:
            most = f"limits.connections_per_address allows {limits.connections_per_address}"
            if not self._evict(theirs, f"its address has opened more: {most}"):
                log.warning("cut", peer=peer, why=f"its address has enough connections: {most}")
                return False
        if len(self._strangers) >= limits.unauthenticated:
            most = f"limits.unauthenticated allows {limits.unauthenticated}"
            self._evict(self._strangers, f"it had not shown who it is, and others came: {most}")
        return True

    def _count(self, visitor: Visitor) -> None:
        """Count a stranger under its network."""
        self._of_network[visitor.network] += 1
        self._strangers[visitor] = None

    def _evict(self, strangers: Iterable[Visitor], why: str) -> bool:
        """Drop the first of these, if there is one."""
        for oldest in strangers:
            self.leaves(oldest)
            log.info("cut", peer=oldest.wire.peer, why=why)
            oldest.wire.close()
            return True
        return False


def network_of(peer: str, trust_loopback: bool) -> str:
    """The network under which a connection is counted, one customer's; "" if it is not counted."""
    try:
        address = ip_address(peer)
    except ValueError:
        return ""
    return "" if address.is_loopback and trust_loopback else customer(address)
