"""The ledger of a host that shares its database: it keeps what this host may keep.

A tournament is held before it is opened, so that only one of two hosts can open one of the same
name. While leases cannot be renewed the host is in trouble, as when its store is: clocks stand,
and nothing begins.
"""

from collections.abc import Mapping, Sequence

import trio

from server.exits import Unavailable
from server.host.opening import taken
from server.net.guard import MovedAway
from server.peers.keeping import LeaseKeeper
from server.store.ledger import InThread, Ledger
from server.store.shared import SharedPostgres
from tournament.facts import AnyFact, Opened
from tournament.folding import called
from tournament.refusals import NotNow
from tournament.store import Jottings, Stale

MOVED = "another host has just gone on with this tournament: come again"
UNSURE = "the leases of this host cannot be renewed: another host may go on with its tournaments"


class Elsewhere(Stale, MovedAway):
    """The facts belong to a tournament that another host has taken over."""


class Claim:
    """A request to hold a tournament, with which all are answered who ask for the same meanwhile."""

    def __init__(self) -> None:
        self.over = trio.Event()
        self.granted: bool | None = None
        self.failed: Unavailable | None = None  # if neither is set, whoever asked has given up


class SharedLedger(Ledger):
    def __init__(
        self, engine: SharedPostgres, keeping: LeaseKeeper, in_thread: InThread = trio.to_thread.run_sync
    ) -> None:
        super().__init__(engine, in_thread, keeping.leases.epoch)
        self._keeping = keeping
        self._unsure = ""
        self._in_trouble = ""  # the trouble of the store itself
        self._looked_at: Mapping[str, Jottings] | None = None
        self._claims: dict[str, Claim] = {}  # by tournament: requests under way
        self._opened: dict[str, int] = {}  # epochs of leases that began when this host opened the tournament

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if any(isinstance(fact, Opened) for fact in facts):
            await self._open(called(tournament))
        try:
            return await super().keep(tournament, when, facts)
        except Stale:
            raise Elsewhere(MOVED) from None

    async def claim(self, tournament: str) -> bool:
        """Hold a tournament that is to be opened here; False if it is held already. Raises `Unavailable`."""
        while not self.has_opened(tournament):
            if tournament in self._keeping.leases.held:
                return False
            if (claim := self._claims.get(tournament)) is None:
                return await self._claim(tournament)
            await claim.over.wait()
            if claim.failed is not None:
                raise Unavailable(str(claim.failed))
            if claim.granted is not None:
                return claim.granted
        return True

    def jotted(self) -> Mapping[str, Jottings]:
        return self._read_jotted() if self._looked_at is None else self._looked_at  # others write it, too

    def has_opened(self, tournament: str) -> bool:
        """Whether this host holds a tournament that it opened or is about to open, and did not take over."""
        epoch = self._keeping.leases.held.get(tournament)
        return epoch is not None and epoch == self._opened.get(tournament)

    async def look_at_moves(self) -> None:
        """Read what was jotted down, now and in a thread, for whoever asks for it until it is forgotten."""
        self._looked_at = await self._in_thread(self._read_jotted, limiter=self._reading)

    def forget_moves(self) -> None:
        """Forget what was read: the moves of all matches that were in play, on any host."""
        self._looked_at = None

    def waver(self, sure: bool) -> None:
        """Take note whether this host's leases hold for certain."""
        self._unsure = "" if sure else UNSURE
        super()._set_trouble(self._in_trouble or self._unsure)

    def _set_trouble(self, reason: str) -> None:
        self._in_trouble = reason
        super()._set_trouble(reason or self._unsure)

    async def _claim(self, tournament: str) -> bool:
        claim = self._claims[tournament] = Claim()
        try:
            claim.granted = await self._keeping.open(tournament)
            if claim.granted:
                self._opened[tournament] = self._keeping.leases.epoch(tournament)
            return claim.granted
        except Unavailable as error:
            claim.failed = error
            raise
        finally:
            del self._claims[tournament]
            claim.over.set()

    async def _open(self, tournament: str) -> None:
        try:  # it may be claimed already: for a bot, or before a commit that nobody was told of
            if not await self.claim(tournament):
                raise taken(tournament)
        except Unavailable as error:
            raise no_answer(error) from None


def no_answer(error: Unavailable) -> NotNow:
    return NotNow(f"the database does not answer: {error}")
