"""Every exchange that the pages on protocols show is had with the real doors, byte for byte."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from server.doors import tcp, websocket
from server.host import Host
from tests.server.ends import Connect, End, FrameEnd, in_memory, over_sockets
from tests.server.transcripts import Transcript, replay, transcripts

PAGES = Path(__file__).parents[2] / "docs/protocols"
OVER = {"santorini": "tcp", "house": "tcp"}  # what a page is about
CUSHION = 0.02  # seconds of silence on a real network that is this machine


def found(takes_time: bool = True) -> list[object]:
    """Every transcript of every page; only those in which no time passes, if that is asked for."""
    return [
        pytest.param(page, transcript, id=transcript.name)
        for page in OVER
        for transcript in transcripts(PAGES / f"{page}.md")
        if takes_time or not transcript.takes_time
    ]


def play(stream: trio.abc.Stream) -> End:
    return FrameEnd(stream, "/play")


async def memory(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
    return {
        "tcp": in_memory(host, tcp.attend),
        "websocket": in_memory(host, websocket.attend, play),
    }


async def sockets(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
    return {
        "tcp": await over_sockets(host, nursery, tcp.attend),
        "websocket": await over_sockets(host, nursery, websocket.attend, play),
    }


@pytest.mark.parametrize(("page", "transcript"), found())
async def test_a_transcript_happens(page: str, transcript: Transcript, autojump_clock: MockClock) -> None:
    await replay(transcript, memory, over=OVER[page])


@pytest.mark.parametrize(("page", "transcript"), found(takes_time=False))
async def test_a_transcript_happens_over_real_sockets(page: str, transcript: Transcript) -> None:
    await replay(transcript, sockets, over=OVER[page], cushion=CUSHION)


def test_every_page_is_replayed() -> None:
    """Catches a new protocol whose page nobody replays."""
    assert {page.stem for page in PAGES.glob("*.md")} == set(OVER)
