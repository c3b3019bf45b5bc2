"""What worker 0 has to do with another worker, between the end of its process and the next one."""

from typing import Any, cast

import trio
import trio.testing
from trio.testing import MockClock

from server.host.abroad import Handed, Piece
from server.net.limits import Limits
from server.net.listening import Admission
from server.show.lending import Lending
from server.workers.messages import Ready
from server.workers.worker import Worker
from tests.hang import HANG
from tests.server.windowed import windowed_pair


async def test_whoever_comes_while_a_process_ends_waits_for_the_next_one_and_no_longer(
    autojump_clock: MockClock,
) -> None:
    limits = Limits()
    admission = Admission(limits)
    lending = Lending(limits, admission)
    worker = Worker(1, cast(Any, None), lambda number, key: None, lending, None, admission, 1)
    wire, _ = windowed_pair()
    handed = Handed("tcp", wire, "", [(b"{}\n", 0.0)], lambda: None)
    back: list[object] = []

    async def come() -> None:
        pieces: tuple[Piece, ...] = tuple(await worker.take(handed))
        back.append(pieces)

    with trio.fail_after(HANG):
        async with trio.open_nursery() as nursery:
            worker._end_all()  # its connections end as soon as the link has …
            nursery.start_soon(come)
            await trio.testing.wait_all_tasks_blocked()
            worker._end_all()  # … and what is still there when the process has
            worker._take(Ready(), None)
    assert back == [()], "there is no process any more: the connection ends"
