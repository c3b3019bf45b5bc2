"""Telling a webhook the entries of the journal, one after the other, for as long as it takes.

What is still to be told is in the journal and nowhere else: a dead receiver costs a number in a file, and
delays no other. The position is kept after each delivery, so after a crash in between, the last entry is told
again, with the same id. The same goes for a host that goes on where another has died.
"""

from collections.abc import Sequence
from itertools import islice
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import structlog
import trio

from server.config import Webhook
from server.exits import ConfigError, Unavailable
from server.store import journal
from server.store.journal import Reader
from server.store.ledger import InThread
from server.webhooks.names import NamesOfReceivers
from server.webhooks.positions import FILE, Positions, SharedPositions, beginning, shown
from server.webhooks.posting import Post, Undelivered, post
from server.webhooks.told import told
from tournament import entries
from tournament.facts import Opened, State, Turned

if TYPE_CHECKING:
    from server.store.duties import Duties  # psycopg, which it needs, is an extra

LOOK = 1.0  # seconds between two looks for something new
FRESH = 0.1  # seconds for which all webhooks go by the same look
AT_A_TIME = 200  # entries that are read
FIRST, LONGEST = 1.0, 300.0  # seconds before the second try, and before any other at most
KNOWN = 1000  # tournaments whose games are remembered

Due = tuple[int, bytes | None]  # the number of an entry, and what is told of it

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


async def deliver(
    webhooks: Sequence[Webhook],
    reader: Reader,
    folder: Path,
    *,
    duties: "Duties | None" = None,
    post: Post = post,
    in_thread: InThread = trio.to_thread.run_sync,
    names: NamesOfReceivers | None = None,
) -> None:
    """Tell all webhooks, each at its own pace, until cancelled; with shared `duties`, only this host's.

    From then on, `names` looks up all names that trio connects to in this process.
    """
    if webhooks:
        trio.socket.set_custom_hostname_resolver(names or NamesOfReceivers())
        file = folder / FILE
        positions = PositionKeeper(
            Positions(file) if duties is None else SharedPositions(file, duties), in_thread
        )
        end = End(reader, in_thread)
        async with trio.open_nursery() as nursery:
            for webhook in webhooks:
                nursery.start_soon(Delivery(webhook, reader, end, positions, post, in_thread).run)


class TakenOver(Exception):
    """Another host tells this webhook by now."""


class End:
    """Where the journal ends. Of all webhooks that ask at about the same time, one looks."""

    def __init__(self, reader: Reader, in_thread: InThread) -> None:
        self._reader = reader
        self._in_thread = in_thread
        self._looking = trio.Lock()
        self._number = 0  # of the latest entry …
        self._good_until = -inf

    async def number(self) -> int:
        async with self._looking:
            if (now := trio.current_time()) >= self._good_until:
                self._number = await self._in_thread(self._reader.last)
                self._good_until = now + FRESH  # … which was so at that time or later
            return self._number


class Batch:
    """Positions that are kept with one write, by address."""

    def __init__(self) -> None:
        self.told: dict[str, int] = {}
        self.error: Exception | None = None  # why they could not be kept


class PositionKeeper:
    """The positions of all webhooks, for their deliveries. All raise `Unavailable`.

    A write takes as long for one position as for a hundred, so all that come during one are kept by the next.
    """

    def __init__(self, positions: Positions, in_thread: InThread) -> None:
        self._positions = positions
        self._in_thread = in_thread
        self._one = trio.CapacityLimiter(1)  # thread at a time
        self._writing = trio.Lock()
        self._next = Batch()  # what the next write keeps

    async def mine(self, url: str) -> bool:
        if not self._positions.shared:
            return True
        return await self._in_thread(lambda: self._positions.mine(url), limiter=self._one)

    async def of(self, url: str) -> int | None:
        return await self._in_thread(lambda: self._positions.of(url), limiter=self._one)

    async def keep(self, url: str, number: int) -> None:
        """Keep a position. It is on the disk when this returns. Raises `OSError`."""
        batch = self._next
        batch.told[url] = number
        async with self._writing:
            if batch is self._next:  # otherwise somebody else has written it
                self._next = Batch()
                try:
                    await self._in_thread(lambda: self._positions.keep(batch.told), limiter=self._one)
                except (OSError, Unavailable) as error:
                    batch.error = error
        if batch.error is not None:
            raise batch.error


