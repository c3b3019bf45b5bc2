"""A connection that is served to its end, by a task whenever it is not parked (`Wire.park`).

Such a task would be a third of what a host keeps for a bot that waits.
"""

from server.net.guard import Spawner
from server.net.sockets import SocketWire
from server.net.wire import Served, Wire

UNPARKED = "unparked"  # the name of the tasks that go on with connections which were parked


class ServedConnection:
    """Call `run` once; `ended` is called when the connection has ended."""

    __slots__ = ("_again", "_spawner", "_wire")

    def __init__(self, wire: Wire, spawner: Spawner) -> None:
        self._wire = wire
        self._spawner = spawner
        self._again: Served | None = None
        if isinstance(wire, SocketWire):
            wire.unparked = self._go_on

    async def run(self, attend: Served) -> None:
        again = None
        try:
            again = self._again = await attend()
        finally:
            if again is None:
                self.ended()
                # Not only what is beneath TLS: a process that serves it would never hear of it.
                self._wire.close()

    def ended(self) -> None:
        raise NotImplementedError

    def _go_on(self) -> None:
        again, self._again = self._again, None
        if again is not None and self._spawner.start_soon(self.run, again, name=UNPARKED) is False:
            self._wire.close()  # no task will
