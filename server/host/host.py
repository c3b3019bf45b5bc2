"""The host: everything that runs until the process ends, and what the doors ask of it.

The host cannot do without the clocks, the store and the tournaments: if one of them
fails, the process ends with an error and has to be started again. Tasks that
strangers cause run in a nursery of their own, behind a guard.
"""

import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from heapq import nsmallest
from typing import Any

import structlog
import trio
from msgspec import UNSET, structs

from games.catalogue import catalogue
from games.game import BadOption, Game, quoted
from server.host import telling
from server.host.abroad import Abroad, HeldAbroad
from server.host.boards import Boards
from server.host.exposition import Family
from server.host.grading import Grader
from server.host.house_players import HousePlayers
from server.host.measures import Measures, time_move
from server.host.names import BadName, checked
from server.host.reception import Reception, Unwelcome, Visit, is_token, taken
from server.host.returning import Returning
from server.host.roll import Roll
from server.host.secrets import token_digest
from server.host.thinker import Thinker
from server.host.versions import Versions
from server.host.view import Begun, Held, Here, Told
from server.host.wire_log import WireLog
from server.net.budgets import address_of
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.sockets import readiness
from tournament.desk import NOTHING, About, Desk
from tournament.draws import Elsewhere, draw_here
from tournament.facts import HOST, AnyFact, Claimed, Kept, Opened, Ordered, Seated, State, Turned
from tournament.folding import called, fold, kept_as
from tournament.format import Terms, formats
from tournament.in_play import Lend, play_here
from tournament.kinds import Kind
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.pairing.decide import aim_objection
from tournament.player import Player
from tournament.record import Record
from tournament.refusals import Refusal, expect_not_out, takes_entrants
from tournament.rounds import objection as clock_objection
from tournament.sealing import sealed
from tournament.store import Memory, Store
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
)  # of a tournament: it stands in addresses and file names
OPEN = "open-"  # how the names of open tables begin
NOWHERE = "(nowhere)"  # no name of a tournament
STOPPING = "the host is about to stop: come again later"
ELSEWHERE = "that is held by another process of this host: come again, over a new connection"
NAME_KEPT = 600.0  # seconds that a name is kept for a bot that is gone and awaited nowhere

SOME = 4  # of the bots that are here: as many names as a list shows

Load = Callable[[], tuple[dict[str, Record], list[Kept]]]  # the tournaments there are, and what was ordered

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def check(name: str, opened: Opened) -> None:
    """Raise `Refusal` for a tournament that cannot be held."""
    if not NAME.fullmatch(name):
        raise Refusal(f"a tournament is named by letters, digits, _ . and -, 64 at most, not {quoted(name)}")
    if name.startswith(OPEN):
        raise Refusal(f"names that begin with {OPEN} are those of open tables, so not {quoted(name)}")
    if opened.game not in catalogue():
        raise Refusal(f"there is no game {opened.game!r}; there are: {', '.join(catalogue())}")
    if opened.format not in formats():
        raise Refusal(f"there is no format {opened.format!r}; there are: {', '.join(formats())}")
    fewest = formats()[opened.format].entrants
    if opened.entrants is not None and opened.entrants < fewest:
        raise Refusal(f"a {opened.format} needs {fewest} entrants or more, not {opened.entrants}")
    if formats()[opened.format].endless and opened.absent is not UNSET:
        raise Refusal(f"a {opened.format} has no end and waits for nobody, so leave absent out")
    if why := aim_objection(opened.format, opened.entrants, opened.terms.aim):
        raise Refusal(why)
    if why := clock_objection(opened):
        raise Refusal(why)
    if opened.group is not UNSET and not (
        opened.group.isprintable() and opened.group == opened.group.strip() and "/" not in opened.group
    ):
        expected = "a group has a name that can be printed, without / in it or blanks around it"
        raise Refusal(f"{expected}, not {quoted(opened.group)}")
    try:
        catalogue()[opened.game].opening(opened.options)
    except BadOption as error:
        raise Refusal(str(error)) from None


