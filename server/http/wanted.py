"""Requests that only look, for as long as somebody wants the answer.

Anybody may ask and hang up, a thousand times a second. What such a client asked for is not worked out any
more once that is known, or whoever stays would wait for all of it. A client that has ended its side may
still be reading, so it is given a while; but of very many who have, only the latest are. An answer that has
begun goes on for as long as the client takes it (`server/http/connection.py`).
"""

from collections import OrderedDict
from collections.abc import Awaitable
from math import inf

import trio

from server.http.exchange import Exchange

LINGER = 2.0  # seconds for the answer to a client that has ended its side, if it is not one of many
MOST = 100  # that have, and are waited for


class WhileWanted:
    """What is asked of an application that only looks."""

    def __init__(self) -> None:
        self._pending: set[trio.CancelScope] = set()
        # Those of them whose clients have ended their side, the first first
        self._ended: OrderedDict[trio.CancelScope, None] = OrderedDict()

    def __call__(self, exchange: Exchange, pending: Awaitable[object] | None) -> Awaitable[object] | None:
        """The same answer, which is given up when its client has been gone for a while."""
        return None if pending is None else self._wait(exchange, pending)

    async def _wait(self, exchange: Exchange, pending: Awaitable[object]) -> None:
        with trio.CancelScope() as wanted:
            self._pending.add(wanted)
            try:
                exchange.begun = lambda: self._leave_alone(wanted)
                exchange.on_gone(lambda: self._give_up_soon(wanted))
                await pending
            finally:
                self._leave_alone(wanted)

    def _leave_alone(self, wanted: trio.CancelScope) -> None:
        wanted.deadline = inf
        self._pending.discard(wanted)
        self._ended.pop(wanted, None)

    def _give_up_soon(self, wanted: trio.CancelScope) -> None:
        if wanted not in self._pending:
            return  # the answer has begun, or has become a stream, which ends by itself
        wanted.deadline = trio.current_time() + LINGER
        self._ended[wanted] = None
        if len(self._ended) > MOST:
            first, _ = self._ended.popitem(last=False)
            first.cancel()
