"""The guard: what goes wrong in a task stays there, counted and logged; what must pass passes."""

import re
from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from server.exits import Unavailable, Unusable
from server.net.guard import Guard, open_guard


async def breaks() -> None:
    raise ValueError("a mistake of ours")


async def breaks_twice() -> None:
    """Raises a group, as trio does, of what nobody expected and what is only a peer gone."""
    async with trio.open_nursery() as nursery:
        nursery.start_soon(breaks)
        nursery.start_soon(hangs_up)


async def hangs_up() -> None:
    raise trio.BrokenResourceError("reset")


async def test_a_task_that_fails_harms_no_other_and_is_counted_by_type_and_place() -> None:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        with capture_logs() as logs:
            for task in (breaks, breaks, hangs_up):
                guard.start_soon(task)
            await trio.testing.wait_all_tasks_blocked()
    ((place, times),) = guard.caught.items()
    assert re.fullmatch(r"ValueError \S*test_guard:\d+", place)
    assert times == 2
    assert guard.gone == 1
    assert [entry["event"] for entry in logs] == ["unexpected"]
    assert isinstance(logs[0]["exc_info"], ValueError)


async def test_each_exception_of_a_group_is_counted() -> None:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        with capture_logs():
            guard.start_soon(breaks_twice)
            await trio.testing.wait_all_tasks_blocked()
    assert sum(guard.caught.values()) == 1
    assert guard.gone == 1


async def test_a_store_that_is_away_is_said_and_is_no_mistake() -> None:
    """Wherever it is met: by a task as by a request, at this host or for another one."""

    async def reads() -> None:
        raise Unavailable("quintain.sqlite: the disk fails")

    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        with capture_logs() as logs:
            for _ in range(250):
                guard.start_soon(reads)
            await trio.testing.wait_all_tasks_blocked()
    assert (guard.caught, guard.gone) == ({}, 0)
    said = {"event": "not answered", "log_level": "warning", "why": "quintain.sqlite: the disk fails"}
    assert logs == [said | {"times": times} for times in (1, 10, 100)]


async def test_damage_to_what_is_kept_is_said_once_and_remembered_and_is_no_mistake() -> None:
    async def reads() -> None:
        raise Unusable("quintain.sqlite: file is not a database")

    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        with capture_logs() as logs:
            for _ in range(25):
                guard.start_soon(reads)
            await trio.testing.wait_all_tasks_blocked()
    assert (guard.caught, guard.damage) == ({}, "quintain.sqlite: file is not a database")
    assert [entry["why"] for entry in logs] == [guard.damage]


async def test_a_mistake_that_anybody_can_cause_does_not_fill_the_log() -> None:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        with capture_logs() as logs:
            for _ in range(250):
                guard.start_soon(breaks)
            await trio.testing.wait_all_tasks_blocked()
    assert sum(guard.caught.values()) == 250
    assert [entry.get("times") for entry in logs] == [None, 10, 100]


async def test_cancellation_passes() -> None:
    ended = False

    async def waits() -> None:
        nonlocal ended
        try:
            await trio.sleep_forever()
        finally:
            ended = True

    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        guard.start_soon(waits)
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert ended
    assert not guard.caught
    assert not guard.gone


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
async def test_what_ends_the_process_passes(error: type[BaseException]) -> None:
    async def ends() -> None:
        raise error

    with pytest.RaisesGroup(error):
        async with trio.open_nursery() as nursery:
            Guard(nursery).start_soon(ends)


async def test_arguments_and_names_are_handed_on() -> None:
    seen: list[object] = []

    async def notes(first: int, second: str) -> None:
        seen.append((first, second, trio.lowlevel.current_task().name))

    async with trio.open_nursery() as nursery:
        Guard(nursery).start_soon(notes, 1, "two", name="a name")
    assert seen == [(1, "two", "a name")]


def test_a_callback_that_failed_is_reported_like_a_task() -> None:
    guard = Guard(NoNursery())
    with capture_logs() as logs:
        guard.report(ValueError("never raised"))
        guard.report(ExceptionGroup("two", [trio.ClosedResourceError(), KeyError("x")]))
    assert guard.caught == {"ValueError": 1, "KeyError": 1}
    assert guard.gone == 1
    assert len(logs) == 2


class NoNursery:
    def start_soon(
        self, async_fn: Callable[..., Awaitable[object]], *args: object, name: object = None
    ) -> None:
        raise AssertionError("reporting starts no task")


async def test_whoever_comes_when_the_nursery_of_a_process_that_ends_is_gone_breaks_nothing() -> None:
    began: list[str] = []

    async def begin(what: str) -> None:
        began.append(what)

    async with open_guard() as guard:
        guard.start_soon(begin, "what is left to do")
    guard.start_soon(begin, "too late")
    assert began == ["what is left to do"]


async def test_nobody_else_starts_tasks_of_a_nursery_that_is_gone() -> None:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
    with pytest.raises(RuntimeError, match="closed"):
        guard.start_soon(breaks)
