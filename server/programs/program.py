"""A bot that is a program: it reads a position from each line of input and writes a move as a line.

This is one such program and the pipes to it. The caller decides what it is asked and
what becomes of its answers: a host, through `quintain play`, or our own referee, in
`quintain match` and `quintain check`.
"""

import contextlib
import json
import os
import re
import select
import shlex
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO, Any

import msgspec

from server.exits import Failure, Misuse
from server.net.escaping import in_quotes, json_line
from server.programs.running_time import Now

SHOWN = 200  # bytes of a program's first line
LONGEST = 65536  # bytes of a line, which may say more than a move
LONGEST_MOVE = 3800  # bytes of a move as JSON: hosts hang up over lines of 4096, with all that goes with it
BEGINNING = 300  # characters that are left of anything longer
LAST_WORDS = 5  # lines of standard error that are kept, to show when it has ended …
WIDEST = 200  # … and characters of each
EXIT_TIMEOUT = 0.5  # seconds to end by itself when its standard input has ended
LOOK = 0.5  # seconds between two looks at whether a program that says nothing has ended
ONE_LINE = "a move is one line, and its output has to be flushed"
VARIABLE = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*=")  # that a shell would set for a command
KEPT = 20  # lines kept of those that nobody asked for
POLLS = hasattr(select, "poll")  # elsewhere a program that reads nothing holds up its caller
MOST = 1000  # lines between two questions: a program that writes more would fill the memory


class Gone(Exception):
    """The program has ended. The message says how."""


class Mute(TimeoutError):
    """The program has not answered in time, and has not written a line yet."""


