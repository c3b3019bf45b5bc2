"""The command that starts the client on trial, and how it ended."""

import os
import subprocess
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import IO

from msgspec import Struct

from server.exits import Failure
from server.programs.program import how_ended, kill, why_not, words_in

EXIT_TIMEOUT = 0.5  # seconds for a process that has hung up to end, too
LAST_WORDS = 5  # lines of standard error
LONGEST = 65536  # bytes of such a line


class Exit(Struct, frozen=True):
    """How a process ended; the same fault leaves the same exit."""

    code: int
    words: str  # its last words

    def __str__(self) -> str:
        return how_ended(self.code) + (f"; its last words: {self.words}" if self.words else "")


class Command:
    def __init__(self, words: Sequence[str], addresses: Mapping[str, str]) -> None:
        """Start the command; raises `Failure` if that fails.

        `{tcp}`, `{websocket}` and `{http}` in it are replaced by addresses. Bots that `quintain new`
        writes find the address in `QUINTAIN_URL`.
        """
        for name, address in addresses.items():
            words = [word.replace(f"{{{name}}}", address) for word in words]
        self._words: deque[str] = deque(maxlen=LAST_WORDS)
        try:
            self._process = subprocess.Popen(  # noqa: S603 - to run it is what we were asked for
                words,
                env=os.environ | {"QUINTAIN_URL": f"tcp://{addresses['tcp']}"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is ours to deal with
            )
        except OSError as error:
            raise Failure(f"{words[0]}: cannot be started: {why_not(words[0], error)}") from None
        self._reader = threading.Thread(target=self._read, args=(self._process.stderr,), daemon=True)
        self._reader.start()

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def exit(self, seconds: float = EXIT_TIMEOUT) -> Exit | None:
        """How the process ended, if it does within this many seconds."""
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(seconds)
            self._reader.join(EXIT_TIMEOUT)
            return Exit(code, " / ".join(self._words))
        return None

    def end(self) -> None:
        """Kill the process, and all that it has started."""
        kill(self._process)
        self._process.wait()
        self._reader.join(EXIT_TIMEOUT)  # it closes the pipe: whoever else did would wait for it

    def _read(self, pipe: IO[bytes]) -> None:
        with suppress(OSError, ValueError), pipe:
            while line := pipe.readline(LONGEST):
                if words := words_in(line).strip(" \t\r\n^~"):
                    self._words.append(words)
