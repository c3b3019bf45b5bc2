"""HTTP/1.1 for bots, browsers and scripts: an application, and the connections it serves.

Not here: routes, JSON, logins. What an application sees is in
`server/http/exchange.py`, what happens on a connection in
`server/http/connection.py`, what requests and answers look like in
`server/http/wire.py`. Responses have no Date and no Server header: no cache
needs the first, and the second helps only attackers. HTTP/2 is a proxy's job.
"""

from collections import deque
from collections.abc import Coroutine, Sequence

import trio

from server.http.connection import Connection, KnownClient, Shared
from server.http.exchange import App
from server.net.guard import Guard, Waiting
from server.net.limits import Limits
from server.net.pauses import WithPauses
from server.net.wire import Piece, Served, Wire

SWEEP = 0.5  # seconds between looks at the deadlines, which are exact to two of these
AT_A_TIME = 50  # connections that end before other tasks get their turn: a crowd may be idle for as long


class Http(Shared):
    """An application on HTTP/1.1; `attend` is what a listener does with each connection."""

    def __init__(self, app: App, guard: Guard, limits: Limits) -> None:
        self.app = app
        self.guard = guard
        self.limits = limits
        self.draining = False
        self.pending: Waiting = deque()
        self.now = trio.current_time
        self._connections: dict[Connection, None] = {}  # in the order of arrival
        self._sweeping = False

    def attend(
        self,
        wire: Wire,
        visitor: KnownClient | None = None,
        app: App | None = None,
        ahead: Sequence[Piece] = (),
    ) -> Coroutine[object, object, Served | None]:
        """Serve one connection by its own `app`, if it has one, from bytes read `ahead` on."""
        connection = Connection(self, wire, visitor, app, ahead)
        self._connections[connection] = None
        if not self._sweeping:
            self._sweeping = True
            self.now = trio.lowlevel.current_clock().current_time  # the same in fewer calls
            self.guard.start_soon(self._sweep)
        return connection.run()

    def ended(self, connection: Connection) -> None:
        del self._connections[connection]

    def drain(self, why: str) -> None:
        """Close idle connections now, and others after their answers: 503 and `why` for those that wait."""
        self.draining = True
        for connection in tuple(self._connections):
            connection.drain(why)

    async def _sweep(self) -> None:
        """Look at all deadlines, for as long as there are any: cheaper than a timer for each request.

        A connection is late only if it was late at the last look too. After the host has stood still,
        what came in time lies unread in the socket at the first look, and is read before the second.
        """
        try:
            last = trio.current_time()
            while self._connections:
                await trio.sleep(SWEEP)
                now = trio.current_time()
                late = [each for each in self._connections if each.deadline <= last]
                async for connection in WithPauses(late, AT_A_TIME):
                    if connection in self._connections and connection.deadline <= last:
                        connection.expire(now)
                last = now
        finally:
            self._sweeping = False
