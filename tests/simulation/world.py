"""Lets a plan happen: hosts that live and crash, bots, those who step in, and all of it watched.

The harness stands where doors and organisers stand: it uses what a tournament
offers to them and looks at nothing private. What is watched here is what can
only be seen while it happens; the rest is in `oracles.py`.
"""

import traceback
from collections.abc import Callable, Sequence
from random import Random

import trio
from msgspec import Struct
from structlog.testing import capture_logs
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.simulation import oracles
from tests.simulation.bots import Bot
from tests.simulation.disk import Crashed, Disk, Session
from tests.simulation.organiser import Organiser, fate
from tests.simulation.plan import Act, Plan
from tests.simulation.sheet import Sheet
from tournament.events import NOBODY, AnyEvent, Ended, Ending, Moved
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import Seat
from tournament.record import AnyFact, Concluded, Record, State, fold
from tournament.timekeeper import Timekeeper
from tournament.tournament import CUT_SHORT, Tournament

BOUND = 50_000.0  # virtual seconds in which all has to be over
FACTS = 20_000  # more than any tournament here comes to
FAREWELL = 100.0  # virtual seconds in which every task has to have noticed that all is over


class Host:
    """What one process of the host holds: a crash takes all of it, and leaves the disk."""

    def __init__(self, world: "World") -> None:
        self.game = world.game
        self.lobby = Lobby()
        self.timekeeper = Timekeeper(world.plan.beat)
        self.tournaments: dict[str, Tournament] = {}
        self.disk = Session(world.disk)
        self.begun: set[str] = set()  # matches
        self.requests: set[trio.CancelScope] = set()  # of organisers, under way
        self._world = world

    async def live(self) -> None:
        world = self._world
        async with trio.open_nursery() as self.nursery:
            self.nursery.start_soon(self.timekeeper.run)
            for bot in world.bots.values():
                self.nursery.start_soon(bot.attend, self)
            for record in fold(world.disk.kept()).values():
                self.take(record)
            world.host = self
            world.changed()
            await world.until(lambda: self.disk.crashed or world.over)
            if not self.disk.crashed:
                await self._close()
            self.nursery.cancel_scope.cancel()

    def take(self, record: Record) -> None:
        world, name = self._world, record.name
        self.tournaments[name] = tournament = Tournament(
            record,
            self.game,
            self.lobby,
            self.disk,
            self.timekeeper,
            at_once=world.contests[name].at_once,
            wall=trio.current_time,
            told=lambda fact: world.told(name, fact),
            begun=lambda match: world.begun(name, match),
        )
        self.nursery.start_soon(self._hold, tournament)

    async def _hold(self, tournament: Tournament) -> None:
        """Run it, and again when what was over is taken up again."""
        world = self._world
        while not world.over:
            await tournament.run()
            await world.until(lambda: world.over or tournament.record.state is not State.FINISHED)

    async def _close(self) -> None:
        """Everybody goes home, and nothing is left behind."""
        world = self._world
        for bot in world.bots.values():
            bot.dismiss()
        await trio.sleep(FAREWELL)
        tasks = sorted(task.name for task in self.nursery.child_tasks)
        if len(tasks) > 1:
            world.complain(f"tasks that do not end: {tasks}")
        if players := [player.name for player in self.lobby.players()]:
            world.complain(f"still in the lobby: {players}")
        for tournament in self.tournaments.values():
            if tournament.matches:
                world.complain(f"{tournament.record.name} has matches in play: {sorted(tournament.matches)}")


