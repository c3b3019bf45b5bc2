"""A `Store` on any database: the part that waits.

The facts that have gathered while the last commit was under way, and for a moment
after, go into the next one, so a busy host makes few commits and an idle one waits for
nothing. One thread writes. What an engine cannot keep is held back and tried again, for
as long as it takes. That is called trouble, and the host stands still meanwhile.
Anything else that goes wrong is a bug of ours and ends the host.
"""

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice, starmap
from math import inf
from typing import Any

import structlog
import trio

from server.exits import Unavailable
from server.store import journal
from server.store.journal import Engine, Jot
from tournament import entries
from tournament.asides import before
from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded, Kept
from tournament.folding import called
from tournament.store import Conflict, Jottings, Stale
from tournament.timekeeper import TOLERANCE

RETRY = 5.0  # seconds until rows that could not be kept are tried again
LATE = 5.0  # seconds after which an engine that has not returned may be one that never will
BEAT = 1.0  # seconds between two looks whether it has, by which a stall of this process is told from its own
LOOK = 5.0  # seconds without anything to write, after which it is looked whether that would be possible
SOON = 0.25  # seconds between two looks at the moves played: a crash may lose as much
REST = 0.02  # seconds, at the most, that a match which is over waits for others after a commit …
EACH = REST / 50  # … this long for each match in play, because a few fast ones would wait in vain …
ENOUGH = 16  # … unless so many wait already: a commit costs about as much as ten facts in it
SET = 180.0  # seconds by which a wall clock may be behind: two hosts may each be a minute off
AT_A_TIME = 16  # calls that go on before others get their turn: announcing an end takes as long as some moves
READERS = 4  # threads that read at once

STANDS_STILL = f"nothing could be written for {LATE:g} seconds"

Noted = tuple[int, str, float, int, AnyFact]  # number, tournament, wall time, epoch
Unwritten = tuple[str, int, Callable[[], Jot]]  # match, epoch, and what makes its row
Has = tuple[int, int]  # how many moves there are of a match, and how much beside them
InThread = Callable[..., Awaitable[Any]]  # called as trio.to_thread.run_sync is, with a limiter

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class KeepCall:
    """Facts that a task waits to be safe."""

    __slots__ = ("error", "facts", "moves", "receipts", "safe", "scope", "urgent")

    def __init__(self, facts: Sequence[Noted], shielded: bool, *, moves: bool = False) -> None:
        """With `moves`, the call also waits for all moves that are played by the time of the commit."""
        self.facts = facts
        self.moves = moves
        # A match is about to begin, or the host to stop.
        self.urgent = moves or not all(isinstance(fact, Concluded) for *_, fact in facts)
        self.safe = trio.Event()
        self.scope = trio.CancelScope(shield=shielded)
        self.error: Conflict | None = None
        self.receipts: Sequence[str] = ()


class Playing:
    """A match in play, and how much of it is written."""

    __slots__ = ("asides", "epoch", "jottings", "moves")

    def __init__(self, jottings: Jottings, epoch: int) -> None:
        self.jottings = jottings
        self.moves = len(jottings.moves)  # that are written
        self.asides = len(jottings.asides)  # that are written
        self.epoch = epoch

    def has(self) -> Has:
        """How much there is of it now."""
        moves = len(self.jottings.moves)
        return moves, before(self.jottings.asides, moves, self.asides)

    def unwritten(self, match: str, has: Has) -> Iterator[Unwritten]:
        """What has been added to it, of what there is."""
        moves, asides = has
        if self.moves < moves:
            yield match, self.epoch, partial(_jot, match, self.jottings, slice(self.moves, moves), self.epoch)
        if self.asides < asides:
            which = slice(self.asides, asides)
            yield match, self.epoch, partial(_jot_asides, match, self.jottings, which, self.epoch)


def unshared(tournament: str) -> int:
    """The epoch of all tournaments where the database belongs to one host alone."""
    return 0


