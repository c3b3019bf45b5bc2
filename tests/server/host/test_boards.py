"""Boards: one computation for all who ask, in time, and never more often than allowed."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from itertools import pairwise
from random import Random
from typing import Any

import pytest
import trio
from trio.testing import MockClock

from server.host.boards import EVERY, KEPT, LONGEST, WAIT, Boards, NoBoard
from server.net.guard import Guard
from tests.effort import tries
from tests.tournament.test_archive import round_robin
from tests.tournament.test_score_sheet import NAMES, event, play
from tournament.archived_record import put_in_archive
from tournament.facts import Froze, State, Turned
from tournament.record import Record
from tournament.score_sheet import Board, board_of

pytestmark = pytest.mark.slow


class Worker:
    """Does the work when it has taken its time."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.begun: list[float] = []
        self.broken = False

    async def __call__(self, work: Callable[[], Any]) -> Any:
        self.begun.append(trio.current_time())
        await trio.sleep(self.seconds)
        if self.broken:
            raise RuntimeError("it broke")
        return work()


class Slow(Worker):
    """Does the work at once, and is long in telling of it."""

    async def __call__(self, work: Callable[[], Any]) -> Any:
        done = work()
        return await super().__call__(lambda: done)


@asynccontextmanager
async def boards(worker: Worker) -> AsyncIterator[tuple[Boards, Guard]]:
    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        yield Boards(lambda: guard, worker, trio.current_time), guard
        nursery.cancel_scope.cancel()


def played() -> tuple[Record, Random]:
    random, record = Random(1), event("round-robin")
    play(record, random, *NAMES[:2])
    return record, random


async def test_what_is_made_of_a_record_is_made_once_until_the_record_changes(
    autojump_clock: MockClock,
) -> None:
    worker, (record, random) = Worker(0.3), played()

    def count(of: Record) -> int:
        return len(of.matches)

    async with boards(worker) as (shown, _), trio.open_nursery() as nursery:
        found: list[int] = []

        async def ask() -> None:
            found.append(await shown.made_of(record, count))

        for _ in range(100):
            nursery.start_soon(ask)
        await trio.sleep(0.5)
        assert found == [1] * 100
        assert len(worker.begun) == 1
        play(record, random, *NAMES[1:3])
        assert await shown.made_of(record, count) == 2
        assert len(worker.begun) == 2


async def test_a_hundred_who_ask_share_one_computation(autojump_clock: MockClock) -> None:
    worker, (record, _) = Worker(0.3), played()
    async with boards(worker) as (shown, _):
        found: list[object] = []

        async def ask() -> None:
            found.append(await shown.current(record))

        async with trio.open_nursery() as nursery:
            for _ in range(100):
                nursery.start_soon(ask)
        found.append(await shown.current(record))
    assert len(worker.begun) == shown.made == 1
    assert len(found) == 101
    assert len({id(each) for each in found}) == 1


async def test_a_board_is_put_into_words_once_and_a_hundred_get_them_one_after_another(
    autojump_clock: MockClock,
) -> None:
    """Catches a big event whose end holds up all moves, until each of its bots has been told."""
    worker, (record, _) = Worker(0.3), played()
    made: list[Board] = []
    turns: list[str] = []

    def words(record: Record, board: Board) -> bytes:
        made.append(board)
        return f"{len(made)}".encode()

    class Looks(trio.abc.Instrument):
        def before_io_wait(self, timeout: float) -> None:
            turns.append("others")

    async with boards(worker) as (shown, _):

        async def wait() -> None:
            assert await shown.in_words(record, words) == b"1"
            turns.append("told")

        async with trio.open_nursery() as nursery:
            trio.lowlevel.add_instrument(looks := Looks())
            for _ in range(100):
                nursery.start_soon(wait)
        trio.lowlevel.remove_instrument(looks)
        await shown.quiet()
        assert await shown.exact(record) is made[0]
    assert turns.count("told") == 100
    assert len(worker.begun) == 2, "for the board, and for the words"
    assert not [1 for one, other in pairwise(turns) if one == other == "told"]


async def test_whoever_asks_is_given_all_that_was_decided_before(autojump_clock: MockClock) -> None:
    worker, (record, random) = Worker(0.1), played()
    async with boards(worker) as (shown, _):
        for _ in range(tries(5, 20)):
            play(record, random, *random.sample(NAMES, 2))
            asked = trio.current_time()
            board = await shown.current(record)
            assert (board.version, board.rows) == (record.version, board_of(record, 0.0).rows)
            assert asked <= board.as_of <= trio.current_time()
    assert all(
        later - earlier >= EVERY for earlier, later in zip(worker.begun, worker.begun[1:], strict=False)
    )


async def test_a_result_that_comes_while_a_board_is_made_is_in_the_next(autojump_clock: MockClock) -> None:
    worker, (record, random) = Worker(0.5), played()
    async with boards(worker) as (shown, _):
        first = shown.latest(record)
        await trio.sleep(0.7)
        play(record, random, *NAMES[1:3])
        assert first is None
        assert (board := shown.latest(record)) is not None
        assert board.version < record.version
        assert (await shown.current(record)).version == record.version


