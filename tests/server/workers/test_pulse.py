"""A worker while worker 0 stands still, through which bots come and moves over HTTP."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import repeat
from math import inf
from typing import Any, cast

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from server.net.admission import Admission
from server.net.limits import Limits
from server.show.conduit import PACKET, Conduit
from server.show.lending import Lending
from server.workers.messages import Alive, FromWorker, Ready, ToWorker
from server.workers.pulse import BEAT, MISSED, Pulse
from server.workers.starting import conduit_pair
from server.workers.worker import Worker
from tests.hang import HANG
from tournament.events import Ending
from tournament.match import Match
from tournament.timekeeper import Timekeeper

TURN = 5.0  # seconds


def begun() -> Match:
    return Match(catalogue()["tic-tac-toe"], ("ann", "bob"), trio.current_time(), pace=Pace(turn=TURN))


@asynccontextmanager
async def felt(timekeeper: Timekeeper) -> AsyncIterator[tuple[Pulse, Match]]:
    """A match, and what feels the pulse of worker 0."""
    pulse = Pulse(timekeeper)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        nursery.start_soon(pulse.run)
        timekeeper.watch(match := begun())
        yield pulse, match
        nursery.cancel_scope.cancel()


async def beats(pulse: Pulse) -> None:
    for _ in repeat(None):
        pulse.feel()
        await trio.sleep(BEAT)


@pytest.mark.parametrize("thought", [0.0, 0.25, 4.5])
async def test_nobody_is_charged_while_worker_0_stands_still(
    autojump_clock: MockClock, thought: float
) -> None:
    """Catches moves sent in time that waited in a stopped process, and lost their matches."""
    async with felt(Timekeeper()) as (pulse, match), trio.open_nursery() as nursery:
        with trio.move_on_after(thought):
            await beats(pulse)
        await trio.sleep(3 * TURN)
        assert match.verdict is None
        nursery.start_soon(beats, pulse)
        await trio.sleep(2 * BEAT)
        left, _ = match.left(trio.current_time())
        assert TURN - thought - 2 * BEAT <= left <= min(TURN, TURN - thought + BEAT)
        async for _ in match.log.read():
            pass
        assert match.result is not None
        assert match.result.ending is Ending.TIME
        nursery.cancel_scope.cancel()


async def test_clocks_stand_still_after_three_signs_of_life_are_missing_and_not_before(
    autojump_clock: MockClock,
) -> None:
    async with felt(Timekeeper()) as (pulse, match):
        pulse.feel()
        await trio.sleep((MISSED + 0.5) * BEAT)
        assert match.deadline < inf
        await trio.sleep(BEAT)
        assert match.deadline == inf


async def test_a_stall_of_the_worker_itself_says_nothing_about_worker_0(mock_clock: MockClock) -> None:
    timekeeper = Timekeeper()
    async with felt(timekeeper) as (pulse, _):
        for _ in range(10):
            await trio.testing.wait_all_tasks_blocked()
            mock_clock.jump(TURN)
            await trio.testing.wait_all_tasks_blocked()
            pulse.feel()
            timekeeper.watch(match := begun())
            assert match.deadline < inf  # its clock runs


async def test_a_ready_worker_is_told_again_and_again_that_worker_0_is_there_once_bots_come_in(
    autojump_clock: MockClock,
) -> None:
    """Catches matches that were lost in one worker because nobody came, while another was still starting."""
    limits = Limits()
    admission = Admission(limits)

    def nothing(number: int, said: str) -> None: ...

    lending = Lending(limits, admission)
    worker = Worker(1, cast(Any, None), nothing, nothing, lending, None, admission, limits)
    ours, theirs = conduit_pair()
    theirs.setblocking(False)
    heard = msgspec.msgpack.Decoder(ToWorker)
    with ours, theirs, trio.fail_after(HANG):
        worker._conduit = Conduit(ours, FromWorker, inf)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(worker._beat)
            await trio.sleep(10 * BEAT)
            with pytest.raises(BlockingIOError):
                theirs.recv(PACKET)
            worker._take(Ready(), None)
            await trio.sleep(10 * BEAT)
            with pytest.raises(BlockingIOError):
                theirs.recv(PACKET)
            worker.let_in.set()
            for _ in range(10):
                await trio.sleep(BEAT)
                assert heard.decode(theirs.recv(PACKET)[1:]) == Alive()
            nursery.cancel_scope.cancel()
