"""Servers to be measured, each in a process of its own: ours, and whatever it is measured by."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.bench.crowd import Address

SHOWS = "quintain-show"  # the process for pages


class Server:
    """A server in a process of its own, which says where it is as `quintain serve` does."""

    def __init__(self, *command: str, checkout: Path | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=checkout,  # whose modules come first
        )
        assert self.process.stdout is not None
        ready = self.process.stdout.readline().split()
        assert ready[:1] == ["ready"], f"{' '.join(command)} did not start"
        self._addresses = dict(word.split("=", 1) for word in ready[1:])

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.communicate()

    def address(self, door: str) -> Address:
        host, _, port = self._addresses[door].rpartition(":")
        return host, int(port)

    def seconds(self) -> float:
        """That it was on a processor, all its threads together: Linux has a clock for every process."""
        return seconds_of(self.process.pid)

    def seconds_in_all(self) -> float:
        """The same, with the process that answers for pages."""
        return self.seconds() + sum(map(seconds_of, self.children(SHOWS)))

    def memory(self) -> int:
        """Bytes that it has in memory."""
        return memory_of(self.process.pid)

    def children(self, named: str) -> list[int]:
        """The processes that it has started whose names begin with that."""
        number = self.process.pid
        children = Path(f"/proc/{number}/task/{number}/children").read_text().split()
        return [int(each) for each in children if Path(f"/proc/{each}/comm").read_text().startswith(named)]


def seconds_of(process: int) -> float:
    """That a process was on a processor."""
    return time.clock_gettime(~process << 3 | 2)


def memory_of(process: int) -> int:
    """Bytes that a process has in memory."""
    with open(f"/proc/{process}/statm") as pages:
        return int(pages.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def quintain(folder: str, *arguments: str, checkout: Path | None = None) -> Server:
    """Ours; of another checkout, if one is given."""
    ports = ("--tcp", "0", "--websocket", "0", "--http", "0")
    quiet = ("--data", folder, "--log-level", "error")
    return Server("server", "serve", *ports, *quiet, *arguments, checkout=checkout)
