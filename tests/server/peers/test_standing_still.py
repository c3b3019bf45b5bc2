"""A host that stands still costs bots nothing whose requests pass through it to another host."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.game import Pace
from server.host.host import Host
from server.peers.channel import FarEnd
from server.peers.link import EVERY, Link
from server.peers.messages import Beat, Listen, Message, News, Open, StoodStill, framed
from tests.server.peers.relayed import linked
from tests.server.peers.several import several
from tests.server.peers.test_link import echo
from tournament.events import Ending
from tournament.facts import Opened
from tournament.match import Match
from tournament.timekeeper import TOLERANCE

GAME = "connect-4"
STILL = 1.5  # seconds for which the host of the bots stands still


@asynccontextmanager
async def played(door: str) -> AsyncIterator[tuple[Match, Host]]:
    """A match, and the other of two hosts."""
    async with several(2) as (hosts, doors):
        cup = await hosts[0].found("cup", Opened(GAME, "round-robin", 2, pace=Pace(turn=8.0)))
        await trio.sleep(1.0)
        for name in ("ann", "bob"):
            said = msgspec.json.encode({"type": "hello", "name": name, "game": GAME}).decode()
            await (await doors[door]()).say(f"POST /play {said}" if door == "http" else said)
        await trio.sleep(1.0)
        ((_, match),) = cup.matches.items()
        yield match, hosts[1]


@pytest.mark.parametrize("door", ["http", "tcp"])
async def test_it_gives_its_time_back_to_whoever_moves_by_requests(
    door: str, autojump_clock: MockClock
) -> None:
    """Over other doors the arrival of each message says as much, and nothing is given back twice."""
    async with played(door) as (match, other):
        await trio.sleep(3.0)
        before, now = match.deadline, trio.current_time()
        other.timekeeper.wake = now - STILL  # it should have been awake since then
        other.timekeeper.catch_up(now)
        await trio.sleep(0.1)
        given = STILL + TOLERANCE if door == "http" else 0.0
        assert match.deadline - before == pytest.approx(given)


@pytest.mark.parametrize("door", ["http", "tcp"])
async def test_nobody_is_late_before_that_host_has_listened_to_requests(
    door: str, autojump_clock: MockClock
) -> None:
    """Catches a bot that loses on time, and its move lies unread at a host that was stopped."""
    async with played(door) as (match, other):
        due = match.deadline
        other.timekeeper.listens_until = due + STILL
        await trio.sleep_until(due + STILL - 0.1)
        assert (match.result is None) == (door == "http")
        await trio.sleep_until(due + STILL + 0.1)
        assert match.result is not None
        assert match.result.ending is Ending.TIME


async def test_a_link_asks_once_for_all_matches_and_waits_for_the_answer(autojump_clock: MockClock) -> None:
    said: list[Message] = []
    async with linked(echo) as between:
        await trio.sleep(2 * EVERY)  # until both know what the other understands
        link, say = between.there, between.there.say
        link.say = lambda message: (said.append(message), say(message))[1]  # type: ignore[method-assign]
        by = trio.current_time()
        between.timekeeper.listens_until = by + STILL
        assert [link.may_lack(by, by) for _ in range(3)] == [True] * 3
        await trio.sleep(STILL - 0.1)
        assert link.may_lack(by, trio.current_time())
        await trio.sleep(0.2)
        assert not link.may_lack(by, trio.current_time())
        assert [each for each in said if isinstance(each, Listen)] == [Listen(0)]
        between.cut()
        await trio.sleep(0.1)
        assert not link.may_lack(trio.current_time(), trio.current_time()), "nothing comes over it any more"


@pytest.mark.parametrize("seconds", [0.2, 1.5])
async def test_a_link_that_is_lost_after_a_silence_counts_as_a_host_that_stood_still(
    seconds: float, autojump_clock: MockClock
) -> None:
    """Of what a bot sent there meanwhile nobody knows. Between two beats a link is always silent."""
    heard: list[News] = []
    near, far = trio.testing.memory_stream_pair()
    link = Link(near, 1, nobody_comes, dialled=True, hear=lambda peer, news: heard.append(news))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await far.send_all(framed(Beat(lenient=True)))
        await trio.sleep(seconds)
        await far.aclose()
    assert heard == ([StoodStill(pytest.approx(seconds))] if seconds > EVERY else [])


def nobody_comes(wire: FarEnd, opened: Open) -> None:
    raise AssertionError("no bot comes in there")
