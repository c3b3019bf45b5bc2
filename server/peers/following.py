"""What other hosts have kept, as far as it is known here.

All knowledge comes from the journal, which all hosts write: records of tournaments that others hold are
brought up to date four times a second, and whenever somebody needs them.

Not here: what follows from it (`abroad.py`).
"""

from pathlib import Path

import trio
from msgspec import MsgspecError
from msgspec.structs import replace

from server.host.host import Host
from server.host.opening import OPEN
from server.net.pauses import WithPauses
from server.peers.keeping import LeaseKeeper
from server.peers.ledger import SharedLedger
from server.store import journal, snapshots
from server.store.journal import Reader
from server.store.ledger import InThread
from server.store.snapshots import Reading, nobody_asks
from server.workers.directory import OWN, Directory, RemoteTournament
from tournament import entries
from tournament.entries import Entry
from tournament.facts import HOST, AnyFact, Drew, Kept, Opened, Ordered
from tournament.folding import called, fold
from tournament.format import Pairing
from tournament.record import Record

NOBODY = -1  # in place of a host: nobody holds it just now
AT_A_TIME = 50  # entries of others that are taken in before other tasks get their turn


class LeasedDirectory(Directory):
    """Which host holds which tournament, by its leases, and where a bot belongs."""

    def __init__(self, keeping: LeaseKeeper, ledger: SharedLedger) -> None:
        super().__init__(1, ledger)
        self._leases = keeping.leases
        self._opened = ledger.has_opened

    def _choice(self, record: Record) -> int:
        return self.host_of(record.name)

    def host_of(self, tournament: str) -> int:
        if tournament in self._leases.held:
            return OWN
        lease = self._leases.all.get(tournament)
        return NOBODY if lease is None or lease.host is None else lease.host

    def knows(self, tournament: str) -> Record | None:
        found = self._records.get(tournament)
        return None if found is None else found[0]

    def replace(self, record: Record) -> RemoteTournament | None:
        """Use this record of a tournament from now on."""
        if (before := self._records.get(record.name)) is not None:
            self._remove(before[0])
            self._current.remove(before[0])
        return self.place(record)

    def opens(self, game: str) -> bool:
        """Whether to open a table, for a bot: not if it exists already, even if nobody holds it just now."""
        name = OPEN + game
        return self._opened(name) or not (name in self._leases.held or name in self._leases.all)


class Following:
    """Reads what others have kept, and has the directory, and the host once there is one, hear of it."""

    def __init__(
        self, keeping: LeaseKeeper, ledger: SharedLedger, reader: Reader, in_thread: InThread
    ) -> None:
        self.directory = LeasedDirectory(keeping, ledger)
        self.read = 0  # the number of the latest entry that was taken in …
        self._latest: dict[str, float] = {}  # … and the time of each tournament's latest, by its host's clock
        self._epoch = keeping.leases.epoch  # of what this host holds, under which it writes
        self._reader = reader
        self._in_thread = in_thread
        self._limiter = trio.CapacityLimiter(1)
        self._taking_in = trio.Lock()  # held to take in entries, so that none is taken in twice
        self._gone: set[str] = set()  # tournaments deleted here, by their names in the journal
        self._host: Host | None = None

    @property
    def serves(self) -> bool:
        """Whether there is a host for which this is known."""
        return self._host is not None

    @property
    def host(self) -> Host:
        if self._host is None:
            raise RuntimeError("nobody has said whose these are")
        return self._host

    def serve(self, host: Host) -> None:
        self._host = host

    def leave(self, kept_as: str) -> None:
        """Stop following a tournament that was deleted here, by its name in the journal."""
        self._gone.add(kept_as)

    def load(
        self, folder: Path | None = None, told: Reading = nobody_asks
    ) -> tuple[dict[str, Record], list[Kept]]:
        """All tournaments from the journal as it is now, for a host that starts.

        The host's own data folder has a snapshot, or all that all hosts have ever kept would be read.
        """
        known = snapshots.started(self._reader, folder, told=told)
        self._latest |= self._reader.latest()
        self.read = known.number
        return known.records, known.audit

    async def follow(self) -> None:
        """Take in what others have written before this was called. Raises `Unavailable`."""
        async with self._taking_in:
            rows = await self._in_thread(lambda: list(self._reader.kept(self.read)), limiter=self._limiter)
            with trio.CancelScope(shield=True):  # the caller may be cancelled: no row may be half taken in
                async for row in WithPauses(rows, AT_A_TIME):
                    name = called(row.tournament)
                    self._latest[row.tournament] = row.when
                    ours = name in self.host.tournaments or row.tournament in self._gone
                    if not ours:
                        await self._take_in(name, row)
                    self.read = row.number

    async def record(self, name: str, known: RemoteTournament | None) -> tuple[Record | None, float]:
        """A tournament's record, and the time of its latest fact; this host holds it, so no other writes."""
        if known is not None and self.directory.held.get(name) is known:
            return known.record, self._latest[known.record.kept_as]
        about = self.directory.knows(name)  # it was opened just now: held here before it was followed
        kept_as = name if about is None else about.kept_as
        rows = await self._in_thread(lambda: list(self._reader.kept(0, kept_as)), limiter=self._limiter)
        records: dict[str, Record] = {}
        async for row in WithPauses(rows, AT_A_TIME):
            if kept_as in records:
                for _ in records[kept_as].adding(await _fact(row)):
                    await trio.lowlevel.checkpoint()
            else:
                fold([journal.kept(row)], records, whole=False)
        return records.get(kept_as), rows[-1].when if rows else 0.0

    # Within

    async def _take_in(self, name: str, row: Entry) -> None:
        fact = await _fact(row)
        if isinstance(fact, Ordered) and (name == HOST or row.epoch != self._epoch(name)):
            self.host.audit.append(Kept(name, row.when, fact))  # this host's own are there, or about to be
        if name == HOST:
            return
        if isinstance(fact, Opened):
            record = Record(name, fact, whole=False, kept_as=row.tournament)
            self.host.hear_of(record)
            self.directory.replace(record)
        else:
            await self.directory.hear(row.tournament, [fact])


async def _fact(row: Entry) -> AnyFact:
    """The fact in a row. Others get their turns while the pairings of a thousand entrants are read."""
    pairings: list[Pairing] = []
    try:
        rest, pieces = entries.parted(row.body)
        for piece in pieces:
            pairings += piece
            await trio.lowlevel.checkpoint()
    except (ValueError, MsgspecError):
        return journal.fact(row)  # which says what is wrong with it
    if not pairings:
        return journal.fact(row)
    fact = journal.fact(replace(row, body=rest))
    return replace(fact, pairings=tuple(pairings)) if isinstance(fact, Drew) else fact