class Delivery:
    """Delivers to one webhook."""

    def __init__(
        self,
        webhook: Webhook,
        reader: Reader,
        end: End,
        positions: PositionKeeper,
        post: Post,
        in_thread: InThread,
    ) -> None:
        self._webhook = webhook
        self._reader = reader
        self._end = end
        self._positions = positions
        self._post = post
        self._in_thread = in_thread
        self._games: dict[str, str] = {}
        self._told = 0

    async def run(self) -> None:
        pause = FIRST
        begun = False
        while True:
            try:
                if not await self._is_ours():
                    begun = False
                elif not begun:
                    await self._begin()
                    begun = True
                if begun:
                    await self._tell_what_is_new()
                pause = LOOK
            except TakenOver:
                begun = False
            except (Unavailable, ConfigError, OSError) as error:
                log.warning("the journal cannot be read for a webhook", why=str(error), retry=pause)
                pause = min(2 * pause, LONGEST)
            await trio.sleep(pause)

    async def _begin(self) -> None:
        """Find the position; a new webhook is told what happens from now on."""
        last = await self._in_thread(self._reader.last)
        told_so_far = await self._positions.of(self._webhook.url)
        # It is kept: another host may have to go on before there is anything to tell.
        await self._keep(beginning(self._webhook.url, told_so_far, last))

    async def _tell_what_is_new(self) -> None:
        while self._told < await self._end.number() and (due := await self._in_thread(self._read)):
            kept = self._told
            for number, body in due:
                if body is not None:
                    if not await self._is_ours():
                        raise TakenOver
                    await self._tell(body)
                    await self._keep(number)
                    kept = number
            if kept != due[-1][0]:
                await self._keep(due[-1][0])

    def _read(self) -> list[Due]:
        """The next entries, in a thread."""
        found: list[Due] = []
        for entry in islice(self._reader.kept(self._told), AT_A_TIME):
            event = None
            if entry.tournament:  # else it is the host's own affair
                event = told(entry, self._game(entry.tournament), lambda one=entry: self._had_begun(one))
            wanted = event is not None and event.type in self._webhook.events
            found.append((entry.number, msgspec.json.encode(event) if wanted else None))
        return found

    def _game(self, tournament: str) -> str:
        if tournament not in self._games:
            opened = journal.fact(next(iter(self._reader.kept(0, tournament))))
            if len(self._games) >= KNOWN:
                self._games.clear()
            self._games[tournament] = opened.game if isinstance(opened, Opened) else ""
        return self._games[tournament]

    def _had_begun(self, entry: entries.Entry) -> bool:
        for earlier in self._reader.kept(0, entry.tournament):
            if earlier.number >= entry.number:
                return False
            if earlier.kind == entry.kind and journal.fact(earlier) == Turned(State.RUNNING):
                return True
        return False

    async def _tell(self, body: bytes) -> None:
        """Tell a body, again and again until the receiver takes it."""
        pause = FIRST
        while True:
            try:
                await self._post(self._webhook.url, body, self._webhook.secret)
            except Undelivered as why:
                log.warning(
                    "a webhook did not take it", webhook=shown(self._webhook.url), why=str(why), retry=pause
                )
                await trio.sleep(pause)
                pause = min(2 * pause, LONGEST)
                if not await self._is_ours():
                    raise TakenOver from None
            else:
                return

    async def _is_ours(self) -> bool:
        return await self._positions.mine(self._webhook.url)

    async def _keep(self, number: int) -> None:
        """Keep how far it has been told. If that fails, some entries are told again after a restart."""
        self._told = number
        try:
            await self._positions.keep(self._webhook.url, number)
        except OSError as error:
            log.warning(
                "how far a webhook was told cannot be kept", webhook=shown(self._webhook.url), why=str(error)
            )