class Program:
    def __init__(
        self,
        command: str,
        *,
        quiet: bool = False,
        errors: Callable[[bytes], None] | None = None,
        now: Now = time.monotonic,
    ) -> None:
        """Start it; raises `Failure` if that fails. Time for its answers is counted by `now`.

        Its standard error is shown unless `quiet`; `errors`, if given, is called with each line of
        it instead, in a thread.
        """
        self.command = command
        self._errors = errors
        self._now = now
        self.unasked: list[str] = []  # lines that answered nothing and are ignored
        self._answers: SimpleQueue[bytes | None] = SimpleQueue()
        self._lines = 0  # how many came since the last question
        self._wrote = False  # a line, ever
        self._flooded = False
        self._words: deque[str] = deque(maxlen=LAST_WORDS)
        self._readers: list[threading.Thread] = []
        try:
            self._process = subprocess.Popen(  # noqa: S603 - to run it is what we were asked for
                _split(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if quiet or errors else None,
                start_new_session=True,  # Ctrl-C is ours to deal with
            )
        except OSError as error:
            if VARIABLE.match(command):
                raise Failure(
                    f"{command}: cannot be started: it is run without a shell; to set a variable, write: "
                    f"env {command}"
                ) from None
            raise Failure(f"{command}: cannot be started: {why_not(_split(command)[0], error)}") from None
        if POLLS and self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
        self._follow(self._process.stdout, self._take_answers)
        self._follow(self._process.stderr, self._take_words)

    def ask(self, question: dict[str, Any], seconds: float | None = None) -> object:
        """The move with which the program answers: JSON, or the text that it wrote.

        Raises `TimeoutError` if nothing comes within this many seconds, and `Gone` if nothing can come any
        more.
        """
        until = None if seconds is None else self._now() + seconds
        self._pass_over()
        try:
            self._write(json_line(question).encode() + b"\n", until)
            return self._answer(until)
        except TimeoutError:
            late = f"{self.command} did not answer in {seconds:.1f} s"
            if self._wrote:
                raise TimeoutError(late) from None
            raise Mute(f"{late}, and has written nothing yet: {ONE_LINE}") from None

    def wait(self, seconds: float) -> None:
        """Leave the program alone for a while; what it says meanwhile counts as unasked."""
        time.sleep(seconds)
        self._pass_over()

    @property
    def gone(self) -> str | None:
        """How the program has ended, if it has."""
        return None if self._process.poll() is None else self._how_it_ended()

    def gone_within(self, seconds: float) -> str | None:
        """How the program ends, if it does so within that many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        return self.gone

    def end(self) -> bool:
        """End the program in any case; True if it ended by itself when there was nothing more to read."""
        try:
            with contextlib.suppress(OSError):
                if self._process.stdin is not None:
                    self._process.stdin.close()
            self._process.wait(EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            return False
        else:
            return True
        finally:  # also if an interrupt comes meanwhile
            self.kill()
            self._process.wait()
            for reader in self._readers:  # which closes its pipe: whoever else did would wait for it
                reader.join(EXIT_TIMEOUT)

    def kill(self) -> None:
        kill(self._process)

    # Within

    def _answer(self, until: float | None) -> object:
        while True:
            line = self._line(until)
            if line is None:
                raise Gone(self._how_it_ended())
            if line.strip():
                return move_in(line)

    def _line(self, until: float | None) -> bytes | None:
        """The next line; None if the program has ended, even if a process that it has left behind has not."""
        ended = False
        while True:
            left = self._left(until)
            try:
                return self._answers.get(timeout=LOOK if left is None else min(left, LOOK))
            except Empty:
                if ended:
                    return None
                if self._left(until) == 0:
                    raise TimeoutError from None
                ended = self._process.poll() is not None  # its last lines may be on their way

    def _write(self, line: bytes, until: float | None) -> None:
        """Write a line. A program that does not read costs no more time than one that does not answer."""
        stdin = self._process.stdin
        try:
            if stdin is None:
                raise BrokenPipeError
            if not POLLS:
                stdin.write(line)
                stdin.flush()
                return
            while line := line[_written(stdin.fileno(), line) :]:
                room = select.poll()
                room.register(stdin, select.POLLOUT)
                left = self._left(until)
                if not room.poll(None if left is None else 1000 * left) and self._left(until) == 0:
                    raise TimeoutError
        except TimeoutError:
            raise
        except (OSError, ValueError):  # the program has ended, or its standard input is closed
            raise Gone(self._how_it_ended()) from None

    def _left(self, until: float | None) -> float | None:
        return None if until is None else max(0.0, until - self._now())

    def _pass_over(self) -> None:
        self._lines = 0
        with contextlib.suppress(Empty):
            while True:
                line = self._answers.get_nowait()
                if line is None:
                    self._answers.put(None)
                    return
                if line.strip() and len(self.unasked) < KEPT:
                    self.unasked.append(words_in(line))

    def _follow(self, pipe: IO[bytes] | None, take: Any) -> None:
        if pipe is not None:
            reader = threading.Thread(target=take, args=(pipe,), daemon=True)
            self._readers.append(reader)
            reader.start()

    def _take_answers(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while line := pipe.readline(LONGEST):
                self._wrote = True
                self._lines += 1
                if self._lines > MOST:
                    self._flooded = True
                    self.kill()
                    break
                self._answers.put(line)
        self._answers.put(None)

    def _take_words(self, pipe: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), pipe:
            while line := pipe.readline(LONGEST):
                self._words.append(words_in(line))
                if self._errors is not None:
                    self._errors(line)

    def _how_it_ended(self) -> str:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(EXIT_TIMEOUT)
        code = self._process.poll()
        for reader in self._readers[1:]:
            reader.join(EXIT_TIMEOUT)
        if self._flooded:
            return f"{self.command} wrote more than {MOST} lines that nobody had asked for"
        words = f"; its last words: {' / '.join(self._words)}" if self._words else ""
        return f"{self.command} {'closed its standard output' if code is None else how_ended(code)}{words}"


def words_in(line: bytes) -> str:
    """A line of standard error, as far as a sentence can repeat it: a program may write no ends of lines."""
    words = line[: 4 * WIDEST].decode("utf-8", "replace").rstrip()
    return words if len(words) <= WIDEST else f"{words[:WIDEST]}…"


def how_ended(code: int) -> str:
    """How a process with that return code ended."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:  # most real-time signals have no name
        return f"was ended by signal {-code}"


def why_not(program: str, error: OSError) -> str:
    """Why a program cannot be started; of a missing interpreter the system says that the file is missing."""
    with contextlib.suppress(OSError):
        if isinstance(error, FileNotFoundError) and Path(program).is_file():
            with open(program, "rb") as file:
                line = file.readline(SHOWN).decode("utf-8", "replace").rstrip("\n")
            if line.startswith("#!"):
                return f"its first line, {in_quotes(line)}, names a program that is not here"
    return error.strerror or str(error)


def kill(process: "subprocess.Popen[bytes]") -> None:
    """Kill a program and all processes that it has started, which would keep its pipes open."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()


def move_in(line: bytes) -> object:
    """The move in a line of a program: as JSON, as a `move` message, or as people write it.

    What is far too long for a move is only its beginning, so that whoever is told it can say that it is none.
    """
    try:
        said: Any = msgspec.json.decode(line)
        written = json.dumps(said)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = line.decode("utf-8", "replace").strip()
        written = json.dumps(said)
    match said:
        case {"type": "move", "move": move}:
            found, written = move, json.dumps(move)
        case _:
            found = said
    if len(written) <= LONGEST_MOVE:
        return found
    return (found if isinstance(found, str) else written)[:BEGINNING]


def _written(descriptor: int, line: bytes) -> int:
    """Write a line as far as there is room for it; returns how many bytes that was."""
    try:
        return os.write(descriptor, line)
    except BlockingIOError:
        return 0


def words_of(command: str) -> list[str]:
    """The words of a command, as a shell reads it; raises `Misuse`."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise Misuse(f"{command}: this is not a command: {error}") from None
    if not words:
        raise Misuse("expected a program, and got an empty command")
    return words


def _split(command: str) -> list[str]:
    words = words_of(command)
    if os.sep not in words[0] and Path(words[0]).is_file():
        words[0] = os.path.join(os.curdir, words[0])  # "mybot" means the one in this folder
    return words
