"""What a tournament needs of a store, shown on `Memory`."""

import pytest

from tournament.events import Ending
from tournament.record import Concluded, Dealt, Entered, Kept, Opened, State, Turned
from tournament.store import Conflict, Memory

OPENED = Opened("tic-tac-toe", "round-robin", 2)
WON = Concluded("cup-1", 1, ("ann", "bob"), 0, Ending.PLAYED, "three in a row", (1.0, 0.0))


async def test_what_is_kept_is_there_in_order() -> None:
    store = Memory()
    await store.keep("cup", 1.0, [OPENED, Entered("ann")])
    await store.keep("cup", 2.0, [Turned(State.RUNNING)])
    assert list(store.kept()) == [
        Kept("cup", 1.0, OPENED),
        Kept("cup", 1.0, Entered("ann")),
        Kept("cup", 2.0, Turned(State.RUNNING)),
    ]


@pytest.mark.parametrize("fact", [OPENED, Entered("ann"), Dealt("cup-1", 1), WON])
async def test_keeping_again_what_there_is_one_of_is_keeping_it_once(fact: Entered) -> None:
    store = Memory()
    await store.keep("cup", 1.0, [fact])
    await store.keep("cup", 2.0, [fact])
    assert list(Memory(store.kept()).kept()) == [Kept("cup", 1.0, fact)]


async def test_nothing_that_is_kept_can_be_changed() -> None:
    store = Memory()
    await store.keep("cup", 1.0, [WON])
    lost = Concluded("cup-1", 1, ("ann", "bob"), 1, Ending.PLAYED, "three in a row", (0.0, 1.0))
    with pytest.raises(Conflict):
        await Memory(store.kept()).keep("cup", 2.0, [Entered("zoe"), lost])
    with pytest.raises(Conflict):
        await store.keep("cup", 2.0, [Entered("zoe"), lost])
    assert list(store.kept()) == [Kept("cup", 1.0, WON)], "all or none"


async def test_tournaments_are_apart() -> None:
    store = Memory()
    await store.keep("cup", 1.0, [Entered("ann")])
    await store.keep("league", 1.0, [Entered("ann")])
    assert [kept.tournament for kept in store.kept()] == ["cup", "league"]
