"""What nobody waits for any more is not worked out, and whoever stays is answered in time."""

from collections.abc import Awaitable

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from server.http.exchange import Exchange
from server.http.wanted import LINGER, MOST, WhileWanted
from server.http.wire import Response
from server.pages.fair_share import FairShare
from tests.server.web import get, serving

TAKES = 0.5  # seconds


class Slow:
    """Works out one answer after the other."""

    def __init__(self) -> None:
        self.worked: list[str] = []
        self.pending = 0
        self._turns = trio.Lock()
        self._while_wanted = WhileWanted()

    def __call__(self, exchange: Exchange) -> Awaitable[object] | None:
        return self._while_wanted(exchange, self._answer(exchange))

    async def _answer(self, exchange: Exchange) -> None:
        self.pending += 1
        try:
            async with self._turns:
                await trio.sleep(TAKES)
                self.worked.append(exchange.request.path)
                exchange.respond(Response(body=exchange.request.path.encode()))
        finally:
            self.pending -= 1


@pytest.mark.parametrize("how", ["end", "reset"])
async def test_whoever_stays_does_not_wait_for_all_who_asked_and_hung_up(
    how: str, autojump_clock: MockClock
) -> None:
    """Catches strangers who ask for pages and hang up: whoever came after them waited for minutes."""
    slow = Slow()
    async with serving(slow) as server:
        for number in range(100):
            client = server.connect()
            await client.end.send_all(get(f"/{number}"))
            await trio.testing.wait_all_tasks_blocked()
            client.end.finish() if how == "end" else client.end.reset()
        asked = trio.current_time()
        assert (await server.connect().ask(get("/stays"))).body == b"/stays"
        assert trio.current_time() <= asked + LINGER + 2 * TAKES
        await trio.sleep(100 * TAKES)
        assert len(slow.worked) <= LINGER / TAKES + 2
        assert not server.guard.caught


async def test_of_very_many_who_have_hung_up_only_the_latest_are_waited_for(
    autojump_clock: MockClock,
) -> None:
    """Catches a memory that grows with how fast strangers come and go."""
    slow = Slow()
    async with serving(slow) as server:
        for number in range(3 * MOST):
            client = server.connect()
            await client.end.send_all(get(f"/{number}"))
            client.end.finish()
            await trio.testing.wait_all_tasks_blocked()
        assert trio.current_time() < LINGER
        assert slow.pending <= MOST


async def test_a_client_that_has_ended_its_side_alone_is_still_answered(autojump_clock: MockClock) -> None:
    async with serving(Slow()) as server:
        client = server.connect()
        await client.end.send_all(get("/reads"))
        client.end.finish()
        assert (await client.answer()).body == b"/reads"


async def test_work_that_was_begun_for_somebody_who_left_goes_on_alone(autojump_clock: MockClock) -> None:
    """Catches several things at once in threads, which nobody waits for."""
    at_once, most = 0, 0

    async def work(done: trio.Event) -> None:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await trio.sleep(TAKES)
        at_once -= 1
        done.set()

    async with trio.open_nursery() as threads:

        async def run(begun: object) -> None:
            done = trio.Event()
            threads.start_soon(work, done)  # which goes on, whoever waits for it
            await done.wait()

        turns = FairShare(run, 0.0)

        async def ask(left_after: float) -> None:
            with trio.move_on_after(left_after):
                await turns.aside(lambda: lambda: None)

        async with trio.open_nursery() as nursery:
            for left_after in (0.1, 0.2, 10.0, 10.0):
                nursery.start_soon(ask, left_after)
    assert most == 1
