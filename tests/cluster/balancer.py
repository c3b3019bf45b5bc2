"""A TCP balancer of our own, where HAProxy is not: each connection goes to the next target that takes it.

It knows nothing of what it carries and looks after nobody's health. The same code, with one target, is the
cable between hosts, which can be cut.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import trio

from tests.ports import free_ports

LOST = (OSError, trio.BrokenResourceError, trio.ClosedResourceError)
READ = 65_536


class Balancer:
    def __init__(self, targets: Callable[[], Sequence[int]]) -> None:
        """`targets` are ports of this machine."""
        self.port = free_ports(1)[0]  # nobody may take it while this is away
        self._targets = targets
        self._turns = count()
        self._life = trio.CancelScope()
        self._away = 0.0

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled."""
        while True:
            (listener,) = await trio.open_tcp_listeners(self.port, host="127.0.0.1")
            task_status.started()
            task_status = trio.TASK_STATUS_IGNORED
            with trio.CancelScope() as self._life:
                async with listener, trio.open_nursery() as nursery:
                    while True:
                        nursery.start_soon(self._serve, await listener.accept())
            await trio.sleep(self._away)

    def restart(self, away: float) -> None:
        """End, with all connections, and begin again after so many seconds."""
        self._away = away
        self._life.cancel()

    async def _serve(self, client: trio.SocketStream) -> None:
        async with client:
            if (server := await self._connected()) is None:
                return
            async with server:
                try:
                    async with trio.open_nursery() as nursery:
                        nursery.start_soon(_copy, client, server)
                        nursery.start_soon(_copy, server, client)
                except* LOST:
                    pass

    async def _connected(self) -> trio.SocketStream | None:
        targets, turn = self._targets(), next(self._turns)
        for each in range(len(targets)):
            try:
                return await trio.open_tcp_stream("127.0.0.1", targets[(turn + each) % len(targets)])
            except OSError:
                continue
        return None


class Doors:
    """A balancer for each of the ports of hosts, which all of them have."""

    def __init__(self, targets: Callable[[str], Sequence[int]]) -> None:
        """`targets` are the ports of hosts, by the name of the door."""
        self._doors = [Balancer(partial(targets, door)) for door in ("tcp", "websocket", "http")]

    def __str__(self) -> str:
        return "a balancer of the tests' own"

    @property
    def tcp(self) -> int:
        return self._doors[0].port

    @property
    def websocket(self) -> int:
        return self._doors[1].port

    @property
    def http(self) -> int:
        return self._doors[2].port

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        async with trio.open_nursery() as nursery:
            for door in self._doors:
                await nursery.start(door.run)
            task_status.started()

    def restart(self, away: float) -> None:
        for door in self._doors:
            door.restart(away)


async def _copy(one: trio.SocketStream, other: trio.SocketStream) -> None:
    while received := await one.receive_some(READ):
        await other.send_all(received)
    await other.send_eof()
