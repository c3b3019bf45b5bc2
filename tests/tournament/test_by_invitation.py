"""Tournaments by invitation: who gets in, by whose word, and when they start."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
from msgspec import UNSET
from trio.testing import MockClock

from tests.tournament.world import World, first, play
from tournament import entries
from tournament.facts import Entered, Opened, State
from tournament.folding import fold
from tournament.refusals import Refusal, takes_entrants
from tournament.store import Memory

HOUR = 3600.0


@asynccontextmanager
async def closed(
    entrants: int | None = None,
    *,
    format: str = "round-robin",
    store: Memory | None = None,
    starts_in: float | None = None,
    check_in: float | None = None,
) -> AsyncGenerator[tuple[World, trio.Nursery]]:
    opened = Opened(
        "tic-tac-toe",
        format,
        entrants,
        start_at=UNSET if starts_in is None else trio.current_time() + starts_in,
        check_in=check_in or UNSET,
        by_invitation=True,
    )
    here = World(opened, store)
    if store is None:
        await here.store.keep("cup", 0.0, [opened])
    async with trio.open_nursery() as nursery:
        nursery.start_soon(here.timekeeper.run)
        nursery.start_soon(here.tournament.run)
        yield here, nursery
        nursery.cancel_scope.cancel()


async def test_nobody_enters_by_coming_and_the_refusal_says_what_to_do(autojump_clock: MockClock) -> None:
    async with closed(3) as (here, _):
        assert not takes_entrants(here.tournament.record)
        with pytest.raises(Refusal) as refused:
            await here.tournament.enter("eve")
        assert str(refused.value) == (
            "cup is by invitation: its organiser can let you in, with quintain tournament enter cup NAME"
        )
        await here.desk.enter("eve")
        await here.tournament.enter("eve")
        assert [*here.tournament.record.entrants] == ["eve"]


async def test_an_organiser_enters_and_invites_no_more_than_there_is_room_for(
    autojump_clock: MockClock,
) -> None:
    async with closed(2) as (here, _):
        await here.desk.enter("ann")
        with pytest.raises(Refusal, match="ann is an entrant of cup already"):
            await here.desk.enter("ann")
        await here.desk.invite("bob", lambda: "a digest")
        for order in (here.desk.enter("eve"), here.desk.invite("eve", lambda: "a digest")):
            with pytest.raises(Refusal, match="cup is full: it takes 2"):
                await order


async def test_it_starts_by_itself_when_all_who_were_let_in_are_here_and_not_before(
    autojump_clock: MockClock,
) -> None:
    async with closed(3) as (here, nursery):
        record = here.tournament.record
        for name in ("ann", "bob"):
            await here.desk.enter(name)
        await here.desk.invite("cas", lambda: "a digest")
        for name in ("ann", "cas"):
            nursery.start_soon(play, here.come(name), first)
        await trio.sleep(HOUR)
        assert record.state is State.REGISTERING
        assert [each.name for each in here.tournament.missing()] == ["bob"]
        nursery.start_soon(play, here.come("bob"), first)
        await trio.sleep(HOUR)
        assert (record.state, len(record.matches)) == (State.FINISHED, 3)


async def test_whoever_is_taken_out_before_the_start_leaves_room_and_is_not_waited_for(
    autojump_clock: MockClock,
) -> None:
    async with closed(2) as (here, nursery):
        for name in ("ann", "bob"):
            await here.desk.enter(name)
        nursery.start_soon(play, here.come("ann"), first)
        await here.desk.withdraw("bob")
        await here.desk.enter("cas")
        nursery.start_soon(play, here.come("cas"), first)
        await trio.sleep(HOUR)
        assert here.tournament.record.state is State.FINISHED


async def test_at_its_time_it_starts_without_those_who_are_missing_or_have_not_checked_in(
    autojump_clock: MockClock,
) -> None:
    for check_in in (None, 600.0):
        async with closed(starts_in=HOUR, check_in=check_in) as (here, nursery):
            for name in ("ann", "bob", "cas"):
                await here.desk.enter(name)
            for name in ("ann", "bob"):
                nursery.start_soon(play, here.come(name), first)
            await trio.sleep(HOUR + 1.0)
            record = here.tournament.record
            assert record.state is State.RUNNING
            assert record.no_shows == (set() if check_in is None else {"cas"})


async def test_after_the_start_the_organiser_lets_in_where_the_format_does(autojump_clock: MockClock) -> None:
    async with closed() as (here, _):
        for name in ("ann", "bob"):
            await here.desk.enter(name)
        await here.desk.start()
        with pytest.raises(Refusal, match="its organiser can still let you in"):
            await here.tournament.enter("eve")
        await here.desk.enter("eve")
        assert "eve" in here.tournament.record.entrants


async def test_it_is_by_invitation_after_a_restart(autojump_clock: MockClock) -> None:
    async with closed(2) as (here, _):
        await here.desk.enter("ann")
    async with closed(2, store=here.store) as (again, _):
        assert fold(here.store.kept())["cup"].opened == again.tournament.record.opened
        assert [*again.tournament.record.entrants] == ["ann"]
        with pytest.raises(Refusal, match="cup is by invitation"):
            await again.tournament.enter("eve")


async def test_elsewhere_whoever_comes_enters_and_nobody_is_entered_before_the_start() -> None:
    here = World(Opened("tic-tac-toe", "round-robin"))
    with pytest.raises(Refusal, match="cup has not begun: whoever comes enters; invite whoever is to come"):
        await here.desk.enter("ann")
    await here.tournament.enter("ann")
    assert [fact for fact in here.told if isinstance(fact, Entered)] == [Entered("ann")]


def test_a_tournament_for_all_has_the_letters_that_it_always_had() -> None:
    written = entries.body(Opened("tic-tac-toe", "swiss", 8))
    assert "invit" not in written
    assert entries.body(entries.fact(written)) == written
    assert '"by_invitation":true' in entries.body(Opened("tic-tac-toe", "swiss", 8, by_invitation=True))
