"""Bugs of the classic kinds, planted into the real code, which knows nothing of it, while a test wants it.

The first five are what such hosts have always got wrong. The others were in this
one until the simulation found them, and each shows that it would again.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from math import inf, nextafter
from typing import Any

import trio

import tournament.results
import tournament.timekeeper
from tests.simulation.plan import draw
from tests.simulation.world import Report, simulate
from tournament.absences import Absences
from tournament.clock import Clock
from tournament.concluding import Concluding
from tournament.delays import Delays
from tournament.desk import Desk
from tournament.events import Ended
from tournament.facts import AnyFact
from tournament.format import Result
from tournament.keeping import Keeper
from tournament.lobby import Lobby
from tournament.match import GRACE, Match
from tournament.pairing import round_robin
from tournament.player import Player, Seat
from tournament.presence import Presence
from tournament.settling import unplayed
from tournament.timekeeper import Timekeeper
from tournament.tournament import Tournament

SOON = 0.01  # virtual seconds, so that a world with a planted bug does not stand still
Patches = dict[tuple[object, str], Any]  # of what, which attribute is what instead


def flag_by_task_order() -> Patches:
    """Whether an answer is in time is decided by whether the timekeeper has come round yet."""
    play, flag = Match.play, Match.flag
    answering: list[Match] = []

    def play_unflagged(match: Match, *what: Any) -> None:
        answering.append(match)
        try:
            play(match, *what)
        finally:
            answering.pop()

    def flag_at_once(match: Match, at: float, **how: Any) -> None:
        if match not in answering:
            flag(match, nextafter(at, inf), **how)

    return {
        (Match, "play"): play_unflagged,
        (Match, "flag"): flag_at_once,
        (tournament.timekeeper, "LATE"): 0.0,
    }


def old_connection_clears_new() -> Patches:
    """When an old connection is cleaned up, whoever has come anew under its name is forgotten with it."""

    def forget(lobby: Lobby, player: Player) -> None:
        lobby._players[player.game].pop(player.name, None)

    return {(Lobby, "_forget"): forget}


def counted_twice_on_resume() -> Patches:
    """Going on after a crash concludes the last match that was decided once more."""
    go_on = Tournament._go_on

    async def resume(self: Tournament) -> None:
        await go_on(self)
        decided = [fact for fact in self.record.matches.values() if fact.score is not None]
        for last in decided[-1:]:
            pairing = self.record.drawn[last.pairing]
            again = Ended(0.0, last.winner, last.ending, last.why)
            await self.keep(unplayed(self.record, pairing, again, last.score))

    return {(Tournament, "_go_on"): resume}


def side_balance_off_by_one() -> Patches:
    """In the first round of a round robin the sides are the wrong way round."""
    table = round_robin.table

    def turned(names: Sequence[str]) -> round_robin.Leg:
        first, *rounds = table(names)
        return [[(second, one) for one, second in first], *rounds]

    return {(round_robin, "table"): turned}


def annulled_games_count() -> Patches:
    """The games of an entrant that withdrew in time still count for the others."""
    adjusted = tournament.results.adjusted

    def unannulled(
        results: Sequence[Result], annulled: Collection[str], disqualified: Collection[str]
    ) -> list[Result]:
        return adjusted(results, (), disqualified)

    return {(tournament.results, "adjusted"): unannulled}


def announced_before_safe() -> Patches:
    """The result is told first and kept then."""
    conclude = Concluding._conclude

    async def announce(self: Concluding) -> None:
        for match in self._verdicts:
            match.announce()
        await conclude(self)

    return {(Concluding, "_conclude"): announce}


def stall_is_not_credited() -> Patches:
    """The time that the host stood still is charged to whoever was thinking."""
    return {(Timekeeper, "catch_up"): lambda timekeeper, now: None}


def leaving_flags_the_other() -> Patches:
    """After a stall it is read that one side is gone, which flags the other, whose answer lies unread."""
    return {
        (Seat, "resign"): lambda seat: seat.match.resign(seat.index, trio.current_time()),
        (Seat, "leave"): lambda seat: seat.match.leave(seat.index, trio.current_time()),
    }


def waiting_goes_on_in_a_stall() -> Patches:
    """Whoever came back while the host stood still did not come."""
    begin = Delays._begin
    stalled = dict[Delays | Absences, float]()

    def now(self: Presence) -> float:
        stalled[self._absences] = self._timekeeper.stalled
        return trio.current_time()

    def waits_until(self: Presence) -> float:
        if trio.current_time() < (listens := self._timekeeper.listens_until):
            return listens
        until = -inf if self._absences.more else self._absences.until
        return max(until, trio.current_time() + SOON)

    return {
        (Presence, "_now"): now,
        (Presence, "waits_until"): property(waits_until),
        (Delays, "_begin"): lambda self, pairing, now: begin(self, pairing, now - stalled[self]),
    }


def one_grace_for_both() -> Patches:
    """Whoever goes away while another is waited for has only what is left of that wait."""

    def ends(self: Delays, number: int) -> float:
        since = self._waiting.get(number)
        return min(since.values()) + self._grace if since else -inf

    return {(Delays, "_ends"): ends}


def an_old_absence_counts() -> Patches:
    """Whoever has come back and goes again is waited for no longer than if it had stayed away."""
    return {(Absences, "came"): lambda self, name: None}


def known_in_the_order_of_waking() -> Patches:
    """What is kept is made known by whichever task the scheduler wakes first."""

    async def keep(self: Keeper, *facts: AnyFact) -> Sequence[str]:
        receipts = await self._store.keep(self._record.name, self._wall(), facts)
        for _ in facts[1:]:  # whoever has kept more wakes later
            await trio.lowlevel.checkpoint()
        for fact in facts:
            self._record.add(fact)
            self._added(fact)
        return receipts

    return {(Keeper, "keep"): keep}


def decisions_overlap() -> Patches:
    """Two look at what is known, and both decide, before either's decision is kept."""

    lock = trio.Lock

    class Unlocked:
        """Only whoever takes it without waiting has it for itself."""

        def __init__(self) -> None:
            self._locked = lock()

        def __getattr__(self, name: str) -> Any:
            return getattr(self._locked, name)

        async def __aenter__(self) -> None:
            pass

        async def __aexit__(self, *error: object) -> None:
            pass

    return {(trio, "Lock"): Unlocked}


