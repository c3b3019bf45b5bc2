"""A host as an inspector finds it: a process, its ready line, what it prints. No code of it is imported."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.hang import HANG

COMMAND = Path(sys.executable).with_name("quintain")
READY = re.compile(r"ready tcp=(\S+):(\d+) websocket=(\S+):(\d+) http=(\S+):(\d+) data=(.*)\n")

Address = tuple[str, int]


class Inspected:
    """A `quintain serve`: started, asked where it listens, and ended with the block."""

    def __init__(self, folder: Path, *arguments: str, free: bool = True, **environment: str) -> None:
        ports = ["--tcp", "0", "--websocket", "0", "--http", "0"] if free else []
        self.folder = folder
        self.complaints = (folder / "stderr").open("w+")
        kept = {name: value for name, value in os.environ.items() if not name.startswith("QUINTAIN")}
        self.process = self.start(("serve", *ports, *arguments), kept | environment)
        assert self.process.stdout is not None
        self.ready = self.process.stdout.readline()
        where = READY.fullmatch(self.ready)
        if where is None:
            self.process.kill()
            self.process.communicate()
            raise AssertionError(f"no ready line but {self.ready!r}, and said {self.said()!r}")
        self.tcp: Address = where[1], int(where[2])
        self.websocket: Address = where[3], int(where[4])
        self.http: Address = where[5], int(where[6])
        self.data = where[7]

    def start(self, arguments: tuple[str, ...], environment: Mapping[str, str]) -> Any:
        """A process with the outputs and the methods of a `Popen`."""
        return subprocess.Popen(
            [COMMAND, *arguments],
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=self.complaints,
            text=True,
        )

    def said(self) -> str:
        """Everything on standard error so far."""
        return (self.folder / "stderr").read_text()

    def organiser(self) -> dict[str, str]:
        """The header that an organiser sends, with the token found in the data folder."""
        tokens = [file for file in (self.folder / self.data).iterdir() if "token" in file.name]
        return {"Authorization": f"Bearer {tokens[0].read_text().strip()}"}

    def ends(self) -> tuple[int, str]:
        """Waits until it has ended by itself: the exit code and what else was on standard output."""
        out, _ = self.process.communicate(timeout=HANG)
        return self.process.returncode, out

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        if not self.process.stdout.closed:  # or it has been waited for
            self.process.communicate()
        self.complaints.close()
