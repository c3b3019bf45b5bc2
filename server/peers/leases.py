"""Which tournaments this host holds, as far as it can be sure: the part that does no I/O.

A host asks the database, four times a second, to let it go on holding what it holds. The database lets the
leases of a host lapse when it has not asked for a second. Two clocks are involved, and neither is compared
with the other: the host counts from the moment at which it *sent* a request that was granted, so its second
ends before the database's does, and it stops a little early, because clocks run at different rates.

    sure     it may play and decide: every request of late was granted
    unsure   its second is over and nothing was heard: clocks stand, and nothing begins
    lost     another host holds the tournament, by the database's word

From unsure it goes back to sure for the tournaments that no host has taken meanwhile. In any case, no host
can write without a lease: rows carry the epoch of the lease, and the database compares it.

A host that has heard nothing from the database for a while cannot tell the others' silence from its own. So
it is patient: when it hears again, it gives the others as long as a lease lasts before it takes anything
from those that did not renew. When the database was away, and comes back for all, each goes on with its own.

With every answer the database says when the leases of each host lapse. So a host need not wait for its next
regular request: it asks at that moment, and again soon while something is left that it may take.
"""

import time
from collections.abc import Mapping
from math import inf
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

LENGTH = 1.0  # seconds that leases last, by the database's clock
EVERY = 0.25  # seconds between two requests: three may be lost
SOON = 0.05  # seconds until a host asks again while something waits for a holder
AFTER = 0.005  # seconds after leases have lapsed at which a host asks for them: clocks differ in rate
SHORT = 0.9  # seconds of a lease on which a host relies: clocks may differ in rate by a tenth
NOT_HELD = -1  # nobody's epoch: rows that carry it are refused
UNSHARED = 0  # the epoch of what belongs to no tournament
NONE: Mapping[str, "Lease"] = MappingProxyType({})


def since_boot() -> float:
    """Seconds since boot, including those in which the machine slept: a lease does not wait for it."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Lease(Struct, frozen=True):
    """The lease of a tournament."""

    host: int | None  # None: nobody holds it just now
    epoch: int


class Card(Struct, frozen=True):
    """What a host says of itself."""

    address: str  # where others reach it
    fingerprint: str  # of its certificate: SHA-256, in hexadecimal
    certificate: str  # in PEM
    version: str


class Peer(Struct, frozen=True):
    """A host as the database knows it."""

    id: int
    address: str  # where others reach it
    fingerprint: str  # of its certificate: SHA-256, in hexadecimal
    certificate: str  # in PEM
    version: str
    alive: bool = True
    draining: bool = False  # it is about to end …
    starting: bool = False  # … or has not been ready yet; in both cases it takes nothing over
    age: float = 0.0  # seconds since its last heartbeat …
    ahead: float = 0.0  # … and by how many its clock was ahead of the database's then
    left: float = 0.0  # seconds until its leases lapse, if it does not renew them


class Granted(Struct, frozen=True):
    """The database's answer to a request."""

    changes: int  # how often the leases of all hosts have changed
    peers: tuple[Peer, ...]
    leases: Mapping[str, Lease] | None  # all of them, by tournament; None: as when that number was heard


class Change(Struct, frozen=True):
    """What a host has begun to hold with an answer from the database, and what it no longer holds."""

    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


