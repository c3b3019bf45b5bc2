"""What the laws over all dialects share: every transcript, and an ear in the doors."""

from collections.abc import Awaitable, Callable

import pytest
import trio
from msgspec.structs import replace
from trio.testing import MockClock

from server.host import archiving, forgetting
from server.protocols import catalogue, tcp, websocket
from server.protocols.dialect import OverHttp, Speak
from tests.server.doors import Page, pages
from tests.server.transcripts import Transcript

SELDOM = 600.0  # seconds


def _transcripts(
    where: Callable[[Page], bool], others: pytest.MarkDecorator | None = None
) -> pytest.MarkDecorator:
    """Those of some pages; all `others` than the first of each page have that mark."""
    found = [
        pytest.param(page, each, id=each.name, marks=others if others and number else ())
        for page in pages()
        if where(page)
        for number, each in enumerate(page.transcripts())
    ]
    return pytest.mark.parametrize(("page", "transcript"), found)


def _by_requests(page: Page) -> bool:
    return page.over == "http" or isinstance(catalogue.dialects()[page.dialect].carried_by[0], OverHttp)


every_transcript = _transcripts(lambda page: True)
a_transcript_of_every_page = _transcripts(lambda page: True, pytest.mark.campaign)
a_transcript_of_every_page_soon = _transcripts(lambda page: True, pytest.mark.slow)
every_transcript_over_connections = _transcripts(lambda page: not _by_requests(page))


def listen_in(monkeypatch: pytest.MonkeyPatch, around: Callable[[Speak], Speak]) -> None:
    """Put something `around` every dialect over TCP and websocket."""
    lines = tuple(replace(way, speak=around(way.speak)) for way in catalogue.lines())
    frames = {path: replace(way, speak=around(way.speak)) for path, way in catalogue.frames().items()}
    monkeypatch.setattr(tcp, "lines", lambda: lines)
    monkeypatch.setattr(websocket, "frames", lambda: frames)


def look_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hosts look less often for what they may forget or archive: after an hour as little is left."""
    monkeypatch.setattr(forgetting, "EVERY", SELDOM)
    monkeypatch.setattr(archiving, "EVERY", SELDOM)


def from_zero(replayed: Callable[[], Awaitable[None]]) -> None:
    """On a clock of its own: late on a clock, a sum of seconds is not the same to the last digit."""
    trio.run(replayed, clock=MockClock(autojump_threshold=0))


def places(transcript: Transcript) -> list[int]:
    """After every line with which a bot says something, or time passes: what bots are told comes of it."""
    return [place for place, line in enumerate(transcript.lines) if line.way != "<"]
