"""Snapshots for the next start, each by a process of its own: `python -m server.show.keeping_fresh SOCKET`.

Taking a snapshot means reading again what has happened, and needs tens of megabytes for a second. In a
process that goes on, most of that memory would stay in use, since objects made meanwhile lie in between.
So the process that takes a snapshot ends after it.
"""

import socket
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import msgspec
import structlog
import trio
from msgspec import Struct

from server.config import Settings
from server.exits import ConfigError, Unavailable
from server.logs import set_up
from server.show.child import child_of_ours, ended, ends
from server.show.ending import end_with_the_parent
from server.store.choice import beside
from server.store.snapshots import FILE, MANY, MANY_WHOLE, OF_WHOLE, refresh

PAUSE = 60.0  # seconds between two checks whether it is time for one

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class SnapshotOrder(Struct, frozen=True):
    """What the process that takes a snapshot is told."""

    settings: Settings
    whole: bool  # whether of whole records


async def keep_fresh(settings: Settings, last: Callable[[], int], known: int) -> None:
    """Take snapshots until cancelled, in a process that has time, so that no start is far behind.

    `last` is the number of the journal's latest entry, and `known` that of the entry up to which there is a
    snapshot of whole records.
    """
    done, done_whole = 0, known
    while True:
        try:
            latest = await trio.to_thread.run_sync(last)
        except (Unavailable, ConfigError) as error:
            log.debug("the journal cannot be read just now", why=str(error))
        else:
            if latest - done >= MANY:
                done = await taken(settings, whole=False) or done
            if latest - done_whole >= MANY_WHOLE:
                done_whole = await taken(settings, whole=True) or done_whole
        await trio.sleep(PAUSE)


async def taken(settings: Settings, *, whole: bool) -> int | None:
    """Take a snapshot if it is time; returns the number of its latest entry, None if that is not known."""
    try:
        with ends(socket.SOCK_STREAM) as (ours, theirs):
            child = child_of_ours("server.show.keeping_fresh", (theirs.fileno(),))
    except OSError as error:
        log.warning("no snapshot can be taken just now: the next start reads more", why=error.strerror)
        return None
    ours.setblocking(False)
    answer = b""
    try:
        async with trio.SocketStream(trio.socket.from_stdlib_socket(ours)) as stream:
            with suppress(trio.BrokenResourceError):
                await stream.send_all(msgspec.msgpack.encode(SnapshotOrder(settings, whole)))
                await stream.send_eof()
                answer = await stream.receive_some()
    finally:
        child.kill()  # it has answered, or must not go on
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(ended, child)
    return msgspec.msgpack.decode(answer, type=int) if answer else None


def main(descriptor: int) -> None:
    end_with_the_parent("quintain-keeps")
    with socket.socket(fileno=descriptor) as told:
        with told.makefile("rb") as words:
            said = words.read()
        if not said:  # the parent ended before it said what it wants
            return
        wanted = msgspec.msgpack.decode(said, type=SnapshotOrder)
        settings = wanted.settings
        set_up(settings.log_level, settings.log_format, settings.limits.log_lines)
        path = Path(settings.data) / (OF_WHOLE if wanted.whole else FILE)
        try:
            with closing(beside(settings)) as reader:
                done = refresh(reader, path, whole=wanted.whole)
        except (Unavailable, ConfigError) as error:
            log.debug("the journal cannot be read just now", why=str(error))
        else:
            with suppress(ConnectionError):  # the parent has ended meanwhile
                told.sendall(msgspec.msgpack.encode(done))


if __name__ == "__main__":
    main(int(sys.argv[1]))
