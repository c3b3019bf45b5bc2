"""The house: everything that runs as long as the host does, and what the doors ask of it.

The clocks, the store and the tournaments are the host: when one of them fails
it ends, loudly, and is started again. What strangers cause runs in nurseries of
its own, behind a guard.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import structlog
import trio

from games.catalogue import catalogue
from games.game import BadOption, Game, quoted
from server.host.names import BadName, checked, key
from server.host.reception import Reception, Unwelcome, Visit
from server.host.secrets import token_digest
from server.host.thinker import Thinker
from server.host.wire_log import WireLog
from server.net.guard import Guard
from server.net.limits import Limits
from server.net.sockets import readiness
from tournament.desk import Desk
from tournament.format import Terms, formats
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import Player
from tournament.record import HOST, AnyFact, Claimed, Kept, Opened, Ordered, Record, State, Turned, fold
from tournament.store import Memory, Store
from tournament.timekeeper import Timekeeper
from tournament.tournament import Refusal, Tournament

NAME = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}"
)  # of a tournament: it stands in addresses and file names
OPEN = "open-"  # how the names of open tables begin
NOWHERE = "(nowhere)"  # no name of a tournament
STOPPING = "the host is about to stop: come again later"
NAME_KEPT = 600.0  # seconds that a name is kept for a bot that is gone and awaited nowhere

Told = Callable[[Tournament, AnyFact], None]
Begun = Callable[[Tournament, Match], None]

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


def check(name: str, opened: Opened) -> None:
    """Raises `Refusal` for what nobody can hold."""
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
    try:
        catalogue()[opened.game].opening(opened.options)
    except BadOption as error:
        raise Refusal(str(error)) from None


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
    ) -> None:
        self.limits = limits or Limits()
        self.store = store or Memory()
        self.timekeeper = timekeeper or Timekeeper()
        self.thinker = thinker or Thinker()
        self.lobby = Lobby()
        self.reception = Reception(self.lobby, self.limits)
        self.wires = WireLog(self.limits)
        self.tournaments: dict[str, Tournament] = {}
        self.on_fact: list[Told] = []  # who wants to hear of every fact, once it is safe
        self.on_begun: list[Begun] = []  # and of every match that begins
        self.audit: list[Kept] = []  # what organisers did, newest last
        self.on_stop: dict[object, Callable[[], None]] = {}  # connections that are told when the host goes
        self.draining = False
        self._at_once = at_once
        self._wall = wall
        self._house: trio.Nursery | None = None
        self._opening: set[str] = set()  # names of tournaments that are being kept
        self._held: dict[str, trio.CancelScope] = {}  # by the names of tournaments
        self._guard: Guard | None = None
        self._waiting = trio.CancelScope()  # for what is being played, when the host is to stop
        self._let_go = trio.Event()  # of the last tournament
        self.reception.acknowledged = self._claim
        self.store.listen(self._pause_or_go_on)

    @property
    def guard(self) -> Guard:
        """Where doors start the tasks that strangers cause."""
        if self._guard is None:
            raise RuntimeError("the host is not running")
        return self._guard

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled. Goes on with every tournament that the store knows and that is not over."""
        async with trio.open_nursery() as self._house, trio.open_nursery() as strangers:
            self._guard = Guard(strangers)
            if (sockets := readiness()) is not None:
                self.timekeeper.look = sockets.sweep
            self._house.start_soon(self.store.run)
            self._house.start_soon(self.timekeeper.run)
            self._house.start_soon(self.thinker.run)
            self._house.start_soon(self._tidy)
            records = fold(self._noted(self.store.kept()))
            for record in records.values():
                self._restore_claims(record)
            for record in records.values():
                self._add(record)
            task_status.started()
            await trio.sleep_forever()

    # Tournaments

    async def open(self, name: str, opened: Opened, by: str | None = None) -> Tournament:
        """Hold a tournament, as was ordered `by` somebody; raises `Refusal` with what is wrong with it."""
        if self.draining:
            raise Refusal(STOPPING)
        check(name, opened)
        if name in self.tournaments or name in self._opening:
            raise Refusal(f"there is a tournament {name} already")
        orders = [] if by is None else [Ordered(by, "open", name)]
        when = self._wall()
        self._opening.add(name)
        try:
            await self.store.keep(name, when, [opened, *orders])
        finally:
            self._opening.remove(name)
        self.audit += (Kept(name, when, order) for order in orders)
        return self._add(Record(name, opened))

    async def invite(self, tournament: Tournament, name: str, by: str) -> str:
        """Enter somebody who is to come with the token that this answers, and whom nobody else can be.

        Raises `Refusal`, also where the name is somebody's whom another tournament counts on.
        """
        record, name = tournament.record, self.entrant_name(tournament, name)
        for other in self._of(record.opened.game):
            if other is not tournament and name in other.record.entrants and not other.record.format.endless:
                raise Refusal(f"{name} takes part in {other.record.name} and may come from there by itself")
        token = ""

        def claim() -> str:
            nonlocal token
            token = self.reception.invite(name, record.opened.game, record.name)
            return token_digest(token).hex()

        try:
            await Desk(tournament, by).invite(name, claim)
        except Unwelcome as unwelcome:
            raise Refusal(str(unwelcome)) from None
        return token

    def entrant_name(self, tournament: Tournament, name: str) -> str:
        """The name without blanks around it, if an entrant may have it there; raises `Refusal`."""
        record = tournament.record
        try:
            name = checked(name, record.opened.game)
        except BadName as error:
            raise Refusal(str(error)) from None
        for entrant in record.entrants:
            if key(entrant) == key(name) and entrant != name:
                raise Refusal(f"{record.name} has an entrant {entrant}, whom people would take for {name}")
        return name

    async def note(self, by: str, action: str, detail: str = "") -> None:
        """Keep in the audit what somebody did that is no single tournament's."""
        when, order = self._wall(), Ordered(by, action, detail)
        await self.store.keep(HOST, when, [order])
        self.audit.append(Kept(HOST, when, order))

    async def table(self, game: str) -> Tournament:
        """The open table of a game, which is there when it is needed."""
        name = OPEN + game
        if name not in self.tournaments:
            opened, running = (
                Opened(game, "open", terms=Terms(lots=catalogue()[game].lots)),
                Turned(State.RUNNING),
            )
            await self.store.keep(name, self._wall(), [opened, running])
            if name not in self.tournaments:  # nobody else was quicker meanwhile
                record = Record(name, opened)
                record.add(running)
                self._add(record)
        return self.tournaments[name]

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
        peer: str = "",
    ) -> Visit:
        """Let somebody in and give it a place to play; raises `Unwelcome` with the reason for its author.

        At an open table it will meet nobody but `against`, and may share its name with others who do; in any
        other tournament a name is one player's. Who comes `reserved` is dealt nothing before its door calls
        `player.free`.
        """
        if self.draining:
            raise Unwelcome(STOPPING)
        visit = self.reception.arrive(name, game, token=token, keeps=keeps, shared=shared, peer=peer)
        visit.player.against = against
        visit.player.reserved |= reserved
        visit.player.place = visit.player.place or NOWHERE  # or others could deal to it while it is placed
        try:
            found = await self.place(visit.player, tournament)
            self._claim(visit)
            if shared and not found.record.format.endless:
                self._expect_alone(visit.player)
        except (Refusal, Unwelcome) as refusal:
            visit.leave(for_good=not visit.returned)  # who has a seat to come back to keeps it
            raise Unwelcome(str(refusal)) from None
        return visit

    async def place(self, player: Player, wanted: str | None = None) -> Tournament:
        """Where it is awaited, else where entrants are taken, else at the open table."""
        found = self.tournament_for(player.name, player.game, wanted) or await self.table(player.game)
        await found.enter(player.name)
        player.place = found.record.name
        found.wake()
        return found

    def _expect_alone(self, player: Player) -> None:
        for other in self.lobby.players(player.game):
            if other is not player and (other.name, other.place) == (player.name, player.place):
                raise Refusal(f"the name {player.name} is taken: somebody plays in {player.place} under it")

    def awaited(self, player: Player) -> bool:
        """Whether a tournament that is not over counts on somebody."""
        return any(
            player.name in each.record.entrants and not each.record.format.endless
            for each in self._of(player.game)
        )

    def tournament_for(self, name: str, game: str, wanted: str | None = None) -> Tournament | None:
        """Where `place` would put somebody of that name; None is the open table."""
        candidates = list(self._of(game))
        if wanted is not None:
            for each in candidates:
                if each.record.name == wanted:
                    return each
            raise Refusal(f"there is no tournament {wanted!r} of {game} that is not over")
        for each in candidates:
            if name in each.record.entrants and not each.record.format.endless:
                return each
        for each in candidates:
            if each.takes_entrants and not each.record.name.startswith(OPEN):
                return each
        return None

    def _of(self, game: str) -> list[Tournament]:
        """The tournaments of a game that are not over, oldest first."""
        return [
            each
            for each in self.tournaments.values()
            if each.record.opened.game == game and each.record.state is not State.FINISHED
        ]

    async def drain(self) -> None:
        """Let nobody in, begin nothing, and wait for what is being played, while it can be kept."""
        self.draining = True
        for tournament in self.tournaments.values():
            tournament.halt()
        with self._waiting:
            if self.store.trouble:
                self._waiting.cancel()
            for tournament in tuple(self.tournaments.values()):
                await tournament.quiet()

    async def stop(self) -> None:
        """Hold no tournament any more, then say goodbye: nothing that a bot does now costs it anything."""
        self.draining = True
        for scope in tuple(self._held.values()):
            scope.cancel()
        if self._held:
            await self._let_go.wait()
        for say_goodbye in tuple(self.on_stop.values()):
            say_goodbye()

    # Within

    def _pause_or_go_on(self) -> None:
        """While nothing can be kept all clocks stand still. Nothing begins: that has to be kept first."""
        if self.store.trouble:
            self.timekeeper.pause()
            if self.draining:
                self._waiting.cancel()
        else:
            self.timekeeper.resume()

    def _claim(self, visit: Visit) -> None:
        """Whoever has the token of a name keeps it over restarts, where somebody counts on it."""
        tournament, digest = self.tournaments.get(visit.player.place or ""), self.reception.digest(visit)
        if tournament is None or digest is None or self._house is None or self.draining:
            return
        record, name = tournament.record, visit.player.name
        over = record.format.endless or record.state is State.FINISHED
        if not over and record.claims.get(name) != digest:
            self._house.start_soon(tournament.keep, Claimed(name, digest))

    def _restore_claims(self, record: Record) -> None:
        if record.state is not State.FINISHED:
            for name, digest in record.claims.items():
                self.reception.restore(name, record.opened.game, digest, record.name)

    def _noted(self, kept: Iterable[Kept]) -> Iterator[Kept]:
        """The same, and what organisers did is noted."""
        for entry in kept:
            if isinstance(entry.fact, Ordered):
                self.audit.append(entry)
            yield entry

    def _add(self, record: Record) -> Tournament:
        game: Game[Any, Any] = catalogue()[record.opened.game]

        def tell(fact: AnyFact) -> None:
            if isinstance(fact, Ordered):
                self.audit.append(Kept(record.name, self._wall(), fact))
            for each in tuple(self.on_fact):
                each(tournament, fact)

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
            wall=self._wall,
            told=tell,
            begun=tell_begun,
        )
        self.tournaments[record.name] = tournament
        if self._house is not None:
            self._held[record.name] = trio.CancelScope()
            self._house.start_soon(self._hold, tournament)
        return tournament

    async def _hold(self, tournament: Tournament) -> None:
        """Until the host stops: what is over may be taken up again."""
        name = tournament.record.name
        try:
            with self._held[name]:
                while True:
                    await tournament.run()
                    await tournament.taken_up()
        finally:
            del self._held[name]
            if not self._held:
                self._let_go.set()

    async def _tidy(self) -> None:
        while True:
            await trio.sleep(60.0)
            self.reception.forget(self.awaited, NAME_KEPT)
