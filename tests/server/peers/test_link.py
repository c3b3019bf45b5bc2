"""A link in memory, on a virtual clock: what a relayed bot says and hears, in time, and what ends it."""

from collections.abc import Callable
from math import inf
from typing import cast

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from trio.testing import MockClock

from server.host.abroad import Handed, OutOfReach
from server.net.guard import Guard, Severed
from server.net.stream_wire import StreamWire
from server.peers.channel import FarEnd
from server.peers.link import EVERY, SILENCE, Link
from server.peers.messages import (
    WINDOW,
    Beat,
    Closed,
    Credit,
    Finished,
    Known,
    Knows,
    Message,
    News,
    Open,
    Said,
    Say,
    ToldEnd,
    Unframed,
    framed,
)
from server.peers.stamps import ArrivalTime
from tests.server.peers.relayed import linked


async def echo(wire: FarEnd, opened: Open) -> None:
    """Say again whatever comes."""
    for content, _ in wire.pieces:
        await wire.send_some(content)
    wire.known()
    while content := await wire.receive():
        while content:
            content = content[await wire.send_some(content) :]
    wire.finish()


async def whole(stream: trio.abc.ReceiveStream, size: int) -> bytes:
    found = b""
    while len(found) < size and (more := await stream.receive_some(1 << 16)):
        found += more
    return found


async def test_a_relayed_bot_says_and_hears_what_it_would_without_a_relay(autojump_clock: MockClock) -> None:
    async with linked(echo) as between:
        bot = between.bot((b"hello\n", 0.0))
        assert await whole(bot, 6) == b"hello\n"
        assert between.authenticated == 1
        sent = bytes(range(256)) * 4096  # several windows
        async with trio.open_nursery() as nursery:
            nursery.start_soon(bot.send_all, sent)
            assert await whole(bot, len(sent)) == sent
        await bot.send_eof()  # type: ignore[attr-defined]
        assert await bot.receive_some() == b""


async def test_a_reader_that_is_stopped_after_any_piece_loses_none_of_the_others(
    autojump_clock: MockClock,
) -> None:
    """Catches a relay that spoils a stream of frames: in a flood a websocket is read with pauses."""
    heard = bytearray()

    async def attend(wire: FarEnd, opened: Open) -> None:
        while True:
            with trio.CancelScope() as reading:

                def take(content: bytes, stop: Callable[[], None] = reading.cancel) -> None:
                    heard.extend(content)
                    stop()

                await wire.pump(take)
                return
            await trio.sleep(1.0)

    async with linked(attend) as between:
        bot = between.bot()
        sent = bytes(range(256)) * 256  # many pieces
        await bot.send_all(sent)
        await bot.send_eof()  # type: ignore[attr-defined]
        assert await bot.receive_some() == b""
    assert heard == sent


async def test_the_bots_address_and_path_are_known_there(autojump_clock: MockClock) -> None:
    seen: list[tuple[str, Open]] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        seen.append((wire.peer, opened))

    async with linked(attend) as between:
        bot = between.bot((b"x", 0.0))
        assert await bot.receive_some() == b""
    ((peer, opened),) = seen
    assert (peer, opened.door, opened.path) == ("192.0.2.7", "tcp", "")


async def test_a_bots_bytes_arrive_so_long_after_the_prompt_as_it_thought(autojump_clock: MockClock) -> None:
    """Catches a stamp at the end where the match is: the link keeps both waiting."""
    arrived: list[float] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        await trio.sleep(1.5)
        wire.send_now(b"turn\n")
        asked = trio.current_time()
        await wire.receive()
        arrived.append(wire.arrived - asked)

    one, far = trio.testing.memory_stream_pair()
    near, other = trio.testing.memory_stream_pair()

    async def slowly(source: trio.abc.ReceiveStream, sink: trio.abc.SendStream, seconds: float) -> None:
        while content := await source.receive_some(1 << 16):
            await trio.sleep(seconds)
            await sink.send_all(content)

    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        here = Link(one, 1, lambda wire, opened: None, dialled=True)
        there = Link(other, 2, lambda wire, opened: guard.start_soon(attend, wire, opened), dialled=False)
        nursery.start_soon(slowly, far, near, 0.3)
        nursery.start_soon(slowly, near, far, 0.2)
        nursery.start_soon(here.run)
        nursery.start_soon(there.run)
        bot, ours = trio.testing.memory_stream_pair()
        wire = StreamWire(ours, guard)
        guard.start_soon(here.take, Handed("tcp", wire, "", [(b"hello", 0.0)], lambda: None))
        assert await bot.receive_some() == b"turn\n"
        await trio.sleep(0.25)
        await bot.send_all(b"move\n")
        await trio.sleep(0.9)
        nursery.cancel_scope.cancel()
    assert arrived == [pytest.approx(0.25)]


