"""Lets a plan happen: hosts that live and crash, bots, and those who step in.

The harness stands where doors and organisers stand: it uses what a tournament
offers to them and looks at nothing private. Who watches is in `witness.py`.
"""

import traceback
from collections.abc import Callable
from random import Random
from typing import Protocol

import trio
from msgspec import Struct
from structlog.testing import capture_logs
from structlog.typing import EventDict
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.deterministic import take_turns_by
from tests.simulation.bots import Bot
from tests.simulation.chronicle import Chronicle
from tests.simulation.disk import Crashed, Disk
from tests.simulation.host import Host
from tests.simulation.organiser import Organiser, fate
from tests.simulation.plan import Act, Plan
from tests.simulation.witness import Witness
from tournament.facts import State

BOUND = 50_000.0  # virtual seconds in which all has to be over
DOWN = 100.0  # virtual seconds that a host may take to start again
HASTY = 0.3  # how likely somebody who may misbehave gives up in a stall
TAIL = 900  # characters of a traceback that are shown


class Report(Struct, frozen=True):
    seed: int
    tournaments: int
    matches: int
    seconds: float  # virtual
    complaints: tuple[str, ...]
    trace: tuple[str, ...]


class World(Chronicle):
    def __init__(self, plan: Plan, clock: MockClock, tracing: bool) -> None:
        super().__init__(clock, tracing)
        self.plan = plan
        self.game = catalogue()[plan.game]
        self.pace = plan.pace or self.game.pace
        self.contests = {contest.name: contest for contest in plan.contests}
        self.witness = Witness(self)
        self.disk = Disk(Random(f"{plan.seed} disk"), plan.latency, self.witness.asked)
        self.host: Host | None = None  # None while it is down
        self.bots = {name: Bot(name, nature, self) for name, nature in plan.natures.items()}
        self.organisers = {name: Organiser(self, contest) for name, contest in self.contests.items()}
        self.fated = False  # nothing more will befall the host
        self.crashes = 0
        self.stalls: list[tuple[float, float]] = []  # when each began, and its seconds
        self.ended = 0.0
        self.chance = Random(f"{plan.seed} world")
        self._waiting: list[tuple[Callable[[], bool], trio.Event]] = []

    async def run(self) -> None:
        with trio.move_on_after(BOUND) as bound:
            async with trio.open_nursery() as nursery:
                for organiser in self.organisers.values():
                    nursery.start_soon(organiser.work)
                nursery.start_soon(fate, self)
                if self.plan.inspected:
                    nursery.start_soon(self.witness.inspect)
                while not self.over:
                    try:
                        await Host(self).live()
                    except* Crashed:
                        pass
                    if self.host is None:
                        await trio.sleep(self.chance.choice((0, self.chance.uniform(0, DOWN))))
                nursery.cancel_scope.cancel()
        self.ended = trio.current_time()
        if bound.cancelled_caught:
            self.complain(f"not over after {BOUND} s")

    # What befalls the host

    async def crash(self) -> None:
        if self.host is not None:
            self.crashes += 1
            await self.disk.crash()
            self.host.crash()
            self.host = None
            for bot in self.bots.values():
                bot.cut_off()

    def stall(self, seconds: float) -> None:
        """Time goes on, and nothing is read or done; what is read first then may be that somebody is gone."""
        self.stalls.append((trio.current_time(), seconds))
        self._clock.jump(seconds)
        for bot in self.bots.values():
            if self.chance.random() < HASTY:
                bot.concede()

    # For those who wait

    @property
    def over(self) -> bool:
        """All tournaments are finished, and nobody will step in any more."""
        return self.fated and all(each.done for each in self.organisers.values()) and self.finished()

    def finished(self, contest: str | None = None) -> bool:
        tournaments = {} if self.host is None else self.host.tournaments
        wanted = self.contests if contest is None else (contest,)
        return all(
            name in tournaments and tournaments[name].record.state is State.FINISHED for name in wanted
        )

    async def after(self, act: Act, contest: str | None = None) -> None:
        count = self.witness.count
        await self.until(lambda: count(contest) >= act.after or self.finished(contest))
        await trio.sleep(act.delay)

    async def up(self) -> Host:
        while self.host is None:
            await self.until(lambda: self.host is not None)
        return self.host

    async def until(self, met: Callable[[], bool]) -> None:
        while not met():
            waiting = met, trio.Event()
            self._waiting.append(waiting)
            try:
                await waiting[1].wait()
            finally:
                self._waiting.remove(waiting)

    def changed(self) -> None:
        for met, event in self._waiting:
            if met():
                event.set()


class Runnable(Protocol):
    """A world, here or before the doors."""

    async def run(self) -> None: ...

    def complain(self, complaint: str) -> None: ...


def run(world: Runnable, seed: int, clock: MockClock) -> list[EventDict]:
    """From beginning to end, with tasks that take turns as the seed has it; gives what was logged."""
    take_turns_by(seed)
    with capture_logs() as logs:
        try:
            trio.run(world.run, clock=clock)
        except Exception:
            world.complain(f"it broke: {traceback.format_exc()[-TAIL:]}")
    return logs


def simulate(plan: Plan, tracing: bool = False) -> Report:
    """Let all of a plan happen; the same plan comes to the same report in every process."""
    clock = MockClock(autojump_threshold=0)
    world = World(plan, clock, tracing)
    for entry in run(world, plan.seed, clock):
        world.complain(f"logged: {entry}")
    if not world.complaints:
        world.witness.conclude()
    return Report(
        plan.seed,
        len(world.contests),
        world.witness.count(),
        world.ended,
        tuple(world.complaints),
        tuple(world.trace),
    )
