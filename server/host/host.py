"""The host: everything that runs until the process ends, and what the doors ask of it.

The host cannot do without the clocks, the store and the tournaments: if one of them
fails, the process ends with an error and has to be started again. Tasks that
strangers cause run in a separate nursery, behind a guard.
"""

import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar
from weakref import ref

import trio
from msgspec import structs

from games.catalogue import catalogue
from server.host import telling
from server.host.abroad import Abroad, HeldAbroad
from server.host.archiving import archive_old
from server.host.arrivals import Arrivals
from server.host.boards import Boards
from server.host.calling import Calling, kept_if_there
from server.host.claims import Claims
from server.host.exposition import Family
from server.host.forgetting import Forgetting
from server.host.grading import Grader
from server.host.group import NOBODY, Group, Workers
from server.host.holding import Holding
from server.host.house_players import HousePlayers
from server.host.measures import Measures, time_move
from server.host.names import key
from server.host.one_match_each import OneMatchEach
from server.host.opening import OPEN, Opening, check, game_of, starts_in_the_past, taken
from server.host.pacing import Pacing
from server.host.placing import Placing
from server.host.reception import Reception
from server.host.returning import Returning
from server.host.roll import Roll
from server.host.thinker import Thinker
from server.host.untold import Untold
from server.host.unwelcome import ELSEWHERE, STOPPING, Unwelcome
from server.host.vacant import ShownTournaments
from server.host.versions import Versions
from server.host.view import Begun, HeldTournament, PresentBots, Told
from server.host.visits import Visit
from server.host.wire_log import WireLog
from server.net.guard import Guard, MovedAway, Waiting, open_guard
from server.net.limits import Limits
from server.net.readiness import readiness
from server.net.turns import Turns
from tournament.desk import Desk
from tournament.draws import Elsewhere, RandomBits, draw_here
from tournament.facts import HOST, AnyFact, Called, Kept, Opened, Ordered, State, Turned
from tournament.folding import called, fold
from tournament.in_play import Lend, Together, play_here
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import NOWHERE
from tournament.record import Record
from tournament.refusals import HeldElsewhere, NotNow, Refusal
from tournament.store import Memory, Store
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

T = TypeVar("T")
Load = Callable[[], tuple[dict[str, Record], list[Kept]]]  # the tournaments there are, and what was ordered


class Stops(Protocol):
    """Whatever bots are told through, when the host stops."""

    def say_goodbye(self) -> None:
        """The host stops."""
        ...


def _by_name(order: Kept) -> Kept:
    """The order with the tournament's own name; the journal may have it under another."""
    return structs.replace(order, tournament=called(order.tournament))


