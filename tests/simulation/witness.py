"""What is watched while it happens, because the facts that are left do not tell it.

Nothing is announced that is not safe; whoever loses a point by anything but the
rules of the game has deserved it; nobody who could play stands idle.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import trio

from tests.simulation import oracles
from tests.simulation.ledger import Ledger
from tests.simulation.sheet import Sheet
from tournament.events import NOBODY, AnyEvent, Ended, Ending
from tournament.facts import AnyFact, Concluded, Drew
from tournament.folding import fold
from tournament.match import Match
from tournament.player import Seat
from tournament.settling import CUT_SHORT

if TYPE_CHECKING:
    from tests.simulation.world import World

FACTS = 20_000  # more than any tournament here comes to
LOOKS = (0.1, 30.0)  # virtual seconds between two looks for somebody idle


class Witness:
    def __init__(self, world: "World") -> None:
        self._world = world
        self._concluded = dict.fromkeys(world.contests, 0)
        self._sheets: dict[tuple[str, str], Sheet] = {}  # of matches in play, by match and name

    def count(self, contest: str | None = None) -> int:
        """Matches concluded so far."""
        return sum(self._concluded.values()) if contest is None else self._concluded[contest]

    def sheet(self, seat: Seat, name: str) -> Sheet:
        sheet = self._sheets[seat.match.name, name] = Sheet(seat, self._world)
        return sheet

    # What the tournament tells

    def told(self, contest: str, fact: AnyFact) -> None:
        self._world.note(f"{contest}: {fact}")
        if isinstance(fact, Concluded):
            self._concluded[contest] += 1
            if self._world.disk.concluded(contest, fact.match) != fact:
                self._world.complain(f"{fact.match} was told of before it was safe")
        self._world.changed()

    def begun(self, contest: str, match: Match) -> None:
        if self._world.host is not None:
            self._world.host.begun.add(match.name)
        match.log.follow(lambda event: self._see(contest, match, event))

    def _see(self, contest: str, match: Match, event: AnyEvent) -> None:
        if isinstance(event, Ended):
            self._judge(contest, match, event)
        elif match.verdict is not None and self._world.disk.concluded(contest, match.name) is None:
            self._world.complain(f"{match.name}: {event} was announced, and the verdict was not safe")
        left = match.left(trio.current_time())
        if min(seconds or 0.0 for seconds in left) < 0:
            self._world.complain(f"{match.name}: the clocks show {left}")

    def _judge(self, contest: str, match: Match, verdict: Ended) -> None:
        """A verdict that is announced has to be what is kept, and deserved by whomever it costs a point."""
        kept = self._world.disk.concluded(contest, match.name)
        if kept is None or (kept.winner, kept.ending, kept.why) != (
            verdict.winner,
            verdict.ending,
            verdict.why,
        ):
            self._world.complain(f"{match.name}: {verdict} was announced while {kept} was kept")
        sheets = [self._sheets.pop((match.name, name), None) for name in match.names]
        absence = verdict.ending is Ending.LEFT or verdict.why == NOBODY
        if verdict.ending is Ending.VOID and not absence:
            return
        for seat, (name, sheet) in enumerate(zip(match.names, sheets, strict=True)):
            if verdict.winner == seat or (absence and self._out(contest, name)):
                continue
            gone = self._world.bots[name].gone
            if not (gone(verdict.at) if sheet is None else sheet.deserved(verdict, gone)):
                self._world.complain(f"{match.name}: {name} has not deserved this: {verdict}")

    # What the tournament asks the store to keep

    def asked(self, contest: str, facts: Sequence[AnyFact]) -> None:
        if self._world.disk.size > FACTS:
            raise RuntimeError(f"more than {FACTS} facts")
        host = self._world.host
        if host is None or contest not in host.tournaments:
            return
        record = host.tournaments[contest].record
        for fact in facts:
            match fact:
                case Drew(pairings=pairings) if record.opened.format == "ladder":
                    for complaint in oracles.twice_running(record, pairings, host.lobby):
                        self._world.complain(complaint)
                case Concluded() if fact.match not in record.dealt:
                    self._judge_unplayed(contest, fact, record.format.endless)
                case Concluded() if fact.why == CUT_SHORT and fact.match in host.begun:
                    self._world.complain(f"{fact.match} was cut short, and the host is up")
                case Concluded() if fact.why.startswith(CUT_SHORT) and fact.match in record.keys:
                    natures = [self._world.plan.natures[name] for name in fact.players]
                    out = any(self._out(contest, name) for name in fact.players)
                    if all(nature.honest for nature in natures) and not out:
                        self._world.complain(f"{fact.match} was cut short, and both have come back: {fact}")
                case _:
                    pass

    def _judge_unplayed(self, contest: str, fact: Concluded, endless: bool) -> None:
        """What is decided without a match is decided by who is out, and who was missing all the grace."""
        now = trio.current_time()
        out = [self._out(contest, name) for name in fact.players]
        settles = self._world.contests[contest].absent == "settle"
        bots = [self._world.bots[name] for name in fact.players]
        missing = [bot.missing(now) and not (settles and bot.here) for bot in bots]
        match fact.winner:
            case None if fact.ending is Ending.LEFT:
                right = all(out) or all(missing)
            case None:
                right = endless or all(missing)
            case winner:
                right = not out[winner] and (out[1 - winner] or missing[1 - winner] > missing[winner])
        if not right:
            self._world.complain(f"{fact.match}: nobody has deserved {fact}")

    def is_out(self, match: Match, name: str) -> bool:
        """Whether an organiser took a bot out of the tournament of a match."""
        return self._out(match.name.rpartition("-")[0], name)

    def _out(self, contest: str, name: str) -> bool:
        return (contest, name) in self._world.disk.out

    # Looks of its own

    async def inspect(self) -> None:
        """See now and then whether everybody who could play does play."""
        world = self._world
        while True:
            await trio.sleep(world.chance.uniform(*LOOKS))
            await trio.testing.wait_all_tasks_blocked()
            if world.host is not None and not world.disk.busy.is_set():
                for name, tournament in world.host.tournaments.items():
                    for complaint in oracles.idle(tournament, world.contests[name].at_once, world.host.lobby):
                        world.complain(complaint)

    def conclude(self) -> None:
        """All is over: look at what is left."""
        world = self._world
        kept = list(world.disk.kept())
        folded = fold(kept)
        honest = {name for name, nature in world.plan.natures.items() if nature.honest}
        for name, contest in world.contests.items():
            facts = [entry.fact for entry in kept if entry.tournament == name]
            ledger = Ledger(contest, facts, honest)
            live = world.host.tournaments[name].record if world.host is not None else folded[name]
            wrong = [
                *ledger.wrong,
                *oracles.added_up(ledger, live, folded[name]),
                *oracles.complete(ledger, contest),
                *oracles.replayed(ledger, world.game, world.plan.options, world.pace),
                *oracles.voided(ledger, world.organisers[name].voided),
            ]
            for complaint in wrong:
                world.complain(f"{name}, a {contest.format}: {complaint}")