class Ledger:
    def __init__(
        self,
        engine: Engine,
        in_thread: InThread = trio.to_thread.run_sync,
        epoch: Callable[[str], int] = unshared,
    ) -> None:
        """`epoch` returns that of the lease under which this host holds a tournament, by its name.

        A fact has the epoch of the moment in which its keeping was asked for.
        """
        self.trouble = ""
        self._epoch = epoch
        self._engine = engine
        self._in_thread = in_thread
        self._writing = trio.CapacityLimiter(1)
        self._reading = trio.CapacityLimiter(READERS)
        self._last = engine.last()
        self.safe = self._last  # the number of the latest entry that is kept
        self._whens = engine.latest()  # by tournament: when the latest fact was kept
        self._waiting: list[KeepCall] = []  # in the order of asking; some may be under way
        self._playing: dict[str, Playing] = {}
        # What is jotted down, until the next commit: when a host starts, every tournament asks for it.
        self._jotted: Mapping[str, Jottings] | None = None
        self._moves_due = inf  # when to look at the moves played
        self._rested = -inf  # when the next commit may be made, even of few facts
        self._news = trio.Event()  # set when a call waits, or a match is played where there was none
        self._handed = inf  # when the engine was handed what it has not written yet …
        self._looked = -inf  # … and when it had last written what it was handed
        self._again = trio.Event()  # set to try again at once what could not be kept
        self._listeners: list[Callable[[], None]] = []
        self.committed: Callable[[float], None] = lambda seconds: None  # called with what a commit took
        self._closed = False

    def listen(self, listener: Callable[[], None]) -> None:
        self._listeners.append(listener)

    def try_again(self) -> None:
        """Try again at once: the database has just been heard from, and may keep what it could not."""
        self._again.set()

    @property
    def waiting(self) -> int:
        """Calls of `keep` whose facts are not safe yet."""
        return len(self._waiting)

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if not facts:
            return ()
        call = self.ask(tournament, when, facts)
        with call.scope:
            await call.safe.wait()
        if call.error is not None:
            raise call.error
        return call.receipts

    def ask(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> KeepCall:
        """Like `keep`, without waiting: what was asked for first is safe first."""
        call = KeepCall([self._numbered(tournament, when, fact) for fact in facts], shielded=not self._closed)
        self._waiting.append(call)
        if call.urgent or len(self._waiting) in (1, ENOUGH):
            self._news.set()
        return call

    def kept(self) -> Iterable[Kept]:
        return map(journal.kept, self._engine.kept())

    async def concluded(self, tournament: str, match: str) -> Concluded:
        return await self._in_thread(
            partial(journal.concluded, self._engine, tournament, match), limiter=self._reading
        )

    async def receipt(self, tournament: str, match: str) -> str:
        return await self._in_thread(
            partial(journal.receipt, self._engine, tournament, match), limiter=self._reading
        )

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        return await self._in_thread(
            partial(journal.entries, self._engine, tournament, after), limiter=self._reading
        )

    def jot(self, match: str, jottings: Jottings) -> None:
        if not self._playing:
            self._moves_due = trio.current_time() + SOON
            self._news.set()
        epoch = self._epoch(match.rpartition("-")[0])
        self._playing[match] = Playing(jottings, epoch)

    def jotted(self) -> Mapping[str, Jottings]:
        if self._jotted is None:
            self._jotted = self._read_jotted()
        return self._jotted

    def _read_jotted(self) -> Mapping[str, Jottings]:
        return journal.jotted(self._engine.jotted())

    async def keep_moves(self) -> None:
        """Wait until all moves so far of the matches in play are kept. Raises `Unavailable`."""
        if self.trouble:
            raise Unavailable(self.trouble)
        call = KeepCall((), shielded=False, moves=True)
        self._waiting.append(call)
        self._news.set()
        await call.safe.wait()

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch)
            await self._run()

    # Within

    async def _run(self) -> None:
        self._looked = trio.current_time()
        try:
            while True:
                await self._gather()
                await self._write_out()
        except trio.Cancelled:
            with trio.CancelScope(shield=True):
                await self._write_the_last()
            raise
        finally:
            self._closed = True
            for call in self._waiting:  # it will not be kept: its caller may be cancelled now
                call.scope.shield = False

    async def _watch(self) -> None:
        """Notice an engine that does not return: a server that stands still refuses nothing."""
        while True:
            late = trio.current_time() - self._handed
            if late >= LATE:
                self._set_trouble(STANDS_STILL)
            wake = trio.current_time() + (min(BEAT, LATE - late) if 0 <= late < LATE else BEAT)
            await trio.sleep_until(wake)
            if (stood_still := trio.current_time() - wake) > TOLERANCE:
                self._handed += stood_still  # it was this process that did

    async def _hand(self, write: Callable[[], Sequence[Any]]) -> Sequence[Any]:
        """Write in the writing thread."""
        self._handed = trio.current_time()
        try:
            written = await self._in_thread(write, limiter=self._writing)
        finally:
            self._handed = inf
        self._looked = trio.current_time()
        return written

    def go_on_after(self, tournament: str, when: float) -> None:
        """Note when another host kept the latest fact of a tournament, by that host's clock."""
        self._whens[tournament] = when

    def _numbered(self, tournament: str, when: float, fact: AnyFact) -> Noted:
        self._last += 1
        before = self._whens.get(tournament, -inf)
        if before - SET < when < before:
            when = before  # a wall clock was set back: a later fact must not seem to be earlier
        self._whens[tournament] = when
        return self._last, tournament, when, self._epoch(called(tournament)), fact

    async def _gather(self) -> None:
        """Wait until there is something to write: enough of it, or some time after the last commit.

        Or until it is time to look whether anything could be written: `/readyz` has to know.
        """
        while trio.current_time() < (due := min(self._due(), self._looked + LOOK)):
            self._news = trio.Event()
            with trio.move_on_at(due):
                await self._news.wait()

    def _due(self) -> float:
        if len(self._waiting) >= ENOUGH or any(call.urgent for call in self._waiting):
            return -inf
        return max(self._rested, -inf if self._waiting else self._moves_due)

    async def _write_out(self) -> None:
        """Write all that waits, as soon as possible. Moves wait until due: most matches end before that."""
        while True:
            try:
                asked = any(call.moves for call in self._waiting)
                moves = asked or trio.current_time() >= self._moves_due
                if moves or self._waiting:
                    await self._write(moves=moves)
                if trio.current_time() >= self._looked + LOOK:  # also in a match in which nobody moves
                    await self._hand(partial(self._engine.write, ()))
            except Unavailable as error:
                self._set_trouble(str(error))
                self._again = trio.Event()
                with trio.move_on_after(RETRY):
                    await self._again.wait()
            else:
                self._set_trouble("")
                return

    async def _write_the_last(self) -> None:
        """Write the rest as the host stops. Nobody has heard of it, so nothing is lost if that fails."""
        if not self.trouble:
            try:
                await self._write(moves=True)
            except Unavailable as error:
                log.warning("not everything could be kept", why=str(error))

    async def _write(self, *, moves: bool) -> None:
        """Write in one transaction; if something contradicts what is kept, write each call in its own."""
        batch = self._waiting[:]
        facts = [fact for call in batch for fact in call.facts]
        over = {fact.match for *_, fact in facts if isinstance(fact, Concluded)}  # the fact holds the moves
        lengths = [(match, each, each.has()) for match, each in self._playing.items()] if moves else []
        jots = [
            jot for match, each, has in lengths if match not in over for jot in each.unwritten(match, has)
        ]
        try:
            receipts = iter(await self._commit(jots, facts))
            for call in batch:
                call.receipts = list(islice(receipts, len(call.facts)))
        except Conflict:
            await self._commit_moves(jots)
            for call in batch:
                try:
                    call.receipts = await self._commit([], call.facts)
                except Conflict as conflict:
                    call.error = conflict
        del self._waiting[: len(batch)]
        for match in over:
            self._playing.pop(match, None)
        for _, each, has in lengths:
            each.moves, each.asides = has
        if moves or not self._playing:
            self._moves_due = trio.current_time() + SOON if self._playing else inf
        for told, call in enumerate(batch, 1):
            call.safe.set()
            if told % AT_A_TIME == 0:
                with trio.CancelScope(shield=True):
                    await trio.lowlevel.checkpoint()

    async def _commit_moves(self, jots: Sequence[Unwritten]) -> None:
        """Commit moves alone. Moves of a match that another host plays by now are no longer ours to write."""
        for jot in jots:
            try:
                await self._commit([jot], [])
            except Stale:
                match, epoch, _ = jot
                if match in self._playing and self._playing[match].epoch == epoch:
                    del self._playing[match]

    async def _commit(self, jots: Sequence[Unwritten], facts: Sequence[Noted]) -> Sequence[str]:
        """Commit moves and facts; returns a receipt for each fact."""
        if not jots and not facts:
            return ()
        begun = trio.current_time()
        try:
            receipts = await self._hand(partial(self._put_down, jots, facts))
        finally:
            self._jotted = None
        self.safe = max([self.safe, *(number for number, *_ in facts)])
        now = trio.current_time()
        self._rested = now + min(REST, EACH * len(self._playing))
        self.committed(now - begun)
        return receipts

    def _put_down(self, jots: Sequence[Unwritten], facts: Sequence[Noted]) -> Sequence[str]:
        """Make rows and write them, in the writing thread: it can take long. Moves may be added meanwhile."""
        heads = self._engine.write([*(row() for _, _, row in jots), *starmap(_entry, facts)])
        return [head.hex() for head in heads]

    def _set_trouble(self, reason: str) -> None:
        if reason != self.trouble:
            before, self.trouble = self.trouble, reason
            if not before:
                log.error("nothing can be kept", why=reason, retry=RETRY)
            elif not reason:
                log.warning("all is kept again")
            for listener in self._listeners:
                listener()


def _jot(match: str, jottings: Jottings, which: slice, epoch: int) -> Jot:
    return journal.jot(match, which.start + 1, jottings.moves[which], jottings.times[which], epoch)


def _jot_asides(match: str, jottings: Jottings, which: slice, epoch: int) -> Jot:
    return journal.jot_asides(match, which.start + 1, jottings.asides[which], epoch)


def _entry(number: int, tournament: str, when: float, epoch: int, fact: AnyFact) -> Entry:
    return entries.entry(number, tournament, when, fact, epoch)
