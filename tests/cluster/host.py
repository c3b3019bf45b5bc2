"""A host of a cluster, in a process of its own, whose links to others go through a cable that can be cut."""

import signal
from pathlib import Path

from tests.chaos.process import Host as Alone
from tests.chaos.process import Nest
from tests.cluster.balancer import Balancer
from tests.ports import free_ports


class Host(Alone):
    def __init__(self, nest: Nest, folder: Path, store: str) -> None:
        folder.mkdir()
        super().__init__(nest, folder, store)
        self.websocket, self._peers = free_ports(2)
        self.cable = Balancer(lambda: [self._peers])
        self.there = False  # bots may be sent to it

    @property
    def lives(self) -> bool:
        """Whether bots are sent to it, and it has not ended."""
        return self.there and self.code is None

    def serves(self) -> list[str]:
        ports = ("--tcp", str(self.tcp), "--http", str(self.http), "--websocket", str(self.websocket))
        peers = ("--show", "1", "--peers", f"127.0.0.1:{self._peers}", "--advertise", self.address)
        return ["serve", *ports, *peers, *self.flags(), "--log-level", "warning"]

    async def settle(self) -> None:
        """Wait until it is ready, and have bots sent to it."""
        await self.ready()
        self.there = True

    @property
    def address(self) -> str:
        """Where the others reach it."""
        return f"127.0.0.1:{self.cable.port}"

    async def kill(self) -> None:
        self.there = False
        await self.end(signal.SIGKILL)
