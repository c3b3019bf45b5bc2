"""A process that plays beside worker 0, which starts it: `python -m server.workers LINK REQUESTS`.

Both are descriptors of sockets. People do not start this: they start `quintain serve`.
"""

import socket
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import closing
from functools import partial
from math import inf
from pathlib import Path

import trio

from server import allocator, interpreter
from server.application import application
from server.export.signing import known_signer
from server.host.host import Host
from server.host.measures import watch_lag
from server.host.metrics import of_the_host
from server.http.exchange import App, Exchange
from server.http.wire import Request
from server.logs import set_up
from server.net.elsewhere import ROUNDS, Listening
from server.net.open_files import room_for_files
from server.net.readiness import readiness
from server.pages.desk.sessions import Sessions
from server.protocols.catalogue import carried, prepare
from server.protocols.dialect import OverHttp
from server.show.begin import SameClock
from server.show.borrowing import Borrowing
from server.show.conduit import Conduit
from server.show.draws import DrawsInShow
from server.show.ending import end_with_the_parent, ending_where_the_journal_is_away
from server.show.feed import Teller
from server.show.which import ShownRequests
from server.store import snapshots
from server.store.choice import beside
from server.store.journal import Reader
from server.store.ledger import READERS
from server.workers.directory import OWN
from server.workers.figures import counted
from server.workers.messages import (
    Alone,
    Begin,
    Drain,
    Drained,
    GiveWay,
    Hand,
    Hold,
    Kept,
    Key,
    KeyGone,
    Listen,
    Listened,
    Meet,
    Ready,
    Sitting,
    Status,
    StoodStill,
    Stop,
    Stopped,
    TableHeld,
    Tell,
    TokenReplaced,
    ToldEnd,
    ToWorker,
    Trouble,
)
from server.workers.places import Places
from server.workers.pulse import Pulse
from server.workers.requests import Keys, Reading
from server.workers.saying import Saying
from server.workers.serving import Serving
from server.workers.spread import Spread
from server.workers.starting import CLOCK
from server.workers.store import LinkedStore
from tournament.facts import Kept as KeptFact
from tournament.match import Match
from tournament.record import Record

EVERY = 0.5  # seconds between two reports of how things are


def main(link: int, requests: int) -> int:
    end_with_the_parent("quintain-worker")
    allocator.give_back()
    with (
        socket.socket(fileno=link) as linked,
        socket.socket(fileno=requests) as lent,
        ending_where_the_journal_is_away(),
    ):
        clock = SameClock(_zero(linked))
        trio.run(Process(linked, lent).run, clock=clock)
    return 0


def _zero(link: socket.socket) -> float:
    """What worker 0's clock says when `perf_counter` is 0."""
    if not (told := link.recv(CLOCK.size)):
        raise SystemExit("the process that plays was gone before it had said what time it is")
    return CLOCK.unpack(told)[0]


class Process:
    """This process, from the first message to the end of the link."""

    def __init__(self, linked: socket.socket, lent: socket.socket) -> None:
        self._lent = lent
        self._conduit = Conduit[ToWorker](linked, ToWorker, inf)  # callers wait for what they say
        self._early: list[tuple[ToWorker, int | None]] | None = []  # messages that came before this was ready
        self._told = trio.Event()
        self._begin: Begin | None = None
        self._working: Working | None = None

    async def run(self) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._work)
            await self._conduit.hear(self._take)
            nursery.cancel_scope.cancel()

    def _take(self, message: ToWorker, descriptor: int | None) -> None:
        if self._working is not None:
            self._working.pulse.feel()
        if isinstance(message, Begin):
            self._begin = message
            self._told.set()
        elif isinstance(message, Kept) and self._working is not None:
            self._working.store.confirm(message)
        elif self._early is not None:
            self._early.append((message, descriptor))
        elif self._working is not None:
            self._working.take(message, descriptor)

    def _hear_now(self) -> None:
        """Take in what worker 0 has said already."""
        self._conduit.hear_now(self._take)

    async def _work(self) -> None:
        await self._told.wait()
        if (begin := self._begin) is None:
            return
        settings = begin.settings
        output = set_up(settings.log_level, settings.log_format, settings.limits.log_lines)
        with output.in_a_thread(), closing(beside(settings, READERS)) as reader:
            working = self._working = Working(begin, reader, self._conduit, self._lent, self._hear_now)
            async with trio.open_nursery() as nursery:
                await nursery.start(working.run)
                early, self._early = self._early, None
                for message, descriptor in early or ():
                    working.take(message, descriptor)
                self._conduit.say(Ready())


