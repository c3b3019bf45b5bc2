"""A host in a process of its own, which is started again and again on the same ports and the same data."""

import json
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import trio

from tests.chaos.warm import begin
from tests.hang import HANG
from tests.ports import free_ports
from tests.server.forked import CONTEXT, LOCK
from tests.server.served import ROOT

LOOK = 0.005  # seconds between looks for the ready line


class Nest:
    """Where hosts come from: `tests/chaos/warm.py`."""

    def __init__(self, wants: trio.abc.SendStream, says: trio.abc.ReceiveStream) -> None:
        self._wants = wants
        self._says = says
        self._lines = trio.open_memory_channel[str](1)
        self._codes: dict[int, int] = {}
        self._ended = trio.Event()

    async def run(self) -> None:
        unread = b""
        async for part in self._says:
            *lines, unread = (unread + part).split(b"\n")
            for line in lines:
                match line.decode().split():
                    case ["ended", pid, code]:
                        self._codes[int(pid)] = int(code)
                        self._ended.set()
                        self._ended = trio.Event()
                    case _:
                        await self._lines[0].send(line.decode())
        await self._lines[0].aclose()  # whoever waits for a host waits in vain

    async def hatch(self, **wanted: object) -> int:
        await self._wants.send_all(json.dumps(wanted).encode() + b"\n")
        word, pid = (await self._lines[1].receive()).split()
        assert word == "began"
        return int(pid)

    def code(self, pid: int) -> int | None:
        """How a process has ended; None while it lives."""
        return self._codes.get(pid)

    async def ended(self, pid: int) -> int:
        while pid not in self._codes:
            await self._ended.wait()
        return self._codes[pid]


@asynccontextmanager
async def nest(**environment: str) -> AsyncIterator[Nest]:
    (its_in, wants), (says, its_out) = CONTEXT.Pipe(duplex=False), CONTEXT.Pipe(duplex=False)
    with LOCK, its_in, wants, says, its_out:
        known = os.environ | {"PYTHONPATH": str(ROOT)} | environment
        process = CONTEXT.Process(target=begin, args=(its_in, its_out, known), daemon=True)
        process.start()
        ends = [trio.lowlevel.FdStream(os.dup(end.fileno())) for end in (wants, says)]
    async with ends[0], ends[1], trio.open_nursery() as nursery:
        made = Nest(*ends)
        nursery.start_soon(made.run)
        try:
            yield made
        finally:
            with trio.move_on_after(HANG, shield=True):
                await ends[0].aclose()  # it kills the hosts that are left, and ends
                await trio.lowlevel.wait_readable(process.sentinel)
            with LOCK:
                process.kill()
            nursery.cancel_scope.cancel()


class Ended(AssertionError):
    """A host has ended before it was ready."""


class Host:
    def __init__(self, nest: Nest, folder: Path, store: str = "") -> None:
        self.folder = folder
        self.tcp, self.http = free_ports(2)
        self.store = store
        self._nest = nest
        self._pid = 0

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def journal(self) -> Path:
        return self.folder / "data" / "quintain.sqlite"

    @property
    def has_kept(self) -> bool:
        """Whether there is a database; a host may have been killed before it made one."""
        return bool(self.store) or self.journal.exists()

    @property
    def code(self) -> int | None:
        """How it has ended; None while it lives."""
        return self._nest.code(self._pid)

    def flags(self) -> tuple[str, ...]:
        """Where its data are, as commands take it."""
        return ("--data", str(self.folder / "data"), *(("--store", self.store) if self.store else ()))

    def serves(self) -> list[str]:
        """What it is started with."""
        ports = ("--tcp", str(self.tcp), "--http", str(self.http), "--websocket", "0")
        return ["serve", *ports, *self.flags(), "--log-level", "warning"]

    async def start(self, fresh: bool = False, ahead: float = 0.0) -> None:
        """Only start it; `ready` waits for it to be so. A fresh one imports all that it needs itself.

        Its clock is `ahead` by so many seconds.
        """
        out = self.folder / "out"
        out.write_bytes(b"")
        self._pid = await self._nest.hatch(
            arguments=self.serves(),
            folder=str(self.folder),
            out=str(out),
            log=str(self.log),
            fresh=fresh,
            ahead=ahead,
        )

    async def ready(self) -> None:
        """Until it says so, on its first line."""
        with trio.fail_after(HANG):
            while not (said := (self.folder / "out").read_bytes()).startswith(b"ready "):
                if self.code is not None:
                    raise Ended(f"it ended by itself with {self.code}, {said!r}: {self.tail()}")
                await trio.sleep(LOOK)

    async def command(self, *arguments: str) -> bytes:
        """What a command on its data says that ends well. It is forked too: importing takes a second."""
        said = self.folder / "said"
        pid = await self._nest.hatch(
            arguments=[*arguments, *self.flags()],
            folder=str(self.folder),
            out=str(said),
            log=str(self.log),
            fresh=False,
        )
        with trio.fail_after(HANG):
            code = await self._nest.ended(pid)
        told = said.read_bytes()
        assert code == 0, f"{arguments[0]} ended with {code}, {told!r}: {self.tail()}"
        return told

    def send(self, how: signal.Signals) -> None:
        if self.code is None:
            os.kill(self._pid, how)

    async def end(self, how: signal.Signals) -> tuple[int, float]:
        """The exit code, and how many seconds it took."""
        begun = trio.current_time()
        self.send(how)
        with trio.fail_after(HANG):
            code = await self._nest.ended(self._pid)
        return code, trio.current_time() - begun

    def tail(self) -> str:
        return self.log.read_text(errors="replace")[-2000:]
