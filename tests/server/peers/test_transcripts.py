"""Every exchange that the pages on protocols show is had with several hosts, whichever it comes to."""

import pytest
import trio
import trio.testing
from trio.testing import MockClock

from games.catalogue import catalogue
from tests.server.doors import Page, pages
from tests.server.peers.several import several
from tests.server.transcripts import CLOCK, Line, Stage, Transcript, opened_as

HEARD_IN = 1.0  # seconds in which another host has heard what this one has just done


class Patient(Stage):
    """What a message says of clocks is not compared: some seconds go by where a host waits for another."""

    async def expect(self, who: str, line: Line) -> None:
        await trio.testing.wait_all_tasks_blocked()
        with trio.move_on_after(HEARD_IN):
            while not self._bots[who].heard:  # noqa: ASYNC110
                await trio.sleep(0.01)
        await super().expect(who, line)

    def comparable(self, text: str) -> str:
        return CLOCK.sub('"clock":[]', text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("page", "transcript"),
    [
        pytest.param(page, transcript, id=transcript.name)
        for page in pages()
        for transcript in page.transcripts()
    ],
)
async def test_a_transcript_happens(page: Page, transcript: Transcript, autojump_clock: MockClock) -> None:
    async with several(3) as (hosts, doors), trio.open_nursery() as nursery:
        for game in catalogue():
            await hosts[2].table(game)
        if "tournament" in transcript.settings:
            await hosts[0].found(transcript.settings["tournament"], opened_as(transcript.settings))
        await trio.sleep(HEARD_IN)
        stage = Patient(transcript.name, doors, nursery, page.over, 0.0)
        for line in transcript.lines:
            await stage.perform(line)
        await stage.expect_silence("the end")
        await stage.clear()
        nursery.cancel_scope.cancel()
