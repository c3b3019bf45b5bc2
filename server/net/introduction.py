"""Reading for whom a proxy connects, if it says so first: the PROXY protocol over a socket."""

from server.net.proxy_header import BadHeader, Header, header, may_begin
from server.net.sockets import SocketWire
from server.net.time_limits import within
from server.net.turns import Turn, Turns


class _AllRead(Exception):
    """The header is complete, or none comes. Connections go on in the order in which that happens."""

    def __init__(self, turn: Turn) -> None:
        super().__init__("nothing more is read as a header")
        self.turn = turn


async def introduced(wire: SocketWire, seconds: float, turns: Turns) -> str:
    """The address for which the proxy says it connects; "" if it does not say so within that time.

    What it said after that, or instead, is left for the next reader, and bots whose names have come already
    go on in that order. Raises `BadHeader`.
    """
    begun = b""
    found: Header | None = None

    def take(received: bytes) -> None:
        nonlocal begun, found
        begun += received
        found = header(begun)
        if found is not None or not may_begin(begun):
            raise _AllRead(turns.take())

    with within(seconds):
        try:
            await wire.pump(take)
        except _AllRead as read:
            with read.turn:
                await read.turn.come()
    if found is None and begun and may_begin(begun):
        raise BadHeader(f"expected the rest of a PROXY header within {seconds:g} s")
    wire.unread(begun if found is None else begun[found.length :])
    return "" if found is None else found.source
