"""Giving an answer: at once, or bit by bit if it is larger than the buffer for a slow reader."""

from collections.abc import Awaitable

import trio

from server.http.exchange import Chunks, Exchange
from server.http.wire import Response

LARGE = 262_144  # bytes: a larger answer is given bit by bit


def give(exchange: Exchange, response: Response) -> Awaitable[None] | None:
    if len(response.body) <= LARGE or exchange.request.method == "HEAD":
        exchange.respond(response)
        return None
    return _give_slowly(exchange, response)


async def give_later(exchange: Exchange, answer: Awaitable[Response | None]) -> None:
    """Give an answer when it is ready; None means that it was given already."""
    response = await answer
    if response is not None and (rest := give(exchange, response)) is not None:
        await rest


async def put(chunks: Chunks, content: bytes) -> bool:
    """Put a part of the answer; False if the client is gone."""
    for start in range(0, len(content), LARGE):
        chunks.put(content[start : start + LARGE])
        if not await chunks.drained():
            return False
        await trio.lowlevel.checkpoint()  # also where the client takes it at once
    return True


async def _give_slowly(exchange: Exchange, response: Response) -> None:
    chunks = exchange.stream(response.status, response.headers)
    await put(chunks, response.body)
    chunks.close()
