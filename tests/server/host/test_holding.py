"""Holding tournaments: each has a task while it goes on, and none once it is over."""

import gc
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from math import inf
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.game import Game
from server.host.holding import Holding
from server.host.host import Host
from server.store.ledger import InThread, Ledger
from server.store.sqlite import Sqlite
from tests.crashes.world import at_once
from tests.tournament.world import first, play
from tournament.desk import Desk
from tournament.facts import Opened, State
from tournament.record import Record
from tournament.store import Memory, Stale
from tournament.timekeeper import Timekeeper

GAME = "tic-tac-toe"
HOUR = 3600.0
BOTS = ("ann", "bob")


@asynccontextmanager
async def running(path: Path, in_thread: InThread = at_once) -> AsyncIterator[Host]:
    engine = Sqlite(path)
    host = Host(store=Ledger(engine, in_thread), timekeeper=Timekeeper(inf), wall=trio.current_time)
    try:
        async with trio.open_nursery() as nursery:
            await nursery.start(host.run)
            yield host
            nursery.cancel_scope.cancel()
    finally:
        engine.close()


async def evening(host: Host, *names: str, bots: Sequence[str] = BOTS) -> None:
    """Hold some round robins of the same bots, one after another."""
    for name in names:
        cup = await host.open(name, Opened(GAME, "round-robin", len(bots)))
        await play_out(host, name, bots)
        assert cup.record.state is State.FINISHED


async def play_out(host: Host, name: str, bots: Sequence[str] = BOTS) -> None:
    visits = [await host.arrive(bot, GAME, tournament=name) for bot in bots]
    async with trio.open_nursery() as nursery:
        for visit in visits:
            nursery.start_soon(play, visit.player, first)
        with trio.fail_after(HOUR):
            await host.tournaments[name].finished()
        await trio.sleep(1.0)
        nursery.cancel_scope.cancel()
    for visit in visits:
        visit.leave()


async def tasks() -> int:
    await trio.testing.wait_all_tasks_blocked()
    return trio.lowlevel.current_statistics().tasks_living


async def test_what_is_over_has_no_task_also_after_a_restart(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    cups = [f"cup-{number}" for number in range(10)]
    async with running(tmp_path / "one") as host:
        before = await tasks()
        await evening(host, *cups)
        await trio.sleep(HOUR + 100.0)
        assert await tasks() == before
    async with running(tmp_path / "one") as host:
        assert len(host.tournaments) == len(cups)
        assert await tasks() == before


async def test_beside_its_record_as_much_is_kept_of_a_large_tournament_that_is_over_as_of_a_small_one(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches absences, and lengths of matches, of those who took part."""
    async with running(tmp_path / "one") as host:
        await evening(host, "small")
        await evening(host, "large", bots=[*BOTS, *"cdefg"])
        await trio.sleep(HOUR)
        small, large = (known_beside(host, name) for name in ("small", "large"))
        assert small == large


def known_beside(host: Host, name: str) -> Counter[str]:
    """The kinds of objects that only a tournament has, beside its record."""
    cup = host.tournaments[name]
    shared = [cup.record, host, *vars(host).values()]
    found, known, looked = Counter[str](), {*map(id, shared)}, [vars(cup)]
    while looked:
        each = looked.pop()
        if id(each) in known or isinstance(each, type | FunctionType | ModuleType | Game):
            continue
        known.add(id(each))
        found[type(each).__name__] += 1
        looked += gc.get_referents(each)
    return found


async def test_what_goes_on_after_its_end_has_a_task_for_as_long(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with running(tmp_path / "one") as host:
        before = await tasks()
        await evening(host, "cup")
        cup = host.tournaments["cup"]
        for match, again in pairwise(("cup-1", "cup-1.2", "cup-1.3")):
            await Desk(cup).void(match, "a cable")
            assert await tasks() == before + 1
            await play_out(host, "cup")
            assert again in cup.record.matches
            await trio.sleep(HOUR + 100.0)
            assert await tasks() == before


async def test_whoever_opens_a_tournament_or_voids_a_match_and_goes_away_has_it_played(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    """Catches a tournament that is held and never run, as its opener was cancelled while it was kept."""
    here = trio.CancelScope()

    async def writing(work: Any, **how: Any) -> Any:
        here.cancel()
        return await at_once(work, **how)

    async with running(tmp_path / "one", writing) as host:
        with here:
            await host.open("cup", Opened(GAME, "round-robin", 2))
        await play_out(host, "cup")
        with trio.CancelScope() as here:
            await Desk(host.tournaments["cup"]).void("cup-1", "a cable")
        await play_out(host, "cup")
        assert [*host.tournaments["cup"].record.matches] == ["cup-1", "cup-1.2"]


async def test_a_host_that_ends_by_a_fault_begins_nothing_more_and_the_fault_is_all_that_is_told() -> None:
    """Catches a host from which others have taken over, and which takes up what it has gained meanwhile."""
    held = Host(store=Memory()).hold(Record("cup", Opened(GAME, "round-robin", 2)))
    holding = Holding()

    async def fail() -> None:
        raise Stale("others have taken over")

    with pytest.RaisesGroup(Stale):
        async with trio.open_nursery() as holding.nursery:
            holding.nursery.start_soon(fail)
    holding.add(held)
    assert holding.tournaments == {"cup": held}
