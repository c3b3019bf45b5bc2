"""A worker's own clocks: they stand still as in all workers, and nobody pays for worker 0."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from server.net.elsewhere import LISTENING
from server.workers.__main__ import Working
from server.workers.messages import FromWorker, Listen, Listened, StoodStill, Trouble
from tests.server.workers.linked import begun, only_on_linux
from tournament.match import Match
from tournament.timekeeper import LATE, TOLERANCE

pytestmark = only_on_linux
TURN, STILL, SOON = 5.0, 0.2, 0.1  # seconds


@pytest.mark.parametrize("trouble", ["", "the disk is full"])
async def test_clocks_stand_still_in_a_worker_that_starts_while_nothing_can_be_kept(
    trouble: str, tmp_path: Path
) -> None:
    """As in all others, until something can be kept again."""
    with begun(tmp_path, trouble) as (working, _):
        timekeeper = working.host.timekeeper
        assert timekeeper.paused == bool(trouble)
        for why in (trouble, ""):
            working.take(Trouble(why), None)
            assert timekeeper.paused == bool(why)


@asynccontextmanager
async def overdue(folder: Path) -> AsyncIterator[tuple[Working, Match, Callable[[], list[FromWorker]]]]:
    """A match in which time has run out for a bot that moves by requests."""
    with begun(folder) as (working, said):
        async with trio.open_nursery() as nursery:
            working._nursery = nursery
            nursery.start_soon(working.host.timekeeper.run)
            match = Match(
                catalogue()["tic-tac-toe"], ("ann", "bob"), trio.current_time(), pace=Pace(turn=TURN)
            )
            match.on_its_way[0] = working.host.requests_on_their_way
            working.host.timekeeper.watch(match)
            await trio.sleep(TURN + SOON)
            yield working, match, said
            nursery.cancel_scope.cancel()


async def test_nobody_who_moves_by_requests_is_late_before_worker_0_has_passed_on_what_had_come(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with overdue(tmp_path) as (working, match, said):
        assert match.verdict is None
        assert said() == [Listen()], "it is asked once"
        working.take(Listened(), None)
        await trio.sleep(SOON)
        assert match.verdict is not None


async def test_what_such_a_bot_was_charged_while_worker_0_stood_still_is_given_back(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with overdue(tmp_path) as (working, match, _):
        working.take(StoodStill(STILL), None)
        assert match.deadline == pytest.approx(TURN + STILL + TOLERANCE)
        working.take(Listened(), None)
        await trio.sleep(match.deadline - trio.current_time() - LATE)
        assert match.verdict is None
        match.play(0, "C", trio.current_time())
        assert match.ply == 1


async def test_a_worker_0_that_says_nothing_is_not_waited_for_for_ever(
    tmp_path: Path, autojump_clock: MockClock
) -> None:
    async with overdue(tmp_path) as (_, match, said):
        await trio.sleep(LISTENING)
        assert match.verdict is not None
        assert said() == [Listen()]
