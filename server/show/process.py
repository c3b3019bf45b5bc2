"""The process that shows: started, watched, and started again when it ends.

Play does not need it. While there is none, whoever asks for a page is told to ask again in a second.
"""

from collections.abc import Callable, Sequence

import structlog
import trio

from server.host.happened import Happened
from server.host.host import Host
from server.show.begin import READY, Begin
from server.show.child import Started, ended, started
from server.show.draws import Draws
from server.show.feed import Teller
from server.show.lending import Lending

PAUSES = (0.0, 0.5, 2.0, 10.0)  # seconds before it is started again, the more often it has failed
LASTED = 60.0  # seconds after which a show that ends was a good one

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Show:
    """All that play has to do with it."""

    def __init__(self, host: Host, last: Callable[[], int], lending: Lending, first: Started) -> None:
        """`last` is the number of the latest entry of the journal that is safe. `first` is there already."""
        self._first: Started | None = first
        self.lending = lending
        self.teller = Teller(host, last)
        self._draws = Draws(self.teller)
        self._told_ready = False
        host.elsewhere, host.boards.ranked = self._draws.draw, self._draws.rank

    def watch(self, watched: Callable[[Sequence[str]], None]) -> Callable[[Happened], None]:
        """Have that called with matches of other hosts that are looked at; returns whom to tell of them."""
        self._draws.watched = watched
        return self.teller.tell_too

    async def run(
        self, begin: Callable[[], Begin], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Keep one there until cancelled. It has started when the first is ready, or has failed."""
        failures = 0
        while True:
            begun = trio.current_time()
            code = await self._one(begin(), task_status)
            failures = 1 if trio.current_time() - begun > LASTED else failures + 1
            pause = PAUSES[min(failures, len(PAUSES)) - 1]
            log.error("the process that shows pages has ended and is started again", code=code, pause=pause)
            self._ready(task_status)
            await trio.sleep(pause)

    def _ready(self, task_status: trio.TaskStatus[None]) -> None:
        if not self._told_ready:
            self._told_ready = True
            task_status.started()

    async def _one(self, begin: Begin, task_status: trio.TaskStatus[None]) -> int:
        """One process, from its start to its end."""
        (child, feed, conduit), self._first = self._first or started(), None
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(feed))
        try:
            with conduit:
                async with stream, trio.open_nursery() as nursery:
                    if await _begins(stream, begin):
                        nursery.start_soon(self.teller.tell, stream)
                        nursery.start_soon(self._draws.hear, stream)
                        self._ready(task_status)
                        await self.lending.connect(conduit)
                    nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(ended, child)
        return child.returncode


async def _begins(stream: trio.SocketStream, begin: Begin) -> bool:
    """Whether it has read the journal and can answer."""
    try:
        await stream.send_all(begin.packed())
        return await stream.receive_some(1) == READY
    except trio.BrokenResourceError:
        return False
