"""Starting the process for pages, watching it, and starting it again when it ends.

Play does not need it. While there is none, clients that ask for a page are told to try again in a
second. One that hangs is killed, so that they do not wait for it.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress

import structlog
import trio

from server.exits import Unusable
from server.host.happened import Happened
from server.host.host import Host
from server.net.causes import why
from server.show.begin import DAMAGED, READY, ShowSettings
from server.show.child import Child, Started, ended, started
from server.show.draws import TIMEOUT, DrawsInShow
from server.show.feed import Teller
from server.show.hanging import processor_time, until_it_hangs
from server.show.lending import Lending

PAUSES = (0.0, 0.5, 2.0, 10.0)  # seconds before it is started again, longer the more often it has failed
DAMAGED_PAUSE = 60.0  # … or where the journal is damaged, of which each reads all
REASON = 4096  # bytes of it that are read
NO_JOURNAL = "this host's journal is damaged, so it cannot show anything: only its organiser can mend that"
LASTED = 60.0  # seconds after which a show that ends counts as having worked

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Show:
    """Play's side of the process for pages."""

    def __init__(self, host: Host, last: Callable[[], int], lending: Lending, first: Started) -> None:
        """`last` returns the number of the journal's latest safe entry. `first` is running already."""
        self._host = host
        self._first: Started | None = first
        self.lending = lending
        self.teller = Teller(host, last)
        self._draws = DrawsInShow(self.teller)
        self._told_ready = self._unreadable = False
        self._draws.damaged = self._damaged
        host.elsewhere, host.boards.ranked = self._draws.draw, self._draws.rank

    def watch(self, watched: Callable[[Sequence[str]], None]) -> Callable[[Happened], None]:
        """Have `watched` called with other hosts' matches that are watched; returns what takes their news."""
        self._draws.watched = watched
        return self.teller.tell_too

    async def run(
        self, begin: Callable[[], ShowSettings], task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED
    ) -> None:
        """Keep a show running until cancelled. This has started when the first is ready, or has failed."""
        failures = 0
        while True:
            begun = trio.current_time()
            try:
                code = await self._one(begin(), task_status)
                said, about = "the process for pages has ended and is started again", {"code": code}
            except OSError as error:
                said, about = "the process for pages cannot be started", {"why": why(error)}
            failures = 1 if trio.current_time() - begun > LASTED else failures + 1
            pause = DAMAGED_PAUSE if self._unreadable else PAUSES[min(failures, len(PAUSES)) - 1]
            if not self._unreadable:  # that was said
                log.error(said, **about, pause=pause)
            self._ready(task_status)
            await trio.sleep(pause)

    def _ready(self, task_status: trio.TaskStatus[None]) -> None:
        if not self._told_ready:
            self._told_ready = True
            task_status.started()

    async def _one(self, begin: ShowSettings, task_status: trio.TaskStatus[None]) -> int:
        """Run one process, from its start to its end; raises `OSError` if the system does not start it."""
        (child, feed, conduit), self._first = self._first or started(), None
        stream = trio.SocketStream(trio.socket.from_stdlib_socket(feed))
        try:
            with conduit:
                async with stream, trio.open_nursery() as nursery:
                    nursery.start_soon(self._watch, child)
                    if await self._begins(stream, begin):
                        nursery.start_soon(self.teller.tell, stream)
                        nursery.start_soon(self._draws.hear, stream)
                        self._ready(task_status)
                        await self.lending.connect(conduit)
                    nursery.cancel_scope.cancel()
        finally:
            with trio.CancelScope(shield=True):
                await trio.to_thread.run_sync(ended, child)
        return child.returncode

    async def _begins(self, stream: trio.SocketStream, begin: ShowSettings) -> bool:
        """Wait for the process to read the journal; returns whether it can answer."""
        self._unreadable = False
        with suppress(trio.BrokenResourceError):
            await stream.send_all(begin.packed())
            said = await stream.receive_some(1)
            if said == DAMAGED:
                self._unreadable = True
                self.lending.despair(NO_JOURNAL)
                self._host.guard.report(Unusable((await stream.receive_some(REASON)).decode()))
            return said == READY
        return False

    def _damaged(self, why: str) -> None:
        """Show has met damage, and has logged it."""
        self._host.guard.damage = self._host.guard.damage or why

    async def _watch(self, child: Child) -> None:
        """Kill a process that gives no sign of life any more; while it is starting, work is one."""

        def signs() -> tuple[int, float]:
            return self._draws.heard, 0.0 if self.lending.connected else processor_time(child.pid)

        await until_it_hangs(signs, TIMEOUT)
        log.error("the process for pages gives no sign of life and is killed", seconds=TIMEOUT)
        child.kill()