def _by_name(order: Kept) -> Kept:
    """With the tournament's own name, under which the journal may not have it."""
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
    ) -> None:
        """`load` says what has been kept, by records that need not be whole unless `whole` says so.

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
        self.lobby.listen(self._forget_strangers)
        self.house_players = HousePlayers(self)
        self.wires = WireLog(self.limits)
        self.tournaments: dict[str, Tournament] = {}
        self._current: dict[str, dict[str, Tournament]] = {}  # by game and name: those that are not over
        # Called with every fact, once it is safe.
        self.on_fact: list[Told] = [telling.told, self.measures.hear]
        self.on_begun: list[Begun] = []  # called with every match that begins
        self.audit: list[Kept] = []  # what organisers did, newest last
        self.figures: list[Callable[[], Iterable[Family]]] = []  # of others, for a monitor
        self.on_stop: dict[object, Callable[[], None]] = {}  # for connections, when the host stops
        self.elsewhere: Elsewhere = draw_here  # where big rounds are drawn
        self.lend: Lend = play_here  # which process plays a match
        self.abroad: Abroad | None = None  # other processes that hold tournaments; None: there are none
        self.not_ready: Callable[[], str] = lambda: ""  # why players cannot come, other than by us
        self.lent = False  # what comes here has come to another process first
        self.shares = False  # other hosts have the same tournaments, and bots come to any of them
        # The addresses of the hosts that hold tournaments, by name, and what is known of each host.
        self.say_holders: Callable[[], Mapping[str, str]] = dict
        self.say_hosts: Callable[[], list[dict[str, Any]]] = list
        self.say_health: Callable[[], Any] = lambda: None  # of all of them; None: there is this one alone
        # Called with each secret by which requests find what this process has: a session, or a place.
        self.on_key: Callable[[str], None] = lambda key: None
        # What is told to a monitor: figures of this process, with those of others added.
        self.adding: Callable[[Iterable[Family]], Iterable[Family]] = lambda families: families
        self.boards = Boards(lambda: self.guard, wall=wall)
        self.versions = Versions(lambda: self.guard, lambda work: self.boards.run(work))
        self.grader = Grader(lambda: self.guard)
        self.draining = False
        self._at_once = at_once
        self.wall = self._wall = wall
        self._load = load
        self._whole = load is None if whole is None else whole
        self._house: trio.Nursery | None = None
        self._opening: set[str] = set()  # names of tournaments that are being kept
        self._used = Counter[str]()  # how many tournaments each name has had, those that are deleted included
        self._table = trio.Lock()  # held while an open table is being kept
        self._held: dict[str, trio.CancelScope] = {}  # by the names of tournaments
        self._guard: Guard | None = None
        self._waiting = trio.CancelScope()  # for matches to end, when the host is to stop
        self._let_go = trio.Event()  # set when the last tournament has been let go
        self.reception.acknowledged = self._claim
        self.store.listen(self._pause_or_go_on)

    @property
    def guard(self) -> Guard:
        """Where doors start the tasks that strangers cause."""
        if self._guard is None:
            raise RuntimeError("the host is not running")
        return self._guard

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until cancelled, and go on with every tournament in the store that is not over."""
        async with trio.open_nursery() as self._house, trio.open_nursery() as strangers:
            self._guard = Guard(strangers)
            if (sockets := readiness()) is not None:
                self.timekeeper.look = sockets.sweep
            self._house.start_soon(self.store.run)
            self._house.start_soon(self.timekeeper.run)
            self._house.start_soon(self.thinker.run)
            self._house.start_soon(self.grader.run)
            self._house.start_soon(self._tidy)
            records = fold(self._noted(self.store.kept())) if self._load is None else self._loaded(self._load)
            for record in records.values():
                self._used[record.name] += 1
            records = {name: record for name, record in records.items() if record.state is not State.DELETED}
            if (abroad := self.abroad) is not None:
                records = {name: record for name, record in records.items() if abroad.place(record) is None}
            for record in records.values():
                self._restore_players(record)
            for record in records.values():
                self._restore_claims(record)
            for record in records.values():
                self._add(record)
            telling.restored(len(records), sum(len(record.dealt) for record in records.values()))
            for tournament in tuple(self.tournaments.values()):
                await tournament.gone_on.wait()  # before a bot can look for its match
            task_status.started()
            await trio.sleep_forever()

    # Tournaments

    async def open(self, name: str, opened: Opened, by: str | None = None) -> Tournament:
        """Hold a tournament, ordered `by` somebody; raises `Refusal` that says what is wrong with it.

        Without a seed in its terms the host chooses one, and says so in a way that binds it.
        """
        return self._add(await self._founded(name, opened, by))

    async def found(self, name: str, opened: Opened, by: str | None = None) -> Held:
        """The same, and have it held by whichever process has the least to do."""
        record = await self._founded(name, opened, by)
        return (None if self.abroad is None else self.abroad.place(record)) or self._add(record)

    async def _founded(self, name: str, opened: Opened, by: str | None) -> Record:
        if self.draining:
            raise Refusal(STOPPING)
        check(name, opened)
        if self.has(name) or name in self._opening:
            raise Refusal(f"there is a tournament {name} already")
        orders = [] if by is None else [Ordered(by, "open", name)]
        facts: list[AnyFact] = [*orders, *(sealed() if opened.terms.seed is None else ())]
        when, kept = self._wall(), kept_as(name, self._used[name])
        self._opening.add(name)
        try:
            await self.store.keep(kept, when, [opened, *facts])
        finally:
            self._opening.remove(name)
        self._used[name] += 1
        self.audit += (Kept(name, when, order) for order in orders)
        record = Record(name, opened, whole=self._whole, kept_as=kept)
        for fact in facts:
            record.add(fact)
        telling.opened(record, by)
        return record

    def has(self, name: str) -> bool:
        """Whether there is a tournament of that name, in whichever process."""
        return name in self.tournaments or (self.abroad is not None and name in self.abroad.held)

    @property
    def known(self) -> Mapping[str, Tournament | HeldAbroad]:
        """All tournaments, in whichever process."""
        if self.abroad is None or not self.abroad.held:
            return self.tournaments
        return {**self.tournaments, **self.abroad.held}

    @property
    def holders(self) -> Mapping[str, str]:
        return self.say_holders()

    def hold(self, record: Record) -> Tournament:
        """Hold a tournament that another process has opened."""
        self._restore_players(record)
        self._restore_claims(record)
        return self._add(record)

    async def delete(self, tournament: Tournament, by: str) -> None:
        """Have a tournament be there no more; raises `Refusal` while it runs. Its name is free again."""
        record, over = tournament.record, tournament.record.state is State.FINISHED
        await Desk(tournament, by).delete()
        for player in tuple(self.lobby.players(record.opened.game)):
            if player.place == record.name and not over:
                player.place = NOWHERE
                with suppress(Refusal):
                    await self.place(player)

    async def invite(self, tournament: Tournament, name: str, by: str, about: About = NOTHING) -> str:
        """Enter somebody who is to come with the token that this returns: nobody else can use the name.

        Raises `Refusal`, also if another tournament has an entrant of that name.
        """
        record, name = tournament.record, self.entrant_name(tournament, name)
        for other in self.roll.awaiting(name, record.opened.game):
            if other is not record:
                raise Refusal(f"{name} takes part in {other.name} and may come from there by itself")
        token = ""

        def claim() -> str:
            nonlocal token
            token = self.reception.invite(name, record.opened.game, record.name)
            return token_digest(token).hex()

        try:
            await Desk(tournament, by).invite(name, claim, about)
        except Unwelcome as unwelcome:
            raise Refusal(str(unwelcome)) from None
        return token

    def entrant_name(self, tournament: Tournament, name: str) -> str:
        """The name without blanks around it, if an entrant may have it there; raises `Refusal`."""
        record = tournament.record
        try:
            name = checked(name)
        except BadName as error:
            raise Refusal(str(error)) from None
        if (entrant := self.roll.alike(record, name)) is not None:
            raise Refusal(f"{record.name} has an entrant {entrant}, whom people would take for {name}")
        return name

    async def bind(self, tournament: Tournament, name: str, by: str) -> str:
        """Have the name of an entrant belong to the token that this returns; raises `Refusal`."""
        game, token = tournament.record.opened.game, ""

        def claim() -> str:
            nonlocal token
            token = self.reception.bind(name, game, tournament.record.name)
            return token_digest(token).hex()

        await Desk(tournament, by).bind(name, claim)
        return token

    async def note(self, by: str, action: str, detail: str = "") -> None:
        """Keep in the audit what somebody did that concerns no single tournament."""
        when, order = self._wall(), Ordered(by, action, detail)
        await self.store.keep(HOST, when, [order])
        self.audit.append(Kept(HOST, when, order))

    async def table(self, game: str) -> Tournament:
        """The open table of a game, opened when it is first needed."""
        name = OPEN + game
        if name not in self.tournaments:
            if self.abroad is not None and not self.abroad.opens(game):
                raise Refusal(ELSEWHERE)
            async with self._table:
                if name not in self.tournaments:  # nobody else was quicker meanwhile
                    record = await self.found_table(game)
                    if self.abroad is not None:
                        self.abroad.place(record)  # here, as it says
                    self._add(record)
        return self.tournaments[name]

    async def found_table(self, game: str) -> Record:
        """A new open table, which somebody is to hold."""
        name, running = OPEN + game, Turned(State.RUNNING)
        opened = Opened(game, "open", terms=Terms(lots=catalogue()[game].lots))
        await self.store.keep(name, self._wall(), [opened, running])
        record = Record(name, opened, whole=self._whole)
        record.add(running)
        telling.opened(record)
        return record

    # Players

    async def arrive(
        self,
        name: str,
        game: str,
        *,
        tournament: str | None = None,
        token: str | None = None,
        keeps: bool = True,
        shared: bool = False,
        against: str | None = None,
        reserved: bool = False,
        resumes: bool = False,
        door: str = "",
        peer: str = "",
        matches: int | None = None,
        version: str | None = None,
        practises: bool = False,
        person: bool = False,
    ) -> Visit:
        """Let a bot in and give it a place to play; raises `Unwelcome` with the reason for its author.

        At an open table it meets nobody but `against`, and bots that all come `shared` may have the same
        name; in any other tournament a name belongs to one player. A bot that comes `reserved` is dealt
        nothing before its door calls `player.free`, and one that `resumes` can come back with its token to a
        match that a restart of the host has interrupted. A name that comes without a token belongs to its
        `door` and the address of its `peer` until the tournament that it enters is over.

        It is dealt so many `matches`, with the one that it comes back to, and says what its `version` is. If
        it `practises`, `against` may be one of the host's own opponents, who comes as well. A `person` plays
        by hand.
        """
        if self.draining:
            raise Unwelcome(STOPPING)
        visit = self.reception.arrive(
            name, game, token=token, keeps=keeps, shared=shared, door=door, peer=peer
        )
        visit.player.against = against
        visit.player.version = version
        visit.player.kind = Kind.PERSON if person else Kind.BOT
        visit.player.matches_left = None if matches is None else matches - (visit.player.seat is not None)
        visit.player.back()  # if it had been dealt all that it wanted
        visit.player.reserved |= reserved
        visit.resumes = resumes
        digest = visit.digest if resumes and is_token(token) else None  # it has the token for certain
        visit.player.key = None if digest is None else digest.hex()
        visit.player.place = visit.player.place or NOWHERE  # else any tournament could deal to it now
        try:
            seated = None if is_token(token) else Seated(visit.player.name, door, address_of(peer))
            found = await self.place(visit.player, tournament, seated)
            self._claim(visit)
            if shared and not found.record.format.endless:
                self._expect_alone(visit.player)
            if practises and found.record.name.startswith(OPEN):
                self.house_players.ask(visit.player, against, peer)
        except (Refusal, Unwelcome) as refusal:
            visit.leave(for_good=not visit.returned)  # a bot that came back keeps its seat
            raise Unwelcome(str(refusal)) from None
        self.measures.came[door, game] += 1
        return visit

    async def place(
        self, player: Player, wanted: str | None = None, seated: Seated | None = None
    ) -> Tournament:
        """Enter a player where it is awaited, else where entrants are taken, else at the open table."""
        if wanted == OPEN + player.game:
            await self.table(player.game)
        found = self.tournament_for(player.name, player.game, wanted) or await self.table(player.game)
        if self.roll.alike(found.record, player.name) is not None:
            raise Refusal(taken(player.name))
        await found.enter(player.name, seated=seated)
        player.place = found.record.name
        found.wake()
        return found

    def _expect_alone(self, player: Player) -> None:
        for other in self.lobby.named(player.name, player.game):
            if other is not player and other.place == player.place:
                raise Refusal(f"the name {player.name} is taken: somebody plays in {player.place} under it")

    def awaited(self, player: Player) -> bool:
        """Whether somebody is an entrant of a tournament that has an end and is not over."""
        return any(self.roll.awaiting(player.name, player.game))

    def here(self, tournament: str) -> Here:
        """The bots that are present there."""
        held = self.tournaments.get(tournament)
        if held is None:
            return Here()
        players = self.lobby.players(held.record.opened.game)
        names = {player.name for player in players if player.present and player.place == tournament}
        return Here(len(names), tuple(nsmallest(SOME, names)))

    def tournament_for(self, name: str, game: str, wanted: str | None = None) -> Tournament | None:
        """Where `place` would put somebody of that name; None is the open table."""
        current = self._current.get(game, {})
        if wanted is not None:
            if wanted in current:
                expect_not_out(current[wanted].record, name)
                return current[wanted]
            raise Refusal(f"there is no tournament {wanted!r} of {game} that is not over")
        for record in self.roll.awaiting(name, game):
            if name not in record.out:
                return self.tournaments[record.name]
        for each in current.values():
            if takes_entrants(each.record) and not each.record.name.startswith(OPEN):
                return each
        return None

    async def drain(self) -> None:
        """Let nobody in, begin nothing, and wait for what no restart can resume, while it can be kept."""
        self.draining = True
        for tournament in self.tournaments.values():
            tournament.halt()
        with self._waiting:
            if self.store.trouble:
                self._waiting.cancel()
            for tournament in tuple(self.tournaments.values()):
                await tournament.quiet()

    async def stop(self) -> None:
        """Let go of all tournaments, then say goodbye: a bot that leaves now loses nothing by it."""
        self.draining = True
        for scope in tuple(self._held.values()):
            scope.cancel()
        if self._held:
            await self._let_go.wait()
        for say_goodbye in tuple(self.on_stop.values()):
            say_goodbye()

    # Within

    def _pause_or_go_on(self) -> None:
        """Stop all clocks while nothing can be kept. No match begins then: that has to be kept first."""
        if self.store.trouble:
            self.timekeeper.pause()
            if self.draining:
                self._waiting.cancel()
        else:
            self.timekeeper.resume()

    def _claim(self, visit: Visit) -> None:
        """Let whoever has the token of a name keep the name over restarts, if a tournament awaits it."""
        tournament, digest = self.tournaments.get(visit.player.place or ""), self.reception.digest(visit)
        if visit.resumes and digest is not None:
            visit.player.key = digest
        if tournament is None or digest is None or self._house is None or self.draining:
            return
        record, name = tournament.record, visit.player.name
        over = record.format.endless or record.state is State.FINISHED
        if not over and record.claims.get(name) != digest:
            self._house.start_soon(tournament.keep, Claimed(name, digest))

    def _restore_players(self, record: Record) -> None:
        """Await the players of the matches that were in play when the host stopped."""
        for match, keys in record.keys.items():
            for name, key in zip(record.drawn[record.dealt[match]].names, keys, strict=True):
                if digest := record.claims.get(name, key):
                    self.reception.restore(name, record.opened.game, digest, record.name)

    def _restore_claims(self, record: Record) -> None:
        if record.state is not State.FINISHED:
            for name, digest in record.claims.items():
                self.reception.restore(name, record.opened.game, digest, record.name)

    def _loaded(self, load: Load) -> dict[str, Record]:
        records, audit = load()
        self.audit = [_by_name(order) for order in audit]
        return records

    def _noted(self, kept: Iterable[Kept]) -> Iterator[Kept]:
        """Pass the facts on, and note in the audit what organisers did."""
        for entry in kept:
            if isinstance(entry.fact, Ordered):
                self.audit.append(_by_name(entry))
            yield entry

    def _add(self, record: Record) -> Tournament:
        game: Game[Any, Any] = catalogue()[record.opened.game]

        def tell(fact: AnyFact) -> None:
            if isinstance(fact, Ordered):
                self.audit.append(Kept(record.name, self._wall(), fact))
            self.roll.hear(record, fact)
            if isinstance(fact, Turned):
                self._sort(tournament)
            for each in tuple(self.on_fact):
                each(tournament, fact)
            if record.state is State.DELETED:
                self._remove(record)

        def tell_begun(match: Match) -> None:
            for each in tuple(self.on_begun):
                each(tournament, match)

        tournament = Tournament(
            record,
            game,
            self.lobby,
            self.store,
            self.timekeeper,
            at_once=self._at_once,
            resume_seconds=self.limits.resume_seconds,
            early_grace=self.limits.ghost_seconds,
            elsewhere=self.elsewhere,
            wall=self._wall,
            told=tell,
            begun=tell_begun,
            awaited=self.returning.tell,
            lend=self.lend,
        )
        self.tournaments[record.name] = tournament
        self.roll.add(record)
        self._sort(tournament)
        if self._house is not None:
            self._held[record.kept_as] = trio.CancelScope()
            self._house.start_soon(self._hold, tournament)
        return tournament

    def _remove(self, record: Record) -> None:
        """It is deleted."""
        if record.name in self.tournaments:
            del self.tournaments[record.name]
            self.roll.remove(record)
            if record.kept_as in self._held:
                self._held[record.kept_as].cancel()

    def _sort(self, tournament: Tournament) -> None:
        """Among those that are not over, or out of them."""
        record = tournament.record
        current = self._current.setdefault(record.opened.game, {})
        if record.state in (State.FINISHED, State.DELETED):
            current.pop(record.name, None)
        else:
            current.setdefault(record.name, tournament)

    def _forget_strangers(self, player: Player) -> None:
        """Whenever a player has changed: forget the name of a bot that is gone and has finished no match."""
        if player.present or player.retired or player.seat is not None or player.reserved:
            return
        if not self.roll.knows(player.name, player.game):
            self.reception.drop(player)

    async def _hold(self, tournament: Tournament) -> None:
        """Run it until the host stops: a tournament that is over may be taken up again."""
        name = tournament.record.kept_as
        try:
            with self._held[name]:
                while True:
                    await tournament.run()
                    await tournament.taken_up()
        finally:
            del self._held[name]
            if not self._held and self.draining:
                self._let_go.set()

    async def _tidy(self) -> None:
        while True:
            await trio.sleep(60.0)
            while self.reception.forget(self.awaited, NAME_KEPT):
                await trio.lowlevel.checkpoint()
