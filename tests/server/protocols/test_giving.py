"""Answers that are given bit by bit: how slowly they may be taken."""

from collections.abc import Awaitable
from itertools import count
from math import inf
from tracemalloc import get_traced_memory, start, stop

import pytest
import trio
from trio.testing import MockClock

from server.http.exchange import Exchange
from server.http.wire import Response
from server.protocols.api.giving import LARGE, LEAST, SPARE, give
from tests.server.protocols.test_api import office
from tests.server.web import Client, get, serving
from tests.server.windowed import Weather
from tournament.facts import Drew, Entered
from tournament.format import Pairing

SIZE = 16 * LARGE
LONGEST = SPARE + SIZE / LEAST  # seconds that the whole answer may take
WINDOW = 4096  # bytes that the network holds: the least of the answer


def large(exchange: Exchange) -> Awaitable[object] | None:
    return give(exchange, Response(200, (), bytes(SIZE)))


async def take(client: Client, speed: float, pause: float) -> int:
    """Take an answer with a pause before each bite; returns how many bytes came before the end."""
    got = 0
    while True:
        await trio.sleep(pause)
        bite = 0
        while bite < speed * pause:
            received = await client.end.receive_some(WINDOW)
            if not received:
                return got
            bite += len(received)
            got += len(received)


@pytest.mark.parametrize("pause", [0.1, 1.0, 9.0])
async def test_whoever_takes_a_large_answer_at_the_least_speed_gets_it(
    pause: float, autojump_clock: MockClock
) -> None:
    async with serving(large) as server:
        client = server.connect(Weather(window=WINDOW))
        await client.end.send_all(get("/", "Connection: close"))
        assert await take(client, LEAST, pause) > SIZE


@pytest.mark.parametrize("pause", [0.1, 1.0, 9.0])
async def test_whoever_takes_a_large_answer_too_slowly_is_hung_up_on(
    pause: float, autojump_clock: MockClock
) -> None:
    """Catches a bite every nine seconds, which was enough to hold what is made for an answer for a day."""
    async with serving(large) as server:
        client = server.connect(Weather(window=WINDOW))
        begun = trio.current_time()
        await client.end.send_all(get())
        assert await take(client, LEAST / 16, pause) < SIZE
        assert trio.current_time() - begun < LONGEST + pause
        assert not server.guard.caught


async def test_nobody_is_hung_up_on_because_the_host_stood_still(mock_clock: MockClock) -> None:
    async with serving(large) as server:
        client = server.connect(Weather(window=WINDOW))
        await client.end.send_all(get("/", "Connection: close"))
        assert await client.now()
        mock_clock.jump(LONGEST)
        mock_clock.autojump_threshold = 0
        assert await take(client, inf, 1e-9) > SIZE - 2 * WINDOW


async def test_all_who_are_given_the_report_of_a_large_tournament_are_given_the_same_bytes(
    autojump_clock: MockClock,
) -> None:
    """Catches a stranger who has the host hold ten megabytes for each of sixty connections."""
    asked = get("/api/tournaments/cup/standings?format=trf", "Connection: close")
    async with office() as here:
        await here.tell("/api/tournaments", 201, name="cup", game="tic-tac-toe", format="gauntlet")
        record = here.host.tournaments["cup"].record
        for name in ("ann", "bob"):
            record.add(Entered(name))
        record.add(Drew(tuple([Pairing(number, 1, "ann", "bob") for number in range(1, 100_001)])))
        size = len((await here.server.connect().ask(asked)).body)
        assert size > 10 * LARGE
        peers = (f"192.0.2.{number}" for number in count(1))
        start()
        try:
            for _ in range(8):
                client = here.server.connect(Weather(window=WINDOW), peer=next(peers))
                await client.end.send_all(asked)
                await client.now()
            assert get_traced_memory()[0] < 4 * size
        finally:
            stop()
