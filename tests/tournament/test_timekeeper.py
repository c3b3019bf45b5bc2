"""One task that watches all clocks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from math import inf
from random import Random

import pytest
import trio
from trio.testing import MockClock

from games.catalogue import catalogue
from games.game import Pace
from tournament.events import Ending
from tournament.match import Match
from tournament.player import Seat
from tournament.timekeeper import AGAIN, BEAT, TOLERANCE, Timekeeper


def match(bank: float = 10.0) -> Match:
    return Match(catalogue()["tic-tac-toe"], ("ann", "bob"), trio.current_time(), pace=Pace(bank=bank))


@asynccontextmanager
async def running(beat: float = inf) -> AsyncIterator[Timekeeper]:
    timekeeper = Timekeeper(beat)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(timekeeper.run)
        yield timekeeper
        nursery.cancel_scope.cancel()


async def test_a_flag_falls_by_itself_right_after_the_deadline(autojump_clock: MockClock) -> None:
    async with running() as timekeeper:
        played = match()
        timekeeper.watch(played)
        begun = trio.current_time()
        async for _ in played.log.read():
            pass
        assert played.result is not None
        assert played.result.ending is Ending.TIME
        assert 10.0 < trio.current_time() - begun < 10.01


async def test_an_earlier_deadline_than_expected_is_noticed_at_its_time(autojump_clock: MockClock) -> None:
    """Catches a timekeeper that sleeps until the deadline it knew of when it lay down."""
    async with running() as timekeeper:
        slow, quick = match(bank=100.0), match(bank=1000.0)
        timekeeper.watch(slow)
        timekeeper.watch(quick)
        await trio.sleep(1.0)
        Seat(quick, 1, timekeeper).away(5.0)
        async for _ in quick.log.read():
            pass
        assert trio.current_time() < 6.1
        assert slow.verdict is None


@pytest.mark.parametrize("beats", range(1, 11))
async def test_whoever_is_left_with_less_time_than_the_other_is_flagged_at_its_time(
    autojump_clock: MockClock, beats: int
) -> None:
    """Catches a timekeeper that is told of a deadline after a move only if that is before its next beat."""
    async with running(BEAT) as timekeeper:
        played = match(bank=10.0)
        timekeeper.watch(played)
        ann, bob = Seat(played, 0, timekeeper), Seat(played, 1, timekeeper)
        ann.play("C")
        await trio.sleep(9.7)
        bob.play("N")  # has 0.3 s left
        await trio.sleep(beats * BEAT)
        ann.play("NW")
        moved = trio.current_time()
        async for _ in played.log.read():
            pass
        assert played.result is not None
        assert played.result.winner == 0
        assert 0.3 < trio.current_time() - moved < 0.31


class Looked(Match):
    """Counts how often somebody asks for its deadline."""

    looks = 0

    @property
    def deadline(self) -> float:
        self.looks += 1
        return super().deadline


async def test_what_nobody_is_late_in_is_looked_at_seldom(autojump_clock: MockClock) -> None:
    """Catches looking at a thousand matches at each beat, while all of them go on."""
    async with running(BEAT) as timekeeper:
        played = Looked(
            catalogue()["tic-tac-toe"], ("ann", "bob"), trio.current_time(), pace=Pace(bank=1000.0)
        )
        timekeeper.watch(played)
        before = played.looks
        await trio.sleep(60.0)
        assert 60 <= played.looks - before <= 4 * 60


@pytest.mark.parametrize("seen_first", ["timekeeper", "reader"])
async def test_a_stall_costs_nobody_a_flag_whichever_task_runs_first_after_it(
    mock_clock: MockClock, seen_first: str
) -> None:
    """The host stands still for a minute while an answer lies in the socket; then both wake at once."""
    async with running(BEAT) as timekeeper:
        played = match()
        timekeeper.watch(played)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(60.0)
        if seen_first == "timekeeper":
            await trio.testing.wait_all_tasks_blocked()
        Seat(played, 0, timekeeper).play("C")
        assert played.ply == 1
        assert played.left(trio.current_time())[0] == pytest.approx(10.0, abs=2 * BEAT)
        assert timekeeper.stalled == pytest.approx(60.0, abs=2 * BEAT)


async def test_a_stall_costs_nobody_a_flag_if_a_player_hangs_up_after_it(mock_clock: MockClock) -> None:
    async with running(BEAT) as timekeeper:
        played = match()
        timekeeper.watch(played)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(60.0)
        Seat(played, 1, timekeeper).away()
        assert played.verdict is None


async def test_after_a_stall_whoever_still_says_nothing_is_flagged_in_the_end(
    autojump_clock: MockClock,
) -> None:
    async with running(BEAT) as timekeeper:
        played = match()
        timekeeper.watch(played)
        await trio.sleep(1.0)
        autojump_clock.jump(60.0)
        resumed = trio.current_time()
        async for _ in played.log.read():
            pass
        assert played.result is not None
        assert played.result.ending is Ending.TIME
        assert trio.current_time() - resumed == pytest.approx(9.0, abs=BEAT + 2 * TOLERANCE)


async def test_an_ordinary_delay_is_no_stall(autojump_clock: MockClock) -> None:
    async with running(BEAT) as timekeeper:
        timekeeper.watch(match())
        await trio.sleep(5.0)
        autojump_clock.jump(BEAT + TOLERANCE / 2)
        await trio.testing.wait_all_tasks_blocked()
        assert timekeeper.stalled == 0.0


async def test_matches_that_are_over_are_forgotten(autojump_clock: MockClock) -> None:
    async with running() as timekeeper:
        for _ in range(10):
            timekeeper.watch(match(bank=1.0))
        await trio.sleep(2.0)
        assert not timekeeper._matches


async def test_while_all_time_stands_still_nothing_runs_out(autojump_clock: MockClock) -> None:
    """Catches a match that begins in a pause and whose clock runs."""
    async with running() as timekeeper:
        timekeeper.watch(earlier := match())
        await trio.sleep(4.0)
        timekeeper.pause()
        timekeeper.watch(later := match())
        await trio.sleep(100.0)
        timekeeper.resume()
        assert timekeeper.stalled == pytest.approx(100.0)
        resumed = trio.current_time()
        for played, lasts in ((earlier, 6.0), (later, 10.0)):
            async for _ in played.log.read():
                pass
            assert trio.current_time() - resumed == pytest.approx(lasts, abs=0.01)


async def test_a_move_that_may_be_on_its_way_is_looked_for_again_and_again_and_not_all_the_time(
    autojump_clock: MockClock,
) -> None:
    asked: list[float] = []

    def on_its_way(by: float) -> bool:
        asked.append(by)
        return trio.current_time() < begun + 10.5

    async with running() as timekeeper:
        begun = trio.current_time()
        timekeeper.watch(played := match())
        played.on_its_way[0] = on_its_way
        async for _ in played.log.read():
            pass
        assert 10.5 <= trio.current_time() - begun < 10.5 + 2 * AGAIN
        assert set(asked) == {begun + 10.0}
        assert len(asked) <= 0.5 / AGAIN + 2


async def test_whoever_waited_for_a_move_that_is_not_coming_is_looked_at_at_once(
    autojump_clock: MockClock,
) -> None:
    async with running() as timekeeper:
        begun = trio.current_time()
        timekeeper.watch(played := match())
        coming = True
        played.on_its_way[0] = lambda by: coming
        await trio.sleep(10.0 + AGAIN / 2)
        assert played.verdict is None
        coming = False
        timekeeper.look_again()
        async for _ in played.log.read():
            pass
        assert trio.current_time() - begun == pytest.approx(10.0 + AGAIN / 2)


async def test_another_host_that_stood_still_excuses_only_those_whose_moves_pass_through_it(
    autojump_clock: MockClock,
) -> None:
    async with running() as timekeeper:
        relayed, here = match(), match()
        for each in (relayed, here):
            timekeeper.watch(each)
        await trio.sleep(4.0)
        timekeeper.excuse(3.0, lambda each: each is relayed)
        assert relayed.deadline - here.deadline == pytest.approx(3.0 + TOLERANCE)
        async for _ in relayed.log.read():
            pass
        assert trio.current_time() == pytest.approx(relayed.clock.since + 10.0, abs=0.01)


@pytest.mark.parametrize("paused", [False, True])
async def test_other_hosts_are_told_of_a_stall_before_anything_that_was_heard_after_it(
    autojump_clock: MockClock, paused: bool
) -> None:
    async with running() as timekeeper:
        told: list[float] = []
        timekeeper.stood_still = told.append
        if paused:
            timekeeper.pause()
        now = trio.current_time()
        timekeeper.wake = now - 2.0
        timekeeper.catch_up(now)
        timekeeper.catch_up(now)
        assert told == [2.0]


async def test_time_stands_still_until_no_reason_for_it_is_left(autojump_clock: MockClock) -> None:
    async with running() as timekeeper:
        timekeeper.watch(played := match())
        timekeeper.pause("one")
        timekeeper.pause("other")
        for why in ("one", "one", "none of these", "other"):
            await trio.sleep(100.0)
            assert played.left(trio.current_time())[0] == pytest.approx(10.0)
            timekeeper.resume(why)
        await trio.sleep(4.0)
        assert played.left(trio.current_time())[0] == pytest.approx(6.0)


@pytest.mark.parametrize("seed", range(5))
async def test_however_pauses_and_stalls_overlap_time_that_stood_still_is_counted_once(
    mock_clock: MockClock, seed: int
) -> None:
    random, timekeeper = Random(seed), Timekeeper()
    played = match(bank=1e6)
    timekeeper.watch(played)
    reasons, stalls, stood, thought = set[str](), 0, 0, 0
    for _ in range(40):
        seconds, why = random.randint(1, 9), random.choice("ab")
        match random.choice(("run", "run", "stall", "pause", "resume")):
            case "run":
                mock_clock.jump(seconds)
                stood, thought = (stood + seconds, thought) if reasons else (stood, thought + seconds)
            case "stall":
                mock_clock.jump(seconds)
                timekeeper.wake = trio.current_time() - seconds
                timekeeper.catch_up(trio.current_time())
                timekeeper.wake = inf  # as when nothing is due for long
                stood, stalls = stood + seconds, stalls + 1
            case "pause":
                timekeeper.pause(why)
                reasons.add(why)
            case _:
                timekeeper.resume(why)
                reasons.discard(why)
        assert timekeeper.paused is bool(reasons)
        assert timekeeper.stalled == stood
        left, _ = played.left(trio.current_time())
        assert left == pytest.approx(1e6 - thought, abs=TOLERANCE * stalls + 1e-6)


async def test_each_flag_falls_at_its_own_time_however_many_clocks_run(autojump_clock: MockClock) -> None:
    """Catches a timekeeper that sleeps until the last of the deadlines that it knows."""
    async with running() as timekeeper:
        begun = trio.current_time()
        for bank in (3.0, 1.0, 2.0, 5.0, 4.0):
            timekeeper.watch(match(bank))
        for ended in range(1, 6):
            assert timekeeper.playing == 6 - ended
            await trio.sleep_until(begun + ended + 0.01)
        assert timekeeper.idle


async def test_a_pause_that_comes_late_gives_back_what_was_charged_until_then(
    autojump_clock: MockClock,
) -> None:
    async with running() as timekeeper:
        timekeeper.watch(earlier := match())
        await trio.sleep(4.0)
        timekeeper.watch(later := match())
        await trio.sleep(1.0)
        timekeeper.pause(late=2.0)
        assert earlier.left(trio.current_time())[0] == pytest.approx(7.0, abs=2 * TOLERANCE)
        assert later.left(trio.current_time())[0] == pytest.approx(10.0)


async def test_what_the_host_stalled_before_a_pause_is_charged_to_nobody(mock_clock: MockClock) -> None:
    """Catches clocks that are stopped before the stall that led to it has been noticed."""
    async with running(BEAT) as timekeeper:
        played = match()
        timekeeper.watch(played)
        await trio.testing.wait_all_tasks_blocked()
        mock_clock.jump(5.0)
        timekeeper.pause()
        mock_clock.jump(5.0)
        timekeeper.resume()
        left, _ = played.left(trio.current_time())
        assert left == pytest.approx(10.0, abs=BEAT)
