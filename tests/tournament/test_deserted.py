"""What becomes of the waits of a tournament while no entrant is here at all."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from math import inf

import pytest
import trio
from trio.testing import MockClock

from tests.tournament.world import World, first, play, silent
from tournament.deserted import LONGER, Deserted
from tournament.events import Ending
from tournament.facts import Absent, Opened
from tournament.match import GRACE
from tournament.player import Player

POLICIES: tuple[Absent, ...] = ("settle", "wait")


def test_it_stands_still_for_some_minutes_at_the_most_and_then_goes_on() -> None:
    clock = Deserted(30.0)
    assert clock.look(100.0, deserted=True)
    assert [clock.now(100.0 + seconds) for seconds in (0, 299, 300, 310)] == [100.0, 100.0, 100.0, 110.0]
    assert (clock.until, clock.left(299.0)) == (400.0, 101.0)
    assert not clock.look(400.0, deserted=True)
    assert (clock.now(410.0), clock.until, clock.left(410.0)) == (110.0, inf, 0.0)


def test_whoever_comes_and_goes_does_not_have_it_stand_still_for_longer_until_a_match_is_dealt() -> None:
    clock, now = Deserted(30.0), 0.0
    for _ in range(10):
        assert clock.look(now, deserted=True)
        now += 30.0
        clock.look(now, deserted=False)
    assert clock.now(now) == 0.0
    assert not clock.look(now, deserted=True)
    clock.renew(now)
    assert clock.look(now, deserted=True)


def test_when_a_match_is_dealt_it_goes_on_and_can_stand_still_for_as_long_again() -> None:
    clock = Deserted(30.0)
    assert clock.look(0.0, deserted=True)
    clock.renew(290.0)
    assert clock.now(299.0) == 9.0
    assert clock.look(299.0, deserted=True)
    assert clock.until == 599.0


@asynccontextmanager
async def cup(
    names: Sequence[str], absent: Absent, at_once: int | None = None
) -> AsyncIterator[tuple[World, list[Player], trio.Nursery]]:
    """A round robin that has begun, and they have all gone before a match was dealt."""
    opened = Opened("tic-tac-toe", "round-robin", absent=absent)
    here = World(opened, at_once=at_once)
    players = [here.come(name) for name in names]
    await here.store.keep("cup", 0.0, [opened])
    for name in names:
        await here.tournament.enter(name)
    for player in players:
        player.away()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        await here.desk.start()
        yield here, players, nursery
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("absent", POLICIES)
async def test_when_the_network_of_a_hall_fails_for_minutes_all_is_played_afterwards(
    absent: Absent, autojump_clock: MockClock
) -> None:
    async with cup(("ann", "bob", "cid", "dee"), absent) as (here, players, nursery):
        await trio.sleep(0.9 * LONGER * GRACE)
        assert not here.concluded()
        players[0].back()
        await trio.sleep(0.9 * GRACE)  # the others take somewhat longer
        for player in players:
            player.back()
            nursery.start_soon(play, player, first)
        await here.tournament.finished()
    assert [fact.ending for fact in here.concluded()] == [Ending.PLAYED] * 6


@pytest.mark.parametrize("absent", POLICIES)
async def test_if_nobody_ever_comes_back_it_ends_all_the_same(
    absent: Absent, autojump_clock: MockClock
) -> None:
    async with cup(("ann", "bob", "cid"), absent) as (here, _, _):
        await here.tournament.finished()
    assert trio.current_time() == pytest.approx(LONGER * GRACE, abs=7 * GRACE)
    assert [fact.score for fact in here.concluded()].count((0.0, 0.0)) == 3


async def test_one_who_comes_and_goes_again_and_again_does_not_put_off_the_end(
    autojump_clock: MockClock,
) -> None:
    async with cup(("ann", "bob", "cid"), "settle") as (here, (ann, *_), nursery):

        async def flap() -> None:
            while True:
                ann.back()
                await trio.sleep(0.3 * GRACE)
                ann.away()
                await trio.sleep(0.3 * GRACE)

        nursery.start_soon(flap)
        await here.tournament.finished()
    assert trio.current_time() < 2 * LONGER * GRACE + 8 * GRACE


async def test_where_no_more_matches_can_begin_the_others_are_waited_for_meanwhile(
    autojump_clock: MockClock,
) -> None:
    """Catches waits that stood still for as long as the first match took, though two entrants were here."""
    async with cup(("ann", "bob", "cid"), "settle", at_once=1) as (here, players, nursery):
        await trio.sleep(GRACE)
        for player in players[:2]:
            player.back()
            nursery.start_soon(play, player, silent)
        await here.tournament.finished()
    _, first_missed, _ = (fact.ended for fact in here.concluded())
    assert first_missed == pytest.approx(2 * GRACE, abs=1.0)  # as much later as nobody was here


@pytest.mark.parametrize("absent", POLICIES)
async def test_whoever_is_here_and_wants_no_more_matches_is_no_reason_to_stand_still(
    absent: Absent, autojump_clock: MockClock
) -> None:
    """Catches five minutes at the end of a tournament whose bots had all asked for a number of matches."""
    async with cup(("ann", "bob", "cid", "dee"), absent) as (here, players, nursery):
        for player in players:
            player.matches_left = 1
            player.back()
            nursery.start_soon(play, player, first)
        await here.tournament.finished()
    assert [fact.ending for fact in here.concluded()].count(Ending.PLAYED) == 2
    assert trio.current_time() < LONGER * GRACE


async def test_the_forecast_knows_of_it(autojump_clock: MockClock) -> None:
    async with cup(("ann", "bob"), "settle") as (here, _, _):
        await trio.sleep(GRACE)
        left = await here.tournament.foresee()
    assert left is not None
    assert left >= LONGER * GRACE
