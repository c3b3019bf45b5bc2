"""What every dialect leaves behind when its bots have gone: nothing for the garbage collector.

Objects that keep each other are freed only when the collector looks at everything, which
takes long with many matches in play: it hardly ever does (`server/interpreter.py`). So a dialect
that leaves such a circle with each connection fills the memory.
"""

import gc
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager

import pytest
import trio
from trio.testing import MockClock
from wsproto.frame_protocol import FrameProtocol

from server.net.limits import Limits, Rate
from tests.server.doors import Page, memory
from tests.server.protocols.overheard import every_transcript, look_seldom
from tests.server.protocols.room import room
from tests.server.transcripts import Transcript, staged
from tournament.meetings import Meetings

LONG = 4300.0  # seconds after which nobody is awaited or remembered
OURS = ("server.", "tournament.", "trio_websocket.", "h11.")

pytestmark = pytest.mark.usefixtures("nothing_old")


@contextmanager
def uncollected() -> Generator[Counter[type]]:
    """What becomes garbage meanwhile and is not freed by itself, by class."""
    found = Counter[type]()
    gc.collect()
    gc.disable()
    try:
        yield found
        there = _counted()
        gc.collect()
        found.update(there - _counted())
    finally:
        gc.enable()


def _counted() -> Counter[type]:
    """What the collector knows of: also what it lets end by itself, as a generator that is suspended."""
    objects = gc.get_objects()
    kinds = Counter(map(type, objects))  # of which there are far fewer
    found = Counter({kind: many for kind, many in kinds.items() if _is_the_hosts(kind)})
    if FrameProtocol in kinds:
        frames = (each for each in objects if type(each) is FrameProtocol)
        found[FrameProtocol] = sum(not each.client for each in frames)  # as bots of tests are
    return found


def _is_the_hosts(kind: type) -> bool:
    return str(kind.__module__).startswith(OURS)


@pytest.mark.slow
@every_transcript
async def test_bots_that_have_gone_leave_nothing_for_the_collector(
    page: Page, transcript: Transcript, monkeypatch: pytest.MonkeyPatch, autojump_clock: MockClock
) -> None:
    look_seldom(monkeypatch)
    async with staged(transcript, memory, over=page.over) as (_, stage):
        with uncollected() as left:
            for line in transcript.lines:
                await stage.perform(line)
            await stage.clear()
            await trio.sleep(LONG)
    assert not left


async def test_a_bot_that_comes_too_often_leaves_nothing_for_the_collector(
    autojump_clock: MockClock,
) -> None:
    """Catches play that waits, half a second at a time, for what strangers have left to be freed."""
    async with room(limits=Limits(new_names=Rate(0, 100.0))) as hall:
        with uncollected() as left:
            ann = await hall.hello("ann")
            (refusal,) = await ann.messages()
            await ann.close()
            del ann
            await trio.sleep(LONG)
    assert refusal["type"] == "refused"
    assert not left


def test_what_keeps_each_other_is_found() -> None:
    with uncollected() as left:
        one, other = Meetings(), Meetings()
        one.against.append({0: other})  # pyright: ignore[reportArgumentType] - a circle
        other.against.append({0: one})  # pyright: ignore[reportArgumentType]
        del one, other
    assert left[Meetings] == 2
