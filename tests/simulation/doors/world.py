"""Lets a plan happen, and looks at what came of it."""

from collections.abc import Iterator
from random import Random

import msgspec
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.simulation import oracles
from tests.simulation.chronicle import Chronicle
from tests.simulation.doors.bots import Bot
from tests.simulation.doors.plan import Plan
from tests.simulation.doors.spectators import look_on
from tests.simulation.doors.talk import DRAWN, LOST, NOTHING, WON, Gone, Over
from tests.simulation.doors.town import Town
from tests.simulation.doors.web import Client
from tests.simulation.ledger import Ledger
from tests.simulation.world import Report, run
from tournament.events import Ending, absences
from tournament.facts import Concluded, Dealt
from tournament.folding import fold
from tournament.refusals import Refusal

ENTERED = 30.0  # virtual seconds after which everybody is entered, whether they have come or not
BOUND = 50_000.0  # … in which a tournament has to be over
ECHO = 60.0  # … in which what was said last is heard
FAREWELL = 8000.0  # … after which nobody who is gone is remembered: an open table calls bots for an hour
COMPLETE = ("memo", "c4-arena", "arena", "dots", "house by polls", "house by stream")  # also if cut
CALLED = "arena, called"  # is not called to what is over before its turn to be called has come


class World(Chronicle):
    def __init__(self, plan: Plan, clock: MockClock, tracing: bool) -> None:
        super().__init__(clock, tracing)
        self.plan = plan
        self.matches = 0
        self.ended = 0.0

    async def run(self) -> None:
        plan, town = self.plan, Town(self.plan, self.note, self.complain)
        bots = [Bot(name, character, town, plan) for name, character in plan.characters.items()]
        async with trio.open_nursery() as nursery:
            await nursery.start(town.host.run)
            tournament = await town.open()
            async with trio.open_nursery() as streets:
                for bot in bots:
                    streets.start_soon(bot.live, streets)
                for number, how in enumerate(plan.spectators, 101):
                    chance = Random(f"{plan.seed} spectator {number}")
                    streets.start_soon(look_on, f"spectator-{number}", how, town, chance)
                await trio.sleep(ENTERED)
                for bot in bots:
                    try:
                        await tournament.enter(bot.name)
                    except Refusal as refusal:
                        self.note(f"{bot.name} is not entered: {refusal}")
                with trio.move_on_after(BOUND) as bound:
                    await tournament.finished()
                if bound.cancelled_caught:
                    self.complain(f"not over after {BOUND} s")
                self.ended = trio.current_time()
                await trio.sleep(ECHO)
                streets.cancel_scope.cancel()
            await self._look(town, bots)
            for bot in bots:
                await bot.leave()
            town.notice()
            await trio.sleep(FAREWELL)
            for what, count in town.left().items():
                if count:
                    self.complain(f"left behind: {count} {what}")
            for place, count in town.host.guard.caught.items():
                self.complain(f"caught by the guard: {place}, {count} times")
            nursery.cancel_scope.cancel()

    async def _look(self, town: Town, bots: list[Bot]) -> None:
        plan = self.plan
        record = town.host.tournaments[town.name].record
        honest = {bot.name for bot in bots if bot.character.honest}
        facts = [entry.fact for entry in town.kept]
        ledger = Ledger(plan.contest, facts, honest)
        begun = {fact.match for fact in facts if isinstance(fact, Dealt)}
        game = catalogue()[plan.game]
        self.matches = len(record.matches)
        for complaint in (
            *ledger.wrong,
            *oracles.added_up(ledger, record, fold(town.kept)[town.name]),
            *oracles.complete(ledger, plan.contest),
            *oracles.replayed(ledger, game, plan.options, plan.pace or game.pace),
            *voided(ledger, honest),
        ):
            self.complain(f"a {plan.contest.format}: {complaint}")
        for bot in bots:
            played = [
                fact for fact in ledger.concluded.values() if bot.name in fact.players and fact.match in begun
            ]
            for complaint in misled(bot, played):
                self.complain(f"{bot.name}, {bot.character.wire}: {complaint}")
        if not self.complaints:
            await self._ask_the_api(town, ledger)

    async def _ask_the_api(self, town: Town, ledger: Ledger) -> None:
        client = Client(town, "api-200")
        try:
            answer = await client.ask("GET", f"/api/tournaments/{town.name}/standings")
        except Gone:
            self.complain("the API hung up")
            return
        client.close()
        table = {row["name"]: int(2 * row["points"]) for row in msgspec.json.decode(answer.body)["rows"]}
        if table != (points := {name: account["halves"] for name, account in ledger.accounts().items()}):
            self.complain(f"the API says {table}, the facts {points}")


def voided(ledger: Ledger, honest: set[str]) -> Iterator[str]:
    """Nobody voids anything here: an honest bot's match comes to nothing only if its opponent goes early."""
    for fact in ledger.concluded.values():
        here = honest.intersection(fact.players)
        gone = [name for name in fact.players if name not in here and fact.why in absences(name)]
        if fact.ending is Ending.VOID and here and not gone:
            yield f"an honest bot's match came to nothing: {fact}"


def misled(bot: Bot, played: list[Concluded]) -> Iterator[str]:
    """What an honest bot was told has to be what is recorded, and what anybody was told by name."""
    named = {fact.match: fact for fact in played}
    if not bot.character.honest:
        for over in bot.told:
            if over.match in named and not agree(bot, over, named[over.match]):
                yield f"was told {over} of {named[over.match]}"
        return
    yield from (f"complains that it {complaint}" for complaint in (*bot.complaints, *bot.talk.complaints))
    told = bot.told[: len(played)]  # what comes after the tournament is another table's
    if bot.character.wire == CALLED or (bot.cut and bot.character.wire not in COMPLETE):
        told = [over for over in bot.told if over.match in named]
        played = [named[over.match or ""] for over in told]
    if len(told) != len(played):
        yield f"was told {told} of {played}"
        return
    for over, fact in zip(told, played, strict=True):
        if not agree(bot, over, fact):
            yield f"was told {over} of {fact}"


def agree(bot: Bot, over: Over, fact: Concluded) -> bool:
    """Whether what was told of a match is what is recorded, as far as the wire has words for it."""
    seat = fact.players.index(bot.name)
    result = WON if fact.winner == seat else LOST if fact.winner is not None else NOTHING
    if fact.winner is None and fact.ending is Ending.PLAYED:
        result = DRAWN
    if over.match not in (None, fact.match) or over.ending not in (None, (fact.ending, fact.why)):
        return False
    match bot.character.wire:
        case "memo" if result == NOTHING:  # whoever stays has won, also where it counts for nothing
            went = [each for each in fact.players if fact.why in absences(each)]
            return over.result == (DRAWN if not went else LOST if bot.name in went else WON)
        case "c4-arena" if result == NOTHING:
            return over.result == WON  # it was told that the other has gone, which is all that it can be
        case "arena" | "arena, called" if fact.ending is not Ending.PLAYED:
            return over.result in (result, NOTHING)  # a flip of the table says it, or nothing
        case _:
            return over.result == result


def simulate(plan: Plan, tracing: bool = False) -> Report:
    """Let all of a plan happen; the same plan comes to the same report in every process."""
    clock = MockClock(autojump_threshold=0)
    world = World(plan, clock, tracing)
    for entry in run(world, plan.seed, clock):
        if entry["log_level"] in ("error", "critical"):
            world.complain(f"logged: {entry}")
    return Report(plan.seed, 1, world.matches, world.ended, tuple(world.complaints), tuple(world.trace))
