"""Worker 0's side of one other worker: its process, its connections and what it is told.

If the process ends, another one is started at once and goes on with its tournaments from the journal, as
after a restart of the host. Connections that were handed to it end, and bots that can come back do. A
process that is there but says nothing any more is killed, which is an end like any other.
"""

from collections.abc import Callable, Sequence
from itertools import count
from socket import socket
from typing import assert_never

import structlog
import trio
from msgspec import Struct

from server.host.abroad import Handed
from server.host.claims import Replaced
from server.host.visits import Key as Name
from server.host.visits import Present
from server.net.admission import Admission
from server.net.limits import Limits
from server.net.wire import Piece
from server.show.child import Child
from server.show.conduit import Back, Conduit, Gone, Known, NoRoom
from server.show.hanging import processor_time, until_it_hangs
from server.show.lending import RELAYED, Lending
from server.show.process import LASTED, PAUSES, ended
from server.workers.clerk import Clerk
from server.workers.figures import together
from server.workers.messages import (
    Alive,
    Begin,
    Drain,
    Drained,
    FromWorker,
    Hand,
    Jots,
    Keep,
    Key,
    KeyGone,
    Listen,
    Meet,
    Moved,
    NeedTable,
    Pairings,
    Ready,
    Several,
    Status,
    Stop,
    Stopped,
    Tell,
    TokenReplaced,
    ToldEnd,
)
from server.workers.pulse import BEAT
from server.workers.starting import Started, feed_pair, started

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class HandedConnection:
    """A connection that was handed over, until it is back or has ended."""

    __slots__ = ("_done", "_ended", "back", "handed", "left")

    def __init__(self, handed: Handed) -> None:
        self.handed = handed
        self.back: Sequence[Piece] = ()
        self.left: list[Piece] = []  # what was read here, because the worker had not read it
        self._done = False
        self._ended: trio.Event | None = None  # waited for once the peer has finished

    async def until_done(self) -> None:
        """Wait, in the task that reads: another one for each connection would take as much memory again."""
        while not self._done:
            if await self.handed.wire.pump(self._read) and not self._done:
                self._ended = trio.Event()
                await self._ended.wait()

    def done(self, back: Sequence[Piece] = (), *, closed: bool) -> None:
        """The worker has given it back, or has `closed` its descriptor, or is gone."""
        wire, self.back, self._done = self.handed.wire, back, True
        # Whether the peer has gone is seen only by reading, so a connection that has ended is read
        # from here again: else it would count as one that is here, until it has lingered in vain.
        if (back or (closed and not wire.secure)) and (more := wire.take_back()):
            self._read(more)
        if self._ended is None:
            wire.interrupt()
        else:
            self._ended.set()

    def _read(self, more: bytes) -> None:
        self.left.append((more, self.handed.wire.arrived))


