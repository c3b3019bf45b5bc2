"""Whoever steps in: the organiser of a tournament, and fate.

An organiser asks again after a crash, as somebody at a browser would, and now
and then goes away before the answer has come.
"""

from collections.abc import Awaitable, Callable
from random import Random
from typing import TYPE_CHECKING

import trio

from tests.simulation.disk import Crashed
from tests.simulation.plan import LADDER, Act, Contest
from tournament.desk import Desk
from tournament.record import Concluded, Opened, Record, State, Turned
from tournament.tournament import Refusal, Tournament

if TYPE_CHECKING:
    from tests.simulation.world import World

WHY = "the organiser wanted it so"
ENOUGH = 2000.0  # virtual seconds after which a ladder is ended, however little was played

Request = Callable[[Tournament], Awaitable[None]]


class Organiser:
    def __init__(self, world: "World", contest: Contest) -> None:
        self.out: set[str] = set()  # whom it has sent away
        self.voided: set[str] = set()  # matches
        self._world = world
        self._contest = contest
        self._chance = Random(f"{world.plan.seed} {contest.name}")

    async def work(self) -> None:
        contest = self._contest
        await self._open()
        for name, rating in zip(contest.entrants, contest.ratings, strict=True):
            await self._ask(lambda tournament, name=name, rating=rating: tournament.enter(name, rating))
        if not contest.alone:
            await self._ask(lambda tournament: Desk(tournament).start())
        for act in contest.acts:
            await self._world.after(act, contest.name)
            await self._do(act)
        if contest.format == "ladder":
            await self._end()

    async def _open(self) -> None:
        world, contest = self._world, self._contest
        full = len(contest.entrants) if contest.alone else None
        plan = world.plan
        opened = Opened(plan.game, contest.format, full, contest.terms, plan.options, plan.pace)
        while contest.name not in (host := await world.up()).tournaments:
            try:
                await world.disk.keep(contest.name, trio.current_time(), [opened])
                host.take(Record(contest.name, opened))
            except Crashed:
                pass

    async def _do(self, act: Act) -> None:
        match act.what:
            case "pause":
                if await self._ask(lambda tournament: Desk(tournament).pause()):
                    await trio.sleep(self._chance.uniform(0, 100))
                    await self._ask(lambda tournament: Desk(tournament).resume())
            case "withdraw" if name := self._entrant():
                await self._ask(lambda tournament: Desk(tournament).withdraw(name), hurried=True)
            case "disqualify" if name := self._entrant():
                await self._ask(lambda tournament: Desk(tournament).disqualify(name, WHY), hurried=True)
            case "void" if match := self._match():
                self._world.note(f"void {match}")
                if await self._ask(lambda tournament: Desk(tournament).void(match, WHY), hurried=True):
                    self.voided.add(match)
            case "enter":
                for name in self._contest.late:
                    await self._ask(lambda tournament, name=name: tournament.enter(name, late=True))
            case _:
                pass

    async def _ask(self, request: Request, hurried: bool = False) -> bool:
        """Whether it was done, for all that the organiser knows."""
        while True:
            host = await self._world.up()
            patience = self._chance.uniform(0, 0.02) if hurried and self._chance.random() < 0.3 else None
            try:
                with trio.CancelScope(deadline=trio.current_time() + (patience or trio.inf)) as scope:
                    await request(host.tournaments[self._contest.name])
                return not scope.cancelled_caught
            except Crashed:
                pass
            except Refusal as refusal:
                self._world.note(f"refused: {refusal}")
                return False

    async def _end(self) -> None:
        """A ladder goes on until somebody ends it: nothing more is dealt, and what is played is played out."""
        world, name = self._world, self._contest.name
        wanted = LADDER * len(self._contest.entrants)
        with trio.move_on_after(ENOUGH):
            await world.until(lambda: world.count(name) >= wanted)
        await self._ask(lambda tournament: Desk(tournament).pause())

    def _entrant(self) -> str | None:
        record = self._record()
        names = [name for name, entrant in record.entrants.items() if not entrant.gone] if record else []
        if not names:
            return None
        name = self._chance.choice(names)
        self._world.note(f"out of {self._contest.name}: {name}")
        self.out.add(name)
        return name

    def _match(self) -> str | None:
        ...