async def test_long_work_has_as_much_rest_and_meanwhile_the_latest_board_is_given(
    autojump_clock: MockClock,
) -> None:
    worker, (record, random) = Worker(5.0), played()
    async with boards(worker) as (shown, _):
        first = await shown.current(record)
        play(record, random, *NAMES[1:3])
        asked = trio.current_time()
        assert await shown.current(record) is first
        assert trio.current_time() == asked, "nobody waits in vain"
        for _ in range(20):
            play(record, random, *NAMES[1:3])
            await shown.current(record)
            await trio.sleep(WAIT)
        rests = [later - earlier for earlier, later in zip(worker.begun, worker.begun[1:], strict=False)]
    assert len(rests) >= 2
    assert min(rests) >= 2 * worker.seconds


@pytest.mark.parametrize("longest", [WAIT, LONGEST])
async def test_where_there_is_no_board_yet_it_is_waited_for_as_long_as_somebody_wants(
    longest: float, autojump_clock: MockClock
) -> None:
    worker, (record, random) = Slow(longest + 1), played()
    async with boards(worker) as (shown, _):
        with pytest.raises(NoBoard):
            await shown.current(record, longest)
        assert trio.current_time() == pytest.approx(worker.begun[0] + longest)
        play(record, random, *NAMES[1:3])
        first = await shown.current(record)
        assert trio.current_time() <= worker.begun[0] + longest + WAIT
        assert first.version < record.version, "what there is by then, though a result has come meanwhile"


@pytest.mark.parametrize("seconds", [0.5, 1.5])
async def test_a_board_that_is_being_made_when_a_tournament_ends_is_not_taken_for_the_final_one(
    seconds: float, autojump_clock: MockClock
) -> None:
    """Catches standings that were called finished, and lacked the last match."""
    worker, (record, random) = Slow(seconds), played()
    found: list[Board | None] = []

    async def ask(shown: Boards) -> None:
        try:
            found.append(await shown.current(record))
        except NoBoard:
            found.append(None)

    async with boards(worker) as (shown, _), trio.open_nursery() as nursery:
        nursery.start_soon(ask, shown)
        await trio.sleep(seconds / 2)
        play(record, random, *NAMES[1:3])
        record.add(Turned(State.FINISHED))
        await trio.sleep(10.0)
        await ask(shown)
    assert [each and each.version for each in found] == [record.version, record.version]


async def test_of_a_tournament_that_is_over_no_earlier_board_is_given_however_long_it_takes(
    autojump_clock: MockClock,
) -> None:
    worker, (record, random) = Worker(LONGEST + 1), played()
    async with boards(worker) as (shown, _):
        shown.remember(record, board_of(record, 0.0))
        assert (await shown.current(record)).version == record.version
        play(record, random, *NAMES[1:3])
        assert (await shown.current(record)).version < record.version
        record.add(Turned(State.FINISHED))
        with pytest.raises(NoBoard):
            await shown.current(record)
        await trio.sleep(4 * LONGEST)
        assert (await shown.current(record)).version == record.version


async def test_frozen_standings_have_a_board_of_their_own_that_stands_still(
    autojump_clock: MockClock,
) -> None:
    worker, (record, random) = Worker(0.0), played()
    async with boards(worker) as (shown, _):
        record.add(Froze(True))
        before = await shown.current(record.public)
        for _ in range(5):
            play(record, random, *NAMES[:2])
        assert await shown.current(record.public) is before
        assert (await shown.current(record)).rows[0].played == 6
        record.add(Froze(False))
        assert (await shown.current(record.public)).rows[0].played == 6


async def test_a_computation_that_fails_is_begun_anew_and_costs_nobody_else(
    autojump_clock: MockClock,
) -> None:
    worker, (record, _) = Worker(0.1), played()
    async with boards(worker) as (shown, guard):
        worker.broken = True
        with pytest.raises(NoBoard):
            await shown.current(record)
        assert 1 < len(worker.begun) <= 1 + LONGEST / EVERY
        worker.broken = False
        assert (await shown.current(record)).rows == board_of(record, 0.0).rows
        assert sum(guard.caught.values()) == len(worker.begun) - 1


async def test_of_many_that_are_archived_the_latest_boards_are_kept_and_of_others_all(
    autojump_clock: MockClock,
) -> None:
    """Catches a host that is years old, and remembers the final table of each tournament."""
    archived = [round_robin(3, f"old-{number}") for number in range(KEPT + 50)]
    going_on = [played()[0] for _ in range(3)]
    for record in archived:
        put_in_archive(record)
    async with boards(Worker(0.0)) as (kept, _):
        for record in (*going_on, *archived):
            await kept.exact(record)
        assert all(kept.latest(record) for record in going_on)
        made = kept.made
        for record in archived[-KEPT // 2 :]:
            assert (await kept.exact(record)).rows
        assert kept.made == made
        assert sum(kept.latest(record) is not None for record in archived) <= KEPT
        assert (await kept.exact(archived[0])).rows, "it is made anew"
