"""Places for those who export large tournaments: a few at once, and one for each network.

So are those for whoever reads what was said in a match (`server/pages/wire.py`).
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

import trio

from server.net.admission import network_of

AT_ONCE = 4  # some 100 MB each for a round robin of a thousand


class ExportPlaces:
    """Places for those who export large tournaments."""

    def __init__(self) -> None:
        self._places = trio.CapacityLimiter(AT_ONCE)
        self._turns: WeakValueDictionary[str, trio.Lock] = WeakValueDictionary()  # by the network

    @asynccontextmanager
    async def one(self, peer: str) -> AsyncGenerator[None]:
        """Wait for a place, and have it while this is entered. Nobody has two."""
        network = network_of(peer, trust_loopback=False)
        turn = self._turns.get(network)
        if turn is None:
            turn = self._turns[network] = trio.Lock()
        async with turn, self._places:
            yield
