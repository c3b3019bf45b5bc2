"""The process for pages, as `server/show/process.py` starts it: `python -m server.show FEED CONDUIT`.

Both are descriptors of sockets to the process that plays. People do not start this: they start
`quintain serve`.
"""

import os
import socket
import sys
from contextlib import ExitStack, closing, suppress
from functools import partial
from pathlib import Path

import trio

from server import allocator, interpreter
from server.exits import ConfigError
from server.export.signing import known_signer
from server.host.archiving import archive_old
from server.http.exchange import App, Exchange
from server.http.routes import routed
from server.logs import set_up
from server.net.guard import open_guard
from server.net.open_files import room_for_files
from server.pages.door import Pages
from server.pages.fair_share import ALONE
from server.pages.rendering import warm
from server.protocols.api.door import Reads
from server.show.attention import Attention
from server.show.begin import DAMAGED, READY, SameClock, ShowSettings, unpacked
from server.show.borrowing import Borrowing
from server.show.draws import Drawing
from server.show.ending import end_with_the_parent, ending_where_the_journal_is_away
from server.show.feed import LENGTH, Draw, Latest, Message, Rank, hear
from server.show.keeping_fresh import keep_fresh
from server.show.kept_boards import BoardKeeper
from server.show.mirror import Mirror
from server.show.which import ShownRequests
from server.store.choice import beside
from server.store.journal import Reader
from server.store.ledger import READERS
from server.webhooks.delivery import deliver

LAST = 1.0  # seconds at the end for tables that are not kept yet; play waits for twice as long
NICER = 5  # the process that plays comes first, where both share a processor


def main(feed: int, conduit: int) -> int:
    os.nice(NICER)
    end_with_the_parent("quintain-show")
    allocator.give_back()
    with socket.socket(fileno=feed) as told, socket.socket(fileno=conduit) as lent:
        begin = _begun(told)
        settings = begin.settings
        output = set_up(settings.log_level, settings.log_format, settings.limits.log_lines)
        with output.in_a_thread(), ending_where_the_journal_is_away():
            trio.run(partial(show, begin, told, lent), clock=SameClock(begin.zero))
    return 0


async def show(begin: ShowSettings, told: socket.socket, lent: socket.socket) -> None:
    """Answer on all connections that are lent, until the feed ends."""
    settings = begin.settings
    most = room_for_files() - settings.limits.spare_files
    told.setblocking(False)
    stream = trio.SocketStream(trio.socket.from_stdlib_socket(told))
    with ExitStack() as opened:
        async with stream, trio.open_nursery() as nursery, open_guard() as guard:
            folder = Path(settings.data)
            try:
                reader = opened.enter_context(closing(beside(settings, READERS)))
                mirror = Mirror(reader, guard, address=begin.address, folder=folder, grading=settings.grading)
                await mirror.load()
                keeper = BoardKeeper(mirror, reader, folder)
                await keeper.load()
            except ConfigError as error:
                await _say(stream, DAMAGED + str(error).encode())
                return
            await trio.to_thread.run_sync(warm)
            attention = Attention()
            app = _application(mirror, attention, begin)
            which = ShownRequests(door_at_root=begin.door_at_root)
            borrowing = Borrowing(lent, app, guard, settings.limits, which.is_shown, most=most)
            interpreter.calm()
            nursery.start_soon(allocator.trim)
            nursery.start_soon(mirror.run)
            nursery.start_soon(archive_old, mirror.records, mirror.boards.run)
            nursery.start_soon(mirror.grader.run)
            nursery.start_soon(keep_fresh, settings, reader.last, mirror.snapshot)
            nursery.start_soon(keeper.run)
            nursery.start_soon(borrowing.run)
            nursery.start_soon(_deliver, begin, reader)
            nursery.start_soon(attention.run, lambda: len(borrowing) > 0)
            borrowing.fed = lambda connected: guard.start_soon(_fed, mirror, attention, connected)
            await _say(stream, READY)
            nursery.start_soon(mirror.warm)
            await _hear(mirror, attention, stream, watches=bool(begin.address))
            with trio.move_on_after(LAST):
                await keeper.keep()
            nursery.cancel_scope.cancel()


async def _deliver(begin: ShowSettings, reader: Reader) -> None:
    tell = partial(deliver, begin.settings.webhook, reader, Path(begin.settings.data))
    if not begin.host:
        await tell()
        return
    from server.store.duties import PostgresDuties  # psycopg, which it needs, is an extra

    with closing(PostgresDuties(begin.settings.store, begin.host)) as duties:
        await tell(duties=duties)


async def _fed(mirror: Mirror, attention: Attention, connected: socket.socket) -> None:
    """Take in what one more process that plays tells, until it is gone."""
    connected.setblocking(False)
    async with trio.SocketStream(trio.socket.from_stdlib_socket(connected)) as stream:
        await _hear(mirror, attention, stream)


async def _hear(
    mirror: Mirror, attention: Attention, stream: trio.SocketStream, *, watches: bool = False
) -> None:
    """Take in what one process that plays tells, and answer what it asks, until it is gone."""
    drawing, teller = Drawing(mirror, stream), object()

    def take(message: Message) -> None:
        if isinstance(message, Draw | Rank):
            drawing.take(message)
        elif isinstance(message, Latest):
            attention.heard(teller, message)
        else:
            mirror.take(message, teller)

    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(attention.tell, teller, drawing.say)
            nursery.start_soon(drawing.tell_alive)
            if watches:
                nursery.start_soon(drawing.tell_watched)
            await hear(stream, Message, take)
            nursery.cancel_scope.cancel()
    finally:
        mirror.forget(teller)


async def _say(stream: trio.SocketStream, word: bytes) -> None:
    with suppress(trio.BrokenResourceError):  # play has stopped meanwhile, and the feed has ended
        await stream.send_all(word)


def _application(mirror: Mirror, attention: Attention, begin: ShowSettings) -> App:
    key = known_signer(Path(begin.settings.data))
    limits = begin.settings.limits
    pages = Pages(mirror, begin.addresses, rest=ALONE, key=key and key.public, limits=limits)
    app = routed((Reads(mirror, begin.token, key, limits),), pages)

    async def answer(exchange: Exchange) -> None:
        await attention.look()
        await mirror.catch_up()
        if begin.address:
            await mirror.look_at(exchange.request.path)
        if (pending := app(exchange)) is not None:
            await pending

    return answer


def _begun(told: socket.socket) -> ShowSettings:
    """The parent's first message."""
    (length,) = LENGTH.unpack(_exactly(told, LENGTH.size))
    return unpacked(_exactly(told, length))


def _exactly(told: socket.socket, size: int) -> bytes:
    received = told.recv(size, socket.MSG_WAITALL)
    if len(received) < size:
        raise SystemExit("the process that plays was gone before it had said what to show")
    return received


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