class World:
    def __init__(self, plan: Plan, clock: MockClock, tracing: bool) -> None:
        self.plan = plan
        self.clock = clock
        self.game = catalogue()[plan.game]
        self.pace = plan.pace or self.game.pace
        self.contests = {contest.name: contest for contest in plan.contests}
        self.disk = Disk(Random(f"{plan.seed} disk"), plan.latency, self._asked)
        self.host: Host | None = None  # None while it is down
        self.fated = False  # nothing more will befall the host
        self.complaints: list[str] = []
        self.trace: list[str] = []
        self.bots = {name: Bot(name, nature, self) for name, nature in plan.natures.items()}
        self.organisers = {name: Organiser(self, contest) for name, contest in self.contests.items()}
        self.ended = 0.0
        self.crashes = 0
        self.stalled, self.stalls = 0.0, 0  # seconds so far, and how often
        self._tracing = tracing
        self._chance = Random(f"{plan.seed} world")
        self._concluded = dict.fromkeys(self.contests, 0)
        self._sheets: dict[tuple[str, str], Sheet] = {}
        self._waiting: list[tuple[Callable[[], bool], trio.Event]] = []

    async def run(self) -> None:
        with trio.move_on_after(BOUND) as bound:
            async with trio.open_nursery() as nursery:
                for organiser in self.organisers.values():
                    nursery.start_soon(organiser.work)
                nursery.start_soon(fate, self)
                if self.plan.inspected:
                    nursery.start_soon(self._inspect)
                while not self.over:
                    try:
                        await Host(self).live()
                    except* Crashed:
                        pass
                    if not self.over:
                        await trio.sleep(self._chance.choice((0, self._chance.uniform(0, 100))))
                nursery.cancel_scope.cancel()
        self.ended = trio.current_time()
        if bound.cancelled_caught:
            self.complain(f"not over after {BOUND} s")

    # For those who act

    @property
    def over(self) -> bool:
        """All tournaments are finished, and nobody will step in any more."""
        return (
            self.fated
            and self.host is not None
            and all(organiser.done for organiser in self.organisers.values())
            and self.finished()
        )

    def finished(self, contest: str | None = None) -> bool:
        records = {name: t.record for name, t in self.host.tournaments.items()} if self.host else {}
        wanted = self.contests if contest is None else (contest,)
        return all(name in records and records[name].state is State.FINISHED for name in wanted)

    def count(self, contest: str | None = None) -> int:
        """Matches concluded so far."""
        return sum(self._concluded.values()) if contest is None else self._concluded[contest]

    async def after(self, act: Act, contest: str | None = None) -> None:
        await self.until(lambda: self.count(contest) >= act.after or self.finished(contest))
        await trio.sleep(act.delay)

    async def up(self) -> Host:
        await self.until(lambda: self.host is not None)
        return self.host or await self.up()

    async def until(self, met: Callable[[], bool]) -> None:
        while not met():
            event = trio.Event()
            self._waiting.append((met, event))
            await event.wait()

    def changed(self) -> None:
        due = [waiting for waiting in self._waiting if waiting[0]()]
        for waiting in due:
            self._waiting.remove(waiting)
            waiting[1].set()

    async def crash(self) -> None:
        if self.host is not None:
            await self.disk.crash()
            host, self.host = self.host, None
            host.disk.crashed = True
            self.crashes += 1
            for scope in (host.nursery.cancel_scope, *host.requests):
                scope.cancel()
            self._sheets.clear()
            for bot in self.bots.values():
                bot.cut_off()

    def stall(self, seconds: float) -> None:
        self.stalled += seconds
        self.stalls += 1
        self.clock.jump(seconds)

    def sheet(self, seat: Seat, name: str) -> Sheet:
        sheet = Sheet(seat, self)
        self._sheets[seat.match.name, name] = sheet
        return sheet

    def note(self, text: str) -> None:
        if self._tracing:
            self.trace.append(f"{self.clock.current_time():12.6f} {text}")

    def complain(self, complaint: str) -> None:
        self.note(f"!! {complaint}")
        self.complaints.append(complaint)

    # What is watched

    def told(self, contest: str, fact: AnyFact) -> None:
        self.note(f"{contest}: {fact}")
        if isinstance(fact, Concluded):
            self._concluded[contest] += 1
            if self.disk.concluded(contest, fact.match) != fact:
                self.complain(f"{fact.match}: told of before it was safe")
        self.changed()

    def begun(self, contest: str, match: Match) -> None:
        if self.host is not None:
            self.host.begun.add(match.name)
        match.log.follow(lambda event: self._witness(contest, match, event))

    def _witness(self, contest: str, match: Match, event: AnyEvent) -> None:
        safe = match.verdict is None or self.disk.concluded(contest, match.name) is not None
        if isinstance(event, Ended):
            self._judge(contest, match, event)
        elif not safe:
            self.complain(f"{match.name}: {event} was announced before the verdict was safe")
        if min(left or 0.0 for left in match.left(trio.current_time())) < 0:
            self.complain(f"{match.name}: a clock shows {match.left(trio.current_time())}")

    def _judge(self, contest: str, match: Match, verdict: Ended) -> None:
        """Whether a verdict that is announced is what is kept, and deserved by whomever it costs a point."""
        kept = self.disk.concluded(contest, match.name)
        if kept is None or (kept.winner, kept.ending, kept.why) != (verdict.winner, verdict.ending, verdict.why):
            self.complain(f"{match.name}: {verdict} was announced while {kept} was kept")
        sheets = [self._sheets.pop((match.name, name), None) for name in match.names]
        if verdict.ending is Ending.VOID and verdict.why != NOBODY:
            return
        for seat, name in enumerate(match.names):
            if verdict.winner == seat or (verdict.ending in (Ending.LEFT, Ending.VOID) and self._out(contest, name)):
                continue
            sheet, gone = sheets[seat], self.bots[name].gone
            if not (gone(verdict.at) if sheet is None else sheet.deserved(verdict, gone)):
                self.complain(f"{match.name}: {name} has not deserved this: {verdict}")

    def _asked(self, contest: str, facts: Sequence[AnyFact]) -> None:
        """What is decided without a match is decided by who is there at that moment."""
        if self.disk.size > FACTS:
            raise RuntimeError(f"more than {FACTS} facts")
        record = self.host.tournaments[contest].record if self.host and contest in self.host.tournaments else None
        for fact in facts:
            if isinstance(fact, Concluded) and record is not None and fact.match not in record.dealt:
                self._judge_unplayed(contest, fact, record.format.endless)
            elif isinstance(fact, Concluded) and fact.why == CUT_SHORT and self.host is not None:
                if fact.match in self.host.begun:
                    self.complain(f"{fact.match}: cut short while the host was up")

    def _judge_unplayed(self, contest: str, fact: Concluded, endless: bool) -> None:
        now = trio.current_time()
        out = [self._out(contest, name) for name in fact.players]
        missing = [self.bots[name].missing(now) for name in fact.players]
        match fact.ending, fact.winner:
            case Ending.LEFT, int(winner):
                right = out[1 - winner] or (missing[1 - winner] and not missing[winner])
                right = right and not out[winner]
            case Ending.LEFT, None:
                right = all(out) or all(missing) 
            case _:
                right = endless or all(missing)
        if not right:
            self.complain(f"{fact.match}: nobody deserved {fact}")

    def _out(self, contest: str, name: str) -> bool:
        return (contest, name) in self.disk.out

    def conclude(self, host: Host) -> None:
        """All is over: look at what is left."""
        kept = list(self.disk.kept())
        folded = fold(kept)
        honest = {name for name, nature in self.plan.natures.items() if nature.honest}
        for name, contest in self.contests.items():
            ledger = oracles.Ledger(contest, [entry.fact for entry in kept if entry.tournament == name], honest)
            live = host.tournaments[name].record
            wrong = oracles.check(
                ledger, contest, live, folded[name], self.game, self.plan.options, self.pace
            )
            for complaint in wrong:
                self.complain(f"{name}, a {contest.format}: {complaint}")
            for match in self.organisers[name].voided:
                fact = ledger.concluded.get(match)
                if fact is None or (fact.score is not None and match not in ledger.voided):
                    self.complain(f"{match} was voided and counts: {fact}")

    async def _inspect(self) -> None:
        """Look now and then whether everybody who could play does play."""
        while True:
            await trio.sleep(self._chance.uniform(0.1, 30))
            await trio.testing.wait_all_tasks_blocked()
            if self.host is not None and not self.disk.busy.is_set():
                for tournament in self.host.tournaments.values():
                    at_once = self.contests[tournament.record.name].at_once
                    for complaint in oracles.idle(tournament, at_once, self.host.lobby):
                        self.complain(complaint)


class Report(Struct, frozen=True):
    seed: int
    tournaments: int
    matches: int
    seconds: float  # virtual
    complaints: tuple[str, ...]
    trace: tuple[str, ...]


def simulate(plan: Plan, tracing: bool = False) -> Report:
    """Play all of a plan; the same plan comes to the same report in every process."""
    trio._core._run._ALLOW_DETERMINISTIC_SCHEDULING = True
    trio._core._run._r.seed(plan.seed)
    clock = MockClock(autojump_threshold=0)
    world = World(plan, clock, tracing)
    with capture_logs() as logs:
        try:
            trio.run(world.run, clock=clock)
        except Exception:
            world.complain("".join(traceback.format_exc().split("\n  +-+-")[-1:])[-900:])
    for entry in logs:
        world.complain(f"logged: {entry}")
    if world.host is not None and not world.complaints:
        world.conclude(world.host)
    matches = sum(world.count(name) for name in world.contests)
    return Report(plan.seed, len(world.contests), matches, world.ended, tuple(world.complaints), tuple(world.trace))
