"""A thread that writes the log: whoever plays never waits for whoever reads it.

A terminal may be paused, a pipe full, a disk slow. The descriptor is not made non-blocking: that would hold
for everybody who has the same terminal. What waits to be written is bounded. Lines that find no room, or that
cannot be written, are left out and counted, and a line says how many as soon as one can be written.
`tell` does the same for the last words of a process that has no log, or none any more.
"""

import os
import select
import sys
import threading
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import TextIO

KEPT = 1 << 20  # bytes that wait to be written: some thousand lines
PARTING = 1.0  # seconds at the end in which nothing more could be written: then nobody reads


def tell(text: str, stream: TextIO | None) -> None:
    """Write lines to a stream as long as somebody reads them: a process that has to end must not wait.

    None: the process was started without that stream.
    """
    if stream is None:
        return
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError):  # it is not a file, or closed
        with suppress(OSError, ValueError):
            stream.write(text)
        return
    writer = LogWriter(descriptor, lambda lines: "", stream.encoding)
    writer.write(text)
    writer.close()


def tell_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A `sys.excepthook` that writes the traceback as long as somebody reads it."""
    tell("".join(traceback.format_exception(kind, error, trace)), sys.stderr)


class LogWriter:
    """What an `Output` writes to while the event loop runs."""

    def __init__(self, descriptor: int, notice: Callable[[int], str], encoding: str = "utf-8") -> None:
        """`notice` returns the line that says how many lines are missing."""
        self._descriptor = descriptor
        self._notice = notice
        self._encoding = encoding
        self._changed = threading.Condition()  # guards all that follows, and nobody waits while holding it
        # What is to be written, and how many lines it tells
        self._waiting: deque[tuple[bytes, int]] = deque()
        self._size = 0  # bytes that wait, with those that are being written
        self._left_out = 0  # lines that are not mentioned yet
        self._fails = False  # nothing could be written lately: nobody is told of that before the next line
        self._ended = False
        self._thread = threading.Thread(target=self._run, name="log", daemon=True)
        self._thread.start()

    @property
    def behind(self) -> bool:
        """Whether something still waits to be written."""
        return self._size > 0

    def write(self, text: str) -> int:
        """Have the thread write whole lines, or leave them out."""
        content = text.encode(self._encoding, "backslashreplace")
        lines = content.count(b"\n")
        with self._changed:
            self._fails = False
            if self._size + len(content) > KEPT:
                self._left_out += lines
            else:
                self._mention_left_out()
                self._keep(content, lines)
            self._changed.notify()
        return len(text)

    def flush(self) -> None:
        """Do nothing: the thread writes at once."""

    def fileno(self) -> int:
        return self._descriptor

    def close(self) -> bool:
        """Wait until all is written, as long as somebody reads it; returns whether all is."""
        with self._changed:
            self._ended = True
            self._changed.notify()
        before = None
        while self._thread.is_alive() and before != self._size:
            before = self._size
            self._thread.join(PARTING)
        return not self._thread.is_alive()

    # In the thread

    def _run(self) -> None:
        while (following := self._next()) is not None:
            content, lines = following
            written = self._written(content)
            with self._changed:
                self._size -= len(content)
                if not written:
                    self._fails = True
                    self._left_out += lines

    def _next(self) -> tuple[bytes, int] | None:
        """Wait for what is next; None: nothing more comes."""
        with self._changed:
            while not self._waiting:
                if self._left_out and not self._fails:
                    self._mention_left_out()
                elif self._ended:
                    return None
                else:
                    self._changed.wait()
            return self._waiting.popleft()

    def _written(self, content: bytes) -> bool:
        """Write, however long it takes; False: that cannot be done, as where the disk is full."""
        unwritten = memoryview(content)
        while unwritten:
            try:
                unwritten = unwritten[os.write(self._descriptor, unwritten) :]
            except BlockingIOError:  # somebody else has set it to be non-blocking
                select.select([], [self._descriptor], [])
            except OSError:
                return False
        return True

    # While `_changed` is held

    def _mention_left_out(self) -> None:
        if self._left_out:
            self._keep(
                self._notice(self._left_out).encode(self._encoding, "backslashreplace"), self._left_out
            )
            self._left_out = 0

    def _keep(self, content: bytes, lines: int) -> None:
        self._waiting.append((content, lines))
        self._size += len(content)
