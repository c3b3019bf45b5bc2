"""All workers, seen from worker 0: where bots and requests go, and the sums over all of them.

A bot's connection goes to the worker that holds its tournament, and so does a request that names one
(`requests.py`). A tournament goes to the worker with the least to do, and stays there.
"""

from collections.abc import Awaitable, Iterable, Iterator, Sequence
from functools import partial
from itertools import takewhile

import structlog
import trio

from server.config import Settings
from server.host.abroad import Holder, Wanted
from server.host.claims import Replaced
from server.host.exposition import Family
from server.host.host import Host
from server.host.names import key as name_key
from server.host.opening import OPEN, game_of
from server.host.visits import Key, Visit
from server.http.exchange import App, Exchange
from server.net.admission import Admission
from server.net.elsewhere import ROUNDS
from server.net.limits import Limits
from server.pages.addresses import Addresses
from server.pages.desk.sessions import Session, Sessions
from server.show.lending import Lending
from server.store.ledger import Ledger
from server.workers.clerk import Clerk
from server.workers.directory import OWN, Directory, RemoteTournament
from server.workers.figures import added, families
from server.workers.messages import (
    Alone,
    Begin,
    GiveWay,
    Hold,
    Listened,
    Sitting,
    Status,
    StoodStill,
    TableHeld,
    TokenReplaced,
    ToldEnd,
    Trouble,
)
from server.workers.requests import Belonging, Keys, Reading, together
from server.workers.spread import Spread
from server.workers.starting import Started, conduit_pair, next_of
from server.workers.worker import Worker
from tournament.facts import AnyFact, Kept, Ordered, Sealed, State, Turned
from tournament.record import Record

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()

NO_WORKER = "the process of this host that plays there is starting again; ask again in a second"


