"""Keeping facts: the store has each before it is added to the record, and before anybody hears of it."""

from collections import OrderedDict, deque
from collections.abc import Awaitable, Callable, Sequence
from copy import copy
from itertools import count

import trio

from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded, State
from tournament.record import Record
from tournament.store import Store

Keep = Callable[..., Awaitable[Sequence[str]]]  # called with facts; returns their receipts


class Keeper:
    """Has the store keep a tournament's facts, and reads from it what the record has forgotten."""

    def __init__(
        self, record: Record, store: Store, wall: Callable[[], float], added: Callable[[AnyFact], None]
    ) -> None:
        """`added` is called with each fact once it is in the record."""
        self._record = record
        self._store = store
        self._wall = wall
        self._added = added
        self._tickets = count()
        # Asked of the store, and not yet confirmed. To find the first of a plain dictionary takes the longer
        # the more were taken out of it.
        self._asked: OrderedDict[int, tuple[AnyFact, ...]] = OrderedDict()
        self._kept: deque[AnyFact] = deque()  # confirmed, not yet added to the record
        self._adding = trio.Lock()

    @property
    def waits(self) -> bool:
        """Whether the store has yet to confirm something."""
        return bool(self._asked)

    def now(self) -> float:
        """By the wall clock, as facts have it."""
        return round(self._wall(), 3)

    async def keep(self, *facts: AnyFact) -> Sequence[str]:
        """Have the store keep these facts, then add them to the record; returns receipts.

        Facts are added in the order in which this was called, which is the store's, whichever task
        resumes first. A call whose caller has gone away meanwhile is still completed.
        """
        ticket = next(self._tickets)
        self._asked[ticket] = facts
        try:
            receipts = await self._store.keep(self._record.kept_as, self._wall(), facts)
        except BaseException:
            self._asked.pop(ticket, None)
            raise
        while self._asked and next(iter(self._asked)) <= ticket:
            self._kept += self._asked.popitem(last=False)[1]
        await self._add_what_is_kept()
        return receipts

    async def _add_what_is_kept(self) -> None:
        """Add facts at once. During a large draw other tasks get their turn; their facts come after it."""
        try:
            self._adding.acquire_nowait()
        except trio.WouldBlock:
            with trio.CancelScope(shield=True):
                await self._adding.acquire()
        try:
            while self._kept:
                fact = self._kept.popleft()
                if self._record.state is State.DELETED:
                    continue  # it was on its way, and concerns nobody any more
                for _ in self._record.adding(fact):
                    with trio.CancelScope(shield=True):
                        await trio.lowlevel.checkpoint()
                self._added(fact)
        finally:
            self._adding.release()

    async def copied(self) -> Record:
        """A copy of the record. Others get their turns meanwhile; facts are added before it or after it."""
        async with self._adding:
            copied = copy(self._record)
            for _ in copied.parting():
                await trio.lowlevel.checkpoint()
            return copied

    # What was kept before

    async def concluded(self, match: str) -> Concluded:
        """A match that is over, with all its moves."""
        return await self._store.concluded(self._record.kept_as, match)

    async def receipt(self, match: str) -> str:
        """The receipt for a match that is over: the head of the tournament's chain that ends with it."""
        return await self._store.receipt(self._record.kept_as, match)

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        """A page of the facts as they are kept: those with numbers greater than `after`."""
        return await self._store.entries(self._record.kept_as, after)
