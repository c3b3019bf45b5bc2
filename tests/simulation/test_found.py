"""What the simulation found in the referee and the tournament, each as the shortest story that shows it."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from math import inf
from random import Random

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from tests.simulation.disk import Disk, Session
from tests.tournament.world import World, first, play, silent, table
from tournament.events import Ending
from tournament.facts import Absent, AnyFact, Concluded, Dealt, Opened, State, Turned
from tournament.folding import fold
from tournament.match import GRACE, Match
from tournament.player import Seat
from tournament.refusals import Refusal
from tournament.store import Memory
from tournament.timekeeper import BEAT, LATE, TOLERANCE, Timekeeper

pytestmark = pytest.mark.slow

GAME = catalogue()["tic-tac-toe"]
SLOW = 1.0  # seconds that the store takes


@asynccontextmanager
async def cup(
    entrants: int,
    format: str = "round-robin",
    *,
    slow: bool = False,
    places: int | None = None,
    store: Memory | None = None,
    absent: Absent = "wait",
) -> AsyncIterator[World]:
    """A tournament that runs, of bot-1, bot-2 … none of whom is there yet; all enter at once."""
    opened = Opened("tic-tac-toe", format, places or entrants, pace=Pace(bank=100.0), absent=absent)
    disk = Disk(Random(0), (SLOW, SLOW) if slow else None, lambda tournament, facts: None)
    here = World(opened, store or Session(disk))  # type: ignore[arg-type]
    async with trio.open_nursery() as nursery:
        await here.store.keep("cup", 0.0, [opened])
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for number in range(1, entrants + 1):
            nursery.start_soon(enter, here, f"bot-{number}")
        yield here
        nursery.cancel_scope.cancel()


async def enter(here: World, name: str) -> None:
    with suppress(Refusal):
        await here.tournament.enter(name)


def facts(here: World) -> list[AnyFact]:
    return [kept.fact for kept in here.store.kept()]


# A stall of the host


@asynccontextmanager
async def stalled_match(mock_clock: MockClock) -> AsyncIterator[tuple[Match, Timekeeper]]:
    """Seat 0 has 10 s and is to move; the host has stood still for a minute, and nobody has noticed yet."""
    timekeeper = Timekeeper(BEAT)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        match = Match(GAME, ("ann", "bob"), trio.current_time(), pace=Pace(bank=10.0))
        timekeeper.watch(match)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(60.0)
        yield match, timekeeper
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("ending", [Ending.RESIGNED, Ending.LEFT])
async def test_whoever_is_gone_after_a_stall_does_not_flag_the_other(
    mock_clock: MockClock, ending: Ending
) -> None:
    async with stalled_match(mock_clock) as (match, timekeeper):
        bob = Seat(match, 1, timekeeper)
        bob.resign() if ending is Ending.RESIGNED else bob.leave()
        assert match.verdict is not None
        assert (match.verdict.winner, match.verdict.ending) == (0, ending)


async def test_a_stall_is_not_charged_to_an_answer_that_is_in_time_all_the_same(
    mock_clock: MockClock,
) -> None:
    timekeeper = Timekeeper(BEAT)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        match = Match(GAME, ("ann", "bob"), trio.current_time(), pace=Pace(bank=100.0))
        timekeeper.watch(match)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(60.0)
        Seat(match, 0, timekeeper).play("C")
        assert match.moves_and_times()[1] == pytest.approx((0.0,), abs=BEAT)
        nursery.cancel_scope.cancel()


async def test_after_a_stall_the_sockets_are_looked_into_whoever_noticed_it(mock_clock: MockClock) -> None:
    async with stalled_match(mock_clock) as (match, timekeeper):
        looks: list[float] = []
        timekeeper.look = lambda: looks.append(trio.current_time())
        Seat(match, 0, timekeeper).play("C")
        await trio.testing.wait_all_tasks_blocked()
        assert looks == [trio.current_time()]


async def test_the_grace_before_a_match_stands_still_with_the_host(mock_clock: MockClock) -> None:
    async with cup(2) as here:
        here.timekeeper._beat = BEAT
        here.come("bot-1")
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(BEAT)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(2 * GRACE)
        await trio.testing.wait_all_tasks_blocked()
        assert not here.concluded()
        here.come("bot-2")
        await trio.testing.wait_all_tasks_blocked()
        assert here.tournament.matches


async def test_whoever_came_while_the_host_stood_still_is_heard_before_its_matches_are_lost(
    mock_clock: MockClock,
) -> None:
    async with cup(3, absent="settle") as here:
        here.timekeeper._beat = GRACE
        first = here.come("bot-1")
        here.come("bot-2")
        for _ in range(3):  # bot-3 is away for long enough, while the others play
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(GRACE)
        await trio.testing.wait_all_tasks_blocked()
        assert first.seat is not None
        first.seat.resign()
        mock_clock.jump(2 * GRACE)
        await trio.testing.wait_all_tasks_blocked()
        here.come("bot-3")
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(TOLERANCE)
        await trio.testing.wait_all_tasks_blocked()
        assert [fact.ending for fact in here.concluded()] == [Ending.RESIGNED]
        assert len(here.tournament.matches) == 1


# Time


async def test_a_flag_is_late_even_when_the_timekeeper_is_awake_for_another_match(
    autojump_clock: MockClock,
) -> None:
    """An answer that is stamped at its deadline may be read a moment after it."""
    timekeeper = Timekeeper(inf)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        now = trio.current_time()
        other = Match(GAME, ("ann", "bob"), now, pace=Pace(bank=10.0))
        match = Match(GAME, ("cas", "dan"), now, pace=Pace(bank=10.0 + LATE / 2))
        for each in (other, match):
            timekeeper.watch(each)
        deadline = match.deadline
        await trio.sleep_until(deadline + 0.8 * LATE)
        assert other.verdict is not None
        Seat(match, 0, timekeeper).play("C", deadline)
        assert match.verdict is None
        nursery.cancel_scope.cancel()


def test_whoever_left_for_good_while_time_stood_still_has_lost_when_it_goes_on() -> None:
    """It used to leave a deadline before all time, which the timekeeper then took for an endless stall."""
    match = Match(GAME, ("ann", "bob"), 0.0)
    match.pause(1.0)
    match.leave(0, 2.0)
    match.resume(3.0)
    assert match.verdict is not None
    assert (match.verdict.winner, match.verdict.ending, match.deadline) == (1, Ending.LEFT, inf)


# Who is there


async def drawn_beside_one_who_is_here(here: World) -> tuple[str, str]:
    """Who meet in the first round of a cup of three. The third is here: otherwise all waits stand still."""
    await trio.testing.wait_all_tasks_blocked()
    (pairing,) = here.tournament.record.open.values()
    (bystander,) = here.tournament.record.entrants.keys() - pairing.names
    here.come(bystander)
    return pairing.names


async def test_if_both_are_absent_each_has_the_grace(autojump_clock: MockClock) -> None:
    async with cup(3, "knockout") as here:
        _, name = await drawn_beside_one_who_is_here(here)
        bob = here.come(name)
        await trio.sleep(20.0)
        bob.away()
        await trio.sleep(20.0)
        assert not here.concluded()
        bob.back()
        await trio.sleep(1.0)
        assert [fact.players[fact.winner or 0] for fact in here.concluded()] == [name]


async def test_what_is_played_again_because_nobody_came_is_waited_for_again(
    autojump_clock: MockClock,
) -> None:
    async with cup(3, "knockout") as here:
        await drawn_beside_one_who_is_here(here)
        await trio.sleep(1.5 * GRACE)
        assert [fact.ending for fact in here.concluded()] == [Ending.VOID]
        await trio.sleep(GRACE)
        assert [fact.ending for fact in here.concluded()] == [Ending.VOID, Ending.LEFT]


async def test_whoever_plays_is_there_whatever_older_connections_of_its_linger(
    autojump_clock: MockClock,
) -> None:
    async with cup(3) as here, trio.open_nursery() as nursery:
        for name in ("bot-1", "bot-2", "bot-3"):
            here.come(name).away()
            nursery.start_soon(play, here.come(name), silent)
        await trio.sleep(2 * GRACE)
        assert len(here.tournament.matches) == 1
        assert not here.concluded()
        nursery.cancel_scope.cancel()


async def test_a_challenge_that_comes_to_nothing_leaves_both_free(autojump_clock: MockClock) -> None:
    async with cup(2, "open") as here:
        await trio.sleep(1.0)
        await here.desk.pause()
        ann, bob = here.come("bot-1"), here.come("bot-2")
        here.tournament.challenge(ann, bob)
        assert not ann.idle
        await here.tournament.keep(Turned(State.FINISHED))
        await trio.sleep(1.0)
        assert ann.idle
        assert bob.idle


# A store that takes its time


async def test_what_is_known_is_in_the_order_of_the_store(autojump_clock: MockClock) -> None:
    async with cup(8, slow=True) as here, trio.open_nursery() as nursery:
        for number in range(1, 9):
            nursery.start_soon(play, here.come(f"bot-{number}"), first)
        await here.tournament.finished()
        await trio.sleep(2 * SLOW)
        known, kept = here.tournament.record, fold(here.store.kept())["cup"]
        assert list(known.matches) == list(kept.matches)
        assert known.results.remembered() == kept.results.remembered()
        nursery.cancel_scope.cancel()


async def test_what_was_asked_for_is_known_even_if_whoever_asked_has_gone(autojump_clock: MockClock) -> None:
    async with cup(2, slow=True) as here:
        await trio.sleep(10 * SLOW)
        with trio.move_on_after(SLOW / 2) as request:
            await here.desk.disqualify("bot-1", "it cheated")
        assert not request.cancelled_caught or "bot-1" not in here.tournament.record.disqualified
        await trio.sleep(2 * SLOW)
        assert here.tournament.record.disqualified == fold(here.store.kept())["cup"].disqualified == {"bot-1"}


async def test_many_who_enter_at_once_fill_it_and_no_more(autojump_clock: MockClock) -> None:
    async with cup(3, slow=True, places=2) as here:
        await trio.sleep(5 * SLOW)
        assert len(here.tournament.record.entrants) == 2
        assert here.tournament.record.state is State.RUNNING


async def test_nothing_is_dealt_after_a_pause(autojump_clock: MockClock) -> None:
    async with cup(2, slow=True) as here:
        for name in ("bot-1", "bot-2"):
            here.come(name)
        record = here.tournament.record
        while record.state is not State.RUNNING:  # noqa: ASYNC110 - it takes some commits
            await trio.sleep(0.5 * SLOW)
        assert not record.drawn, "the pairing is being kept, and then dealt"
        await here.desk.pause()
        paused = facts(here).index(Turned(State.PAUSED))
        await trio.sleep(10 * SLOW)
        assert all(isinstance(fact, Concluded) for fact in facts(here)[paused + 1 :])


async def test_a_match_in_play_is_void_for_good_when_whoever_had_it_voided_is_told_so(
    autojump_clock: MockClock,
) -> None:
    """The order was kept before the match's end: a crash in between took back what had been confirmed."""
    async with cup(2, slow=True) as here, trio.open_nursery() as nursery:
        for name in ("bot-1", "bot-2"):
            nursery.start_soon(play, here.come(name), silent)
        await trio.sleep(6 * SLOW)
        ((match, _),) = here.tournament.matches.items()
        await here.desk.void(match, "a mistake")
        (kept,) = fold(here.store.kept())["cup"].matches.values()
        assert (kept.match, kept.ending) == (match, Ending.VOID)
        nursery.cancel_scope.cancel()