def void_comes_too_late() -> Patches:
    """A match that is voided while its result is being kept counts all the same."""

    async def void(desk: Desk, match: str, why: str) -> None:
        if match in desk._tournament.matches:
            desk._tournament.matches[match].void(why, trio.current_time())
        else:
            async with desk._tournament.deciding:
                await desk._tournament.keep(*await desk.voiding(match, why))

    return {(Desk, "void"): void}


def a_restart_gives_time() -> Patches:
    """Whoever comes back to a match has all the time that it began with."""
    return {(Clock, "charge"): lambda clock, seat, spent: None}


def a_restart_takes_time() -> Patches:
    """The clock of the mover runs while its bot is still on its way back."""
    hold = Match.hold

    def running(match: Match, seat: int, until: float, at: float, *, lost: bool = False) -> None:
        hold(match, seat, until, at, lost=lost)
        if match.interrupted and match.to_move == seat:
            match.clock.start(seat, until - GRACE)

    return {(Match, "hold"): running}


CLASSIC = (
    flag_by_task_order,
    old_connection_clears_new,
    counted_twice_on_resume,
    side_balance_off_by_one,
    annulled_games_count,
)
OURS = (
    announced_before_safe,
    stall_is_not_credited,
    leaving_flags_the_other,
    waiting_goes_on_in_a_stall,
    one_grace_for_both,
    an_old_absence_counts,
    known_in_the_order_of_waking,
    decisions_overlap,
    void_comes_too_late,
    a_restart_gives_time,
    a_restart_takes_time,
)


@contextmanager
def planted(bug: Callable[[], Patches]) -> Iterator[None]:
    patches = bug()
    before = {place: getattr(*place) for place in patches}
    try:
        for (owner, attribute), instead in patches.items():
            setattr(owner, attribute, instead)
        yield
    finally:
        for (owner, attribute), original in before.items():
            setattr(owner, attribute, original)


def seeds_until_found(
    bug: Callable[[], Patches],
    seeds: range,
    held: Callable[[int], Report] = lambda seed: simulate(draw(seed)),
) -> tuple[int, str] | None:
    """How many of the seeds it takes to notice a bug, and the first complaint; None if they all pass."""
    with planted(bug):
        for count, seed in enumerate(seeds, 1):
            if complaints := held(seed).complaints:
                return count, complaints[0]
    return None
