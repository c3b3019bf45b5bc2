"""Every exchange that the pages on protocols show is had with the real doors, byte for byte."""

from collections.abc import Mapping
from pathlib import Path

import pytest
import trio
from trio.testing import MockClock

from server.config import Evaluation
from server.host.host import Host
from server.http.routes import routed
from server.http.service import Http
from server.net.listening import Visitor
from server.net.wire import Wire
from server.protocols import tcp, websocket
from server.protocols.arena.door import Arena
from server.protocols.hexagon_dots.door import HexagonDots
from server.protocols.house.sessions import HouseHttp
from tests.server.ends import Attend, Connect, End, FrameEnd, in_memory, over_sockets
from tests.server.http_end import HttpEnd
from tests.server.protocols.lists import Telephone
from tests.server.transcripts import Transcript, replay, transcripts

PAGES = Path(__file__).parents[2] / "docs/protocols"
OVER = {  # what a page is about
    "arena": "http",
    "connect-4": "arena",
    "santorini": "tcp",
    "house": "tcp",
    "hexagon-dots": "http",
    "house-http": "http",
}
CUSHION = 0.02  # seconds of silence on a real network that is this machine


def found(takes_time: bool = True) -> list[object]:
    """Every transcript of every page; only those in which no time passes, if that is asked for."""
    return [
        pytest.param(page, transcript, id=transcript.name)
        for page in OVER
        for transcript in transcripts(PAGES / f"{page}.md")
        if takes_time or not transcript.takes_time
    ]


def web(host: Host, telephone: Telephone) -> Attend:
    """The doors that are behind the HTTP port."""
    arena = Arena(host, Evaluation(), "127.0.0.1", telephone)
    http = Http(routed((arena, HexagonDots(host), HouseHttp(host))), host.guard, host.limits)

    async def attend(host: Host, wire: Wire, visitor: Visitor) -> None:
        await http.attend(wire, visitor)

    return attend


def play(stream: trio.abc.Stream) -> End:
    return FrameEnd(stream, "/play")


def arena(stream: trio.abc.Stream) -> End:
    return FrameEnd(stream, "/")


async def memory(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
    telephone = Telephone()
    http = in_memory(host, web(host, telephone), HttpEnd)
    return {
        "tcp": in_memory(host, tcp.attend),
        "websocket": in_memory(host, websocket.attend, play),
        "arena": in_memory(host, websocket.attend, arena),
        "http": http,
        "stream": http,
        "called": telephone.answering,
    }


async def sockets(host: Host, nursery: trio.Nursery) -> Mapping[str, Connect]:
    telephone = Telephone()
    http = await over_sockets(host, nursery, web(host, telephone), HttpEnd)
    return {
        "tcp": await over_sockets(host, nursery, tcp.attend),
        "websocket": await over_sockets(host, nursery, websocket.attend, play),
        "arena": await over_sockets(host, nursery, websocket.attend, arena),
        "http": http,
        "stream": http,
        "called": telephone.answering,
    }


@pytest.mark.parametrize(("page", "transcript"), found())
async def test_a_transcript_happens(page: str, transcript: Transcript, autojump_clock: MockClock) -> None:
    await replay(transcript, memory, over=OVER[page])


@pytest.mark.slow
@pytest.mark.parametrize(("page", "transcript"), found(takes_time=False))
async def test_a_transcript_happens_over_real_sockets(page: str, transcript: Transcript) -> None:
    await replay(transcript, sockets, over=OVER[page], cushion=CUSHION)


def test_every_page_is_replayed() -> None:
    """Catches a new protocol whose page nobody replays."""
    assert {page.stem for page in PAGES.glob("*.md")} == set(OVER)
