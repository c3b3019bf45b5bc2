"""Show's own view of the host: records folded from the journal, and matches in play as play tells them.

The journal says which matches there are: a match is in play from the fact that deals it to the
fact that concludes it. What happens in it comes over the feed, perhaps before that first fact has
been read, or not at all; neither does any harm.
"""

import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from functools import partial
from heapq import nsmallest
from itertools import islice
from pathlib import Path
from typing import Any

import structlog
import trio

from games.catalogue import game_kept
from games.game import Game
from server.exits import Unavailable, Unusable
from server.host.boards import Boards
from server.host.grading import Grader
from server.host.vacant import ShownTournaments
from server.host.versions import Versions
from server.host.view import Begun, PresentBots, Told
from server.net.guard import Guard
from server.show.feed import Happened, Holders, Journal, Seen
from server.show.replica import Replica, Replicas
from server.store import journal, snapshots
from server.store.journal import Reader
from server.store.ledger import InThread
from tournament import entries
from tournament.entries import Entry
from tournament.events import Ended
from tournament.facts import HOST, Concluded, Dealt, Kept, Opened, State
from tournament.folding import called
from tournament.format import Pairing
from tournament.presence import Missing
from tournament.record import Record
from tournament.score_sheet import Board
from tournament.settling import as_dealt, both

AT_ONCE = 2_000  # entries that are read and decoded in a thread at a time …
STEP = 50  # … and of these, taken in before other tasks get their turn
RETRY = 1.0  # seconds until a journal that could not be read is tried again
WATCHED = 200  # matches of other hosts that are watched at once
LISTS = re.compile("/(?:tournaments|wall)/([^/]+)/?|/api/tournaments/([^/]+)/matches/?")  # matches in play
ALL = ("", "wall")  # pages with boards of all tournaments
BOARDS = 16  # matches looked at for these: none has more than eight boards, and some matches may just be over
LATE = 1.0  # seconds that somebody who looks at such matches waits for news of it
LONG = 20_000  # results: a table of so many is computed before anybody asks for it
EARLY = 10_000  # matches not in the journal yet, of which news is held: of more it is of no use

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class MirroredTournament:
    """A tournament of the host, as seen from here."""

    def __init__(self, record: Record, reader: Reader, in_thread: InThread) -> None:
        self.record = record
        self.game: Game[Any, Any] = game_kept(record.opened.game)
        self.replicas: dict[str, Replica] = {}
        self.matches = Replicas(self.replicas)
        self.seconds: float | None = None
        self.awaited: Sequence[Missing] = ()
        self._reader = reader
        self._in_thread = in_thread

    def eta(self) -> float | None:
        return None if self.record.state is State.FINISHED else self.seconds

    def missing(self) -> Sequence[Missing]:
        """Those of whom play told, up to a second ago, that they are missing, unless the record knows better.

        It knows who has been taken out meanwhile, or has checked in, and whether it is over.
        """
        record = self.record
        if record.state is State.FINISHED:
            return ()
        known = [record.out, record.checked_in] if record.state is State.REGISTERING else [record.out]
        if not any(known):
            return self.awaited
        return [each for each in self.awaited if not any(each.name in names for names in known)]

    async def concluded(self, match: str) -> Concluded:
        return await self._in_thread(partial(journal.concluded, self._reader, self.record.kept_as, match))

    async def receipt(self, match: str) -> str:
        return await self._in_thread(partial(journal.receipt, self._reader, self.record.kept_as, match))

    async def entries(self, after: int = 0) -> Sequence[Entry]:
        return await self._in_thread(partial(journal.entries, self._reader, self.record.kept_as, after))

    def begin(self, fact: Dealt) -> Replica:
        """Begin the replica of a match that was dealt and that no fact has ended."""
        record = self.record
        players = both(record.drawn[fact.pairing])
        match = Replica(
            self.game,
            players,
            trio.current_time(),
            name=fact.match,
            pace=record.opened.pace,
            options=record.options(fact),
            epoch=time.time() - trio.current_time(),
            dealt_at=fact.when,
        )
        match.put_aside()
        self.replicas[fact.match] = match
        return match


