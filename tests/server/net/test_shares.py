"""Places of which somebody wants more than others."""

from collections import Counter

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.net.shares import SharedPlaces


async def test_whoever_comes_alone_has_all_places_and_no_more(autojump_clock: MockClock) -> None:
    shares, most, here = SharedPlaces(3), 0, 0

    async def come() -> None:
        nonlocal most, here
        async with shares.one("ann"):
            here += 1
            most = max(most, here)
            await trio.sleep(1.0)
            here -= 1

    async with trio.open_nursery() as nursery:
        for _ in range(9):
            nursery.start_soon(come)
    assert (most, trio.current_time()) == (3, 3.0)


async def test_whoever_wants_one_waits_for_no_more_than_one_to_become_free(autojump_clock: MockClock) -> None:
    shares, came = SharedPlaces(3), dict[str, float]()

    async def come(whose: str, seconds: float) -> None:
        async with shares.one(whose):
            came.setdefault(whose, trio.current_time())
            await trio.sleep(seconds)

    async with trio.open_nursery() as nursery:
        for _ in range(100):
            nursery.start_soon(come, "mallory", 5.0)
        await trio.testing.wait_all_tasks_blocked()
        for honest in ("ann", "bob", "cas"):
            nursery.start_soon(come, honest, 1.0)
    assert max(came.values()) <= 6.0


async def test_places_that_were_given_back_count_no_more(autojump_clock: MockClock) -> None:
    shares, came = SharedPlaces(1), list[str]()

    async def come(whose: str) -> None:
        async with shares.one(whose):
            came.append(whose)
            await trio.sleep(1.0)

    await come("ann")
    async with trio.open_nursery() as nursery:
        for whose in ("cas", "ann", "bob"):
            nursery.start_soon(come, whose)
            await trio.testing.wait_all_tasks_blocked()
    assert came == ["ann", "cas", "ann", "bob"]


@pytest.mark.parametrize("again", range(8))  # which of two comes first in one moment is left to chance
async def test_whoever_gives_up_takes_no_place_with_it(again: int, autojump_clock: MockClock) -> None:
    """Also in the moment in which it was given one."""
    shares, taken = SharedPlaces(1), Counter[str]()

    async def come(whose: str, seconds: float) -> None:
        with trio.move_on_after(seconds):
            async with shares.one(whose):
                taken[whose] += 1
                await trio.sleep(2.0)

    async with trio.open_nursery() as nursery:
        for whose, seconds in (("ann", 9.0), ("bob", 1.0), ("cas", 2.0), ("dan", 9.0)):
            nursery.start_soon(come, whose, seconds)
            await trio.testing.wait_all_tasks_blocked()
    async with shares.one("eve"):
        taken["eve"] += 1
    assert taken["ann"] == taken["dan"] == taken["eve"] == 1
    assert trio.current_time() == 4.0
