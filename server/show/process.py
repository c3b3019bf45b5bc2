"""The process that shows: started, watched, and started again when it ends.

Play does not need it. While there is none, whoever asks for a page is told to ask again in a second.
The child ends with its parent: it reads the parent's end of a socket, and asks the kernel to be
killed. It is started from the main thread, for the kernel means the thread that forked.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import structlog
import trio

from server.host.happened import Happened
from server.host.host import Host
from server.show.begin import READY, Begin
from server.show.draws import Draws
from server.show.feed import Teller
from server.show.lending import Lending

ROOT = str(Path(__file__).parents[2])  # where `server` and `games` lie
PAUSES = (0.0, 0.5, 2.0, 10.0)  # seconds before it is started again, the more often it has failed
LASTED = 60.0  # seconds after which a show that ends was a good one
OUTLIVED = 2.0  # seconds that it has to end by itself when it is no longer needed

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Show:
    """All that play has to do with it."""

    def __init__(self, host: Host, last: Callable[[], int], lending: Lending) -> None:
        """`last` is the number of the latest entry of the journal that is safe."""
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
        child, feed, conduit = _started()
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


def _started() -> tuple[subprocess.Popen[bytes], socket.socket, socket.socket]:
    """A process, and our ends of its feed and its conduit."""
    feed, their_feed = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    conduit, their_conduit = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with their_feed, their_conduit:
        theirs = (their_feed.fileno(), their_conduit.fileno())
        child = child_of_ours("server.show", theirs)
    feed.setblocking(False)
    return child, feed, conduit


def child_of_ours(module: str, theirs: Sequence[int], *arguments: str) -> subprocess.Popen[bytes]:
    """A process that runs a module of ours with these descriptors; call it from the main thread."""
    command = [
        sys.executable,
        "-P",
        "-m",
        module,
        *map(str, theirs),
        *arguments,
    ]  # not what lies in this folder
    places = os.pathsep.join(filter(None, (ROOT, os.environ.get("PYTHONPATH"))))
    return subprocess.Popen(  # noqa: S603 - ourselves
        command,
        env=os.environ | {"PYTHONPATH": places},
        pass_fds=theirs,
        stdin=subprocess.DEVNULL,
        stdout=sys.stderr,
    )


def ended(child: subprocess.Popen[bytes]) -> None:
    """Wait for a child whose sockets are closed, and not for one that hangs."""
    try:
        child.wait(OUTLIVED)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