class Mirror:
    def __init__(
        self,
        reader: Reader,
        guard: Guard,
        in_thread: InThread = trio.to_thread.run_sync,
        *,
        address: str = "",
        folder: Path | None = None,
        grading: bool = True,
    ) -> None:
        """`address` is the one by which other hosts reach this one, if any do; `folder` has the snapshots."""
        self.tournaments: dict[str, MirroredTournament] = {}
        self.shown = ShownTournaments(self.tournaments)
        self.holders: Mapping[str, str] = {}  # as told by the process that knows the other hosts
        self.on_fact: list[Told] = []
        self.on_begun: list[Begun] = []
        self.guard = guard
        self.boards = Boards(lambda: guard)
        self.versions = Versions(lambda: guard, lambda work: self.boards.run(work))
        self.grader = Grader(lambda: guard, grading=grading)
        self._address = address
        self.snapshot = 0  # the number of the entry up to which there was a snapshot when this began
        self._folder = folder
        self._reader = reader
        self._in_thread = in_thread
        self._seen: dict[object, Seen] = {}  # by the process that told it, and holds these tournaments
        self._told: Set[str] = frozenset()  # the tournaments of which anything in these says something
        self._read = 0  # the number of the latest entry of the journal that was taken in
        self._last = 0  # the number of the latest entry that is said to be there
        self._news = trio.Event()
        self._taken = trio.Event()  # set when something more was taken in, or cannot be
        # Why what comes next in the journal cannot be read, if so
        self._unread: Unavailable | Unusable | None = None
        self._looking = trio.Lock()  # one look at the journal at a time
        self._look: trio.Event | None = None  # set when the next look is done: all callers share it
        self._deleted: set[str] = set()  # tournaments, by their names in the journal
        self._early: dict[str, list[Happened]] = {}  # news of matches that are not in the journal yet

    def records(self) -> Iterator[Record]:
        return (each.record for each in self.tournaments.values())

    @property
    def trouble(self) -> str:
        return next((seen.trouble for seen in self._seen.values() if seen.trouble), "")

    def here(self, tournament: str) -> PresentBots:
        return next(
            (seen.here[tournament] for seen in self._seen.values() if tournament in seen.here), PresentBots()
        )

    def watched(self) -> tuple[str, ...]:
        """The matches of other hosts that are watched, the latest look first."""
        if not self._address:
            return ()
        now = trio.current_time()
        looked = [match for match in self._of_others() if match.is_looked_at(now)]
        looked.sort(key=lambda match: -match.looked)
        return tuple([match.name for match in looked[:WATCHED]])

    async def look_at(self, path: str) -> None:
        """Wait, not for long, for the latest news of the matches that a path shows and other hosts hold."""
        waits = [match.expect() for match in self._shown_at(path) if self._is_played_elsewhere(match)]
        with trio.move_on_after(LATE):
            for told in waits:
                await told.wait()

    async def load(self) -> None:
        """Read all that the journal has now, or what came after its latest snapshot."""
        known = await self._in_thread(partial(snapshots.started, self._reader, self._folder, whole=True))
        self._read, self.snapshot = known.number, known.snapshot
        for record in known.records.values():
            if record.state is State.DELETED:
                self._deleted.add(record.kept_as)
                continue
            held = self._add(record)
            for match in record.dealt:
                self._replicate(held, as_dealt(record, match))

    async def warm(self) -> None:
        """Compute long tables, and what pages of bots there need, before anybody looks.

        From then on, only new results are added. All this is done one by one, so that a visitor of another
        table does not wait for all of it.
        """
        for record in self.long():
            await self.boards.exact(record)
            await self.boards.run(partial(self.versions.index.follow, record))
        for game in dict.fromkeys(record.opened.game for record in self.long()):
            records = [record.public for record in self.records() if record.opened.game == game]
            await self.versions.ratings(game, records)

    def long(self) -> Sequence[Record]:
        """The records whose tables take long to compute."""
        return [record for record in self.records() if record.decided > LONG]

    def take(self, message: Happened | Journal | Seen | Holders, teller: object = None) -> None:
        """Take in what play tells; where several processes play, each tells of what it holds."""
        match message:
            case Happened():
                self._happened(message)
            case Journal(last=last):
                self._last = max(last, self._last)
                self._news.set()
            case Seen():
                self._seen[teller] = message
                self._look_at_seen()
            case Holders(addresses=addresses):
                self.holders = addresses

    def forget(self, teller: object) -> None:
        """Forget what a process that is gone had told: it may no longer be true."""
        if self._seen.pop(teller, None) is not None:
            self._look_at_seen()

    def _look_at_seen(self) -> None:
        """Note what is told now of some tournaments, which may be few of all, and no more of others."""
        before = self._told
        self._told = {
            name for seen in self._seen.values() for told in (seen.eta, seen.missing) for name in told
        }
        for name in before | self._told:
            if (held := self.tournaments.get(called(name))) is not None:
                self._look_again(held)

    def _look_again(self, held: MirroredTournament) -> None:
        """Note what is told now of a tournament, and not of an earlier one of that name."""
        name = held.record.kept_as
        held.seconds = next((seen.eta[name] for seen in self._seen.values() if name in seen.eta), None)
        held.awaited = next((seen.missing[name] for seen in self._seen.values() if name in seen.missing), ())

    async def catch_up(self) -> None:
        """Wait until all that was kept before this call has been taken in.

        So a client that has changed something, and then looks, sees the change.
        """
        if (look := self._look) is None:
            look = self._look = trio.Event()
            self.guard.start_soon(self._look_for, look)
        await look.wait()

    async def board(self, name: str) -> Board:
        """The table of a tournament as everybody sees it, by all that is kept when this is called."""
        await self.catch_up()
        return await self.boards.exact(self.tournaments[name].record.public)

    async def read_up_to(self, journal: int) -> int:
        """Wait until all up to that number in the journal has been taken in; 0: all that is kept by now.

        Returns the number up to which all has been taken in.
        """
        if not journal:  # `catch_up` gives up if the journal cannot be read, which a draw must not
            journal = await self._look_how_far()
        while self._read < journal:
            if isinstance(self._unread, Unusable):
                raise self._unread
            await self._taken.wait()
        return self._read

    async def draw(self, name: str) -> Sequence[Pairing]:
        """The pairings that a tournament's format adds, by what has been taken in."""
        record = self.tournaments[name].record
        entrants, past = list(record.entrants.values()), record.past()
        return await self._in_thread(partial(record.format.draw, entrants, *past, record.secret_terms))

    def _shown_at(self, path: str) -> Sequence[Replica]:
        """The matches in play that a path names, or the latest of the tournament whose matches it lists."""
        if path.strip("/") in ALL:
            return self._on_boards()
        if (listing := LISTS.fullmatch(path)) is not None:
            held = self.tournaments.get(listing[1] or listing[2])
            return [] if held is None else [*held.replicas.values()][-WATCHED:]
        named = ((name, self.tournaments.get(name.rpartition("-")[0])) for name in path.split("/"))
        return [held.replicas[name] for name, held in named if held is not None and name in held.replicas]

    def _on_boards(self) -> Sequence[Replica]:
        """The matches elsewhere that may have a board: those that were looked at last, then the oldest."""
        return nsmallest(BOARDS, self._of_others(), key=lambda match: -match.looked)

    def _of_others(self) -> Iterator[Replica]:
        """The matches of the tournaments that other hosts hold."""
        return (
            match
            for name, held in self.tournaments.items()
            if self.holders.get(name) != self._address
            for match in held.replicas.values()
        )

    def _is_played_elsewhere(self, match: Replica) -> bool:
        holder = self.holders.get(match.name.rpartition("-")[0])  # None: it is new, and may be ours
        return holder != self._address and not (holder is None and match.heard)

    async def _look_for(self, look: trio.Event) -> None:
        try:
            async with self._looking:
                self._look = None  # later callers may have changed something since
                last = await self._look_how_far()
                while self._read < last and self._unread is None:
                    await self._taken.wait()
        except Unavailable:
            log.debug("the journal cannot be read: what is shown may be older than what is kept")
        finally:
            look.set()

    async def _look_how_far(self) -> int:
        """The number of the latest entry that is kept; all up to it will be taken in."""
        last = await self._in_thread(self._reader.last)
        self._last = max(self._last, last)
        self._news.set()
        return last

    async def run(self) -> None:
        """Take in what is new in the journal, until cancelled."""
        while True:
            self._news = trio.Event()
            while self._read < self._last:
                await self._read_on()
            await self._news.wait()

    async def _read_on(self) -> None:
        try:
            rows = await self._in_thread(self._next)
        except Unavailable as error:
            log.warning("the journal cannot be read: pages stay as they are", why=str(error), retry=RETRY)
            await self._go_without(error)
            return
        except Unusable as error:
            self.guard.report(error)
            await self._go_without(error)
            return
        self._unread = None
        for some in _split(rows):
            for number, kept in some:
                await self._fold(kept)
                self._read = number
            self._tell_waiters()
            await trio.lowlevel.checkpoint()

    async def _go_without(self, error: Unavailable | Unusable) -> None:
        """Wait before the next try. Meanwhile what is known is shown, and nobody who looks waits for more."""
        self._unread = error
        self._tell_waiters()
        await trio.sleep(RETRY)

    def _tell_waiters(self) -> None:
        self._taken.set()
        self._taken = trio.Event()

    def _next(self) -> list[tuple[int, Kept]]:
        rows = islice(self._reader.kept(self._read), AT_ONCE)
        return [(row.number, journal.kept(row)) for row in rows]

    async def _fold(self, kept: Kept) -> None:
        """Take in a fact. Others get their turns while a large one is taken in, as the draw of a thousand."""
        name, fact = kept.tournament, kept.fact
        if name == HOST:
            return
        if isinstance(fact, Opened):
            self._add(Record(called(name), fact, kept_as=name))
            return
        if name in self._deleted:
            return  # it was on its way when the tournament was deleted
        held = self.tournaments.get(called(name))
        if held is None or held.record.kept_as != name:  # a fault, but no reason to show nothing at all
            log.error(
                "a fact of a tournament that is not there is left out",
                tournament=name,
                kind=entries.kind(fact),
            )
            return
        for _ in held.record.adding(fact):
            await trio.lowlevel.checkpoint()
        if isinstance(fact, Dealt):
            self._begin(held, fact)
        elif isinstance(fact, Concluded) and (match := held.replicas.pop(fact.match, None)) is not None:
            match.conclude(fact, trio.current_time())
        for each in tuple(self.on_fact):
            each(held, fact)
        if held.record.state is State.DELETED:
            self._deleted.add(name)
            del self.tournaments[held.record.name]

    def _begin(self, held: MirroredTournament, fact: Dealt) -> None:
        """A match was dealt."""
        early = self._early.pop(fact.match, ())
        if (match := self._replicate(held, fact)) is None:
            return
        for each in early:
            match.hear(each.first, each.events, each.clock)
        for begun in tuple(self.on_begun):
            begun(held, match)

    def _replicate(self, held: MirroredTournament, fact: Dealt) -> Replica | None:
        """Begin a match here as well. If its game fails, as where it is to be played, it is not shown."""
        try:
            return held.begin(fact)
        except Exception as error:
            self.guard.report(error)
            return None

    def _add(self, record: Record) -> MirroredTournament:
        held = self.tournaments[record.name] = MirroredTournament(record, self._reader, self._in_thread)
        self._look_again(held)  # play may have told of it before the journal did, and tells nothing twice
        return held

    def _happened(self, news: Happened) -> None:
        held = self.tournaments.get(news.match.rpartition("-")[0])
        match = None if held is None else held.replicas.get(news.match)
        if match is not None:
            match.hear(news.first, news.events, news.clock)
        elif any(isinstance(event, Ended) for event in news.events):
            # The journal has the end. If its tournament is deleted, another may have a match of that name.
            self._early.pop(news.match, None)
        elif held is None or not held.record.is_over(news.match):  # otherwise the journal told it first
            self._early.setdefault(news.match, []).append(news)
            if len(self._early) > EARLY:
                del self._early[next(iter(self._early))]


def _split(rows: list[tuple[int, Kept]]) -> Iterable[list[tuple[int, Kept]]]:
    return (rows[start : start + STEP] for start in range(0, len(rows), STEP))
