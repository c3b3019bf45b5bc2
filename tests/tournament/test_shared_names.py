"""At a table without an end several may be here under one name, each for an opponent of its own."""

import pytest
import trio
from trio.testing import MockClock

from tests.tournament.world import World, play, silent, table
from tournament.player import Player

GAME = "connect-4"


async def come(here: World, nursery: trio.Nursery, name: str, against: str | None = None) -> Player:
    player = here.come(name)
    player.meet_only(against)
    nursery.start_soon(play, player, silent)
    await here.tournament.enter(name)
    here.tournament.wake()
    return player


def opponents(here: World) -> set[frozenset[str]]:
    return {frozenset(match.names) for match in here.tournament.matches.values()}


async def test_two_of_one_name_who_came_for_different_opponents_both_play(autojump_clock: MockClock) -> None:
    """Catches the first of them keeping the name, and all who wait for it, for itself."""
    async with table(GAME) as (here, nursery):
        for_nobody_here = await come(here, nursery, "random", "zoe")
        for_bob = await come(here, nursery, "random", "bob")
        for_ann = await come(here, nursery, "random", "ann")
        ann = await come(here, nursery, "ann", "random")
        bob = await come(here, nursery, "bob", "random")
        await trio.sleep(1.0)
        assert opponents(here) == {frozenset(("random", "ann")), frozenset(("random", "bob"))}
        for one, other in ((for_ann, ann), (for_bob, bob)):
            assert one.seat is not None
            assert other.seat is not None
            assert one.seat.match is other.seat.match
        assert for_nobody_here.idle


@pytest.mark.parametrize("format", ["open", "ladder"])
async def test_two_of_one_name_never_meet_each_other(autojump_clock: MockClock, format: str) -> None:
    async with table(GAME, format) as (here, nursery):
        await come(here, nursery, "ann")
        await come(here, nursery, "ann")
        await trio.sleep(1.0)
        assert not here.tournament.matches
        await come(here, nursery, "bob")
        await trio.sleep(1.0)
        assert opponents(here) == {frozenset(("ann", "bob"))}


async def test_whoever_came_first_of_those_who_are_free_is_first(autojump_clock: MockClock) -> None:
    """Catches an order that goes by who was free first."""
    async with table(GAME) as (here, nursery):
        ann = await come(here, nursery, "ann", "bob")
        await come(here, nursery, "bob")
        ann.away()
        await trio.sleep(1.0)
        ann.back()
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
        assert match.names == ("ann", "bob")


async def test_what_is_decided_while_it_stops_ends_nothing_and_breaks_nothing(
    autojump_clock: MockClock,
) -> None:
    """Catches a result that is handed to a nursery which is closed already."""
    async with table(GAME) as (here, nursery):
        ann = await come(here, nursery, "ann")
        bob = await come(here, nursery, "bob")
        await trio.sleep(1.0)
        (match,) = here.tournament.matches.values()
    for player in (ann, bob):
        player.retire()
    assert match.verdict is not None
    assert match.result is None
