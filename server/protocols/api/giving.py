"""Giving an answer: at once, or bit by bit if it is larger than the buffer for a slow reader.

What is made for an answer stays in memory until the client has taken it, and the export of a large tournament
has one of a few places. So whoever is given an answer bit by bit has to take it at some speed, however small
its bites. The time that counts is what we wait for the client, in looks: a stall of this process is no fault
of the client's.
"""

from collections.abc import Awaitable
from math import inf

import structlog
import trio

from server.http.exchange import Exchange
from server.http.head import HttpError
from server.http.wire import Headers, Response

LARGE = 262_144  # bytes: a larger answer is given bit by bit
LEAST = 65_536  # bytes a second, on average: half a megabit, which a bad mobile connection has
SPARE = 30.0  # seconds that an answer may take beyond that: the train is in a tunnel
LOOK = 1.0  # seconds that one wait counts at the most

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Giving:
    """An answer that is given bit by bit."""

    def __init__(self, exchange: Exchange, status: int, headers: Headers, *, hurried: bool = True) -> None:
        """`hurried`: the client is hung up on if it is too slow."""
        self._chunks = exchange.stream(status, headers)
        self._peer = exchange.request.peer
        self._left = SPARE if hurried else inf  # seconds that we still wait for the client

    async def put(self, content: bytes) -> bool:
        """Put a part of the answer; False if the client is gone. Raises `HttpError` if it is too slow."""
        for start in range(0, len(content), LARGE):
            piece = content[start : start + LARGE]
            self._left += len(piece) / LEAST
            self._chunks.put(piece)
            if not await self._taken():
                return False
            await trio.lowlevel.checkpoint()  # also where the client takes it at once
        return True

    def close(self) -> None:
        """The answer is complete."""
        self._chunks.close()

    async def _taken(self) -> bool:
        while self._left > 0:
            begun = trio.current_time()
            with trio.move_on_after(LOOK):
                taken = await self._chunks.drained()
                self._left -= min(trio.current_time() - begun, LOOK)
                return taken
            self._left -= LOOK
        why = f"it took less than {LEAST} bytes a second"
        log.info("cut", peer=self._peer, why=why)
        raise HttpError(408, why)  # which ends the connection, in the middle of the answer


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


async def _give_slowly(exchange: Exchange, response: Response) -> None:
    giving = Giving(exchange, response.status, response.headers)
    await giving.put(response.body)
    giving.close()