class Workers:
    """An `Abroad` of all workers but this one."""

    def __init__(
        self,
        count: int,
        host: Host,
        ledger: Ledger,
        limits: Limits,
        admission: Admission,
        show: Lending | None,
        reading: Reading,
        spread: Spread,
        early: Sequence[Started] = (),
    ) -> None:
        """`early` are processes that were started before this one had an event loop."""
        left = [*early]
        self._host = host
        self._spread = spread
        self._nursery: trio.Nursery | None = None
        self._ledger = ledger
        directory = self._directory = Directory(count, ledger, together())
        self.held, self.entered, self.expects = directory.held, directory.entered, directory.expects
        self._reading = reading
        self._keys = Keys()
        self._tables = trio.Lock()  # held while an open table is opened
        self._told_alone: dict[int, frozenset[str]] = {}
        self._unheard: dict[int, list[Replaced]] = {}  # of workers that were starting, or about to
        self._workers = {
            number: Worker(
                number,
                lambda say: Clerk(ledger, say, self._hear),
                self._keys.know,
                self._need_table,
                Lending(limits, admission, NO_WORKER),
                show,
                admission,
                limits,
                self._have_met,
                host.untold.note,
                self._directory.moved,
                self._keys.forget,
                self._replace_token,
                self._tell_when_read,
                start=partial(next_of, left),
            )
            for number in range(1, count)
        }
        host.abroad = self
        host.on_key = lambda key: self._keys.know(key, OWN)  # it may have led to another worker before
        host.on_key_gone = lambda key: self._keys.forget(key, OWN)
        host.untold.on_told = self._tell_told
        self._directory.roll.is_past = host.untold.is_past
        self._directory.turned = host.untold.turned
        host.claims.replaced = partial(self._tell_replaced, OWN)
        host.reception.moved = self._note_place
        host.timekeeper.stood_still = self._tell_stood_still
        host.on_fact.append(self._told)
        ledger.listen(self._tell_trouble)
        if show is not None:
            show.on_connected = self._introduce

    # An `Abroad`

    def may_hold(self, tournament: str, game: str) -> bool:
        return self._directory.goes_on(tournament, game)

    def holder(self, wanted: Wanted, leaving: Visit | None = None) -> Holder | None:
        number = self._where(wanted, leaving)
        return None if number == OWN else self._workers[number]

    def _where(self, wanted: Wanted, leaving: Visit | None = None) -> int:
        """The worker that serves a bot: this one tells it of an end that it has not heard of."""
        untold, directory = self._host.untold, self._directory
        if untold.end(wanted) is not None or directory.somebody_is_here(wanted):
            self._hear_now()  # other workers may just have told it, or seen it go
        if untold.end(wanted) is not None:
            return OWN
        served = directory.served(wanted, trio.current_time())
        if served.leaves is not None:
            self._give_way(served.leaves, (wanted.game, name_key(wanted.name)), leaving)
        return served.worker

    def _give_way(self, number: int, where: Key, leaving: Visit | None) -> None:
        """Have a bot's connections to a worker give way to the one by which it takes over from itself."""
        if number == OWN:
            self._host.reception.give_way(where, leaving)
        else:
            self._workers[number].say(GiveWay(where))

    def _note_place(self, where: Key) -> None:
        self._directory.moved(OWN, where, self._host.reception.present(where))

    def _hear_now(self) -> None:
        """Take in what workers have said already."""
        for worker in self._workers.values():
            worker.hear_now()

    def place(self, record: Record) -> RemoteTournament | None:
        away = self._directory.place(record)
        if away is not None:
            game_of(record)  # a worker that could not go on with it would be started again and again
            latest = takewhile(lambda order: order.tournament == record.name, reversed(self._host.audit))
            self._workers[away.worker].say(
                Hold(record.name, record.kept_as, facts_of(record), tuple(latest)[::-1])
            )
        self._tell_alone()
        return away

    async def is_free(self, name: str) -> bool:
        """Whether no worker holds one of that name; only this process opens any, so that is enough."""
        return name not in self._directory.held

    async def opens(self, game: str) -> bool:
        return self._directory.opens(game)

    def _need_table(self, number: int, game: str) -> None:
        if self._nursery is not None:
            self._nursery.start_soon(self._open_table, number, game)

    async def _open_table(self, number: int, game: str) -> None:
        """Have a worker with a bot for a game's open table hold that table, if it is the one that has to."""
        async with self._tables:
            if self._directory.table(game) == number and not self._host.has(OPEN + game):
                self.place(await self._host.found_table(game))
        self._workers[number].say(TableHeld(game))

    # Requests

    def beside(self, app: App) -> App:
        """One application: `app`, with the workers answering requests that are theirs."""

        def answer(exchange: Exchange) -> Awaitable[object] | None:
            asked = self._reading.asked(exchange.request)
            number = OWN if asked is None else self._whose(asked)
            if number == OWN or asked is None:
                return app(exchange)
            self.catch_up()
            return self._workers[number].lending.answer(exchange)

        return answer

    def _whose(self, asked: Belonging) -> int:
        if asked.moves or asked.needs:
            self._hear_now()  # where a model has joined last, in the order in which it did
        if asked.tournament is not None:
            if asked.opens and (game := self._host.vacant(asked.tournament)) is not None:
                return self._directory.table(game)
            return self._directory.worker(asked.tournament)
        if asked.game is not None:
            return self._directory.table(asked.game)
        if asked.wanted is not None:
            return self._where(asked.wanted)
        for again in (False, True):
            for key in asked.keys:
                if (number := self._keys.whose(key)) is not None:
                    return number
            if not again:  # the message about the secret may have been sent and not heard yet
                self._hear_now()
        return OWN

    # Their processes

    async def run(
        self,
        settings: Settings,
        addresses: Addresses,
        token: str,
        sessions: Sessions | None,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Keep the workers running until cancelled; this has started when all are ready."""
        if sessions is not None:
            sessions.told = self._tell_sitting

        def begin(number: int) -> Begin:
            alone = self._told_alone[number] = self._directory.alone(number)
            held = tuple([record.kept_as for record in self._directory.of(number)])
            sitting = None if sessions is None else tuple(sessions.known())
            return Begin(settings, addresses, token, held, self._ledger.trouble, alone, sitting)

        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            nursery.start_soon(self._spread.run)
            async with trio.open_nursery() as starting:
                for number, worker in self._workers.items():
                    starting.start_soon(nursery.start, worker.run, partial(begin, number))
            task_status.started()

    def let_in(self) -> None:
        """Bots come in from now on: until then nobody waits for them, here or in any worker."""
        for worker in self._workers.values():
            worker.let_in.set()

    def _have_met(self, number: int) -> None:
        """A worker is ready: tell it who has heard of ends, and have it and the other ready ones play matches
        for each other.
        """
        if self._nursery is None:
            return
        worker = self._workers[number]
        try:
            ours, theirs = conduit_pair()
            self._nursery.start_soon(self._spread.meet, number, ours)
            worker.meet(OWN, theirs)
            for other in self._workers.values():
                if other is not worker and other.ready:
                    one, another = conduit_pair()
                    worker.meet(other.number, one)
                    other.meet(number, another)
        except OSError as error:  # no file or memory is left
            log.warning("a worker plays no matches for some others", worker=number, why=error.strerror)
        for replaced in self._unheard.pop(number, ()):
            worker.say(TokenReplaced(replaced))
        for tournament, name in self._host.untold.heard():  # its process may be another than when they heard
            away = self._directory.kept_as(tournament)
            if away is not None and away.worker == number:
                worker.say(ToldEnd(tournament, name))

    async def drain(self) -> None:
        """Have all workers begin nothing, and wait for matches that cannot be resumed."""
        self._spread.drain()
        async with trio.open_nursery() as nursery:
            for worker in self._workers.values():
                nursery.start_soon(worker.drain)

    async def stop(self, why: str) -> None:
        """Have all workers let go of their tournaments and say goodbye."""
        self._spread.stop()
        async with trio.open_nursery() as nursery:
            for worker in self._workers.values():
                nursery.start_soon(_stop, worker, why)

    # What they come to

    def not_ready(self) -> str:
        """Why not every bot can come in; "" if every bot can."""
        missing = [str(number) for number, worker in self._workers.items() if not worker.ready]
        if len(missing) > 1:
            return f"workers {', '.join(missing[:-1])} and {missing[-1]} are starting"
        return f"worker {missing[0]} is starting" if missing else ""

    @property
    def waiting(self) -> int:
        """How many packets the workers have not taken yet."""
        return sum(worker.waiting + worker.lending.waiting for worker in self._workers.values())

    @property
    def moves(self) -> int:
        return sum(status.moves for status in self._ever())

    def figures(self, own: Iterable[Family]) -> Iterator[Family]:
        """The host's figures, with those of the workers added."""
        now = [families(status) for status in self._now()]
        past = [families(worker.past) for worker in self._workers.values() if worker.past is not None]
        return added(own, now, past)

    def _now(self) -> Iterator[Status]:
        return (worker.status for worker in self._workers.values() if worker.status is not None)

    def _ever(self) -> Iterator[Status]:
        for worker in self._workers.values():
            yield from (status for status in (worker.past, worker.status) if status is not None)

    # What happens

    def _told(self, held: object, fact: AnyFact) -> None:
        self._directory.told(held, fact)
        if isinstance(fact, Turned):
            self._tell_alone()

    async def _hear(self, kept_as: str, facts: Sequence[AnyFact]) -> None:
        """Facts that a worker asked to keep are safe."""
        away = self._directory.kept_as(kept_as)
        for fact in facts:
            if isinstance(fact, Ordered) and away is not None:
                self._host.audit.append(Kept(away.record.name, self._host.wall(), fact))
        await self._directory.hear(kept_as, facts)
        if any(isinstance(fact, Turned) for fact in facts):
            self._tell_alone()

    def _tell_alone(self) -> None:
        """Tell each worker the games of which it alone holds tournaments, if these have changed."""
        for number, worker in self._workers.items():
            alone = self._directory.alone(number)
            if alone != self._told_alone.get(number):
                self._told_alone[number] = alone
                worker.say(Alone(alone))

    def _tell_told(self, tournament: str, name: str) -> None:
        """A bot has heard here that a tournament is over, which another worker may have held."""
        if (away := self._directory.kept_as(tournament)) is not None:
            self._workers[away.worker].say(ToldEnd(tournament, name))

    def _replace_token(self, number: int, replaced: Replaced) -> None:
        """A worker has given a name to another token."""
        self._tell_replaced(number, replaced)
        if self._nursery is not None:
            self._nursery.start_soon(self._host.claims.replace, replaced)

    def _tell_replaced(self, number: int, replaced: Replaced) -> None:
        for worker in self._workers.values():
            if worker.number == number:
                continue
            if worker.ready:
                worker.say(TokenReplaced(replaced))
            else:
                self._unheard.setdefault(worker.number, []).append(replaced)

    def catch_up(self) -> None:
        """Notice whether this process stood still: workers hear of that before what comes after it."""
        self._host.timekeeper.catch_up(trio.current_time())

    def _tell_stood_still(self, seconds: float) -> None:
        for worker in self._workers.values():
            worker.say(StoodStill(seconds))

    def _tell_when_read(self, number: int) -> None:
        if self._nursery is not None:
            self._nursery.start_soon(self._tell_read, self._workers[number])

    async def _tell_read(self, worker: Worker) -> None:
        """Tell a worker once all requests that have come by now have been passed on."""
        self.catch_up()
        await trio.sleep_until(self._host.timekeeper.listens_until)
        for _ in range(ROUNDS):
            await trio.lowlevel.checkpoint()
        worker.say(Listened())

    def _tell_sitting(self, digest: bytes, session: Session | None) -> None:
        for worker in self._workers.values():
            worker.say(Sitting(digest, session))

    def _tell_trouble(self) -> None:
        for worker in self._workers.values():
            worker.say(Trouble(self._ledger.trouble))

    def _introduce(self) -> None:
        for worker in self._workers.values():
            worker.introduce()


async def _stop(worker: Worker, why: str) -> None:
    """Have a worker say goodbye to its bots, and only then end the streams and requests that lead to it."""
    try:
        await worker.stop()
    finally:  # also where it hangs
        worker.lending.drain(why)


def facts_of(record: Record) -> tuple[AnyFact, ...]:
    """All facts of a new record."""
    facts: list[AnyFact] = [record.opened]
    if record.sealed is not None:
        facts.append(Sealed(record.sealed))
    if record.chose is not None:
        facts.append(record.chose)
    if record.state is State.RUNNING:
        facts.append(Turned(State.RUNNING))
    return tuple(facts)
