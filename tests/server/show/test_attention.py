"""While nobody looks play tells nothing of matches, and whoever looks then sees all that has happened."""

from itertools import pairwise
from pathlib import Path

import pytest
import trio
import trio.testing

from games.connect4 import GAME
from server.host.host import Host
from server.show.attention import EVERY, LATE, LINGER, Attention
from server.show.feed import AT_A_TIME, Draw, Happened, Journal, Latest, Look, Message, Teller, hear
from tests.server.show.test_mirror import expect_the_same, mirrored, settle, staged
from tournament.match import Match

pytestmark = pytest.mark.slow

AWAY = Look(0)


async def test_while_nobody_looks_only_the_journal_is_told_and_then_all(
    tmp_path: Path, autojump_clock: object
) -> None:
    async with staged(tmp_path) as (stage, _), mirrored(stage) as (mirror, told):
        await trio.sleep(9)
        stage.teller.heed(AWAY)
        await settle()
        told.clear()
        await trio.sleep(60)
        assert {type(message) for message in told} == {Journal}
        assert stage.teller.following.keys() == stage.cup.matches.keys()

        stage.teller.heed(Look(7))
        await trio.testing.wait_all_tasks_blocked()
        assert Latest(7) in told
        before = told[: told.index(Latest(7))]
        assert {each.match for each in before if isinstance(each, Happened)} == stage.cup.matches.keys()
        for name, replica in mirror.tournaments["cup"].matches.items():
            assert replica.positions == stage.cup.matches[name].positions
        await stage.cup.finished()
        await settle()
        expect_the_same(mirror, stage)


async def test_while_nobody_looks_show_is_asked_for_a_draw_at_once(
    tmp_path: Path, autojump_clock: object
) -> None:
    draw, when = Draw(1, "cup", 0), list[float]()
    async with staged(tmp_path) as (stage, _):
        async with mirrored(stage, asked=lambda asked: when.append(trio.current_time())) as (_, told):
            await trio.sleep(9)
            stage.teller.heed(AWAY)
            await settle()
            now = trio.current_time()
            stage.teller.tell_too(draw)
            await trio.sleep(60)
        assert draw in told
        assert when == [now]


@pytest.mark.parametrize("look", [AWAY, Look(1)], ids=["nobody looks", "somebody looks"])
async def test_whoever_plays_has_a_turn_while_many_matches_are_let_go_of(look: Look) -> None:
    teller, left = Teller(Host(), lambda: 0), list[int]()
    ours, theirs = trio.testing.memory_stream_one_way_pair()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(teller.tell, ours)
        nursery.start_soon(hear, theirs, Message, lambda message: None)
        await trio.testing.wait_all_tasks_blocked()
        for number in range(10 * AT_A_TIME):
            match = Match(GAME, ("ada", "bob"), 0.0, name=f"cup-{number}")
            match.void("for nothing", 0.0)
            teller.follow(match)
        teller.heed(look)
        while teller.following:
            left.append(len(teller.following))
            await trio.lowlevel.checkpoint()
        nursery.cancel_scope.cancel()
    at_once = max(earlier - later for earlier, later in pairwise([*left, 0]))
    assert at_once <= 2 * AT_A_TIME  # trio runs tasks in any order: last in one pass, and first in the next


class Play:
    """A process that plays, as show knows it: it hears whether somebody looks."""

    def __init__(self, attention: Attention, *, answers: bool = True) -> None:
        self.attention = attention
        self.answers = answers
        self.heard: list[Look] = []

    async def say(self, look: Look) -> None:
        self.heard.append(look)
        if look.number and self.answers:
            await trio.sleep(LATE / 4)
            self.attention.heard(self, Latest(look.number))


async def _attended(nursery: trio.Nursery, *plays: Play, here: list[object]) -> None:
    """Start all of it, and wait until it is noticed that nobody looks."""
    attention = plays[0].attention
    for play in plays:
        nursery.start_soon(attention.tell, play, play.say)
    nursery.start_soon(attention.run, lambda: bool(here))
    await trio.sleep(LINGER + 2 * EVERY)


async def test_whoever_looks_first_waits_for_all_who_play_and_the_next_for_nobody(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        attention = Attention()
        one, other = Play(attention), Play(attention)
        await _attended(nursery, one, other, here=[])
        assert one.heard == other.heard == [AWAY]
        began = trio.current_time()
        async with trio.open_nursery() as both:
            both.start_soon(attention.look)
            both.start_soon(attention.look)
        assert trio.current_time() == began + LATE / 4
        assert one.heard == other.heard
        await attention.look()
        assert trio.current_time() == began + LATE / 4
        assert len(one.heard) == 2
        nursery.cancel_scope.cancel()


async def test_whoever_plays_and_is_stuck_or_gone_keeps_nobody_waiting_for_long(
    autojump_clock: object,
) -> None:
    async with trio.open_nursery() as nursery:
        attention = Attention()
        stuck = Play(attention, answers=False)
        await _attended(nursery, stuck, here=[])
        began = trio.current_time()
        await attention.look()
        assert trio.current_time() == began + LATE
        nursery.cancel_scope.cancel()
    await attention.look()  # nobody plays any more
    assert trio.current_time() == began + LATE


async def test_somebody_looks_until_a_while_after_the_last_is_gone(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        attention, here = Attention(), list[object]()
        play = Play(attention)
        await _attended(nursery, play, here=here)
        here.append("a stream")
        await attention.look()
        await trio.sleep(100)
        assert play.heard[-1] != AWAY
        here.clear()
        await attention.look()
        await trio.sleep(LINGER - EVERY)
        assert play.heard[-1] != AWAY
        await trio.sleep(2 * EVERY)
        assert play.heard[-1] == AWAY
        nursery.cancel_scope.cancel()


async def test_a_process_that_begins_to_play_learns_that_nobody_looks(autojump_clock: object) -> None:
    async with trio.open_nursery() as nursery:
        attention = Attention()
        first, late = Play(attention), Play(attention)
        await _attended(nursery, first, here=[])
        nursery.start_soon(attention.tell, late, late.say)
        await trio.testing.wait_all_tasks_blocked()
        assert late.heard == [AWAY]
        await attention.look()
        assert late.heard == [AWAY, first.heard[-1]]
        nursery.cancel_scope.cancel()
