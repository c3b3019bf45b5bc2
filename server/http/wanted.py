"""Requests that only look, for as long as somebody wants the answer.

Anybody may ask and hang up, a thousand times a second. What such a client asked for is not worked out any
more once that is known, or whoever stays would wait for all of it.
"""

from collections.abc import Awaitable

import trio

from server.http.exchange import Exchange

LINGER = 2.0  # seconds for the answer to a client that has ended its side: it may still be reading


def while_wanted(exchange: Exchange, pending: Awaitable[object] | None) -> Awaitable[object] | None:
    """The same answer, which is given up when its client has been gone for a while."""
    return None if pending is None else _while_wanted(exchange, pending)


async def _while_wanted(exchange: Exchange, pending: Awaitable[object]) -> None:
    with trio.CancelScope() as wanted:

        def give_up_soon() -> None:
            wanted.deadline = trio.current_time() + LINGER

        exchange.on_gone(give_up_soon)
        await pending
