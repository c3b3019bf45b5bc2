"""The organiser's desk: what can be ordered of a tournament, and what it would change.

Each change to who or what counts is first a list of facts, which can be looked at
(`preview`) before they are kept. The policy on withdrawals and
disqualifications is in `docs/standings.md`.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TypeVar

import trio
from msgspec import UNSET, Struct

from tournament.draws import reveals
from tournament.events import Ending
from tournament.facts import (
    Admitted,
    AnyFact,
    CheckedIn,
    Claimed,
    Described,
    Disqualified,
    EndedEarly,
    Entered,
    Froze,
    Ordered,
    Released,
    State,
    Turned,
    Voided,
    Withdrew,
)
from tournament.format import OPEN, Pairing
from tournament.kinds import with_the_house
from tournament.record import Record
from tournament.refusals import NotThere, Refusal, expect_room, has_withdrawn
from tournament.standings import Row
from tournament.tournament import Tournament
from tournament.verdicts import voided

T = TypeVar("T")

AFFILIATION = 64  # characters: it stands beside a name in tables
CONTACT = 200  # characters: an address and perhaps a telephone number


class About(Struct, frozen=True):
    """To whom an entrant belongs, and how to reach them; None: as it was said before."""

    affiliation: str | None = None
    contact: str | None = None


NOTHING = About()


class Desk:
    def __init__(self, tournament: Tournament, by: str | None = None) -> None:
        """The audit says that everything here was done `by` somebody; None: the audit says nothing."""
        self._tournament = tournament
        self._by = by

    async def start(self) -> None:
        async with self._deciding():
            record = self._expect("started", State.REGISTERING)
            if record.contestants < record.format.entrants and not record.format.endless:
                needed = f"a {record.format.name} needs {record.format.entrants}"
                raise Refusal(f"{record.name} has {_entrants(record.contestants)}; {needed}")
            await self._keep("start", "", [Turned(State.RUNNING)])

    async def delete(self) -> State:
        """Delete the tournament. What it came to stays in the journal, and its name is free again.

        Returns the state that it was in.
        """
        async with self._deciding():
            record = self._tournament.record
            if record.opened.format == OPEN:
                raise Refusal(f"{record.name} is an open table, which cannot be deleted")
            if self._tournament.matches and record.state is State.PAUSED:
                raise Refusal(f"{record.name} is paused with matches in play: let them end, then delete it")
            if record.state is State.RUNNING or self._tournament.matches:
                raise Refusal(f"{record.name} is running: pause it and let its matches end, then delete it")
            before = record.state
            await self._keep("delete", "", [Turned(State.DELETED)])
        return before

    async def pause(self) -> None:
        """Deal nothing more; what is being played goes on to its end."""
        async with self._deciding():
            self._expect("paused", State.RUNNING)
            await self._keep("pause", "", [Turned(State.PAUSED)])

    async def resume(self) -> None:
        async with self._deciding():
            self._expect("resumed", State.PAUSED)
            await self._keep("resume", "", [Turned(State.RUNNING)])

    async def end(self) -> None:
        """End it with what was played: nothing more begins, and what is in play goes on to its end."""
        async with self._deciding():
            record = self._tournament.record
            if record.format.endless:
                raise Refusal(f"{record.name} has no end: pause it, and it stays as it is")
            if record.ended_early:
                raise Refusal(f"{record.name} was ended already")
            if record.state not in (State.RUNNING, State.PAUSED):
                raise Refusal(f"{record.name} is {record.state}; only what is running or paused can be ended")
            # Whoever ordered it is told that it is over.
            over = [] if record.dealt else [*reveals(record), Turned(State.FINISHED)]
            await self._keep("end", "", [EndedEarly(), *over])

    async def withdraw(self, name: str, why: str = "") -> None:
        async with self._deciding():
            await self._keep("withdraw", _because(name, why), self.withdrawal(name))
        self._tournament.expel(name)

    async def disqualify(self, name: str, why: str) -> None:
        async with self._deciding():
            await self._keep("disqualify", _because(name, why), self.disqualification(name, why))
        self._tournament.expel(name)

    async def void(self, match: str, why: str) -> None:
        """Have a match count for nothing and be played again, whether it is over or still in play.

        If it is in play, everybody is told `why`. Otherwise its players have been told how it ended,
        and only organisers see `why`.
        """
        voiding = self._tournament.voiding
        while match in voiding:  # only one of two orders is carried out
            await self._tournament.changed()
        voiding.add(match)
        try:
            await self._void(match, why)
        finally:
            voiding.remove(match)
            self._tournament.wake()

    async def _void(self, match: str, why: str) -> None:
        record, ordered = self._tournament.record, None
        while match in record.dealt:  # until its end is kept, which may be another than ours
            live = self._tournament.matches.get(match)
            if live is None or live is ordered or live.verdict is not None:
                await self._tournament.changed()
                continue
            live.void(voided(why), trio.current_time())  # again, if another process had it and is gone
            if ordered is None:
                await self._keep("void", _because(match, why), [])
            ordered = live
        if ordered is not None and (await self._tournament.concluded(match)).ending is Ending.VOID:
            return  # otherwise it had ended in another process, which was told too late
        async with self._deciding():
            await self._keep("void", _because(match, why), await self.voiding(match, why))

    async def enter(self, name: str, about: About = NOTHING) -> None:
        """Take in a name: late, if the format allows it, or before the start, where that is by invitation.

        It belongs to whichever bot comes first under it.
        """
        async with self._deciding():
            record = self._tournament.record
            if record.state is State.REGISTERING and not record.opened.by_invitation:
                raise Refusal(f"{record.name} has not begun: whoever comes enters; invite whoever is to come")
            if name in record.out and name not in record.no_shows:
                raise Refusal(
                    f"{name} was taken out of {record.name}, which is final: it is not let in again"
                )
            if name in record.entrants and name not in record.no_shows:
                raise Refusal(f"{name} is an entrant of {record.name} already")
            expect_room(record, let_in=True)
            entered = Admitted(name) if name in record.no_shows else Entered(name)
            await self._keep("enter", name, [entered, *self._described(name, about)])

    async def check_in(self, name: str) -> None:
        """Have an entrant count as checked in, whether it is here or not."""
        async with self._deciding():
            record = self._tournament.record
            self._expect_entrant(name)
            if record.opened.check_in is UNSET:
                raise Refusal(f"nobody checks in to {record.name}: it has no check_in")
            self._expect("checked in to", State.REGISTERING)
            if name in record.checked_in:
                raise Refusal(f"{name} has checked in to {record.name} already")
            await self._keep("check-in", name, [CheckedIn(name)])

    async def describe(self, name: str, about: About) -> None:
        """Say to whom an entrant belongs, and how to reach them."""
        async with self._deciding():
            known = name in self._tournament.record.entrants
            entered = [] if known else self._expect_entrant(name)
            await self._keep("describe", name, [*entered, *self._described(name, about)])

    async def invite(self, name: str, claim: Callable[[], str], about: About = NOTHING) -> None:
        """Take in an entrant that will come with a token.

        `claim` gives the name to a new token and returns the token's digest. An earlier token is
        void.
        """
        async with self._deciding():
            record = self._tournament.record
            if record.format.endless:
                raise Refusal(f"{record.name} has no end: whoever comes takes part, and nobody is invited")
            if name not in record.entrants:
                expect_room(record, let_in=True)
            elif record.state is State.FINISHED:
                raise Refusal(f"{record.name} is over")
            else:
                self._expect_entrant(name)
            entered = [] if name in record.entrants else [Entered(name)]
            claimed = Claimed(name, claim(), invited=True)
            await self._keep("invite", name, [*entered, claimed, *self._described(name, about)])

    async def release(self, name: str) -> None:
        """Have a name that came without a token belong to whichever bot comes next under it."""
        async with self._deciding():
            record = self._expect_a_seat(name)
            if name in record.claims:
                raise Refusal(f"{name} belongs to a token: invite it again, and it gets a new one")
            if name not in record.seats:
                raise Refusal(f"{name} belongs to nobody: whoever comes next under that name has it")
            await self._keep("release", name, [Released(name)])

    async def bind(self, name: str, claim: Callable[[], str]) -> None:
        """Have the name of an entrant belong to a token from now on; `claim` is as for `invite`."""
        async with self._deciding():
            self._expect_a_seat(name)
            await self._keep("bind", name, [Claimed(name, claim())])

    async def freeze(self) -> None:
        """Show the public the standings as they are now, until `unfreeze`."""
        async with self._deciding():
            if self._tournament.record.frozen is not None:
                raise Refusal(f"the standings of {self._tournament.record.name} are frozen already")
            await self._keep("freeze", "", [Froze(True)])

    async def unfreeze(self) -> None:
        async with self._deciding():
            if self._tournament.record.frozen is None:
                raise Refusal(f"the standings of {self._tournament.record.name} are not frozen")
            await self._keep("unfreeze", "", [Froze(False)])

    # What would change

    async def preview(
        self, changes: list[AnyFact], shown: Callable[[Record, list[Row]], T]
    ) -> Callable[[], tuple[T, T]]:
        """What works out the standings before and after, as `shown`: if many have met, in seconds."""
        copies = [await self._tournament.copied_record()]

        def compared() -> tuple[T, T]:
            record = copies.pop()  # to be freed where this is worked out: a large one takes a while
            before = shown(record, record.standings())
            if not changes:
                return before, before
            for fact in changes:
                record.add(fact)
            return before, shown(record, record.standings())

        return compared

    def to_play(self, changes: list[AnyFact], name: str) -> int:
        """How many pairings the opponents of somebody who would be out win as well, one after the other."""
        annuls = any(isinstance(each, Withdrew) and each.annulled for each in changes)
        return 0 if annuls else self._tournament.record.left_to_play(name)

    def withdrawal(self, name: str) -> list[AnyFact]:
        """Annul the results, if the format does that before half is played; else have the rest lost."""
        record, entered = self._tournament.record, self._expect_entrant(name)
        if record.state is State.FINISHED:
            raise Refusal(f"{record.name} is over, so there is nothing left to withdraw from")
        return [*entered, Withdrew(name, annulled(record, name))]

    def disqualification(self, name: str, why: str) -> list[AnyFact]:
        """Have all matches of an entrant lost, even if it was withdrawn before."""
        withdrawn = has_withdrawn(self._tournament.record, name)
        entered = [] if withdrawn else self._expect_entrant(name)
        return [*entered, Disqualified(name, why)]

    async def voiding(self, match: str, why: str) -> list[AnyFact]:
        record = self._tournament.record
        if not record.is_over(match):
            raise NotThere(f"{record.name} has no match {match!r}")
        concluded = record.matches.get(match) or await self._tournament.concluded(match)
        if match in record.voided or concluded.ending is Ending.VOID:
            raise Refusal(f"{match} is void already")
        if concluded.score is None:
            house = ": one of the two is the host's own" if with_the_house(concluded.kinds) else ""
            raise Refusal(f"{match} counts for nothing already{house}")
        if record.format.eliminates:
            self._expect_last(match, record.drawn[concluded.pairing])
        over = record.state is State.FINISHED and not record.ended_early
        again = [Turned(State.RUNNING)] if over else []
        at = round(self._tournament.wall(), 3)
        if record.format.endless:  # the record may forget the match before it is voided
            return [Voided(match, why, concluded.players, concluded.score, at), *again]
        return [Voided(match, why, at=at), *again]

    # Within

    @asynccontextmanager
    async def _deciding(self) -> AsyncGenerator[None]:
        """Decide by what is known; raises `NotThere` where the tournament was deleted meanwhile."""
        async with self._tournament.deciding:
            record = self._tournament.record
            if record.state is State.DELETED:
                raise NotThere(f"{record.name} was deleted")
            yield

    def _expect_last(self, match: str, pairing: Pairing) -> None:
        """Raise `Refusal` where a match has decided who was drawn: played again, it might be others."""
        record = self._tournament.record
        for each in record.drawn.values():
            if each.round > pairing.round:
                drawn = f"round {each.round} has been drawn by what came of {match}"
            elif each.number > pairing.number and {*each.names} == {*pairing.names}:
                drawn = f"{' and '.join(each.names)} were drawn again by what came of {match}"
            else:
                continue
            raise Refusal(f"{drawn}: in a {record.format.name} that cannot be voided any more")

    def _described(self, name: str, about: About) -> list[Described]:
        record = self._tournament.record
        before = record.affiliations.get(name, ""), record.contacts.get(name, "")
        after = tuple(
            [
                old if new is None else new
                for old, new in zip(before, (about.affiliation, about.contact), strict=True)
            ]
        )
        return [Described(name, *after)] if after != before else []

    async def _keep(self, action: str, detail: str, changes: list[AnyFact]) -> None:
        """Keep the changes, together with who ordered them."""
        orders = [] if self._by is None else [Ordered(self._by, action, detail)]
        await self._tournament.keep(*orders, *changes)

    def _expect_a_seat(self, name: str) -> Record:
        record = self._tournament.record
        if record.format.endless:
            raise Refusal(f"{record.name} has no end: a name there belongs to whoever is here under it")
        if record.state is State.FINISHED:
            raise Refusal(f"{record.name} is over")
        self._expect_entrant(name)
        return record

    def _expect(self, done: str, state: State) -> Record:
        record = self._tournament.record
        if record.state is not state:
            raise Refusal(f"{record.name} is {record.state}; only what is {state} can be {done}")
        return record

    def _expect_entrant(self, name: str) -> list[Entered]:
        """The fact that has to be kept of a newcomer before any other: that it has entered."""
        record = self._tournament.record
        if self._tournament.is_newcomer(name):
            return [Entered(name)]
        if name not in record.entrants:
            raise NotThere(f"{record.name} has no entrant {name!r}")
        if name in record.out:
            raise Refusal(f"{name} is out of {record.name} already")
        return []


def annulled(record: Record, name: str) -> bool:
    """Whether the results of an entrant that withdraws now are annulled.

    A match that counts for nobody, because the opponent's are, is none of its matches, played or not.
    """
    if not record.format.annuls:
        return False
    pairings = (record.drawn[number] for number in record.results.numbers.get(name, ()))
    counting = [pairing for pairing in pairings if record.annulled.isdisjoint(pairing.names)]
    return 2 * sum(pairing.number in record.results.came_to for pairing in counting) < len(counting)


def _because(about: str, why: str) -> str:
    """What the audit says of an order: whom or what it is about, and why it was given, if that was said."""
    return f"{about}: {why}" if why else about


def _entrants(count: int) -> str:
    return "no entrants" if count == 0 else "1 entrant" if count == 1 else f"{count} entrants"
