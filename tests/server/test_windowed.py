"""The simulated connection keeps to what it promises: what is written against it learns the truth."""

from math import inf

import pytest
import trio
import trio.testing
from hypothesis import given
from hypothesis import strategies as st

from tests.server.windowed import End, Weather, on_virtual_time, windowed_pair

weathers = st.builds(
    Weather,
    window=st.integers(1, 300),
    latency=st.floats(0, 2),
    jitter=st.floats(0, 2),
    piece=st.none() | st.integers(1, 50),
)


async def pieces(end: End) -> list[bytes]:
    got: list[bytes] = []
    while received := await end.receive():
        got.append(received)
    return got


async def say(end: End, content: bytes) -> None:
    await end.send_all(content)
    await end.send_eof()


@given(weathers, st.binary(max_size=1500), st.binary(max_size=1500), st.integers())
def test_in_any_weather_both_sides_get_what_the_other_said(
    weather: Weather, there: bytes, back: bytes, seed: int
) -> None:
    @on_virtual_time
    async def _() -> None:
        server, client = windowed_pair(weather, seed=seed)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(say, client, there)
            nursery.start_soon(say, server, back)

            @nursery.start_soon
            async def _() -> None:
                assert b"".join(await pieces(server)) == there

            assert b"".join(await pieces(client)) == back


@given(weathers, st.integers())
def test_the_same_seed_makes_the_same_history(weather: Weather, seed: int) -> None:
    histories: list[list[tuple[float, bytes]]] = []
    for _ in range(2):
        history: list[tuple[float, bytes]] = []
        histories.append(history)

        @on_virtual_time
        async def _(history: list[tuple[float, bytes]] = history) -> None:
            server, client = windowed_pair(weather, seed=seed)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(say, client, bytes(range(60)))
                while received := await server.receive():
                    history.append((trio.current_time(), received))

    assert histories[0] == histories[1]


async def test_no_more_than_the_window_is_taken_until_it_is_read() -> None:
    server, client = windowed_pair(Weather(window=10))
    assert [server.send_now(b"x" * 7), server.send_now(b"x" * 7), server.send_now(b"x")] == [7, 3, 0]
    assert await client.receive_some(4) == b"xxxx"
    assert server.send_now(b"x" * 7) == 4


async def test_bytes_take_their_time(autojump_clock: trio.testing.MockClock) -> None:
    server, client = windowed_pair(Weather(latency=0.25))
    server.send_now(b"one")
    assert await client.receive() == b"one"
    assert trio.current_time() == 0.25
    server.stall(3.0)
    server.send_now(b"two")
    assert await client.receive() == b"two"
    assert trio.current_time() == 3.25


async def test_closing_with_something_unread_resets() -> None:
    server, client = windowed_pair()
    client.send_now(b"unread")
    server.send_now(b"never seen")
    server.close()
    for lost in (client.receive, lambda: client.send_all(b"x")):
        with pytest.raises(trio.BrokenResourceError):
            await lost()


async def test_closing_with_nothing_unread_is_an_end_and_an_answer_to_it_a_reset() -> None:
    server, client = windowed_pair()
    server.send_now(b"goodbye")
    server.close()
    assert await client.receive() == b"goodbye"
    assert await client.receive() == b""
    assert client.send_now(b"x") == 1
    with pytest.raises(trio.BrokenResourceError):
        client.send_now(b"x")


async def test_closing_wakes_its_own_side() -> None:
    server, _ = windowed_pair(Weather(window=1))
    woken: list[type[Exception]] = []

    async def reads() -> None:
        try:
            await server.receive()
        except trio.ClosedResourceError as error:
            woken.append(type(error))

    async def sends() -> None:
        try:
            await server.send_all(b"xx")
        except trio.BrokenResourceError as error:
            woken.append(type(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(reads)
        nursery.start_soon(sends)
        await trio.testing.wait_all_tasks_blocked()
        server.close()
    assert set(woken) == {trio.ClosedResourceError, trio.BrokenResourceError}


async def test_a_pulled_cable_tells_nobody_anything(autojump_clock: trio.testing.MockClock) -> None:
    server, client = windowed_pair(Weather(window=10, latency=0.1))
    server.send_now(b"12345")
    client.pull()
    assert client.send_now(b"x" * 20) == 10
    client.reset()
    with trio.move_on_after(1000) as waited:
        await server.receive()
    assert waited.cancelled_caught
    assert server.send_now(b"x" * 20) == 5
    with trio.move_on_after(1000) as waited:
        await server.send_some(b"x")
    assert waited.cancelled_caught
    assert trio.current_time() < inf
