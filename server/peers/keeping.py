"""Renewing this host's leases for as long as it runs, and telling the host what it holds.

There is one request to the database at a time, and its answer is taken in before the next is
made: otherwise an older answer could undo a newer one.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import structlog
import trio

from server.exits import Unavailable
from server.peers.leases import EVERY, Card, Change, Leases, Peer, since_boot
from server.peers.registry import Registry
from server.store.ledger import InThread

WAITS = (0.1, 0.2, 0.4, 0.8, 1.6)  # seconds before each further try to register

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def _nothing(_: object) -> None:
    """A callback that does nothing."""


class LeaseKeeper:
    def __init__(
        self,
        registry: Registry,
        in_thread: InThread = trio.to_thread.run_sync,
        *,
        now: Callable[[], float] = since_boot,
        sleep: Callable[[float], Awaitable[Any]] = trio.sleep,
    ) -> None:
        self.leases = Leases()
        self.why = ""  # why the latest request failed; "" if it did not
        self.willing = False  # whether to take over what others held: once this host has read the journal
        self.starting = True  # whether that is still to come
        self.heard: Callable[[], None] = lambda: None  # called whenever the database has answered …
        self.changed: Callable[[Change], None] = _nothing  # … when what is held has changed …
        self.wavered: Callable[[bool], None] = _nothing  # … and with whether it is held for certain
        self._registry = registry
        self._in_thread = in_thread
        self._now = now
        self._sleep = sleep
        self._asking = trio.Lock()
        self._in_turn = trio.Lock()  # for all but renewals, of which each waits for one other request at most
        self._limiter = trio.CapacityLimiter(1)
        self._sure = False
        self._granted = trio.Event()

    @property
    def sure(self) -> bool:
        return self.leases.sure(self._now())

    @property
    def seen(self) -> tuple[Peer, ...]:
        """All hosts, as far as this one knows: the database may have been away for a while."""
        return self.leases.seen(self._now())

    async def register(self, card: Card) -> int:
        """Make this host known to the others; returns its number. Raises `Unavailable`.

        A database that is busy, or is being restarted, is asked again.
        """
        register = partial(self._registry.register, card)
        waits = iter(WAITS)
        while True:
            try:
                self.leases.host = await self._in_thread(register, limiter=self._limiter)
            except Unavailable as error:
                if (wait := next(waits, None)) is None:
                    raise
                log.warning("this host cannot be registered", why=str(error), retry=wait)
                await self._sleep(wait)
            else:
                return self.leases.host

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Renew until cancelled. It counts as started when the first request is granted."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch)
            while True:
                begun = self._now()
                again = begun + EVERY
                try:
                    await self.renew()
                except Unavailable as error:
                    if str(error) != self.why:
                        self.why = str(error)
                        log.warning("leases cannot be renewed", why=self.why)
                else:
                    self.why = ""
                    if self.willing:
                        again = self.leases.next_request(begun, self._now())
                    task_status.started()
                    task_status = trio.TASK_STATUS_IGNORED
                await self._sleep(max(0.0, again - self._now()))

    async def renew(self) -> None:
        """Renew once, now. Raises `Unavailable`."""
        async with self._asking:
            sent, leases = self._now(), self.leases
            leases.asked = sent
            patient = leases.patient(sent)
            renew = partial(
                self._registry.renew,
                leases.host,
                leases.changes,
                willing=self.willing,
                starting=self.starting,
                patient=patient,
            )
            try:
                answer = await self._in_thread(renew, limiter=self._limiter)
            except Unavailable:
                leases.failed()
                raise
            change = self.leases.granted(sent, answer)
        self.heard()
        if change.gained or change.lost:
            self.changed(change)
        self._say_whether_sure()

    async def open(self, tournament: str) -> bool:
        """Hold a tournament that is new; False if there is one of that name. Raises `Unavailable`."""
        async with self._in_turn, self._asking:
            opened = partial(self._registry.open, self.leases.host, tournament)
            epoch = await self._in_thread(opened, limiter=self._limiter)
            if epoch is not None:
                self.leases.opened(tournament, epoch)
            return epoch is not None

    async def release(self, *tournaments: str) -> None:
        """Let other hosts have tournaments; these may not be written here any more. Raises `Unavailable`."""
        async with self._in_turn, self._asking:
            for tournament in tournaments:
                self.leases.gone(tournament)
            release = partial(self._registry.release, self.leases.host, tournaments)
            await self._in_thread(release, limiter=self._limiter)

    async def remove(self, tournament: str) -> None:
        """Give up a tournament that is deleted: its name is free. Raises `Unavailable`."""
        async with self._in_turn, self._asking:
            self.leases.gone(tournament)
            remove = partial(self._registry.remove, self.leases.host, tournament)
            await self._in_thread(remove, limiter=self._limiter)

    # Within

    async def _watch(self) -> None:
        """Notice when the time that was granted last is over."""
        while True:
            left = self.leases.until - self._now()
            if left > 0:
                await self._sleep(left)
            else:
                self._granted = trio.Event()
                self._say_whether_sure()
                await self._granted.wait()

    def _say_whether_sure(self) -> None:
        if self.sure:
            self._granted.set()
        if self.sure != self._sure:
            self._sure = not self._sure
            self.wavered(self._sure)
