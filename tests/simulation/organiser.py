"""Whoever steps in: the organiser of a tournament, and fate.

An organiser asks again after a crash, as somebody at a browser would, now and
then goes away before the answer has come, and now and then gives two orders at once.
"""

from collections.abc import Awaitable, Callable
from itertools import islice
from math import inf
from random import Random
from typing import TYPE_CHECKING

import trio

from tests.simulation.disk import Crashed
from tests.simulation.plan import Act, Contest, options
from tournament.desk import Desk
from tournament.facts import Opened, State, Turned
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.timekeeper import TOLERANCE
from tournament.tournament import Tournament

if TYPE_CHECKING:
    from tests.simulation.host import Host
    from tests.simulation.world import World

WHY = "the organiser wanted it so"
AT_ONCE = 0.3  # how often two orders are given at once
ENOUGH = 2000.0  # virtual seconds after which a ladder is ended, however little was played

Request = Callable[[Tournament], Awaitable[None]]


class Organiser:
    def __init__(self, world: "World", contest: Contest) -> None:
        self.voided: set[str] = set()  # matches
        self.done = False
        self._world = world
        self._contest = contest
        self._chance = Random(f"{world.plan.seed} {contest.name}")
        self._haste = Random(f"{world.plan.seed} {contest.name} at once")

    async def work(self) -> None:
        contest = self._contest
        await self._open()
        async with trio.open_nursery() as nursery:
            for entry in zip(contest.entrants, contest.ratings, strict=True):
                nursery.start_soon(self._enter, *entry)
        if not contest.alone:
            await self._ask(lambda tournament: Desk(tournament).start())
        acts = iter(contest.acts)
        for act in acts:
            with trio.move_on_after(inf if contest.length is None else ENOUGH):
                await self._world.after(act, contest.name)
            others = islice(acts, self._haste.random() < AT_ONCE)
            async with trio.open_nursery() as nursery:
                for each in (act, *others):
                    nursery.start_soon(self._do, each)
        if contest.length is not None:
            await self._end(contest.length)
        self.done = True
        self._world.changed()

    async def _enter(self, name: str, rating: float | None = None) -> None:
        await self._ask(lambda tournament: tournament.enter(name, rating))

    async def _open(self) -> None:
        world, contest = self._world, self._contest
        full = len(contest.entrants) if contest.alone else None
        plan = world.plan
        opened = Opened(
            plan.game, contest.format, full, contest.terms, plan.options, plan.pace, contest.absent
        )
        while contest.name not in (host := await world.up()).tournaments:
            try:
                await host.disk.keep(contest.name, trio.current_time(), [opened])
                host.take(Record(contest.name, opened, whole=False))
            except Crashed:
                pass

    async def _do(self, act: Act) -> None:
        match act.what:
            case "pause":
                await self._ask(lambda tournament: Desk(tournament).pause())
                await trio.sleep(self._chance.uniform(0, 100))
                await self._ask(lambda tournament: Desk(tournament).resume())
            case "withdraw" if name := self._entrant():
                await self._ask(lambda tournament: Desk(tournament).withdraw(name), hurried=True)
                await self._ask(self._begin)
            case "disqualify" if name := self._entrant():
                await self._ask(lambda tournament: Desk(tournament).disqualify(name, WHY), hurried=True)
            case "void" if match := await self._match():
                self._world.note(f"void {match}")
                if await self._ask(lambda tournament: Desk(tournament).void(match, WHY), hurried=True):
                    self.voided.add(match)
            case "enter":
                for name in self._contest.late:
                    await self._ask(lambda tournament, name=name: Desk(tournament).enter(name))
            case "challenge":
                await self._ask(self._challenge)
            case _:
                pass

    async def _ask(self, request: Request, hurried: bool = False) -> bool:
        """Whether it was done, for all that the organiser knows."""
        while True:
            host = await self._world.up()
            seconds = self._chance.uniform(0, 0.02) if hurried and self._chance.random() < 0.3 else inf
            scope = trio.CancelScope(deadline=trio.current_time() + seconds)
            host.requests.add(scope)
            try:
                with scope:
                    await request(host.tournaments[self._contest.name])
            except Crashed:
                pass
            except Refusal as refusal:
                self._world.note(f"refused: {refusal}")
                return False
            finally:
                host.requests.remove(scope)
            if not host.disk.crashed:
                return not scope.cancelled_caught

    async def _begin(self, tournament: Tournament) -> None:
        """Begin by hand what a crash left waiting for somebody in the place of one that withdrew."""
        if tournament.record.state is State.REGISTERING and self._world.crashes:
            await Desk(tournament).start()

    async def _end(self, length: int) -> None:
        """End what has no end: nothing more is dealt, and what is played is played out."""
        world, name = self._world, self._contest.name
        with trio.move_on_after(ENOUGH):
            await world.until(lambda: world.witness.count(name) >= length)
        await self._ask(lambda tournament: Desk(tournament).pause())
        await self._ask(self._finish)

    async def _finish(self, tournament: Tournament) -> None:
        await self._world.until(lambda: not tournament.record.dealt)
        if tournament.record.state is not State.FINISHED:
            await tournament.keep(Turned(State.FINISHED))

    async def _challenge(self, tournament: Tournament) -> None:
        """Two who are free agree on a match, and maybe on options of its own."""
        record, game = tournament.record, tournament.game.name
        lobby = (await self._world.up()).lobby
        names = [name for name, entrant in record.entrants.items() if not entrant.gone]
        free = [player for name in names if (player := lobby.find(name, game)) and player.idle]
        if len(free) > 1 and record.state is State.RUNNING:
            first, second = self._chance.sample(free, 2)
            tournament.challenge(first, second, options(self._chance, game))

    def _entrant(self) -> str | None:
        """Somebody to send away."""
        record = self._record()
        names = [name for name, entrant in record.entrants.items() if not entrant.gone] if record else []
        return self._chance.choice(names) if names else None

    async def _match(self) -> str | None:
        """A match that counts, or is in play; or one whose result is just being kept."""
        if self._chance.random() < 0.5:
            with trio.move_on_after(60):
                await self._world.disk.busy.wait()
        record = self._record()
        if self._world.host is None or record is None:
            return None
        live = self._world.host.tournaments[self._contest.name].matches
        counting = (match for match, fact in record.matches.items() if fact.score is not None)
        names = [*(match for match in counting if match not in record.voided), *record.dealt]
        just_now = [name for name, match in live.items() if match.verdict is not None]
        return self._chance.choice(just_now or names) if names else None

    def _record(self) -> Record | None:
        host = self._world.host
        return host.tournaments[self._contest.name].record if host else None


async def fate(world: "World") -> None:
    """What befalls the host."""
    chance = Random(f"{world.plan.seed} fate")
    for trouble in world.plan.troubles:
        await world.after(trouble)
        host = await world.up()
        world.note(trouble.what)
        match trouble.what:
            case "crash":
                await world.crash()
            case "crash mid-commit":
                with trio.move_on_after(60):
                    await world.disk.busy.wait()
                    await trio.sleep(chance.choice((0, chance.uniform(0, 0.01))))
                await world.crash()
            case "stall":
                shortest = world.plan.beat + 2 * TOLERANCE  # that is sure to be noticed
                world.stall(shortest + chance.choice((chance.uniform(0, 3), chance.uniform(0, 60))))
            case _:
                await _freeze(host, chance.uniform(0, 60))
    world.fated = True
    world.changed()


async def _freeze(host: "Host", seconds: float) -> None:
    """Stop the clocks of all that is in play, as for a store that cannot be written to."""
    host.timekeeper.pause()
    await trio.sleep(seconds)
    host.timekeeper.resume()