class Worker:
    """A `Holder`, which outlives the worker's processes."""

    def __init__(
        self,
        number: int,
        clerk: Callable[[Callable[[Struct], None]], Clerk],
        know: Callable[[str, int], None],
        open_table: Callable[[int, str], None],
        lending: Lending,
        show: Lending | None,
        admission: Admission,
        limits: Limits,
        have_met: Callable[[int], None] = lambda number: None,
        told_end: Callable[[str, str], None] = lambda tournament, name: None,
        moved: Callable[[int, Name, Present | None], None] = lambda number, where, present: None,
        forget: Callable[[str, int], object] = lambda key, number: None,
        replaced: Callable[[int, Replaced], None] = lambda number, replaced: None,
        asked: Callable[[int], None] = lambda number: None,
        used: Callable[[int], float] = processor_time,
        start: Callable[[], Started] = started,
    ) -> None:
        """`know` is called with each secret that leads to it and its number, `open_table` with its number and
        the game whose table it needs, `have_met` with its number when one of its processes is ready,
        `told_end` with a tournament, as it is kept, and a bot that has heard of its end, `moved` with its
        number and who has a place with it under a name, `forget` with a secret that leads to it no more and
        its number, `replaced` with its number and a name that belongs to another token than before, `asked`
        with its number when it wants to hear which requests have come; `show` is the way to the process for
        pages.
        `used` returns how much processor time a process has used, and `start` starts one.
        """
        self.number = number
        self.lending = lending  # lends requests to it
        self.status: Status | None = None  # the latest report
        self.past: Status | None = None  # the last reports of all its processes that have ended
        self._clerk = clerk
        self._know = know
        self._forget = forget
        self._open_table = open_table
        self._show = show
        self._admission = admission
        self._limits = limits
        self._have_met = have_met
        self._told_end = told_end
        self._moved = moved
        self._replaced = replaced
        self._asked = asked
        self._used = used
        self._start = start
        self._present: set[Name] = set()  # names under which somebody has a place with its process
        self._conduit: Conduit[FromWorker] | None = None  # while there is a process
        self._keeper: Clerk | None = None
        self.let_in = trio.Event()  # set when bots can come to this one
        self._ready = trio.Event()  # set when the process has read the tournaments with which it goes on
        self._in_turn = trio.Lock()  # for those who wait for that: they are handed over as they came
        self._heard = 0  # how many messages came from its processes
        self._numbers = count()
        self._out: dict[int, HandedConnection] = {}
        self._drained = trio.Event()
        self._stopped = trio.Event()
        self._draining = self._stopping = False
        self._unintroduced = False  # whether there was no file left to introduce it to show
        self._task_status: trio.TaskStatus[None] | None = None  # until it has been told that this has started

    @property
    def ready(self) -> bool:
        return self._ready.is_set()

    @property
    def waiting(self) -> int:
        """Packets that the worker has not taken yet."""
        return 0 if self._conduit is None else self._conduit.waiting

    async def run(
        self, begin: Callable[[], Begin], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Keep a process running until cancelled. This has started when the first is ready, or has failed."""
        failures, self._task_status = 0, task_status
        while not self._stopping:
            begun = trio.current_time()
            code = await self._one(begin)
            self._tell_started()
            if self._stopping:
                break
            failures = 1 if trio.current_time() - begun > LASTED else failures + 1
            pause = PAUSES[min(failures, len(PAUSES)) - 1]
            if code is not None:  # otherwise it was said why
                log.error(
                    "a worker has ended and is started again", worker=self.number, code=code, pause=pause
                )
            await trio.sleep(pause)
        self._drained.set()
        self._stopped.set()

    async def _one(self, begin: Callable[[], Begin]) -> int | None:
        """Run one process, from its start to its end; None if the machine has no room for one."""
        try:
            child, link, requests = self._start()
        except OSError as error:
            why = error.strerror
            log.error("a worker cannot be started just now: the others play on", worker=self.number, why=why)
            return None
        conduit = self._conduit = Conduit[FromWorker](link, FromWorker, self._limits.lent_waiting)
        keeper = self._keeper = self._clerk(conduit.say)
        try:
            with link, requests:
                async with trio.open_nursery() as keeping:
                    keeping.start_soon(keeper.run)
                    async with trio.open_nursery() as nursery:
                        conduit.say(begin())
                        nursery.start_soon(self.lending.connect, requests)
                        nursery.start_soon(self._watch, child)
                        nursery.start_soon(self._beat)
                        await conduit.hear(self._take)
                        nursery.cancel_scope.cancel()
                    self._end_all()
                    keeper.close()  # its last facts are kept before anybody goes on from them
        finally:
            self._end_all()
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(ended, child)
        return child.returncode

    async def _watch(self, child: Child) -> None:
        """Kill a process that gives no sign of life any more.

        Until it is ready it says nothing, however long that takes with a large journal; but it works.
        """

        def signs() -> tuple[int, float]:
            self.hear_now()
            return self._heard, 0.0 if self.ready else self._used(child.pid)

        seconds = self._limits.worker_seconds
        await until_it_hangs(signs, seconds)
        log.error("a worker gives no sign of life and is killed", worker=self.number, seconds=seconds)
        child.kill()

    async def _beat(self) -> None:
        """Tell the process again and again that this one lets bots in, and does not stand still."""
        await self.let_in.wait()
        while True:
            await self._ready.wait()
            if self._unintroduced:
                self.introduce()
            self.say(Alive())
            await trio.sleep(BEAT)

    def _tell_started(self) -> None:
        status, self._task_status = self._task_status, None
        if status is not None:
            status.started()

    def _end_all(self) -> None:
        """The process is gone, and with it the connections that it had."""
        self._conduit = None
        if self._ready.is_set():  # otherwise the event is being waited for already
            self._ready = trio.Event()
        if self.status is not None:
            self.past = together(self.past, self.status)
            self.status = None
        for out in tuple(self._out.values()):
            out.done(closed=False)
        for where in tuple(self._present):
            self._note_place(where, None)

    # What is said to it

    def say(self, message: Struct) -> None:
        if self._conduit is not None:
            self._conduit.say(message)

    def introduce(self) -> None:
        """Have the worker tell show what happens, if both are running."""
        if self._conduit is None or self._show is None or not self._show.connected or not self.ready:
            return
        self._unintroduced = False
        try:
            ours, theirs = feed_pair()
        except OSError as error:
            self._unintroduced = True  # until the next beat, or the next after that
            log.debug("show cannot be told of a worker just now", worker=self.number, why=error.strerror)
            return
        self._show.feed(theirs)
        self._conduit.say(Tell(), ours, give=True)

    def meet(self, number: int, theirs: socket) -> None:
        """Have the worker play matches for another, which has the other end, and lend matches to it."""
        if self._conduit is None:
            theirs.close()
        else:
            self._conduit.say(Meet(number), theirs, give=True)

    async def drain(self) -> None:
        """Have the worker begin nothing, and wait for matches that cannot be resumed."""
        self._draining = True
        if self.ready:  # otherwise it is told so when it is
            self.say(Drain())
        await self._drained.wait()

    async def stop(self) -> None:
        """Have the worker let go of everything."""
        self._stopping = True
        if self._conduit is not None:
            self.say(Stop())
            await self._stopped.wait()

    async def take(self, handed: Handed) -> Sequence[Piece]:
        async with self._in_turn:
            await self._ready.wait()
            conduit, files = self._conduit, RELAYED if handed.wire.secure else 0
            if conduit is None or (files and self._admission.free_files < files):
                return ()
            if (passed := handed.wire.let_go()) is None:
                return ()
            number, out = next(self._numbers), HandedConnection(handed)
            self._out[number] = out
            self._admission.files_beside += files
            wire, pieces = handed.wire, tuple(handed.pieces)
            conduit.say(Hand(number, handed.door, handed.path, wire.peer, wire.secure, pieces), passed)
        try:
            await out.until_done()
        finally:
            self._out.pop(number, None)
            self._admission.files_beside -= files
        return [*out.back, *out.left] if out.back else ()

    # What it says

    def hear_now(self) -> None:
        """Take in messages that have come already."""
        if self._conduit is not None:
            self._conduit.hear_now(self._take)

    def _take(self, message: FromWorker, descriptor: int | None) -> None:
        self._heard += 1
        match message:
            case Several(messages):
                for each in messages:
                    self._take(each, descriptor)
            case Pairings():
                if self._keeper is not None:
                    self._keeper.take_pairings(message)
            case Keep():
                if self._keeper is not None:
                    self._keeper.keep(message)
            case Jots():
                if self._keeper is not None:
                    self._keeper.jot(message)
            case Back(number, pieces):
                self._done(number, pieces)
            case Gone(number) | NoRoom(number):
                self._done(number, ())
            case Known(number):
                if (out := self._out.get(number)) is not None:
                    out.handed.authenticated()
            case Key(key):
                self._know(key, self.number)
            case KeyGone(key):
                self._forget(key, self.number)
            case NeedTable(game):
                self._open_table(self.number, game)
            case ToldEnd(tournament, name):
                self._told_end(tournament, name)
            case TokenReplaced(replaced):
                self._replaced(self.number, replaced)
            case Listen():
                self._asked(self.number)
            case Moved(where, present):
                self._note_place(where, present)
            case Status():
                self.status = message
            case Ready():
                self._ready.set()
                self._tell_started()
                self.introduce()
                self._have_met(self.number)
                if self._draining:
                    self.say(Drain())
            case Drained():
                self._drained.set()
            case Stopped():
                self._stopped.set()
            case _:
                assert_never(message)

    def _note_place(self, where: Name, present: Present | None) -> None:
        if present is None:
            self._present.discard(where)
        else:
            self._present.add(where)
        self._moved(self.number, where, present)

    def _done(self, number: int, pieces: Sequence[Piece]) -> None:
        if (out := self._out.get(number)) is not None:
            out.done(pieces, closed=True)
