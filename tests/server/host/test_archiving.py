"""What is over is archived when it has been for an hour, and nothing else."""

from collections.abc import Callable
from typing import Any

import trio
from trio.testing import MockClock

from server.host.archiving import AFTER, EVERY, archive_old
from tests.tournament.test_archive import round_robin
from tournament.facts import State, Turned, Voided


async def at_once(work: Callable[[], Any]) -> Any:
    return work()


async def test_what_is_long_over_is_archived_and_again_if_it_is_over_again(autojump_clock: MockClock) -> None:
    old, taken_up, new = (round_robin(4, name) for name in ("old", "taken-up", "new"))
    taken_up.add(Turned(State.RUNNING))
    now = (new.latest_end or 0.0) + AFTER
    late = [round_robin(5, "late")]  # one that ends a little later
    async with trio.open_nursery() as nursery:
        nursery.start_soon(archive_old, lambda: [old, taken_up, *late], at_once, lambda: now + 0.5)
        await trio.sleep(2 * EVERY)
        assert old.archived is not None
        assert taken_up.archived is None
        assert late[0].archived is None
        old.add(Voided("old-1", "a cable"))
        await trio.sleep(2 * EVERY)
        assert old.archived is None
        assert len(old.matches) == 6
        now += 1000.0
        await trio.sleep(2 * EVERY)
        assert late[0].archived is not None
        nursery.cancel_scope.cancel()


async def test_a_fact_that_is_added_while_a_thread_packs_is_not_lost(autojump_clock: MockClock) -> None:
    record = round_robin(4)

    async def in_thread(work: Callable[[], Any]) -> Any:
        packed = work()
        record.add(Voided("cup-1", "a cable"))
        return packed

    async with trio.open_nursery() as nursery:
        nursery.start_soon(archive_old, lambda: [record], in_thread, lambda: 1e12)
        await trio.sleep(2 * EVERY)
        nursery.cancel_scope.cancel()
    assert record.archived is None
    assert 1 in record.open
