"""The organiser's desk: what may be asked of a tournament, and what it would change.

Each change of who or what counts is first a list of facts, which can be looked
at (`preview`) before they are made so. The policy on withdrawals and
disqualifications is in `docs/standings.md`.
"""

import trio

from tournament.record import AnyFact, Disqualified, Record, State, Turned, Voided, Withdrew
from tournament.standings import Row
from tournament.tournament import Refusal, Tournament


class Desk:
    def __init__(self, tournament: Tournament) -> None:
        self._tournament = tournament

    async def start(self) -> None:
        async with self._tournament.deciding:
            record = self._expect("started", State.REGISTERING)
            if len(record.entrants) < record.format.entrants and not record.format.endless:
                needed = f"a {record.format.name} needs {record.format.entrants}"
                raise Refusal(f"{record.name} has {len(record.entrants)} entrants; {needed}")
            await self._tournament.keep(Turned(State.RUNNING))

    async def pause(self) -> None:
        """Deal nothing more; what is being played goes on to its end."""
        async with self._tournament.deciding:
            self._expect("paused", State.RUNNING)
            await self._tournament.keep(Turned(State.PAUSED))

    async def resume(self) -> None:
        async with self._tournament.deciding:
            self._expect("resumed", State.PAUSED)
            await self._tournament.keep(Turned(State.RUNNING))

    async def withdraw(self, name: str) -> None:
        async with self._tournament.deciding:
            await self._tournament.keep(*self.withdrawal(name))
        self._tournament.expel(name)

    async def disqualify(self, name: str, why: str) -> None:
        async with self._tournament.deciding:
            await self._tournament.keep(*self.disqualification(name, why))
        self._tournament.expel(name)

    async def void(self, match: str, why: str) -> None:
        """Have a match count for nothing and be played again, whether it is over or still in play."""
        live = self._tournament.matches.get(match)
        if live is not None and live.verdict is None:
            live.void(why, trio.current_time())
            return
        if live is not None:
            async for _ in live.log.read():  # what decided it is being kept, and can be voided after that
                pass
        async with self._tournament.deciding:
            await self._tournament.keep(*self.voiding(match, why))

    # What would change

    def preview(self, changes: list[AnyFact]) -> tuple[list[Row], list[Row]]:
        """The standings before and after."""
        record = self._tournament.record
        return record.standings(), record.after(*changes).standings()

    def withdrawal(self, name: str) -> list[AnyFact]:
        """Annulled where the format does that and less than half is played; else the rest is forfeited."""
        record = self._tournament.record
        self._expect_entrant(name)
        expected = sum(name in pairing.names for pairing in record.drawn.values())
        played = sum(name in result.pairing.names for result in record.results())
        return [Withdrew(name, annulled=record.format.annuls and 2 * played < expected)]

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