@pytest.mark.slow
async def test_a_bot_that_does_not_read_costs_no_more_than_its_window(autojump_clock: MockClock) -> None:
    sent = 0

    async def attend(wire: FarEnd, opened: Open) -> None:
        nonlocal sent
        if opened.pieces[0][0] == b"deaf":
            while True:
                sent += await wire.send_some(bytes(1000))
        for _ in range(10 * WINDOW // 1024):
            await wire.send_some(bytes(1024))

    async with linked(attend) as between:
        near, far = trio.testing.lockstep_stream_pair()  # takes nothing that nobody reads
        wire = StreamWire(far, between.guard)
        between.guard.start_soon(between.here.take, Handed("tcp", wire, "", [(b"deaf", 0.0)], lambda: None))
        other = between.bot((b"x", 0.0))
        assert len(await whole(other, 10 * WINDOW)) == 10 * WINDOW  # another is not kept waiting
        await trio.sleep(10.0)
        assert 0 < sent <= WINDOW
        await near.aclose()


@pytest.mark.parametrize("what", ["bot is cut off there", "link is cut"])
async def test_a_bot_that_does_not_read_has_to_go_with_its_channel(
    what: str, autojump_clock: MockClock
) -> None:
    """Catches one that keeps its connection for good: nobody reads it, and no limit applies to it."""

    async def attend(wire: FarEnd, opened: Open) -> None:
        await wire.send_some(bytes(WINDOW))
        await trio.sleep(10.0 if what == "bot is cut off there" else inf)

    async with linked(attend) as between:
        near, far = trio.testing.lockstep_stream_pair()  # takes nothing that nobody reads
        with trio.fail_after(20.0):
            async with trio.open_nursery() as nursery:
                wire = StreamWire(far, between.guard)
                nursery.start_soon(between.here.take, Handed("tcp", wire, "", [(b"x", 0.0)], lambda: None))
                await trio.sleep(5.0)
                if what == "link is cut":
                    between.cut()
        await near.aclose()


@pytest.mark.parametrize("what", ["bot hangs up", "link is cut"])
async def test_the_match_sees_that_a_bot_is_gone(what: str, autojump_clock: MockClock) -> None:
    ends: list[str] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        try:
            while await wire.receive():
                pass
            ends.append("end")
        except Severed:
            ends.append("severed")
        except trio.BrokenResourceError:
            ends.append("lost")

    async with linked(attend) as between:
        bot = between.bot((b"x", 0.0))
        await trio.sleep(0.1)
        if what == "bot hangs up":
            await bot.aclose()
        else:
            between.cut()
            assert await bot.receive_some() == b"", "and the bot, which may come back, sees it too"
        await trio.sleep(0.1)
        assert len(ends) == 1
        assert (ends == ["severed"]) == (what == "link is cut"), "only that is the hosts' own fault"


async def test_a_host_that_ends_does_not_say_that_its_bots_have_hung_up(autojump_clock: MockClock) -> None:
    """Catches a bot that lost, because the host to which it had come ended before its link to the other."""
    ends: list[type[Exception]] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        try:
            await wire.receive()
        except trio.BrokenResourceError as error:
            ends.append(type(error))

    async with linked(attend) as between:
        bot, ours = trio.testing.memory_stream_pair()
        with trio.move_on_after(0.1):
            handed = Handed("tcp", StreamWire(ours, between.guard), "", [(b"x", 0.0)], lambda: None)
            await between.here.take(handed)
        assert await bot.receive_some() == b""
        await trio.sleep(0.1)
        between.cut()
        await trio.sleep(0.1)
    assert ends == [Severed]


@pytest.mark.parametrize("why", ["gone", "full"])
async def test_a_link_that_is_gone_or_full_takes_no_further_bot(
    why: str, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    monkeypatch.setattr("server.peers.link.CHANNELS", 1)

    async def attend(wire: FarEnd, opened: Open) -> None:
        await wire.receive()
        await trio.sleep_forever()

    async with linked(attend) as between:
        if why == "gone":
            between.cut()
        else:
            between.bot((b"first", 0.0))
        await trio.testing.wait_all_tasks_blocked()
        _, ours = trio.testing.memory_stream_pair()
        handed = Handed("tcp", StreamWire(ours, between.guard), "", [], lambda: None)
        with trio.fail_after(SILENCE / 2), pytest.raises(OutOfReach):
            await between.here.take(handed)


async def test_a_link_on_which_nothing_is_heard_is_cut(autojump_clock: MockClock) -> None:
    one, other = trio.testing.memory_stream_pair()
    link = Link(one, 1, lambda wire, opened: None, dialled=True)
    with trio.fail_after(2 * SILENCE):
        await link.run()
    del other


async def test_a_link_is_not_cut_because_this_host_stood_still(autojump_clock: MockClock) -> None:
    """What the other host said meanwhile waits to be read."""
    one, other = trio.testing.memory_stream_pair()
    link = Link(one, 1, lambda wire, opened: None, dialled=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        for _ in range(20):
            await trio.sleep(EVERY / 2)
            autojump_clock.jump(60.0)
            await other.send_all(framed(Beat(lenient=True)))
            await trio.sleep(EVERY / 2)
            assert link._open
        with trio.fail_after(2 * SILENCE):
            while await other.receive_some():
                pass


async def test_a_host_that_talks_nonsense_loses_its_link_and_nothing_else(autojump_clock: MockClock) -> None:
    for nonsense in (
        b"\xff\xff\xff\xff",
        b"\x00\x00\x00\x01\xc1",
        framed(Open(1, "tcp", "", "", ())),  # a number that is this side's to give
        framed(Open(2, "tcp", "", "", ())) * 2,
    ):
        one, other = trio.testing.memory_stream_pair()
        link = Link(one, 1, lambda wire, opened: None, dialled=True)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(link.run)
            await other.send_all(nonsense)
            with trio.fail_after(SILENCE / 2):
                while await other.receive_some():
                    pass


async def test_a_newer_host_may_say_more_than_is_known_here(autojump_clock: MockClock) -> None:
    """Catches a link that ends, with all bots relayed over it, while hosts are upgraded one by one."""
    one, other = trio.testing.memory_stream_pair()
    heard: list[News] = []
    link = Link(one, 1, lambda wire, opened: None, dialled=True, hear=lambda peer, news: heard.append(news))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await other.send_all(framed(cast("Message", Newer("a", 1))) + framed(Knows("secret", 2)))
        await trio.testing.wait_all_tasks_blocked()
        assert heard == [Knows("secret", 2)]
        nursery.cancel_scope.cancel()


@pytest.mark.parametrize("lenient", [False, True])
@pytest.mark.parametrize("early", [False, True])
async def test_an_older_host_is_not_told_what_it_does_not_know(
    lenient: bool, early: bool, autojump_clock: MockClock
) -> None:
    """It would end the link. Its beat says nothing of being lenient, and has no room for that. What is said
    `early`, before the first beat is heard, waits for it.
    """
    one, other = trio.testing.memory_stream_pair()
    link = Link(one, 1, lambda wire, opened: None, dialled=True)
    news = [ToldEnd("cup", "ann"), ToldEnd("cup", "bob")]

    def say() -> None:
        for each in news:
            link.say(each)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        unframed = Unframed()
        if early:
            say()
        await trio.testing.wait_all_tasks_blocked()
        assert [*unframed.receive(bytes(await other.receive_some()))] == [Beat(lenient=True)]
        beat = framed(Beat(lenient=True) if lenient else cast("Message", OlderBeat()))
        await other.send_all(beat)
        await trio.testing.wait_all_tasks_blocked()
        if not early:
            say()
        await other.send_all(beat)
        await trio.sleep(EVERY)
        said = [*unframed.receive(bytes(await other.receive_some()))]
        assert [each for each in said if isinstance(each, ToldEnd)] == (news if lenient else [])
        nursery.cancel_scope.cancel()


async def test_a_link_that_is_full_has_no_room_for_a_bot_of_the_other_host(
    monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    """Which hears of that at once, and may come again. Catches a host that is flooded by another."""
    monkeypatch.setattr("server.peers.link.CHANNELS", 1)
    one, other = trio.testing.memory_stream_pair()
    served: list[int] = []
    link = Link(one, 1, lambda wire, opened: served.append(opened.channel), dialled=True)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(link.run)
        await other.send_all(b"".join(framed(Open(number, "tcp", "", "", ())) for number in (2, 4)))
        await trio.testing.wait_all_tasks_blocked()
        said = [*Unframed().receive(bytes(await other.receive_some()))]
        assert [each for each in said if isinstance(each, Closed)] == [Closed(4)]
        assert served == [2]
        nursery.cancel_scope.cancel()


class Newer(Struct, tag="newer", frozen=True, array_like=True):
    """What only a newer host says."""

    one: str
    other: int


class OlderBeat(Struct, tag="beat", frozen=True, array_like=True):
    """As an older host says it."""


@given(st.data())
def test_any_split_of_the_bytes_gives_the_same_messages(data: st.DataObject) -> None:
    said = [
        Open(1, "websocket", "/play", "192.0.2.7", ((b"hello", ArrivalTime(0, 0.5)),)),
        Said(1, b"move", ArrivalTime(7, 0.25)),
        Say(1, b""),
        Credit(2, 100),
        Known(3),
        Finished(4),
        Closed(5),
        Beat(lenient=True),
    ]
    content = b"".join(map(framed, said))
    unframed, found, start = Unframed(), list[Message](), 0
    while start < len(content):
        end = data.draw(st.integers(start + 1, len(content)))
        found += unframed.receive(content[start:end])
        start = end
    assert found == said
