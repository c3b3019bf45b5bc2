"""Every exchange that the pages on protocols show is had with the real doors, byte for byte."""

import pytest
from trio.testing import MockClock

from server.net import parking
from tests.server.doors import PAGES, Page, memory, pages, sockets
from tests.server.transcripts import Transcript, replay

CUSHION = 0.02  # seconds of silence on a real network that is this machine


def found(takes_time: bool = True) -> list[object]:
    """Every transcript of every page; only those in which no time passes, if that is asked for."""
    return [
        pytest.param(page, transcript, id=transcript.name)
        for page in pages()
        for transcript in page.transcripts()
        if takes_time or not transcript.takes_time
    ]


@pytest.mark.parametrize(("page", "transcript"), found())
async def test_a_transcript_happens(page: Page, transcript: Transcript, autojump_clock: MockClock) -> None:
    await replay(transcript, memory, over=page.over)


@pytest.mark.slow
@pytest.mark.parametrize(("page", "transcript"), found(takes_time=False))
async def test_a_transcript_happens_over_real_sockets(
    page: Page, transcript: Transcript, slow_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parking, "LONG_ENOUGH", 0.0)  # no task waits for anybody
    await replay(transcript, sockets, over=page.over, cushion=CUSHION)


def test_every_page_is_replayed() -> None:
    """Catches a page that is no dialect's, which nobody would replay."""
    assert set(PAGES.glob("*.md")) <= {page.path for page in pages()}
