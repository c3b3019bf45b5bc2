"""The organiser's desk: what can be ordered of a tournament, and what it would change.

Each change to who or what counts is first a list of facts, which can be looked at
(`preview`) before they are kept. The policy on withdrawals and
disqualifications is in `docs/standings.md`.
"""

from collections.abc import Callable

import trio

from tournament.record import (
    AnyFact,
    Claimed,
    Disqualified,
    Entered,
    Froze,
    Ordered,
    Record,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.standings import Row
from tournament.tournament import Refusal, Tournament


class Desk:
    def __init__(self, tournament: Tournament, by: str | None = None) -> None:
        """What is done here is kept as done `by` somebody; None: it need not be known."""
        self._tournament = tournament
        self._by = by

    async def start(self) -> None:
        async with self._tournament.deciding:
            record = self._expect("started", State.REGISTERING)
            if len(record.entrants) < record.format.entrants and not record.format.endless:
                needed = f"a {record.format.name} needs {record.format.entrants}"
                raise Refusal(f"{record.name} has {len(record.entrants)} entrants; {needed}")
            await self._keep("start", "", [Turned(State.RUNNING)])

    async def pause(self) -> None:
        """Deal nothing more; what is being played goes on to its end."""
        async with self._tournament.deciding:
            self._expect("paused", State.RUNNING)
            await self._keep("pause", "", [Turned(State.PAUSED)])

    async def resume(self) -> None:
        async with self._tournament.deciding:
            self._expect("resumed", State.PAUSED)
            await self._keep("resume", "", [Turned(State.RUNNING)])

    async def withdraw(self, name: str) -> None:
        async with self._tournament.deciding:
            await self._keep("withdraw", name, self.withdrawal(name))
        self._tournament.expel(name)

    async def disqualify(self, name: str, why: str) -> None:
        async with self._tournament.deciding:
            await self._keep("disqualify", f"{name}: {why}", self.disqualification(name, why))
        self._tournament.expel(name)

    async def void(self, match: str, why: str) -> None:
        """Have a match count for nothing and be played again, whether it is over or still in play."""
        live = self._tournament.matches.get(match)
        if live is not None and live.verdict is None:
            live.void(why, trio.current_time())
            await self._keep("void", f"{match}: {why}", [])
            return
        if live is not None:
            async for _ in live.log.read():  # what decided it is being kept, and can be voided after that
                pass
        async with self._tournament.deciding:
            await self._keep("void", f"{match}: {why}", self.voiding(match, why))

    async def enter(self, name: str) -> None:
        """Take in somebody who comes late, if the format allows it."""
        async with self._tournament.deciding:
            record = self._tournament.record
            if record.state is State.REGISTERING:
                raise Refusal(f"{record.name} has not begun: who comes enters, and who is to come is invited")
            if name in record.entrants:
                raise Refusal(f"{name} is an entrant of {record.name} already")
            self._tournament.expect_room(late=True)
            await self._keep("enter", name, [Entered(name)])

    async def invite(self, name: str, claim: Callable[[], str]) -> None:
        """Take in somebody who will come with a token.

        `claim` makes the name that token's, and returns its digest. Whoever is in already gets a new one.
        """
        async with self._tournament.deciding:
            record = self._tournament.record
            if record.format.endless:
                raise Refusal(f"{record.name} has no end: whoever comes takes part, and nobody is invited")
            if name not in record.entrants:
                self._tournament.expect_room(late=True)
            elif record.state is State.FINISHED:
                raise Refusal(f"{record.name} is over")
            else:
                self._expect_entrant(name)
            entered = [] if name in record.entrants else [Entered(name)]
            await self._keep("invite", name, [*entered, Claimed(name, claim(), invited=True)])

    async def freeze(self) -> None:
        """Show the public the standings as they are now, until they thaw."""
        async with self._tournament.deciding:
            if self._tournament.record.frozen is not None:
                raise Refusal(f"the standings of {self._tournament.record.name} are frozen already")
            await self._keep("freeze", "", [Froze(True)])

    async def unfreeze(self) -> None:
        async with self._tournament.deciding:
            if self._tournament.record.frozen is None:
                raise Refusal(f"the standings of {self._tournament.record.name} are not frozen")
            await self._keep("unfreeze", "", [Froze(False)])

    # What would change

    def preview(self, changes: list[AnyFact]) -> tuple[list[Row], list[Row]]:
        """The standings before and after."""
        record = self._tournament.record
        return record.standings(), record.after(*changes).standings()

    def withdrawal(self, name: str) -> list[AnyFact]:
        """Annulled where the format does that and less than half is played; else the rest is forfeited."""
        self._expect_entrant(name)
        return [Withdrew(name, annulled(self._tournament.record, name))]

    def disqualification(self, name: str, why: str) -> list[AnyFact]:
        self._expect_entrant(name)
        return [Disqualified(name, why)]

    def voiding(self, match: str, why: str) -> list[AnyFact]:
        record = self._tournament.record
        concluded = record.matches.get(match)
        if concluded is None:
            raise Refusal(f"{record.name} has no match {match!r}")
        if match in record.voided or concluded.score is None:
            raise Refusal(f"{match} is void already")
        again = [Turned(State.RUNNING)] if record.state is State.FINISHED else []
        return [Voided(match, why), *again]

    # Within

    async def _keep(self, action: str, detail: str, changes: list[AnyFact]) -> None:
        """What is changed, and who did that."""
        orders = [] if self._by is None else [Ordered(self._by, action, detail)]
        await self._tournament.keep(*orders, *changes)

    def _expect(self, done: str, state: State) -> Record:
        record = self._tournament.record
        if record.state is not state:
            raise Refusal(f"{record.name} is {record.state}; only what is {state} can be {done}")
        return record

    def _expect_entrant(self, name: str) -> None:
        record = self._tournament.record
        if name not in record.entrants:
            raise Refusal(f"{record.name} has no entrant {name!r}")
        if record.entrants[name].gone:
            raise Refusal(f"{name} is out of {record.name} already")


def annulled(record: Record, name: str) -> bool:
    """Whether somebody who withdraws now takes back what it has played."""
    expected = sum(name in pairing.names for pairing in record.drawn.values())
    played = sum(name in result.pairing.names for result in record.results())
    return record.format.annuls and 2 * played < expected
