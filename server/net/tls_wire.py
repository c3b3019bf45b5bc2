"""The server's end of TLS, as a wire over another wire."""

import ssl
from collections.abc import Callable

import trio

from server.net.budgets import address_of
from server.net.failed_handshake import last_words
from server.net.guard import PEER_GONE, Spawner
from server.net.stream_wire import FinishingStream, StreamWire
from server.net.tls import untie
from server.net.turns import InTurn, OneARound
from server.net.wire import Wire


class TlsWire(StreamWire):
    """The server's end of TLS over another wire.

    TLS cannot end one way alone. If the socket were closed with it, whatever the peer is still sending would
    reset the connection, and the peer might never read what it was told last. So after its end the socket
    stays open, and what comes is dropped.
    """

    __slots__ = ("_beneath", "_in_turn", "_tls", "_way")

    def __init__(
        self,
        beneath: Wire,
        context: ssl.SSLContext,
        nursery: Spawner,
        before_passing_on: Callable[[], None] = lambda: None,
    ) -> None:
        self._beneath = beneath
        self._way = FinishingStream(beneath)
        self._in_turn = InTurn(self._way)
        self._tls = trio.SSLStream[trio.abc.Stream](self._in_turn, context, server_side=True)
        super().__init__(
            self._tls, nursery, peer=beneath.peer, secure=True, before_passing_on=before_passing_on
        )

    async def shake_hands(self, turns: OneARound) -> None:
        """Raises `trio.BrokenResourceError` where no TLS comes about, once the peer has been told why.

        A step of it takes a millisecond or two, and hundreds of strangers may take theirs at once. So each
        waits for one of these `turns`.
        """
        self._in_turn.turns, self._in_turn.whose = turns, address_of(self.peer)
        try:
            await self._tls.do_handshake()
        except trio.BrokenResourceError as failure:
            if words := last_words(self._tls, failure):
                await self._way.send_all(words)
                await self._way.send_eof()
                await self._drop_rest()
            raise
        finally:
            self._in_turn.turns = None
            untie(self._tls)

    def close(self) -> None:
        super().close()
        self._beneath.close()

    def taken(self) -> int | None:
        return self._beneath.taken()

    def round_trip(self) -> float | None:
        return self._beneath.round_trip()

    async def still_there(self) -> bool:
        return await self._beneath.still_there()

    def unanswered(self) -> float:
        return self._beneath.unanswered()

    def on_its_way(self, by: float) -> bool:
        return self._beneath.on_its_way(by)

    async def _read(self) -> bytes:
        try:
            received = await super()._read()
            self.arrived = self._beneath.arrived  # the host may have been busy with others since
            return received
        except PEER_GONE:
            if not self._way.finished:
                raise
        await self._drop_rest()
        return b""

    async def _drop_rest(self) -> None:
        while await self._beneath.receive():
            pass  # it cannot be read any more