class Host:
    def __init__(
        self,
        limits: Limits | None = None,
        store: Store | None = None,
        *,
        at_once: int | None = None,
        timekeeper: Timekeeper | None = None,
        thinker: Thinker | None = None,
        wall: Callable[[], float] = time.time,
        load: Load | None = None,
        whole: bool | None = None,
        grading: bool = True,
    ) -> None:
        """`load` returns what has been kept, with records that need not be whole unless `whole` is true.

        Without it the store is read, and records are whole.
        """
        self.limits = limits or Limits()
        self.store = store or Memory()
        self.timekeeper = timekeeper or Timekeeper()
        self.thinker = thinker or Thinker()
        self.measures = Measures()
        self.timekeeper.time_move = partial(time_move, self.measures.moves)
        self.lobby = Lobby()
        self.roll = Roll()
        self.reception = Reception(self.lobby, self.limits, self.roll)
        self.returning = Returning()
        self._forgetting = Forgetting(self.reception, self.roll)
        self.lobby.listen(self._forgetting.hear)
        self.house_players = HousePlayers(self)
        self.wires = WireLog(self.limits)
        self._holding = Holding()
        self.tournaments = self._holding.tournaments
        self.one_match_each = OneMatchEach()
        self.pacing = Pacing(self.lobby, self.limits, self.tournaments, lambda: self.guard)
        self.claims = Claims(self.reception, self.roll, self.tournaments)
        self.placing = Placing(self._holding, self.lobby, self.roll, self.table, self.find)
        self.arrivals = Arrivals(self)
        self.arrive = self.arrivals.arrive
        self.shown = ShownTournaments(self.tournaments)
        self.untold = Untold(self.entered, self.expects, self.lobby, self.reception, lambda: self.wall())
        self.roll.is_past = self.untold.is_past
        # Called with every fact, once it is safe.
        self.on_fact: list[Told] = [telling.told, self.measures.hear, self.untold.hear]
        self.on_begun: list[Begun] = []  # called with every match that begins
        self.audit: list[Kept] = []  # what organisers did, newest last
        self.figures: list[Callable[[], Iterable[Family]]] = []  # figures of other parts, for a monitor
        self.on_stop: set[Stops] = set()
        self.coming: Waiting = deque()  # bots that are about to arrive
        self.leaving = Turns()  # connections that are about to be handed over to another process
        self.elsewhere: Elsewhere = draw_here  # where big rounds are drawn
        self.lend: Lend = play_here  # which process plays a match
        self.random_bits: RandomBits = secrets.randbits  # for lots of which nobody is told the seed
        self.abroad: Abroad | None = None  # other processes that hold tournaments; None: there are none
        self.workers: Workers | None = None  # processes of this host; None: there is only this one
        self.group: Group | None = None  # hosts on the same database; None: there is only this one
        # Whether a request that came by some time may not be here yet, as from another host; None: all are.
        self.requests_on_their_way: Callable[[float], bool] | None = None
        # Called with each secret by which requests find what this process has: a session, or a place.
        self.on_key: Callable[[str], None] = lambda key: None
        # Called when nothing is found here by such a secret any more; also for one that was never told.
        self.on_key_gone: Callable[[str], object] = lambda key: None
        # Whether something is such a secret of another process, which led a request here.
        self.is_key: Callable[[str], bool] = lambda key: False
        self.boards = Boards(lambda: self.guard, wall=wall)
        self.versions = Versions(lambda: self.guard, lambda work: self.boards.run(work))
        self.grader = Grader(lambda: self.guard, grading=grading)
        self.draining = False
        self.stopped = False  # all that was played has been let go of
        self._at_once = at_once
        self.wall = wall
        self._load = load
        self._house: trio.Nursery | None = None
        self._opening = Opening(self.store, wall, whole=load is None if whole is None else whole)
        self._table = trio.Lock()  # held while an open table is being kept
        self._calling = Calling()
        self._guard: Guard | None = None
        self._together: Together = nullcontext
        self._waiting = trio.CancelScope()  # for matches to end, when the host is about to stop
        self.reception.acknowledged = self.claim
        self.store.listen(self._pause_or_go_on)

    @property
    def guard(self) -> Guard:
        """Where doors start the tasks that strangers cause."""
        if self._guard is None:
            raise RuntimeError("the host is not running")
        return self._guard

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled, and go on with every tournament in the store that is not over."""
        async with trio.open_nursery() as self._house, open_guard() as self._guard:
            self._holding.nursery = self._house
            try:
                await self._go_on(self._house)
                task_status.started()
                await trio.sleep_forever()
            finally:
                self._holding.nursery = None

    async def _go_on(self, house: trio.Nursery) -> None:
        """Start the store, the clocks and the thinker, and go on with all that is not over."""
        if (sockets := readiness()) is not None:
            self.timekeeper.look, self._together = sockets.sweep, sockets.together
            self.requests_on_their_way = self.requests_on_their_way or sockets.on_its_way
        house.start_soon(self.store.run)
        house.start_soon(self.timekeeper.run)
        house.start_soon(self.thinker.run)
        house.start_soon(self.grader.run)
        house.start_soon(self._forgetting.run)
        house.start_soon(archive_old, self._records, self.boards.run, self.wall)
        records = fold(self._noted(self.store.kept())) if self._load is None else self._loaded(self._load)
        self._opening.note(records.values())
        records = {name: record for name, record in records.items() if record.state is not State.DELETED}
        if (abroad := self.abroad) is not None:
            records = {name: record for name, record in records.items() if abroad.place(record) is None}
        for record in records.values():
            self.claims.restore_players(record)
        for record in records.values():
            self.claims.restore(record)
        for record in records.values():
            self._add(record)
        telling.restored(len(records), sum(len(record.dealt) for record in records.values()))
        for tournament in tuple(self.tournaments.values()):
            await tournament.gone_on.wait()  # before a bot can look for its match

    # Tournaments

    async def open(self, name: str, opened: Opened, by: str | None = None) -> Tournament:
        """Hold a tournament, ordered `by` somebody; raises `Refusal`, which says what is wrong with it.

        Without a seed in its terms the host chooses one, and commits to it in public.
        """
        return self._add(await self._founded(name, opened, by))

    async def found(self, name: str, opened: Opened, by: str | None = None) -> HeldTournament:
        """Like `open`, but the process with the least to do holds the tournament."""
        record = await self._founded(name, opened, by)
        return (None if self.abroad is None else self.abroad.place(record)) or self._add(record)

    async def _founded(self, name: str, opened: Opened, by: str | None) -> Record:
        if self.draining:
            raise NotNow(STOPPING)
        check(name, opened)
        orders = [] if by is None else [Ordered(by, "open", name)]
        with self._opening.alone(name):
            free = self.abroad is None or await self.abroad.is_free(name)
            if not free or self.has(name):
                raise taken(name)
            when = self.wall()
            if past := starts_in_the_past(opened, when):
                if by is not None:
                    raise Refusal(past)
                telling.starts_in_the_past(name)  # as where the host has come up late
            record = await self._opening.open(name, opened, orders, when)
        self.audit += (Kept(name, when, order) for order in orders)
        telling.opened(record, by)
        return record

    @property
    def trouble(self) -> str:
        return self.store.trouble

    def has(self, name: str) -> bool:
        """Whether there is a tournament of that name, in any process."""
        return self.find(name) is not None

    def find(self, name: str) -> Tournament | HeldAbroad | None:
        """A tournament by its name, whichever process holds it."""
        held = self.tournaments.get(name)
        return self.abroad.held.get(name) if held is None and self.abroad is not None else held

    @property
    def known(self) -> Mapping[str, Tournament | HeldAbroad]:
        """The tournaments of all processes."""
        if self.abroad is None or not self.abroad.held:
            return self.tournaments
        return {**self.tournaments, **self.abroad.held}

    @property
    def going_on(self) -> Iterator[Tournament]:
        """The tournaments of this process that are not over."""
        return (self.tournaments[each.name] for each in self._holding.current.all())

    @property
    def latest_going_on(self) -> Iterator[Record]:
        """The tournaments of all processes that are not over, those first that were opened here last."""
        abroad = () if self.abroad is None else reversed([*self.abroad.held.values()])
        on = (each.record for each in abroad if each.record.state is not State.FINISHED)
        return chain(self._holding.current.latest(), on)

    def entered(self, name: str, game: str) -> Iterable[Record]:
        """The tournaments with an entrant of that name, over or not, as far as this process knows them."""
        return self.roll.of(name, game) if self.abroad is None else self.abroad.entered(name, game)

    def expects(self, name: str, game: str) -> bool:
        """Whether a tournament with an end awaits a bot of that name, or would take it in."""
        return self.placing.expects(name, game) if self.abroad is None else self.abroad.expects(name, game)

    @property
    def holders(self) -> Mapping[str, str]:
        """The addresses of the hosts that hold tournaments, by name, where there are several hosts.

        It is the same object until something changes.
        """
        return NOBODY if self.group is None else self.group.holders()

    def hear_of(self, record: Record) -> None:
        """Note a tournament of another host. Later ones of its name are kept under other names."""
        self._opening.note([record])

    def hold(self, record: Record) -> Tournament:
        """Hold a tournament that another process has opened."""
        self.claims.restore_players(record)
        self.claims.restore(record)
        return self._add(record)

    async def delete(self, tournament: Tournament, by: str) -> None:
        """Delete a tournament; raises `Refusal` while it runs. Its name is free again.

        Bots that wait there then move to the open table, unless they are entrants elsewhere.
        """
        record = tournament.record
        over = await Desk(tournament, by).delete() is State.FINISHED
        waiting = [*self.lobby.there(record.opened.game, record.name)]
        for player in waiting:  # at once: another tournament may have the name before all are sent on
            player.move_to(NOWHERE)
        for player in waiting:
            await trio.lowlevel.checkpoint()
            if over:  # and it was told
                self.reception.moved((player.game, key(player.name)))
                continue
            try:
                anothers = partial(self.claims.is_another_bots, player, record)
                if await self.placing.send_on(player, anothers):
                    self.pacing.have_rest(player)
                    if player.taker is not None:
                        player.taker.moved()
                    self.reception.moved((player.game, key(player.name)))
            except Refusal:  # its place is in another process, say
                self.reception.dismiss(player, Unwelcome(f"{record.name} was deleted: come again"))

    async def note(self, by: str, action: str, detail: str = "") -> None:
        """Keep in the audit an action that concerns no single tournament."""
        when, order = self.wall(), Ordered(by, action, detail)
        await self.store.keep(HOST, when, [order])
        if self.group is None:  # otherwise the journal tells of it, as of what was done at other hosts
            self.audit.append(Kept(HOST, when, order))

    async def table(self, game: str) -> Tournament:
        """The open table of a game, opened when it is first needed."""
        name = OPEN + game
        if name not in self.tournaments:
            ours = self.abroad is None or await self.abroad.opens(game)
            async with self._table:
                if name not in self.tournaments:  # no other task was quicker
                    if not ours:
                        raise HeldElsewhere(ELSEWHERE)
                    record = await self.found_table(game)
                    if self.abroad is not None:
                        self.abroad.place(record)  # here, as it says
                    self._add(record)
        return self.tournaments[name]

    def vacant(self, name: str) -> str | None:
        """The game of the open table of that name, if nobody has come to it yet."""
        game = name.removeprefix(OPEN)
        return game if name == OPEN + game and game in catalogue() and not self.has(name) else None

    async def found_table(self, game: str) -> Record:
        """Keep a new open table, which a process has yet to hold."""
        return await self._opening.open_table(game)

    # Players

    def note_called(self, visit: Visit, called: Called) -> None:
        """Keep where a bot is called to its matches, or that it is not, for when the host is started again.

        Without an end, a stranger is called as well, in one tournament at a time.
        """
        tournament = self.tournaments.get(visit.player.place or "")
        if tournament is None or self._house is None or self.draining:
            return
        record = tournament.record
        if record.state is State.FINISHED or not (record.format.endless or called.name in record.entrants):
            return
        if not self._calling.note(self._house, tournament, called):
            return
        for other in self._holding.current.of(record.opened.game).values() if called.url else ():
            if other is not record and other.format.endless:
                self._calling.note(self._house, self.tournaments[other.name], Called(called.name))

    def here(self, tournament: str) -> PresentBots:
        """The bots that are present in a tournament."""
        return self.placing.here(tournament)

    def on_key_of_game(self, key: str) -> None:
        """As `on_key`, for a secret in requests whose path says which game they are about.

        That is enough within this host, where one process holds a game for all dialects over HTTP.
        """
        if self.group is not None:
            self.on_key(key)

    def on_key_of_game_gone(self, key: str) -> None:
        """As `on_key_gone`, for such a secret."""
        if self.group is not None:
            self.on_key_gone(key)

    async def drain(self) -> None:
        """Begin nothing, and wait for what no restart can resume, while facts can be kept.

        Nobody is let in but those who come back to their matches, whose clocks run on.
        """
        self._begin_nothing()
        with self._waiting:
            if self.store.trouble:
                self._waiting.cancel()
            for tournament in tuple(self.tournaments.values()):
                await tournament.quiet()
            await self.boards.quiet()  # bots wait for standings, which nobody tells after a restart

    async def stop(self) -> None:
        """Let go of all that is being played, then say goodbye: a bot that leaves now loses nothing by it.

        Where other hosts go on at once, no move is taken from then on: its players might be told of a move
        that was not kept.
        """
        self._begin_nothing()
        self.stopped = True
        await self._holding.let_go()
        if self.group is not None:
            self.timekeeper.too_late = partial(MovedAway, STOPPING)
        for each in tuple(self.on_stop):
            try:
                each.say_goodbye()
            except Exception as error:  # all others are to hear it
                self.guard.report(error)

    # Within

    def _begin_nothing(self) -> None:
        self.draining = True
        for tournament in self.tournaments.values():
            tournament.halt()

    def _pause_or_go_on(self) -> None:
        """Stop all clocks while nothing can be kept. No match begins then: that has to be kept first."""
        if self.store.trouble:
            self.timekeeper.pause()
            if self.draining:
                self._waiting.cancel()
        else:
            self.timekeeper.resume()

    def claim(self, visit: Visit) -> None:
        """Let the bot with a name's token keep the name over restarts, if a tournament awaits it."""
        digest, tournament = self.reception.digest(visit), self.tournaments.get(visit.player.place or "")
        if visit.resumes and digest is not None:
            visit.player.key = digest
        if tournament is not None and self._house is not None and not self.draining:
            for claimed in self.claims.new(visit, tournament):
                self._house.start_soon(kept_if_there, tournament, claimed)

    def _records(self) -> Iterator[Record]:
        return (each.record for each in self.known.values())

    def _loaded(self, load: Load) -> dict[str, Record]:
        records, audit = load()
        self.audit = [_by_name(order) for order in audit]
        return records

    def _noted(self, kept: Iterable[Kept]) -> Iterator[Kept]:
        """Yield the facts, and note in the audit what organisers did."""
        for entry in kept:
            if isinstance(entry.fact, Ordered):
                self.audit.append(_by_name(entry))
            yield entry

    def _drop(self, record: Record) -> None:
        """Have nothing more to do with a tournament that is deleted, if it is still held."""
        if self._holding.remove(record):
            self.roll.remove(record)

    def _add(self, record: Record) -> Tournament:
        game = game_of(record)

        def tell(fact: AnyFact) -> None:
            tournament = _alive(held)
            if isinstance(fact, Ordered):
                self.audit.append(Kept(record.name, self.wall(), fact))
            self.roll.hear(record, fact)
            self.pacing.hear(tournament, fact)
            if isinstance(fact, Turned):
                if self._house is not None and self._holding.goes_on_again(record):
                    self.claims.keep_again(record, self._house)
                    self._tell_called(tournament)
                self._holding.turned(tournament)
            for each in tuple(self.on_fact):
                each(tournament, fact)
            if record.state is State.DELETED:
                self._drop(record)

        def tell_begun(match: Match) -> None:
            match.log.report = self.guard.report
            if match.interrupted:
                self.claims.gone_on(match)
            for each in tuple(self.on_begun):
                each(_alive(held), match)

        tournament = Tournament(
            record,
            game,
            self.lobby,
            self.store,
            self.timekeeper,
            at_once=self._at_once,
            resume_seconds=self.limits.resume_seconds,
            early_grace=self.limits.ghost_seconds,
            grace=self.limits.away_seconds,
            refusals=self.limits.refusals,
            elsewhere=self.elsewhere,
            wall=self.wall,
            told=tell,
            begun=tell_begun,
            awaited=self.returning.tell,
            lend=self.lend,
            together=self._together,
            random_bits=self.random_bits,
            failed=lambda error: self.guard.report(error),
        )
        held = ref(tournament)  # what it calls must not keep it alive when it is deleted
        if (last := self.tournaments.get(record.name)) is not None:  # that it is deleted is yet to be heard
            self._drop(last.record)
        if self.draining:  # it was being opened when the host was told to stop
            tournament.halt()
        self.roll.add(record)
        self._holding.add(tournament)
        if record.state is not State.FINISHED:
            self._tell_called(tournament)
        return tournament

    def _tell_called(self, tournament: Tournament) -> None:
        """Have bots called to their matches again that were called there before."""
        if tournament.record.called:
            self.guard.start_soon(self.returning.tell_called, tournament)


def _alive(held: ref[T]) -> T:
    """What calls this, and is therefore there."""
    if (found := held()) is None:
        raise ReferenceError
    return found
