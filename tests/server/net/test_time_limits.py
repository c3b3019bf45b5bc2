"""Time limits for peers: they hold, and no time counts for which the process stood still."""

import gc
from contextlib import ExitStack
from weakref import ref

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from trio.testing import MockClock

from server.net.time_limits import BEAT, TOLERANCE, within
from tests.server.windowed import on_virtual_time

seconds = st.floats(0.0, 100.0)


@given(allowed=seconds, taken=seconds)
def test_whoever_takes_longer_is_cut_off_at_that_moment_and_nobody_else_is(
    allowed: float, taken: float
) -> None:
    @on_virtual_time
    async def _() -> None:
        begun = trio.current_time()
        with within(allowed) as limit:
            await trio.sleep(taken)
        assert limit.cancelled_caught or taken <= allowed
        assert not limit.cancelled_caught or taken >= allowed
        assert trio.current_time() - begun == pytest.approx(min(allowed, taken))


@given(st.lists(st.tuples(seconds, st.sampled_from((1.0, 5.0, 10.0)), seconds), max_size=20))
def test_each_of_many_has_its_own_time_whatever_the_others_do(
    peers: list[tuple[float, float, float]],
) -> None:
    @on_virtual_time
    async def _() -> None:
        async def peer(comes: float, allowed: float, takes: float) -> None:
            await trio.sleep(comes)
            begun = trio.current_time()
            with within(allowed):
                await trio.sleep(takes)
            assert trio.current_time() - begun == pytest.approx(min(allowed, takes))

        async with trio.open_nursery() as nursery:
            for each in peers:
                nursery.start_soon(peer, *each)


async def test_many_limits_cost_no_more_tasks_than_one_and_nothing_is_left_of_those_that_are_over(
    autojump_clock: MockClock,
) -> None:
    def tasks() -> int:
        return trio.lowlevel.current_statistics().tasks_living

    with ExitStack() as stack:
        scopes = [ref(stack.enter_context(within(100.0)))]
        await trio.testing.wait_all_tasks_blocked()
        with_one = tasks()
        scopes += [ref(stack.enter_context(within(seconds))) for seconds in (50.0, 100.0, 200.0)]
        await trio.testing.wait_all_tasks_blocked()
        assert tasks() == with_one
    gc.collect()
    assert [scope() for scope in scopes] == [None] * len(scopes)


@given(times=st.integers(0, 5), allowed=st.floats(0.1, 100.0))
def test_whoever_goes_on_has_as_much_time_again(times: int, allowed: float) -> None:
    @on_virtual_time
    async def _() -> None:
        answers = iter([True] * times + [False])
        begun = trio.current_time()
        with within(allowed, lambda: next(answers)):
            await trio.sleep_forever()
        assert trio.current_time() - begun == pytest.approx((times + 1) * allowed)


async def test_there_may_be_no_limit(autojump_clock: MockClock) -> None:
    with within(float("inf")) as limit:
        await trio.sleep(50_000)
    assert not limit.cancelled_caught


@given(allowed=st.floats(2 * BEAT, 100.0), share=st.floats(0.0, 0.9), stalls=st.lists(seconds, max_size=5))
def test_a_peer_has_its_time_however_often_the_process_stands_still(
    allowed: float, share: float, stalls: list[float]
) -> None:
    clock = MockClock(autojump_threshold=0)

    async def waits() -> None:
        begun = trio.current_time()
        with within(allowed) as limit:
            for stall in stalls:
                await trio.sleep(share * (allowed - 2 * BEAT) / len(stalls))
                clock.jump(stall)
                await trio.lowlevel.checkpoint()
            assert not limit.cancel_called, "what came meanwhile is to be read"
            await trio.sleep_forever()
        taken = trio.current_time() - begun - sum(stalls)
        assert allowed - len(stalls) * BEAT <= taken + 1e-6
        assert taken <= allowed + len(stalls) * TOLERANCE + 1e-6

    trio.run(waits, clock=clock)
