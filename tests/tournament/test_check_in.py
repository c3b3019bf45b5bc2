"""Checking in before a tournament starts by itself: who is drawn, and who is not."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from tests.tournament.world import World, first, play
from tournament.facts import Entered, NoShow, Opened, State, Turned
from tournament.folding import fold
from tournament.match import GRACE
from tournament.record import Record
from tournament.refusals import Refusal
from tournament.store import Memory
from tournament.timekeeper import BEAT

MINUTE = 60.0
CHECK_IN = 10 * MINUTE


@asynccontextmanager
async def registering() -> AsyncGenerator[tuple[World, trio.Nursery, float]]:
    """An hour before it starts by itself; entrants check in during the last ten minutes of that."""
    start = trio.current_time() + 60 * MINUTE
    here = World(Opened("tic-tac-toe", "round-robin", start_at=start, check_in=CHECK_IN))
    await here.store.keep("cup", trio.current_time(), [here.tournament.record.opened])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for name in ("ann", "bob", "cas", "dee"):
            await here.tournament.enter(name)
        yield here, nursery, start
        nursery.cancel_scope.cancel()


def drawn(record: Record) -> set[str]:
    return {name for pairing in record.drawn.values() for name in pairing.names}


async def test_whoever_was_here_in_time_is_drawn_and_nobody_else(autojump_clock: MockClock) -> None:
    async with registering() as (here, nursery, start):
        early = here.come("dee")
        nursery.start_soon(play, here.come("ann"), first)  # is here before it begins, and stays
        await trio.sleep_until(start - CHECK_IN - 1.0)
        early.away()
        record = here.tournament.record
        assert record.checked_in == set()
        await trio.sleep_until(start - CHECK_IN / 2)
        assert record.checked_in == {"ann"}
        here.come("bob").away()  # for a moment
        await trio.sleep_until(start - 1.0)
        assert record.checked_in == {"ann", "bob"}
        assert {each.name for each in here.tournament.missing()} == {"cas", "dee"}
        await trio.sleep_until(start + 1.0)
        assert record.state is State.RUNNING
        assert drawn(record) == {"ann", "bob"}
        assert record.no_shows == {"cas", "dee"}
    kept = fold(here.store.kept())["cup"]
    assert (kept.checked_in, kept.no_shows) == (record.checked_in, record.no_shows)


async def test_it_waits_until_as_many_have_checked_in_as_it_needs(autojump_clock: MockClock) -> None:
    async with registering() as (here, nursery, start):
        record = here.tournament.record
        nursery.start_soon(play, here.come("ann"), first)
        await trio.sleep_until(start + 5 * MINUTE)
        assert record.state is State.REGISTERING
        nursery.start_soon(play, here.come("cas"), first)
        await trio.sleep(1.0)
        assert record.state is State.RUNNING
        assert drawn(record) == {"ann", "cas"}


async def test_an_organiser_checks_somebody_in_who_is_not_here(autojump_clock: MockClock) -> None:
    async with registering() as (here, nursery, start):
        nursery.start_soon(play, here.come("ann"), first)
        await here.desk.check_in("bob")
        with pytest.raises(Refusal, match="has checked in to cup already"):
            await here.desk.check_in("bob")
        with pytest.raises(Refusal, match="no entrant 'eve'"):
            await here.desk.check_in("eve")
        await trio.sleep_until(start + 1.0)
        assert drawn(here.tournament.record) == {"ann", "bob"}
        with pytest.raises(Refusal, match="only what is registering can be checked in to"):
            await here.desk.check_in("ann")


async def test_one_who_is_started_by_hand_takes_everybody(autojump_clock: MockClock) -> None:
    async with registering() as (here, _, start):
        await trio.sleep_until(start - 1.0)
        await here.desk.start()
        await trio.sleep(1.0)
        assert drawn(here.tournament.record) == {"ann", "bob", "cas", "dee"}
        assert not here.tournament.record.no_shows


async def test_a_no_show_can_be_let_in_late_where_the_format_allows_it(autojump_clock: MockClock) -> None:
    async with registering() as (here, nursery, start):
        for name in ("ann", "bob"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep_until(start + 1.0)
        await here.desk.enter("cas")
        await trio.sleep(1.0)
        assert drawn(here.tournament.record) == {"ann", "bob", "cas"}
        assert here.tournament.record.no_shows == {"dee"}
        here.come("cas")
        await trio.sleep(1.0)
        assert here.tournament.record.checked_in == {"ann", "bob"}, "which is over"
        kept = fold(here.store.kept())["cup"]
        assert ({*kept.out}, {*kept.drawn}) == ({"dee"}, {*here.tournament.record.drawn})
        with pytest.raises(Refusal, match="is an entrant of cup already"):
            await here.desk.enter("cas")


@asynccontextmanager
async def too_late() -> AsyncGenerator[tuple[World, trio.Nursery]]:
    """A host that is there again only after the start, when nobody could check in."""
    store, start = Memory(), trio.current_time() + 60 * MINUTE
    opened = Opened("tic-tac-toe", "knockout", start_at=start, check_in=CHECK_IN)
    await store.keep("cup", trio.current_time(), [opened, *map(Entered, ("ann", "bob", "cas", "dee"))])
    await trio.sleep_until(start + MINUTE)
    here = World(opened, store)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        await wait_all_tasks_blocked()
        yield here, nursery
        nursery.cancel_scope.cancel()


async def test_whoever_comes_back_to_a_host_that_was_away_in_that_time_is_drawn(
    autojump_clock: MockClock,
) -> None:
    """Catches a start with the first two that have come back, and a cup that the others are not in."""
    async with too_late() as (here, nursery):
        record = here.tournament.record
        for name in ("ann", "bob", "cas"):
            nursery.start_soon(play, here.come(name), first)
            await trio.sleep(GRACE / 4)
            assert record.state is State.REGISTERING
        nursery.start_soon(play, here.come("dee"), first)
        await wait_all_tasks_blocked()
        assert record.state is State.RUNNING, "it waits for nobody else"
        assert drawn(record) == {"ann", "bob", "cas", "dee"}


@pytest.mark.parametrize("shut", [0.0, 2 * GRACE])
async def test_it_does_not_wait_for_ever_for_those_who_stay_away_from_a_host_that_is_back(
    shut: float, autojump_clock: MockClock
) -> None:
    async with too_late() as (here, nursery):
        record = here.tournament.record
        here.timekeeper.pause()  # the host lets nobody in yet
        await trio.sleep(shut)
        here.timekeeper.resume()
        for name in ("ann", "bob", "cas"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(GRACE - 0.1)
        assert record.state is State.REGISTERING
        await trio.sleep(0.2)
        assert record.state is State.RUNNING
        assert record.no_shows == {"dee"}


@pytest.mark.parametrize("stands_still", [False, True])
@pytest.mark.parametrize("closed", [0.0, 3 * MINUTE], ids=["before it opens", "while it is open"])
async def test_a_host_that_slept_over_the_start_waits_for_those_who_have_to_come_back(
    closed: float, stands_still: bool, autojump_clock: MockClock
) -> None:
    """Catches a laptop that was opened again, and a tournament of the two that were heard of first."""
    slept, start = 0.0, 5 * MINUTE  # soon: while it is awake, the host looks at its clock many times a second
    opened = Opened("tic-tac-toe", "knockout", start_at=start, check_in=4 * MINUTE)
    here = World(opened, wall=lambda: trio.current_time() + slept, beat=BEAT)
    await here.store.keep("cup", 0.0, [opened])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        for name in ("ann", "bob", "cas"):
            await here.tournament.enter(name)
        for name in ("ann", "bob"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(closed)
        await wait_all_tasks_blocked()
        if stands_still:  # as a virtual machine may, whose clock goes on
            autojump_clock.jump(start + MINUTE)
            await trio.sleep(GRACE / 2)
        else:
            slept = start + MINUTE
            await trio.sleep(MINUTE + GRACE / 2)
        assert here.tournament.record.state is State.REGISTERING
        nursery.start_soon(play, here.come("cas"), first)
        await wait_all_tasks_blocked()
        assert drawn(here.tournament.record) == {"ann", "bob", "cas"}
        nursery.cancel_scope.cancel()


async def test_where_nobody_checks_in_nobody_is_checked_in() -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    await here.tournament.enter("ann")
    with pytest.raises(Refusal, match="nobody checks in to cup"):
        await here.desk.check_in("ann")


def test_a_no_show_is_out_and_has_lost_nothing() -> None:
    record = Record("cup", Opened("tic-tac-toe", "round-robin", start_at=9.0, check_in=5.0))
    for fact in (Entered("ann"), Entered("bob"), NoShow("bob"), Turned(State.RUNNING)):
        record.add(fact)
    assert record.out == {"bob"}
    assert record.entrants["bob"].gone
    assert {row.name: row.played for row in record.standings()} == {"ann": 0, "bob": 0}
