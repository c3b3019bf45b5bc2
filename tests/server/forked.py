"""`quintain` in a process of its own that need not import anything: it is forked from one that has.

Most of what a start takes is importing, and then making ready for whoever comes:
half a second of a processor, and tests make many. What is about the start itself
begins with Python: `tests/blackbox/inspected.py` does.
"""

import gc
import os
import signal
import sys
from collections.abc import Collection, Mapping
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from pkgutil import iter_modules
from tempfile import TemporaryFile
from threading import Lock, Thread
from typing import TextIO

import tournament.pairing
from server.__main__ import main
from server.commands import COMMANDS
from tests.hang import HANG
from tests.server.rights import give_up

PARTS = {where.partition(":")[0] for where, _ in COMMANDS.values()}
PAIRING = [f"tournament.pairing.{found.name}" for found in iter_modules(tournament.pairing.__path__)]
COMMAND_MODULES = [f"server.commands.{part}" for part in sorted(PARTS)]
# What hosts import when they begin, or soon after: numpy, and how to sign, take longest.
SIGNING = "cryptography.hazmat.primitives.asymmetric.ed25519"
LATER = (*PAIRING, "numpy", SIGNING, "encodings.idna", "tests.server.warm")
PROCESSES = ("server.serve", "server.show.__main__", "server.workers.__main__")
IMPORTED = (*COMMAND_MODULES, *PROCESSES, __name__, *LATER)

CONTEXT = get_context("forkserver")
CONTEXT.set_forkserver_preload(list(IMPORTED))
LOCK = Lock()  # multiprocessing looks after all children whenever it begins one, in whatever thread


class Forked:
    """What tests use of a `subprocess.Popen` whose two outputs are pipes of text; it is told `source`.

    As root it is `without` some of root's rights: see `tests/server/rights.py`.
    """

    def __init__(
        self,
        arguments: tuple[str, ...],
        folder: Path,
        environment: Mapping[str, str],
        source: bytes = b"",
        without: Collection[int] = (),
    ) -> None:
        (out, its_out), (errors, its_errors) = CONTEXT.Pipe(duplex=False), CONTEXT.Pipe(duplex=False)
        with LOCK, _file(source) as its_in, out, its_out, errors, its_errors:
            given = (arguments, str(folder), dict(environment), (its_in, its_out, its_errors), tuple(without))
            self._process = CONTEXT.Process(target=_run, args=given, daemon=True)
            self._process.start()
            self.stdout, self.stderr = _text(out), _text(errors)
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int | None:
        """How it has ended, negative where a signal has ended it; None while it runs."""
        return self.poll()

    def poll(self) -> int | None:
        with LOCK:
            return self._process.exitcode

    def wait(self, timeout: float = HANG) -> int:
        wait([self._process.sentinel], timeout)
        code = self.poll()
        if code is None:
            raise TimeoutError(f"process {self.pid} has not ended in {timeout:g} s")
        return code

    def communicate(self, timeout: float = HANG) -> tuple[str, str]:
        """What it says from now on until it ends."""
        said = ["", ""]

        def read(index: int, pipe: TextIO) -> None:
            with pipe:
                said[index] = pipe.read()

        pipes = enumerate((self.stdout, self.stderr))
        threads = [Thread(target=read, args=each, daemon=True) for each in pipes]
        for thread in threads:
            thread.start()
        self.wait(timeout)
        for thread in threads:
            thread.join(timeout)
        return said[0], said[1]

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def _text(pipe: Connection) -> TextIO:
    return open(os.dup(pipe.fileno()), encoding="utf-8", errors="replace")


def _file(content: bytes) -> Connection:
    """A file that can be read from its beginning and be passed to another process, as connections can."""
    with TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        return Connection(os.dup(file.fileno()))


def _run(
    arguments: tuple[str, ...],
    folder: str,
    environment: dict[str, str],
    ends: tuple[Connection, ...],
    without: tuple[int, ...],
) -> None:
    """In the new process: be the command, in that folder and that environment."""
    gc.freeze()  # the host collects garbage as it begins, and there is none in what was imported before
    for number, end in enumerate(ends):
        os.dup2(end.fileno(), number)
        end.close()
    sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    give_up(without)
    sys.argv = ["quintain", *arguments]
    main()
