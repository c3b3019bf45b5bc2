"""HAProxy before the hosts, by the configuration in `docs/deploy/`: only addresses and ports are changed.

It finds out by itself which hosts are ready. Bots over websockets have a port of their own here.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import trio

from tests.cluster.host import Host
from tests.deploy.debian import libraries, tool
from tests.deploy.passing import DEPLOY
from tests.ports import free_ports

IN_USE = "Address already in use"
LOOK = 0.1  # seconds
PLACES = {"one": 0, "two": 1, "three": 2}
WEBSOCKET = "\nfrontend websocket\n    mode http\n    bind 127.0.0.1:{}\n    default_backend websocket\n"


class HaProxy:
    def __init__(self, program: str, hosts: Sequence[Host], folder: Path) -> None:
        self.tcp, self.websocket, self.http = free_ports(3)
        self._command = [program, "-db", "-f", str(folder / "haproxy.cfg")]
        self._log = folder / "haproxy.log"
        self._life = trio.CancelScope()
        self._away = 0.0
        text = re.sub(
            r"^    (user|group) haproxy\n", "", (DEPLOY / "haproxy.cfg").read_text(), flags=re.MULTILINE
        )
        for port, ours in ((80, self.http), (4000, self.tcp)):
            text, found = re.subn(rf"(?<=^    bind ):{port}\b", f"127.0.0.1:{ours}", text, flags=re.MULTILINE)
            if found != 1:
                raise RuntimeError(f"haproxy.cfg binds port {port} {found} times")
        for name, place in PLACES.items():
            if place >= len(hosts):
                text = re.sub(rf"^    server {name} .*\n", "", text, flags=re.MULTILINE)
                continue
            host = hosts[place]
            for port, real in ((8000, host.tcp), (8001, host.websocket), (8080, host.http)):
                text = text.replace(f"10.0.0.{place + 1}:{port}", f"127.0.0.1:{real}")
        (folder / "haproxy.cfg").write_text(text + WEBSOCKET.format(self.websocket))

    def __str__(self) -> str:
        return "HAProxy"

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Until cancelled, on the same ports."""
        while True:
            with trio.CancelScope() as self._life:
                async with trio.open_nursery() as nursery:
                    await nursery.start(self._process)
                    task_status.started()
                    task_status = trio.TASK_STATUS_IGNORED
            await trio.sleep(self._away)

    def restart(self, away: float) -> None:
        """End, with all connections, and begin again after so many seconds."""
        self._away = away
        self._life.cancel()

    async def _process(self, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        while True:
            await self._once()
            said = self._log.read_text()
            if IN_USE not in said:
                raise RuntimeError(f"HAProxy ended by itself: {said}")
            await trio.sleep(LOOK)  # somebody connects to somewhere from its port

    async def _once(self) -> None:
        with self._log.open("wb") as log:
            process = await trio.lowlevel.open_process(
                self._command, env={"LD_LIBRARY_PATH": libraries()}, stdout=log, stderr=log
            )
        try:
            await process.wait()
        finally:
            process.kill()
            with trio.CancelScope(shield=True):
                await process.wait()


def program() -> str | None:
    """HAProxy, if it can be had here."""
    return tool("haproxy")