class OneByOne(Memory):
    """A store that keeps what it is asked to one after another, and takes its time with each."""

    def __init__(self) -> None:
        super().__init__()
        self._writing = trio.Lock()

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        async with self._writing:
            await trio.sleep(SLOW)
            return await super().keep(tournament, when, facts)


async def test_whoever_was_taken_out_is_not_dealt_the_match_that_ended_by_it(
    autojump_clock: MockClock,
) -> None:
    """Nobody had moved, so it was void and open again, while what else that bot had lost was being kept."""
    async with cup(3, store=OneByOne()) as here, trio.open_nursery() as nursery:
        for name in ("bot-1", "bot-2", "bot-3"):
            nursery.start_soon(play, here.come(name), silent)
        await trio.sleep(7 * SLOW)
        ((match, played),) = here.tournament.matches.items()
        out = played.names[0]
        await here.desk.withdraw(out)
        await trio.sleep(10 * SLOW)
        dealt = {fact.match: fact.pairing for fact in facts(here) if isinstance(fact, Dealt)}
        drawn = here.tournament.record.drawn
        assert [name for name, number in dealt.items() if out in drawn[number].names] == [match]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("asked", ["void", "pause"])
async def test_what_is_asked_of_it_while_it_ends_comes_before_or_after(
    autojump_clock: MockClock, asked: str
) -> None:
    async with cup(2, slow=True) as here, trio.open_nursery() as nursery:
        for name in ("bot-1", "bot-2"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(6 * SLOW)
        await here.tournament.quiet()  # its end is about to be kept
        (match,) = here.tournament.record.matches
        request = here.desk.void(match, "a mistake") if asked == "void" else here.desk.pause()
        with suppress(Refusal):  # as it is finished
            await request
        await trio.sleep(SLOW)
        record = here.tournament.record
        if record.state is State.PAUSED:
            await here.desk.resume()
            await trio.sleep(2 * SLOW)
        assert (record.state is State.FINISHED) == (not record.open and not record.dealt)
        nursery.cancel_scope.cancel()


async def test_a_match_can_be_voided_while_its_result_is_being_kept(autojump_clock: MockClock) -> None:
    async with cup(2, slow=True) as here:
        players = [here.come(name) for name in ("bot-1", "bot-2")]
        await trio.sleep(10 * SLOW)
        (match,) = here.tournament.matches
        players[0].seat.resign()  # type: ignore[union-attr]
        await trio.sleep(SLOW / 2)
        await here.desk.void(match, "a mistake")
        assert match in here.tournament.record.voided


async def test_whoever_is_disqualified_while_its_first_match_ends_stays_so(autojump_clock: MockClock) -> None:
    """A newcomer enters with its first match, and with the first order about it: one undid the other."""
    store = OneByOne()
    await store.keep("cup", 0.0, [Opened("tic-tac-toe", "ladder")])
    async with table("tic-tac-toe", "ladder", store) as (here, nursery):
        players = {name: here.come(name) for name in ("bot-1", "bot-2")}
        for name in players:
            await here.tournament.enter(name)
        await trio.sleep(5 * SLOW)
        ((match, played),) = here.tournament.matches.items()
        for name, move in zip(played.names, ("NW", "C"), strict=True):
            players[name].seat.play(move)  # type: ignore[union-attr]
        nursery.start_soon(here.desk.disqualify, "bot-1", "it cheated")
        await trio.sleep(SLOW / 2)
        players["bot-2"].seat.resign()  # type: ignore[union-attr]
        await trio.sleep(10 * SLOW)
        record, kept = here.tournament.record, fold(store.kept())["cup"]
        assert list(record.matches) == [match]
        assert record.out == kept.out == {"bot-1"}
        assert record.entrants == kept.entrants
        assert (len(record.drawn), record.facts) == (1, kept.facts)


# Formats


async def test_a_drawn_match_of_a_knockout_is_played_again_at_once(autojump_clock: MockClock) -> None:
    """And not when the others of its round are over."""
    async with cup(4, "knockout") as here:
        players = {f"bot-{number}": here.come(f"bot-{number}") for number in range(1, 5)}
        await trio.sleep(1.0)
        drawn = next(iter(here.tournament.matches.values()))
        for turn, move in enumerate(("NW", "N", "NE", "C", "W", "E", "S", "SW", "SE")):
            players[drawn.names[turn % 2]].seat.play(move)  # type: ignore[union-attr]
        await trio.sleep(1.0)
        assert {match.names for match in here.tournament.matches.values()} >= {drawn.names[::-1]}
