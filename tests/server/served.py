"""A host in a process of its own, behind its real doors."""

import json
import os
import re
import socket
import sys
from http.client import HTTPResponse
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from tests.hang import HANG, wait_for
from tests.server.forked import Forked

ROOT = Path(__file__).parents[2]
READY = re.compile(
    r"ready tcp=(127\.0\.0\.\d:\d+) websocket=(127\.0\.0\.\d:\d+) http=(127\.0\.0\.\d:\d+) data=(\S+)\n"
)


class Served:
    """A host in a process of its own."""

    def __init__(self, folder: Path, *flags: str, http: int = 0) -> None:
        self.folder = folder
        paths = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        ports = ("--tcp", "0", "--websocket", "0", "--http", str(http))
        environment = os.environ | {"PYTHONPATH": paths, "QUINTAIN_RESERVE_BYTES": "0"}
        arguments = ("serve", *ports, *flags)
        if os.environ.get("PYTHONPATH", str(ROOT)) == str(ROOT):
            self.process: Forked | Popen[str] = Forked(arguments, folder, environment)
        else:  # games and dialects may be installed there, and what is forked knows those of before
            command = [sys.executable, "-m", "server", *arguments]
            self.process = Popen(command, cwd=folder, env=environment, stdout=PIPE, stderr=PIPE, text=True)
        assert self.process.stdout is not None
        found = READY.fullmatch(self.process.stdout.readline())
        assert found is not None, self.process.communicate()
        self.tcp, self.websocket, self.http = (int(where.split(":")[1]) for where in found.groups()[:3])
        self.data = folder / found[4]

    def ask(self, request: str) -> tuple[int, Any]:
        with socket.create_connection(("127.0.0.1", self.http), HANG) as connection:
            connection.sendall(request.encode())
            answer = HTTPResponse(connection)  # which may come in chunks
            answer.begin()
            return answer.status, json.loads(answer.read())

    def get(self, path: str) -> tuple[int, Any]:
        return self.ask(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")

    def read(self, path: str) -> Any:
        """What is there, asked for again while a busy machine has the host say: in a second."""
        found: list[Any] = []

        def answered() -> bool:
            status, said = self.get(path)
            found[:] = [said]
            return status != 503

        wait_for(answered, path)
        return found[0]

    def end(self) -> tuple[int, str, str]:
        """The exit code, and what was printed since the ready line."""
        out, errors = self.process.communicate()
        return self.process.wait(), out, errors

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()
