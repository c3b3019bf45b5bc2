"""Archiving, once in a while, of tournaments that are long over: most of what is known of them takes room."""

import time
from collections.abc import Callable, Iterable
from functools import partial

import trio

from server.host.boards import Run
from server.net.pauses import WithPauses
from tournament.archived_record import can_be_archived, for_the_archive, keep_archived
from tournament.record import Record

AFTER = 3600.0  # seconds since the latest match: until then its pages are read, and its bots come back
EVERY = 60.0  # seconds between two looks
AT_A_TIME = 100  # tournaments that are looked at before other tasks get their turn


async def archive_old(
    records: Callable[[], Iterable[Record]], run: Run, wall: Callable[[], float] = time.time
) -> None:
    """Archive tournaments from now on, until cancelled; `run` does what would hold up matches."""
    while True:
        await trio.sleep(EVERY)
        await _archive(records(), run, wall)  # which lets go of the last record: it may be deleted next


async def _archive(records: Iterable[Record], run: Run, wall: Callable[[], float]) -> None:
    async for record in WithPauses(records, AT_A_TIME):
        if can_be_archived(record) and wall() - (record.latest_end or 0.0) > AFTER:
            facts = record.facts
            archived = await run(partial(for_the_archive, record.after()))
            if record.facts == facts:  # else it is another one by now, and may not be over
                keep_archived(record, archived)
