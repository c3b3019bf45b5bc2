"""Serving a connection that another process has handed over, from any door."""

from collections.abc import Awaitable, Sequence

from server.host.host import Host
from server.net.outbox import Outbox
from server.net.wire import Piece, Served, Wire
from server.protocols import tcp, websocket
from server.protocols.dialect import KnownPeer


def attend(
    host: Host,
    wire: Wire,
    visitor: KnownPeer,
    door: str,
    path: str,
    pieces: Sequence[Piece],
    *,
    settled: bool = True,
) -> Awaitable[Served | None]:
    """Serve a connection, until it has ended or is parked, beginning with the `pieces` that were read of it.

    It is `settled` that the bot at the beginning plays here, unless the other process may be mistaken.
    """
    if door == "tcp":
        return tcp.Connection(host, wire, visitor, pieces, settled=settled).attend()
    outbox = Outbox(wire, host.guard, host.limits)
    return websocket.Connection(
        host, wire, outbox, path, visitor.authenticated, pieces, settled=settled
    ).attend_handed()