class Leases:
    """This host's leases, and who holds the others."""

    def __init__(self) -> None:
        self.host = 0
        self.peers: tuple[Peer, ...] = ()
        self.changes = -1
        self.until = -inf  # when this host stops being sure
        self.asked = -inf  # when the event loop sent its latest request, whatever came of it
        self._told = -inf  # when it asked for the latest answer
        self._steady = inf  # since when every request was granted; inf: the latest was not
        self.all: Mapping[str, Lease] = NONE
        self._held: dict[str, int] = {}  # epochs, by tournament
        self._known: tuple[Mapping[str, Lease], Mapping[int, str]] = NONE, {}  # of what these were made
        self._addresses: Mapping[str, str] = {}
        self._holders: frozenset[int | None] = frozenset()  # the hosts that hold something; None: nobody does

    def sure(self, now: float) -> bool:
        """Whether what is held is held for certain."""
        return now < self.until

    def patient(self, now: float) -> bool:
        """Whether others may be silent only because nobody could reach the database of late."""
        return not self.sure(now) or now < self._impatient

    @property
    def _impatient(self) -> float:
        """When patience ends, if no request fails before that."""
        return self._steady + LENGTH / SHORT

    def next_request(self, sent: float, heard: float) -> float:
        """When a host that takes over asks again, by when its latest request was sent and answered.

        After `EVERY` at the latest; before that if leases lapse, or have lapsed and are still there.
        """
        if None in self._holders:
            soonest = heard + SOON
        else:
            living = [peer for peer in self.peers if peer.alive and peer.id in self._holders]
            lapsed = len(living) < len(self._holders)
            left = [peer.left for peer in living if peer.id != self.host]
            soonest = max(heard + (SOON if lapsed else min(left, default=EVERY) + AFTER), self._impatient)
        return min(sent + EVERY, soonest)

    def failed(self) -> None:
        """Note that a request failed."""
        self._steady = inf

    @property
    def held(self) -> Mapping[str, int]:
        """The tournaments that are held, by the latest answer, with their epochs."""
        return MappingProxyType(self._held)

    def epoch(self, tournament: str) -> int:
        """The epoch that a tournament's rows have to carry."""
        return self._held.get(tournament, NOT_HELD) if tournament else UNSHARED

    def holder(self, tournament: str) -> Peer | None:
        """The other host that holds a tournament; None if this one does, or nobody."""
        lease = self.all.get(tournament)
        if lease is None or lease.host == self.host:
            return None
        return next((peer for peer in self.peers if peer.id == lease.host and peer.alive), None)

    def holders(self) -> Mapping[str, str]:
        """The addresses of the living hosts that hold tournaments, by name: one object until they change."""
        addresses = {peer.id: peer.address for peer in self.peers if peer.alive}
        if (known := (self.all, addresses)) != self._known:
            self._known = known
            self._addresses = {
                name: addresses[lease.host]
                for name, lease in self.all.items()
                if lease.host is not None and lease.host in addresses
            }
        return self._addresses

    def seen(self, now: float) -> tuple[Peer, ...]:
        """All hosts as the latest answer has them, with the seconds until `now` since each was heard of."""
        return tuple([replace(peer, age=peer.age + now - self._told) for peer in self.peers])

    def granted(self, sent: float, answer: Granted) -> Change:
        """Take in the answer to a request that was `sent` at that time."""
        self._steady = sent if not self.sure(sent) else min(self._steady, sent)
        self.until = max(self.until, sent + LENGTH * SHORT)
        self._told = sent
        self.peers = answer.peers
        self.changes = answer.changes
        if answer.leases is None:
            return Change()
        self.all = answer.leases
        self._holders = frozenset(each.host for each in self.all.values())
        now = {name: each.epoch for name, each in self.all.items() if each.host == self.host}
        lost = tuple([name for name, epoch in self._held.items() if now.get(name) != epoch])
        gained = tuple([name for name, epoch in now.items() if self._held.get(name) != epoch])
        self._held = now
        return Change(gained, lost)

    def still_held(self, sent: float, changes: int) -> None:
        """Take in that a request was granted, unless leases have changed hands since the latest answer.

        Any thread may call this. At worst this host is less sure for a moment than it could be.
        """
        if changes == self.changes:
            self.until = max(self.until, sent + LENGTH * SHORT)

    def opened(self, tournament: str, epoch: int) -> None:
        """Note the lease of a new tournament, which the database has given this host."""
        self._held[tournament] = epoch

    def gone(self, tournament: str) -> None:
        """Note that a lease was given back, or that its tournament is no more."""
        self._held.pop(tournament, None)
