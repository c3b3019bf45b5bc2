"""What other hosts hold, and taking up what they no longer do: this host's `Abroad`.

The leases say who holds what. A host that takes a tournament over brings its record up to date, and goes on
with it as after a restart. A host from which a tournament was taken has lost touch with the others, and ends:
what it still believes is of no use to anybody.

Not here: knowing what others have kept (`following.py`).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import structlog
import trio

from server.exits import Unavailable
from server.host.abroad import Handed, Holder, OutOfReach, Wanted
from server.host.host import Host
from server.host.opening import OPEN
from server.host.view import HeldTournament
from server.host.visits import Visit
from server.net.wire import Piece
from server.peers.channel import FarEnd
from server.peers.following import Following
from server.peers.keeping import LeaseKeeper
from server.peers.leases import EVERY, Change
from server.peers.ledger import SharedLedger, no_answer
from server.peers.link import OUT_OF_REACH, Link
from server.store.journal import Reader
from server.store.ledger import InThread
from server.store.snapshots import Reading, nobody_asks
from server.workers.directory import OWN, RemoteTournament
from tournament.facts import AnyFact, Kept, Ordered, State
from tournament.folding import NAME
from tournament.record import Record
from tournament.store import Stale
from tournament.tournament import Tournament

HOLDER_TIMEOUT = 5.0  # seconds to wait for a host that holds a tournament: two are usual after one dies
LOOK = 0.05  # seconds between two looks meanwhile, if nothing is heard before

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Afar:
    """A `Holder`: the other host that holds a tournament, or soon will."""

    def __init__(self, abroad: "Peers", tournament: str, wanted: Wanted) -> None:
        self._abroad = abroad
        self._tournament = tournament
        self._wanted = wanted

    async def take(self, handed: Handed) -> Sequence[Piece]:
        again, unheard_of = isinstance(handed.wire, FarEnd), self._abroad.is_unheard_of(self._wanted)
        if again:  # the host that sent it, or this one, may not have heard yet what was kept just now
            await self._abroad.read_on()
        elif unheard_of and not await self._abroad.renewed():
            raise OutOfReach(OUT_OF_REACH)
        if again or unheard_of:
            found = self._abroad.where(self._wanted)
            if found is None:
                return handed.pieces
            self._tournament = found
        deadline = trio.current_time() + HOLDER_TIMEOUT
        while (link := self._abroad.link(self._tournament)) is None:
            if await self._abroad.claimed(self._tournament):
                return handed.pieces  # this host holds it by now
            if trio.current_time() > deadline:
                log.warning("nobody holds the tournament of a bot", tournament=self._tournament)
                raise OutOfReach(OUT_OF_REACH)
            await self._abroad.news()
        await link.take(handed, self._tournament, again=again)
        return ()


class Peers:
    def __init__(
        self,
        keeping: LeaseKeeper,
        ledger: SharedLedger,
        reader: Reader,
        to: Callable[[int], Link | None],
        in_thread: InThread = trio.to_thread.run_sync,
    ) -> None:
        """`to` is the link to a host, while there is one."""
        self._keeping = keeping
        self._ledger = ledger
        self._to = to
        self._following = Following(keeping, ledger, reader, in_thread)
        directory = self._directory = self._following.directory
        self.held, self.entered, self.expects = directory.held, directory.entered, directory.expects
        # Called when a tournament was opened here, or an order about one was carried out.
        self.arranged: Callable[[], None] = lambda: None
        self.settled = True  # False: this host still has slow work to do at its start
        self._news = trio.Event()
        self._heard = trio.Event()  # set when the database has said who holds what
        self._moved = trio.Event()  # set on news of who holds what, or when a tournament goes on here
        self._gained: list[str] = []
        self._freed: list[str] = []  # names held here that are no longer used: other hosts may have them
        self._lost: tuple[str, ...] = ()
        keeping.heard = self._answered
        keeping.changed = self._changed
        keeping.wavered = ledger.waver

    @property
    def host(self) -> Host:
        return self._following.host

    def load(
        self, folder: Path | None = None, told: Reading = nobody_asks
    ) -> tuple[dict[str, Record], list[Kept]]:
        """All tournaments from the journal as it is now, for a host that starts; `folder` has a snapshot."""
        return self._following.load(folder, told)

    def serve(self, host: Host) -> None:
        host.abroad = self
        self._following.serve(host)
        host.on_fact += [self._directory.told, self._told]
        self._directory.roll.is_past = host.untold.is_past
        self._directory.turned = host.untold.turned

    async def run(self) -> None:
        """Follow the others and take over from them, until cancelled; raises `Stale` if they took ours."""
        while True:
            self._news = trio.Event()
            self._decide_whether_willing()
            if self._lost:
                raise Stale(f"other hosts have taken over {', '.join(self._lost)}, and this one ends")
            try:
                await self._take_up(tuple(self._gained))
                while self._freed:
                    await self._keeping.remove(self._freed[0])
                    name = self._freed.pop(0)
                    # If the first try failed, the database may have said since that this host holds it.
                    self._gained = [each for each in self._gained if each != name]
                    self._tell_of_moves()
            except Unavailable as error:
                log.debug("the journal cannot be read just now", why=str(error))
            with trio.move_on_after(EVERY):
                await self._news.wait()

    async def say_whether_willing(self) -> None:
        """Tell the database at once, and not with the next heartbeat, whether this host takes over.

        Raises `Unavailable`.
        """
        self._decide_whether_willing()
        await self._keeping.renew()

    async def give_up(self) -> None:
        """Give all tournaments to other hosts, now that this one has stopped. Raises `Unavailable`.

        First every move is kept: the hosts that go on read them at once, and nothing is written here after
        that. If that is not possible, the leases are left to lapse.
        """
        await self.say_whether_willing()
        await self._ledger.keep_moves()
        if held := self._keeping.leases.held:  # all in one request: there is a second to stop in
            await self._keeping.release(*held)

    def link(self, tournament: str) -> Link | None:
        """The link to the host that holds a tournament, if it is another one, alive and within reach."""
        holder = self._keeping.leases.holder(tournament)
        return None if holder is None else self._to(holder.id)

    # An `Abroad`

    def may_hold(self, tournament: str, game: str) -> bool:
        return self._directory.goes_on(tournament, game)

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> Holder | None:
        name = self.where(wanted)
        if name is None and self.is_unheard_of(wanted):
            name = wanted.tournament
        return None if name is None else Afar(self, name, wanted)

    def is_unheard_of(self, wanted: Wanted) -> bool:
        """Whether a bot names a tournament that another host may have opened a moment ago.

        Its organiser knows of it, and may start its bots at once: they would be refused, and not come again.
        """
        name = wanted.tournament
        return (
            name is not None
            and NAME.fullmatch(name) is not None
            and self.others
            and not (self.host.has(name) or self.there_is(name))
            and self.host.vacant(name) is None
        )

    def where(self, wanted: Wanted) -> str | None:
        """The tournament, held elsewhere, in which a bot that wants that plays; None: it is served here."""
        if self.host.untold.end(wanted) is not None:
            return None  # the host to which it would be led may not know of that end yet
        found = self._directory.place_of(wanted)
        if found is None:  # it may be too new: the journal was not read since
            named = wanted.tournament
            return named if named and self._directory.host_of(named) > OWN else None
        name = found or OPEN + wanted.game
        return None if self.is_here(name) or self._ledger.has_opened(name) else name

    def is_here(self, tournament: str) -> bool:
        """Whether a tournament is held here and goes on, so that its matches are found here."""
        return tournament in self.host.tournaments and tournament not in self._gained

    def goes_on(self, host: int) -> bool:
        """Whether another host lives and is not about to end, by the latest word of the database."""
        peers = self._keeping.leases.peers
        return any(peer.alive and not peer.draining for peer in peers if peer.id == host)

    @property
    def misses_a_link(self) -> bool:
        """Whether some other host that goes on cannot tell this one anything just now."""
        leases = self._keeping.leases
        others = (peer.id for peer in leases.peers if peer.id != leases.host)
        return any(self._to(other) is None and self.goes_on(other) for other in others)

    @property
    def lost_a_host(self) -> bool:
        """Whether some other host has ended so lately that what it held may not go on yet."""
        seen, host = self._keeping.seen, self._keeping.leases.host
        return any(
            peer.id != host and peer.age < HOLDER_TIMEOUT and self._to(peer.id) is None for peer in seen
        )

    @property
    def others(self) -> bool:
        """Whether there are other hosts that take over what nobody holds."""
        leases = self._keeping.leases
        return any(
            peer.alive and not (peer.draining or peer.starting)
            for peer in leases.peers
            if peer.id != leases.host
        )

    async def caught_up(self, tournament: str = "") -> None:
        """Wait until a tournament that this host gained goes on here; without a name, until all do."""
        with trio.move_on_after(HOLDER_TIMEOUT):
            while tournament in self._gained or (self._gained and not tournament):
                await self._moved.wait()

    @property
    def goes_on_here(self) -> bool:
        """Whether all that this host has gained, and that is not over, goes on here by now."""
        return all(map(self._is_over, self._gained))

    async def gone_on(self) -> None:
        """Wait until that is so."""
        with trio.move_on_after(HOLDER_TIMEOUT):
            while not self.goes_on_here:
                await self._moved.wait()

    async def read_on(self) -> None:
        """Take in what others have kept until now, if the database can be read just now."""
        try:
            await self._following.follow()
        except Unavailable as error:
            log.debug("the journal cannot be read just now", why=str(error))

    async def news(self) -> None:
        """Wait until it is worth looking again at who holds a tournament."""
        with trio.move_on_after(LOOK):
            await self._moved.wait()

    async def renewed(self) -> bool:
        """Wait until the database was asked, after this call, who holds what; returns whether it answered."""
        with trio.move_on_after(HOLDER_TIMEOUT):
            for _ in range(2):  # the first answer may be to an earlier request
                await self._heard.wait()
            return True
        return False

    async def claimed(self, tournament: str, *, opens: bool = True) -> bool:
        """Whether this host holds a tournament; if nobody holds a game's table, this host does from now on.

        If the first bots at a table come to several hosts in the same moment, only one host holds it,
        and the other hosts relay their bots. Without `opens` a table that nobody holds stays so.
        """
        if self._directory.host_of(tournament) > OWN:
            return False  # even while this host, which drains, still knows what it had
        if tournament in self.host.tournaments:
            return self.is_here(tournament)
        if self.host.vacant(tournament) is None or not (opens or self._ledger.has_opened(tournament)):
            return False
        if self.there_is(tournament) and not self._ledger.has_opened(tournament):
            return False  # it is another host's: what was claimed here before is still held here
        try:
            return await self._ledger.claim(tournament)
        except Unavailable:
            return False

    def there_is(self, tournament: str) -> bool:
        """Whether a tournament of that name is held, or waits for a host to hold it."""
        return tournament in self._keeping.leases.all

    @property
    def read(self) -> int:
        """The number of the latest entry of the journal that is known here."""
        return self._following.read

    def place(self, record: Record) -> RemoteTournament | None:
        self.arranged()
        return self._directory.replace(record)

    def read_on_at_once(self) -> None:
        """Read what another host has just kept: bots may come for it before the next look."""
        self._news.set()

    async def is_free(self, name: str) -> bool:
        """Hold a name, if there is no tournament of that name: then no other host opens one.

        A host gives a name up only after it has kept that its tournament is deleted. So the next host that
        holds it can read all that was ever kept of earlier tournaments. If the last tournament of a name is
        deleted, this waits: its host is about to give the name up, or another host has just begun to open
        the next.
        """
        deadline = trio.current_time() + HOLDER_TIMEOUT
        try:
            await self._following.follow()
            while name in self._freed or not await self._is_claimed(name):
                if self.host.has(name) or trio.current_time() > deadline:
                    return False
                await self.news()
                await self._following.follow()
        except Unavailable as error:
            raise no_answer(error) from None
        return True

    async def opens(self, game: str) -> bool:
        return self._directory.opens(game)

    # Within

    async def _is_claimed(self, name: str) -> bool:
        """Whether this host holds a name for a tournament to open, and knows how it was used before."""
        if self.host.has(name) or not await self._ledger.claim(name):
            return False
        try:
            await self._following.follow()
        except BaseException:  # nothing is opened, so others need not wait
            self._free(name)
            raise
        return True

    def _decide_whether_willing(self) -> None:
        self._keeping.willing = self._takes_over()
        if self._keeping.willing or self.host.draining:
            self._keeping.starting = False

    def _takes_over(self) -> bool:
        """Whether this host may hold what others held: a host that is only starting leaves that to others.

        Its work at the start comes in between everything else, and it would keep bots waiting.
        """
        return not self.host.draining and (self.settled or not self.others)

    def _told(self, held: HeldTournament, fact: AnyFact) -> None:
        if isinstance(fact, Ordered):
            self.arranged()
        if held.record.state is State.DELETED:
            self._following.leave(held.record.kept_as)
            self._free(held.record.name)

    def _free(self, name: str) -> None:
        self._freed.append(name)
        self._news.set()

    def _answered(self) -> None:
        self._ledger.try_again()
        heard, self._heard = self._heard, trio.Event()
        heard.set()

    def _changed(self, change: Change) -> None:
        known = {*self._gained}
        self._gained += [name for name in change.gained if name not in known]
        if self._following.serves:
            self._lost += change.lost
        self._news.set()
        self._tell_of_moves()

    async def _take_up(self, gained: Sequence[str]) -> None:
        """Hold tournaments that other hosts held, from what they wrote: first those that are not over.

        Nobody waits for the rest. They are left until there is news again.
        """
        known = {name: self._directory.held.get(name) for name in gained}
        await self._following.follow()
        if not gained or self.host.draining:
            return
        await self._ledger.look_at_moves()
        try:
            await self._hold_all(gained, known)
        finally:
            self._ledger.forget_moves()

    async def _hold_all(self, gained: Sequence[str], known: Mapping[str, RemoteTournament | None]) -> None:
        going_on: list[tuple[str, Tournament | None]] = []
        for name in gained:
            if not self._is_over(name):
                going_on.append((name, await self._hold(name, known[name])))
                await trio.lowlevel.checkpoint()  # there may be thousands, and leases are renewed meanwhile
        for name, tournament in going_on:
            await self._goes_on(name, tournament)
        for name in gained:
            if self._news.is_set() or self.host.draining:
                return
            if name in self._gained:
                await self._goes_on(name, await self._hold(name, known[name]))

    async def _hold(self, name: str, known: RemoteTournament | None) -> Tournament | None:
        """Go on with a tournament, `known` before its host's last entries were read; None: it is gone."""
        if name in self.host.tournaments:
            return self.host.tournaments[name]
        record, latest = await self._following.record(name, known)
        if record is None or record.state is State.DELETED:
            await self._keeping.remove(name)  # its host died before it was opened, or while it was deleted
            return None
        self._ledger.go_on_after(record.kept_as, latest)  # the other host's clock may be ahead of this one's
        if self.host.draining:
            return None  # this host has begun to stop, and gives this up with the others
        log.info("taken over", tournament=name, matches=len(record.dealt))
        self._directory.replace(record)
        return self.host.hold(record)

    async def _goes_on(self, name: str, tournament: Tournament | None) -> None:
        if tournament is not None:
            await tournament.gone_on.wait()  # before a bot can look for its match
        self._gained.remove(name)
        self._tell_of_moves()

    def _tell_of_moves(self) -> None:
        moved, self._moved = self._moved, trio.Event()
        moved.set()

    def _is_over(self, name: str) -> bool:
        record = self._directory.knows(name)
        return record is not None and record.state is State.FINISHED
