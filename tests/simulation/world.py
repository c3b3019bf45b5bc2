"""Lets a plan happen: hosts that live and crash, an organiser, bots, and all of it watched.

The harness stands where doors and organisers stand: it uses what the tournament
offers them, and looks at nothing private.
"""

import traceback
from collections.abc import Awaitable, Callable, Sequence
from math import inf
from random import Random

import trio
from msgspec import Struct
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.simulation import oracles
from tests.simulation.bots import Bot
from tests.simulation.disk import Crashed, Disk
from tests.simulation.plan import LADDER, Act, Contest, Plan, draw
from tests.simulation.sheet import Sheet
from tournament.desk import Desk
from tournament.lobby import Lobby
from tournament.match import Match
from tournament.player import Seat
from tournament.record import AnyFact, Concluded, Opened, Record, State, Turned, fold
from tournament.timekeeper import Timekeeper
from tournament.tournament import Refusal, Tournament

BOUND = 200_000.0  # virtual seconds in which everything has to be over
FACTS = 20_000  # more than any tournament here comes to
FAREWELL = 100.0  # virtual seconds in which every task has to have noticed that all is over


class Report(Struct, frozen=True):
    seed: int
    tournaments: int
    matches: int
    seconds: float  # virtual
    complaints: tuple[str, ...]
    trace: tuple[str, ...]


class Host:
    """What one process of the host holds; a crash takes all of it but the disk."""

    def __init__(self, world: "World") -> None:
        self.born = trio.current_time()
        self.game = world.game
        self.lobby = Lobby()
        self.timekeeper = Timekeeper(world.plan.beat)
        self.tournaments: dict[str, Tournament] = {}
        self.crashed = False
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
            await world.until(lambda: self.crashed or world.over)
            if not self.crashed:
                await world.farewell(self)
            self.nursery.cancel_scope.cancel()

    def take(self, record: Record) -> Tournament:
        world = self._world
        tournament = Tournament(
            record,
            self.game,
            self.lobby,
            world.disk,
            self.timekeeper,
            at_once=world.contests[record.name].at_once,
            wall=trio.current_time,
            told=lambda fact: world.told(record.name, fact),
            begun=lambda match: world.begun(record.name, match),
        )
        self.tournaments[record.name] = tournament
        self.nursery.start_soon(self._hold, tournament)
        return tournament

    async def _hold(self, tournament: Tournament) -> None:
        """Run it, and again when what was over is taken up again."""
        world = self._world
        while not world.over:
            await tournament.run()
            await world.until(lambda: world.over or tournament.record.state is not State.FINISHED)


class World:
    def __init__(self, plan: Plan, tracing: bool = False) -> None:
        self.plan = plan
        self.game = catalogue()[plan.game]
        self.pace = plan.pace or self.game.pace
        self.contests = {contest.name: contest for contest in plan.contests}
        self.disk = Disk(Random(f"{plan.seed} disk"), plan.latency, self._asked)
        self.bots: dict[str, Bot] = {}
        self.host: Host | None = None  # None while it is down
        self.out: dict[str, set[str]] = {name: set() for name in self.contests}  # by the organiser
        self.voided: dict[str, set[str]] = {name: set() for name in self.contests}
        self.cuts = 0  # crashes so far
        self.complaints: list[str] = []
        self.trace: list[str] | None = [] if tracing else None
        self._chance = Random(f"{plan.seed} organiser")
        self._concluded = dict.fromkeys(self.contests, 0)
        self._sheets: dict[tuple[str, str], Sheet] = {}
        self._organised: set[str] = set()
        self._announced: dict[tuple[str, str], tuple[object, ...]] = {}
        self._waiting: list[tuple[Callable[[], bool], trio.Event]] = []

    async def run(self) -> None:
        self.bots = {name: Bot(name, nature, self) for name, nature in self.plan.natures.items()}
        with trio.move_on_after(BOUND):
            async with trio.open_nursery() as nursery:
                for contest in self.plan.contests:
                    nursery.start_soon(self._organise, contest)
                nursery.start_soon(self._trouble)
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
            return
        self.complain(f"not over after {BOUND} s")
