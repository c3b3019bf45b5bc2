"""Two hosts with a link between them in memory, and bots that come in at the one and play at the other."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

import trio
import trio.testing

from server.host.abroad import Handed
from server.net.guard import Guard
from server.net.stream_wire import StreamWire
from server.net.wire import Piece
from server.peers.channel import FarEnd
from server.peers.link import Link, attended
from server.peers.messages import Open
from tournament.timekeeper import Timekeeper

Attend = Callable[[FarEnd, Open], Awaitable[object]]


class Between:
    """The link, from both ends, and what was handed over."""

    def __init__(
        self, here: Link, there: Link, guard: Guard, cut: Callable[[], None], timekeeper: Timekeeper
    ) -> None:
        self.here = here
        self.there = there
        self.timekeeper = timekeeper  # of the host to which bots come
        self.cut = cut
        self.authenticated = 0
        self.guard = guard

    def bot(self, *pieces: Piece) -> trio.abc.Stream:
        """A bot's own end of its connection, which is handed over after it has said that much."""
        theirs, ours = trio.testing.memory_stream_pair()
        wire = StreamWire(ours, self.guard, peer="192.0.2.7")

        def known() -> None:
            self.authenticated += 1

        self.guard.start_soon(self.here.take, Handed("tcp", wire, "", pieces, known))
        return theirs


@asynccontextmanager
async def linked(attend: Attend) -> AsyncIterator[Between]:
    one, other = trio.testing.memory_stream_pair()

    async def nobody(wire: FarEnd, opened: Open) -> None:
        raise AssertionError("no bot comes in there")

    async with trio.open_nursery() as nursery:
        guard = Guard(nursery)
        timekeeper = Timekeeper()
        here = Link(one, 1, attended(guard, nobody), dialled=True, timekeeper=timekeeper)
        there = Link(other, 2, attended(guard, attend), dialled=False)
        nursery.start_soon(here.run)
        nursery.start_soon(there.run)
        cut = partial(nursery.start_soon, trio.aclose_forcefully, one)
        yield Between(here, there, guard, cut, timekeeper)
        nursery.cancel_scope.cancel()
    assert not guard.caught
