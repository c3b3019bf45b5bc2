"""A relayed bot that is slow, breaks off or is hung up on: both ends of its channel, on a virtual clock."""

from collections.abc import Callable

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Handed
from server.net.elsewhere import LISTENING
from server.net.guard import Severed
from server.peers.channel import LAST_WORDS, FarEnd
from server.peers.messages import WINDOW, Closed, Listen, Message, Open, Said
from server.peers.stamps import ArrivalTime
from tests.server.peers.relayed import Between, linked
from tests.server.windowed import End, Weather, windowed_pair

TEXT = bytes(range(256)) * (2 * WINDOW // 256)  # two windows
NARROW = Weather(window=5000)  # of which a bot takes little at once


def relayed(between: Between, *pieces: bytes, weather: Weather = NARROW) -> End:
    """A bot, from its end, that has come in here after it said that much."""
    wire, bot = windowed_pair(weather)
    said = tuple([(piece, trio.current_time()) for piece in pieces])
    between.guard.start_soon(between.here.take, Handed("tcp", wire, "", said, lambda: None))
    return bot


async def all_of(bot: End) -> bytes:
    heard = bytearray()
    while content := await bot.receive():
        heard += content
        await trio.sleep(0.001)
    return bytes(heard)


@pytest.mark.parametrize("end", [FarEnd.finish, FarEnd.close])
async def test_a_slow_bot_hears_all_that_it_was_told_before_the_end(
    autojump_clock: MockClock, end: Callable[[FarEnd], None]
) -> None:
    """Catches a bot that is not told how its match ended, because its host hung up after that."""

    async def attend(wire: FarEnd, opened: Open) -> None:
        content = TEXT[: WINDOW + 5000]
        while content:
            content = content[await wire.send_some(content) :]
        end(wire)
        if end is FarEnd.finish:
            await wire.receive()

    async with linked(attend) as between:
        bot = relayed(between)
        assert await all_of(bot) == TEXT[: WINDOW + 5000]
        await bot.aclose()


async def test_what_is_said_while_a_bot_still_takes_what_was_said_before_comes_after_that(
    autojump_clock: MockClock,
) -> None:
    """Catches lines in lines: whoever plays does not wait, and the bot may be slow for a moment."""
    said = [b"%d %s\n" % (number, bytes(300).hex().encode()) for number in range(100)]

    async def attend(wire: FarEnd, opened: Open) -> None:
        for line in said:
            assert wire.send_now(line) == len(line)
            await trio.sleep(0.002)
        wire.finish()
        await wire.receive()

    async with linked(attend) as between:
        bot = relayed(between)
        assert await all_of(bot) == b"".join(said)
        await bot.aclose()


async def test_a_bot_may_go_on_to_talk_when_nothing_more_is_said_to_it(autojump_clock: MockClock) -> None:
    heard = bytearray()

    async def attend(wire: FarEnd, opened: Open) -> None:
        wire.finish()
        while content := await wire.receive():
            heard.extend(content)

    async with linked(attend) as between:
        bot = relayed(between)
        assert await bot.receive() == b""
        await bot.send_all(TEXT)
        bot.finish()
        await trio.sleep(1.0)
    assert heard == TEXT


async def test_a_bot_that_says_more_than_anybody_reads_costs_no_more_than_its_window(
    autojump_clock: MockClock,
) -> None:
    """What it had said before it was relayed included."""
    wires: list[FarEnd] = []
    heard = bytearray()

    async def attend(wire: FarEnd, opened: Open) -> None:
        wires.append(wire)
        await trio.sleep(5.0)
        while content := await wire.receive():
            heard.extend(content)

    async with linked(attend) as between:
        bot = relayed(between, TEXT[:WINDOW])
        between.guard.start_soon(bot.send_all, TEXT)
        await trio.sleep(4.0)
        (wire,) = wires
        assert 0 < sum(len(content) for content, _ in wire._queue) <= WINDOW
        await trio.sleep(4.0)
        assert heard == TEXT, "and all of it comes through once somebody does"
        await bot.aclose()


async def test_a_bot_whose_connection_breaks_is_seen_to_have_gone(autojump_clock: MockClock) -> None:
    """Whether it is noticed when the bot is told something, or when it is heard. It has not hung up in order,
    and this is no fault of the hosts: so it loses as it would without a relay.
    """
    ends: list[str] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        try:
            while await wire.receive():
                pass
        except trio.BrokenResourceError as error:
            ends.append(str(error))
            with pytest.raises(trio.BrokenResourceError):
                wire.send_now(b"too late")
            wire.finish()

    async with linked(attend) as between:
        bot = relayed(between)
        await trio.sleep(1.0)
        bot.reset()
        await trio.sleep(1.0)
        assert ends == ["the connection is lost"]
        wire, _ = windowed_pair()
        wire.close()
        await between.here.take(Handed("tcp", wire, "", ((b"x", 0.0),), lambda: None))
        await trio.sleep(1.0)
    assert ends == ["the connection is lost"] * 2


async def test_a_wire_that_was_closed_here_is_closed_for_everybody_here(autojump_clock: MockClock) -> None:
    failed: list[type[Exception]] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        async def read() -> None:
            try:
                await wire.receive()
            except trio.ClosedResourceError as error:
                failed.append(type(error))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(read)
            await trio.sleep(1.0)
            wire.close()
        await read()
        with pytest.raises(trio.BrokenResourceError):
            wire.send_now(b"too late")
        with pytest.raises(trio.BrokenResourceError):
            await wire.send_some(b"too late")

    async with linked(attend) as between:
        assert await all_of(relayed(between)) == b""
        await trio.sleep(1.0)
    assert len(failed) == 2


async def test_a_bot_is_not_charged_while_its_host_stands_still(autojump_clock: MockClock) -> None:
    """Catches bots that had answered in time, while the host to which they had come was stopped, and lost."""
    thought: list[float] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        await wire.send_some(b"your turn")
        asked = trio.current_time()
        await wire.receive()
        thought.append(wire.arrived - asked)

    async with linked(attend) as between:
        bot = relayed(between)
        await bot.receive()
        await trio.sleep(2.0)
        between.timekeeper.wake = trio.current_time() - 1.5  # it should have been awake since then
        await bot.send_all(b"my move")
        await trio.sleep(1.0)
        await bot.aclose()
    assert thought == [pytest.approx(0.5, abs=0.01)]


@pytest.mark.parametrize("said", [b"", b"my move"])
async def test_what_a_bot_said_is_on_its_way_until_it_is_here_or_its_host_knows_of_nothing(
    autojump_clock: MockClock, said: bytes
) -> None:
    """However late the host to which it came reads it: that one asks its sockets before it says so."""
    wires: list[FarEnd] = []

    async def attend(wire: FarEnd, opened: Open) -> None:
        wires.append(wire)
        await trio.sleep(2.0)
        await wire.receive()

    async with linked(attend) as between:
        bot = relayed(between)
        await trio.sleep(1.0)
        (wire,) = wires
        by = trio.current_time()
        assert wire.on_its_way(by)
        if said:
            await bot.send_all(said)
        await trio.sleep(0.5)
        assert wire.on_its_way(by) == bool(said), "until whoever reads has taken it"
        assert not wire.on_its_way(by - 0.5)
        await trio.sleep(1.0)
        assert not wire.on_its_way(by)
        await bot.aclose()


async def test_a_host_that_says_nothing_is_not_waited_for_for_ever(autojump_clock: MockClock) -> None:
    """An older one does not know the question."""
    said: list[Message] = []
    wire = FarEnd(Open(1, "tcp", "", "", ()), said.append)
    by = trio.current_time()
    assert wire.on_its_way(by)
    await trio.sleep(LISTENING / 2)
    assert wire.on_its_way(by)
    await trio.sleep(LISTENING)
    assert not wire.on_its_way(by)
    assert not wire.on_its_way(trio.current_time())
    assert said == [Listen(1)]


async def test_what_a_flood_holds_up_does_not_hold_up_the_clock_for_long(autojump_clock: MockClock) -> None:
    """Who sends junk is read slowly: it would take ten seconds to read all that a relay holds of it."""
    wire = FarEnd(Open(1, "tcp", "", "", ()), lambda message: None)
    by = trio.current_time()
    wire.hear(Said(1, b"junk", ArrivalTime(0, 0.0)))
    assert wire.on_its_way(by)
    await trio.sleep(LISTENING)
    assert not wire.on_its_way(by)


async def test_what_was_on_its_way_over_a_lost_link_counts_until_that_has_been_heard_of() -> None:
    """Otherwise a clock could run out between the loss of the link and the bot's, who gets back its time."""
    wire = FarEnd(Open(1, "tcp", "", "", ()), lambda message: None)
    wire.lost(1.5)
    assert wire.on_its_way(trio.current_time())
    with pytest.raises(Severed) as lost:
        await wire.receive()
    assert lost.value.silent == 1.5
    wire.close()
    assert not wire.on_its_way(trio.current_time())


async def test_nothing_is_said_of_a_bot_after_its_end() -> None:
    """Another bot may have come by then, and a link on which nonsense is said is cut."""
    said: list[Message] = []
    wire = FarEnd(Open(1, "tcp", "", "", ()), said.append)
    wire.close()
    wire.close()
    wire.finish()
    assert said == [Closed(1)]


@pytest.mark.parametrize("first", ["the bot", "the host where it plays"])
async def test_a_link_carries_any_number_of_bots_one_after_the_other(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    """Whoever hangs up first. Catches hosts that relay nobody any more once many have come and gone."""
    monkeypatch.setattr("server.peers.link.CHANNELS", 1)

    async def attend(wire: FarEnd, opened: Open) -> None:
        await wire.send_some(b"hello")
        if first == "the bot":
            while await wire.receive():
                pass

    async with linked(attend) as between:
        for _ in range(3):
            bot = relayed(between)
            assert await bot.receive() == b"hello"
            if first == "the bot":
                await bot.aclose()
            else:
                assert await bot.receive() == b""
            await trio.sleep(LAST_WORDS)