class Working:
    """The work of a worker, once it knows what it holds."""

    def __init__(
        self,
        begin: Begin,
        reader: Reader,
        conduit: Conduit[ToWorker],
        lent: socket.socket,
        hear_now: Callable[[], None] = lambda: None,
    ) -> None:
        """`hear_now` takes in what worker 0 has said already."""
        settings = begin.settings
        self._begin = begin
        self._say = say = Saying(conduit).say
        self._nursery: trio.Nursery | None = None
        self._telling = trio.CancelScope()
        self._keys = Keys()  # secrets by which requests find what is here
        self.store = LinkedStore(say, reader)
        load = partial(_loaded, reader, Path(settings.data), begin.held)
        host = self.host = Host(
            settings.limits,
            self.store,
            at_once=settings.matches_at_once,
            load=load,
            grading=settings.grading,
        )
        self.store.set_trouble(begin.trouble)  # which the host hears, and stops its clocks
        self._hear_now = hear_now
        self._listening = Listening(lambda: say(Listen()))
        host.requests_on_their_way = self._may_lack
        self._serving = Serving(host, say, most=room_for_files() - settings.limits.spare_files)
        self._places = Places(say, host.reception.present)
        self._be_alone(begin.alone)
        host.abroad, host.is_key = self._serving, lambda key: True
        host.on_key, host.on_key_gone = self._know, self._forget
        host.reception.moved = self._places.moved
        host.untold.on_told = lambda tournament, name: say(ToldEnd(tournament, name))
        host.claims.replaced = lambda replaced: say(TokenReplaced(replaced))
        self.pulse = Pulse(host.timekeeper)
        self._teller = Teller(host, lambda: 0)  # only worker 0 knows, and tells, how far the journal goes
        self._draws = DrawsInShow(self._teller)
        host.elsewhere, host.boards.ranked = self._draws.draw, self._draws.rank
        self._spread = Spread(host, self._teller, settings.spread)
        self._serving.hear_now = self._spread.hear_now = hear_now
        self._spoken = [(dialect, way.serve(host, settings)) for dialect, way in carried(OverHttp)]
        self._reading = Reading(
            (door.paths, frozenset(dialect.games or ())) for dialect, door in self._spoken
        )
        self._which = ShownRequests(door_at_root=any("" in door.paths for _, door in self._spoken))
        self._lent = lent
        self._sessions = None if begin.sitting is None else Sessions()
        for digest, session in begin.sitting or ():
            if self._sessions is not None:
                self._sessions.take(digest, session)

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        settings = self._begin.settings
        async with trio.open_nursery() as self._nursery:
            await self._nursery.start(self.host.run)
            app = application(
                self.host,
                settings,
                self._begin.addresses,
                self._begin.token,
                [door for _, door in self._spoken],
                sessions=self._sessions,
                login=None,  # worker 0 makes the links
                key=known_signer(Path(settings.data)),
                looks=False,
            )
            borrowing = Borrowing(
                self._lent, self._later(app), self.host.guard, settings.limits, self._is_here
            )
            self._nursery.start_soon(borrowing.run)
            self._nursery.start_soon(watch_lag, self.host.measures.lag)
            self._nursery.start_soon(self._report)
            self._nursery.start_soon(self._spread.run)
            self._nursery.start_soon(self.pulse.run)
            self._nursery.start_soon(prepare)
            self._nursery.start_soon(allocator.trim, lambda: self.host.timekeeper.idle)
            interpreter.calm(interpreter.LARGE_SURPLUS)
            interpreter.let_threads_in()
            task_status.started()

    def take(self, message: ToWorker, descriptor: int | None) -> None:
        match message:
            case Hand():
                self._serving.serve(message, descriptor)
            case Hold():
                self.host.audit += message.orders
                self.host.hold(_record(message))
            case TableHeld(game):
                self._serving.opened(game)
            case Alone(games):
                self._be_alone(games)
            case Sitting(digest, session):
                if self._sessions is not None:
                    self._sessions.take(digest, session)
            case Trouble(why):
                self.store.set_trouble(why)
            case GiveWay(where):
                self.host.reception.give_way(where)
            case ToldEnd(tournament, name):
                self.host.untold.note(tournament, name)
            case StoodStill(seconds) if not self.host.timekeeper.paused:  # else the clocks stood still, too
                self.host.timekeeper.excuse(seconds, self._moves_by_request)
            case Listened() if self._nursery is not None:
                self._nursery.start_soon(self._look_again)
            case TokenReplaced(replaced) if self._nursery is not None:
                self._nursery.start_soon(self.host.claims.replace, replaced)
            case Tell() if descriptor is not None and self._nursery is not None:
                self._nursery.start_soon(self._tell, descriptor)
            case Meet(number) if descriptor is not None and self._nursery is not None:
                self._nursery.start_soon(self._spread.meet, number, socket.socket(fileno=descriptor))
            case Drain() if self._nursery is not None:
                self._nursery.start_soon(self._drain)
            case Stop() if self._nursery is not None:
                self._nursery.start_soon(self._stop)
            case _:
                pass

    def _later(self, app: App) -> App:
        """The application, for requests that worker 0 sends over another way than what it says."""

        def answer(exchange: Exchange) -> Awaitable[object] | None:
            self._hear_now()  # it may have said before that it stood still
            return app(exchange)

        return answer

    def _may_lack(self, by: float) -> bool:
        """Whether a request that had come to this process or to worker 0 by then may not be served yet."""
        sockets = readiness()
        here = sockets is not None and sockets.on_its_way(by)
        return here or self._listening.may_lack(by, trio.current_time())

    def _moves_by_request(self, match: Match) -> bool:
        seat = match.to_move
        return seat is not None and match.on_its_way[seat] == self._may_lack

    async def _look_again(self) -> None:
        """Worker 0 has passed on all requests that had come: once they are served, whoever is late is so."""
        for _ in range(ROUNDS):
            await trio.lowlevel.checkpoint()
        self._listening.hear()
        self.host.timekeeper.look_again()

    def _be_alone(self, games: frozenset[str]) -> None:
        self._serving.alone = games
        self._places.be_alone(games)

    def _know(self, key: str) -> None:
        self._keys.know(key, OWN)
        self._say(Key(key))

    def _forget(self, key: str) -> None:
        if self._keys.forget(key, OWN):
            self._say(KeyGone(key))

    def _is_here(self, request: Request) -> bool:
        """Whether a request on a connection that was lent is answered here as well.

        What show answers is not: worker 0 sends it there. Nor is what a model asks, of which only worker 0
        knows where it has joined since.
        """
        if self._which.is_shown(request):
            return False
        asked = self._reading.asked(request)
        if asked is None or asked.moves:
            return False
        if asked.tournament is not None:
            return asked.tournament in self.host.tournaments
        if asked.game is not None:
            return asked.game in self._serving.alone
        return asked.wanted is None and any(self._keys.whose(key) is not None for key in asked.keys)

    async def _tell(self, descriptor: int) -> None:
        """Tell a new show, which replaces any before it, what happens here."""
        self._telling.cancel()
        with trio.CancelScope() as self._telling:
            connected = socket.socket(fileno=descriptor)
            connected.setblocking(False)
            stream = trio.SocketStream(trio.socket.from_stdlib_socket(connected))
            async with stream, trio.open_nursery() as nursery:
                nursery.start_soon(self._draws.hear, stream)
                await self._teller.tell(stream)
                nursery.cancel_scope.cancel()

    async def _report(self) -> None:
        host = self.host
        while True:
            figures = counted(await of_the_host(host))
            self._say(Status(host.timekeeper.moves, figures))
            self._places.tell_gone()
            await trio.sleep(EVERY)

    async def _drain(self) -> None:
        self._spread.drain()
        await self.host.drain()
        self._say(Drained())

    async def _stop(self) -> None:
        self._spread.stop()
        await self.host.stop()
        self.store.say_moves()
        self._say(Stopped())


def _loaded(reader: Reader, folder: Path, held: Sequence[str]) -> tuple[dict[str, Record], list[KeptFact]]:
    """The tournaments that this worker holds, and what was ordered of them, from the journal."""
    known = snapshots.folded(reader, folder / snapshots.FILE) if held else snapshots.Folded({}, [])
    records = {name: known.records[name] for name in held if name in known.records}
    return records, [order for order in known.audit if order.tournament in records]


def _record(hold: Hold) -> Record:
    opened, *facts = hold.facts
    record = Record(hold.name, opened, whole=False, kept_as=hold.kept_as)  # pyright: ignore
    for fact in facts:
        record.add(fact)
    return record


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
