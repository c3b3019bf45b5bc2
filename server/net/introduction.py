"""Reading for whom a proxy connects, if it says so first: the PROXY protocol over a socket."""

import trio

from server.net.proxy_header import BadHeader, header, may_begin
from server.net.sockets import SocketWire


async def introduced(wire: SocketWire, seconds: float) -> str:
    """The address for which the proxy says it connects; "" if it does not say so within that time.

    What it said after that, or instead, is left for the next reader. Raises `BadHeader`.
    """
    begun, found, ended = b"", None, False
    with trio.move_on_after(seconds):
        while found is None and not ended and may_begin(begun):
            received = await wire.receive()
            begun, ended = begun + received, not received
            found = header(begun)
    if found is None and begun and may_begin(begun):
        raise BadHeader(f"expected the rest of a PROXY header within {seconds:g} s")
    wire.unread(begun if found is None else begun[found.length :])
    return "" if found is None else found.source
