"""How long a host whose tournament is over waits for webhooks, on a virtual clock."""

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.config import Settings, Webhook
from server.stopping import until_webhooks_know
from server.webhooks.positions import FILE, Positions
from server.webhooks.posting import SECONDS

URL = "https://one.example/"


async def signals(after: float = math.inf) -> AsyncGenerator[int]:
    await trio.sleep(after)
    yield 15


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(data=str(tmp_path), webhook=(Webhook(URL, "a secret"),))


async def waits(settings: Settings, last: Callable[[], int], signalled: float = math.inf) -> float:
    """How long it waits until all up to the last entry is told."""
    begun = trio.current_time()
    async with aclosing(signals(signalled)) as received:
        await until_webhooks_know(settings, last, received)
    return trio.current_time() - begun


async def test_it_waits_until_the_last_entry_is_told(settings: Settings, autojump_clock: MockClock) -> None:
    positions = Positions(Path(settings.data) / FILE)
    positions.keep({URL: 6})

    async def tell() -> None:
        await trio.sleep(SECONDS / 2)
        positions.keep({URL: 7})

    async with trio.open_nursery() as nursery:
        nursery.start_soon(tell)
        assert SECONDS / 2 <= await waits(settings, lambda: 7) < SECONDS
    assert await waits(settings, lambda: 7) == 0


async def test_a_new_webhook_has_nothing_to_be_told(settings: Settings, autojump_clock: MockClock) -> None:
    assert await waits(settings, lambda: 7) == 0


async def test_for_a_dead_receiver_it_waits_as_long_as_a_slow_one_may_take_and_says_so(
    settings: Settings, autojump_clock: MockClock
) -> None:
    Positions(Path(settings.data) / FILE).keep({URL: 6})
    with capture_logs() as logs:
        assert await waits(settings, lambda: 7) == SECONDS
    assert any("have yet to be told" in each["event"] for each in logs)


async def test_a_signal_ends_the_wait(settings: Settings, autojump_clock: MockClock) -> None:
    Positions(Path(settings.data) / FILE).keep({URL: 6})
    assert await waits(settings, lambda: 7, signalled=1.0) == 1.0
