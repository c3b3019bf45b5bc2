"""Serving a connection that another process has handed over, from any door."""

from collections.abc import Sequence

from server.host.host import Host
from server.net.outbox import Outbox
from server.net.wire import Piece, Wire
from server.protocols import tcp, websocket
from server.protocols.dialect import KnownPeer


async def attend(
    host: Host,
    wire: Wire,
    visitor: KnownPeer,
    door: str,
    path: str,
    pieces: Sequence[Piece],
    *,
    settled: bool = True,
) -> None:
    """Serve a connection to its end, beginning with the `pieces` that were read of it.

    It is `settled` that the bot at the beginning plays here, unless the other process may be mistaken.
    """
    if door == "tcp":
        await tcp.Connection(host, wire, visitor, pieces, settled=settled).attend()
    else:
        outbox = Outbox(wire, host.guard, host.limits)
        connection = websocket.Connection(
            host, wire, outbox, path, visitor.authenticated, pieces, settled=settled
        )
        await connection.run()
