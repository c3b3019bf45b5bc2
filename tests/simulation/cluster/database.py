"""The database: what the SQL of leases and of a shared journal says, in Python. A call is a transaction."""

from collections.abc import Callable, Iterable, Sequence
from typing import cast

from msgspec import Struct

from server.exits import Unavailable
from server.peers.leases import LENGTH, Card, Granted, Lease, Peer
from server.store.journal import Jot, over
from tournament.chain import START, heads
from tournament.entries import Entry
from tournament.folding import called
from tournament.store import Conflict, Stale


class Row(Struct):
    """A host."""

    expiry: float
    draining: bool = False  # it takes nothing over, be it because it is …
    starting: bool = False  # … or because it ends
    changes: int = 0


class Database:
    """Leases and the journal. `now` is its clock."""

    def __init__(self, now: Callable[[], float]) -> None:
        self.now = now
        self.hosts: dict[int, Row] = {}
        self.leases: dict[str, Lease] = {}
        self.journal: list[tuple[int, Entry]] = []  # which host wrote it
        self.jots: dict[tuple[str, int], Jot] = {}
        self.given_up: set[tuple[str, int]] = set()  # tournaments, and the epochs of those who gave them up
        self.taken: list[float] = []  # when something was taken from a host that had not given it up
        self._epochs = 0
        self._tickets: dict[tuple[int, int], tuple[Entry, bytes]] = {}
        self._keys: dict[tuple[str, str], tuple[Entry, bytes]] = {}
        self._heads: dict[str, bytes] = {}

    # Leases

    def register(self, card: Card) -> int:
        number = len(self.hosts) + 1
        self.hosts[number] = Row(self.now() + LENGTH)
        return number

    def renew(
        self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
    ) -> Granted:
        """All in one moment; `OverTrips` has the two transactions of the real one."""
        self.renewed(host, willing=willing, starting=starting)
        if willing:
            self._take_over(host, patient=patient)
        return self.answer(changes)

    def renewed(self, host: int, *, willing: bool, starting: bool) -> None:
        self.hosts[host].expiry = self.now() + LENGTH
        self.hosts[host].draining, self.hosts[host].starting = not willing, starting

    def answer(self, changes: int) -> Granted:
        now = sum(row.changes for row in self.hosts.values())
        peers = tuple(
            Peer(number, "", "", "", "", row.expiry >= self.now(), left=row.expiry - self.now())
            for number, row in self.hosts.items()
        )
        return Granted(now, peers, None if now == changes else dict(self.leases))

    def open(self, host: int, tournament: str) -> int | None:
        if tournament in self.leases:
            return None
        self.hosts[host].changes += 1
        self._epochs += 1
        self.leases[tournament] = Lease(host, self._epochs)
        return self._epochs

    def release(self, host: int, tournaments: Sequence[str]) -> None:
        self.hosts[host].changes += 1
        for tournament in tournaments:
            lease = self.leases[tournament]
            if lease.host == host:
                self.leases[tournament] = Lease(None, lease.epoch)
                self.given_up.add((tournament, lease.epoch))

    def remove(self, host: int, tournament: str) -> None:
        raise NotImplementedError("no tournament is deleted here")

    def lapsed(self, host: int | None) -> bool:
        return host is None or self.hosts[host].expiry < self.now()

    def orphans(self, *, patient: bool) -> list[str]:
        """What a host may take."""
        return [
            name
            for name, lease in sorted(self.leases.items())
            if lease.host is None or (not patient and self.lapsed(lease.host))
        ]

    def _take_over(self, host: int, *, patient: bool) -> None:
        living = sum(not row.draining and row.expiry >= self.now() for row in self.hosts.values())
        mine = sum(lease.host == host for lease in self.leases.values())
        share = max(1, -(-len(self.leases) // max(1, living)) - mine)
        for name in self.orphans(patient=patient)[:share]:
            before = self.leases[name].host
            for changed in {host, before} - {None}:
                self.hosts[changed].changes += 1
            self._epochs += 1
            self.leases[name] = Lease(host, self._epochs)
            if before is not None:
                self.taken.append(self.now())

    # The journal

    def write(self, host: int, rows: Sequence[Entry | Jot]) -> list[bytes]:
        """All or nothing."""
        for row in rows:
            self.fence(
                called(row.tournament) if isinstance(row, Entry) else row.match.rpartition("-")[0], row
            )
        entries = [row for row in rows if isinstance(row, Entry)]
        there = [self._there(host, row) for row in entries]
        found = [head or self._add(host, row) for row, head in zip(entries, there, strict=True)]
        for row in rows:
            if isinstance(row, Jot):
                self.jots[row.match, row.ply] = row
        ended = set(over(entries))
        self.jots = {place: jot for place, jot in self.jots.items() if place[0] not in ended}
        return found

    def fence(self, tournament: str, row: Entry | Jot) -> None:
        lease = self.leases.get(tournament)
        if row.epoch != (0 if lease is None else lease.epoch):
            raise Stale(f"another host holds {tournament}")

    def _there(self, host: int, row: Entry) -> bytes | None:
        found = self._tickets.get((host, row.number)) or self._keys.get((row.tournament, row.key or ""))
        if found is None:
            return None
        if (found[0].kind, found[0].body) != (row.kind, row.body):
            raise Conflict(f"{found[0].body} is kept, {row.body} came")
        return found[1]

    def _add(self, host: int, row: Entry) -> bytes:
        self._heads.setdefault(row.tournament, START)
        (head,) = heads([row], self._heads)
        self.journal.append((host, row))
        self._tickets[host, row.number] = row, head
        if row.key is not None:
            self._keys[row.tournament, row.key] = row, head
        return head


class Further(Struct):
    """The first answer to a host that may take something: it takes it two trips later."""

    take: Callable[[bool], Granted]  # given whether all that has taken too long


class OverTrips:
    """A `Registry`: a renewal is one transaction, and taking over is another, of two trips."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.register, self.open = database.register, database.open
        self.release, self.remove = database.release, database.remove

    def renew(
        self, host: int, changes: int, *, willing: bool, starting: bool = False, patient: bool = False
    ) -> Granted:
        self._database.renewed(host, willing=willing, starting=starting)
        if not (willing and self._database.orphans(patient=patient)):
            return self._database.answer(changes)

        def take(late: bool) -> Granted:
            return self._database.renew(host, changes, willing=True, patient=patient or late)

        return cast("Granted", Further(take))  # whoever has sent the question takes it on from there


class Session:
    """One host's way to it: an `Engine`, as far as a ledger needs one that is never opened anew."""

    def __init__(self, database: Database, host: Callable[[], int]) -> None:
        self._database = database
        self._host = host

    def last(self) -> int:
        return 0  # tickets are each host's own

    def latest(self) -> dict[str, float]:
        return {}  # a host learns that of a tournament when it takes it over

    def write(self, rows: Sequence[Entry | Jot]) -> list[bytes]:
        return self._database.write(self._host(), rows)

    def of(self, tournament: str) -> tuple[list[Entry], list[Jot]]:
        """What is kept of a tournament, and of the matches in play there."""
        rows = [row for _, row in self._database.journal if row.tournament == tournament]
        jots = self._database.jots
        return rows, [jots[place] for place in sorted(jots) if place[0].startswith(f"{tournament}-")]

    def kept(self, after: int = 0, tournament: str | None = None) -> Iterable[Entry]:
        raise Unavailable("nobody reads all of it here")
