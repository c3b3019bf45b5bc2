"""The hosts of a storm, in one of the forms in which they can be run, and what befalls them."""

import os
import signal
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from random import Random

import trio

from tests.adversaries.wires import Gone
from tests.chaos.process import LOOK, Ended, Nest, nest
from tests.chaos.process import Host as Alone
from tests.hang import HANG, is_alive
from tests.ports import free_ports
from tests.storm.ask import TOKEN, ask

STOPPED = (0.05, 1.5)  # seconds that a host stands still: beyond a second, others take over from it
SETTINGS = """
[ports]
tcp = 0
websocket = 0
http = 0
[limits]
away_seconds = 2.0
resume_seconds = 4.0
ghost_seconds = 1.0
heartbeat_seconds = 0.5
wrong_tokens = { credits = 100000, seconds = 1.0 }
new_names = { credits = 100000, seconds = 1.0 }
takeovers = { credits = 100000, seconds = 1.0 }
"""
FORMS = {
    "alone": ("--show", "0"),
    "shown": ("--show", "1"),
    "workers": ("--show", "1", "--workers", "2"),
    "spread": ("--show", "1", "--workers", "3", "--spread", "2"),
}
ENVIRONMENT = {"QUINTAIN_TOKEN": TOKEN, "QUINTAIN_GRADING": "false", "QUINTAIN_RESERVE_BYTES": "0"}


class Host(Alone):
    def __init__(self, nest: Nest, folder: Path, kind: str, store: str) -> None:
        folder.mkdir()
        (folder / "quintain.toml").write_text(SETTINGS)
        super().__init__(nest, folder, store)
        self.websocket, peers = free_ports(2)
        self._form = FORMS.get(kind, ("--peers", f"127.0.0.1:{peers}"))

    def serves(self) -> list[str]:
        ports = ("--tcp", str(self.tcp), "--http", str(self.http), "--websocket", str(self.websocket))
        return ["serve", *ports, *self._form, *self.flags(), "--log-level", "warning", "--log-format", "json"]

    async def is_ready(self) -> bool:
        """Whether it says that bots can play."""
        try:
            return (await ask(self.http, "GET", "/readyz")).status == 200
        except (OSError, Gone):
            return False

    def children(self) -> list[int]:
        """The processes that it has started, and those that these have."""
        found, unseen = list[int](), [self._pid]
        while unseen:
            pid = unseen.pop()
            with suppress(FileNotFoundError, ProcessLookupError):
                for thread in Path(f"/proc/{pid}/task").iterdir():
                    unseen += map(int, (thread / "children").read_text().split())
            found.append(pid)
        return found[1:]

    def sockets(self) -> list[str]:
        """The connections and ports that its processes have open, all together."""
        known = _known()
        return [each for pid in (self._pid, *self.children()) for each in _sockets(pid, known)]


class Ground:
    def __init__(self, hosts: list[Host]) -> None:
        self.hosts = hosts
        self.wrong: list[str] = []  # about processes
        self.befell: dict[str, int] = {}
        self._meant: Host | None = None  # that is to end now

    async def begin(self) -> None:
        for host in self.hosts:
            await host.start()
        for host in self.hosts:
            await host.ready()

    async def look_after(self) -> None:
        """Start a host again when others have taken over from it, as a service manager would."""
        while True:
            for host in self.hosts:
                if host is not self._meant and host.code is not None:
                    if len(self.hosts) == 1 or host.code != 1:
                        self.wrong.append(f"a host ended by itself with {host.code}: {host.tail()}")
                    await self._start(host)
            await trio.sleep(LOOK)

    async def befall(self, fault: str, chance: Random) -> None:
        """Until all hosts are there again."""
        host = chance.choice(self.hosts)
        self.befell[fault] = self.befell.get(fault, 0) + 1
        match fault:
            case "stop":
                host.send(signal.SIGSTOP)
                await trio.sleep(chance.uniform(*STOPPED))
                host.send(signal.SIGCONT)
            case "stop a child":
                with suppress(ProcessLookupError, IndexError):
                    stopped = chance.choice(host.children())
                    os.kill(stopped, signal.SIGSTOP)
                    await trio.sleep(chance.uniform(*STOPPED))
                    os.kill(stopped, signal.SIGCONT)
            case "kill a child":
                with suppress(ProcessLookupError, IndexError):
                    os.kill(chance.choice(host.children()), signal.SIGKILL)
            case "kill":
                self._meant = host
                await host.end(signal.SIGKILL)
                await self._start(host)
            case _:
                self._meant = host
                await self.end(host)
                await self._start(host)
        self._meant = None
        with trio.fail_after(HANG):
            for each in self.hosts:
                while each.code is not None or not await each.is_ready():  # noqa: ASYNC110 - nobody tells
                    await trio.sleep(LOOK)

    async def end(self, host: Host) -> None:
        """As a service manager does: it has to end well, and leave no process behind."""
        children = host.children()
        code, seconds = await host.end(signal.SIGTERM)
        if code != 0:
            self.wrong.append(f"asked to stop, a host ended with {code} after {seconds:.1f} s: {host.tail()}")
        with trio.move_on_after(HANG) as waiting:
            while any(map(is_alive, children)):  # noqa: ASYNC110 - nobody tells
                await trio.sleep(LOOK)
        if waiting.cancelled_caught:
            self.wrong.append(f"a host has left processes behind: {[*filter(is_alive, children)]}")

    async def _start(self, host: Host) -> None:
        while True:
            await host.start()
            try:
                await host.ready()
                return
            except Ended as ended:  # others may take from it what it has just taken up
                if len(self.hosts) == 1:
                    raise
                self.wrong += [str(ended)] if host.code != 1 else []


@asynccontextmanager
async def ground(kind: str, folder: Path, store: str = "") -> AsyncGenerator[Ground]:
    async with nest(**ENVIRONMENT) as hosts:
        yield Ground([Host(hosts, folder / str(n), kind, store) for n in range(2 if kind == "hosts" else 1)])


def _known() -> dict[str, str]:
    """All TCP sockets of this machine: local and remote address, and state. They are read once a look."""
    tables = [table for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if table.exists()]
    rows = [row.split() for table in tables for row in table.read_text().splitlines()]
    return {f"socket:[{row[9]}]": " ".join(row[1:4]) for row in rows}


def _sockets(pid: int, known: Mapping[str, str]) -> list[str]:
    """Those of a process."""
    found: list[str] = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it has ended meanwhile
        for link in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                found.append(known.get(os.readlink(link), ""))
    return [*filter(None, found)]
