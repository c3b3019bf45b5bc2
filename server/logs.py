"""Logging: one event per line on standard error, for people on a terminal and as JSON everywhere else.

On a terminal the last line may say how things are. It is taken away before each line of
the log and drawn again after it. While an event loop runs, a thread writes (`server/log_writer.py`).
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

import structlog
import trio

from server.log_writer import LogWriter
from server.net.escaping import CUT, safe
from server.net.limits import Limits, Rate
from server.net.log_budget import LogBudget

REST_EVERY = 60.0  # seconds between two reports of what was left out of the log
CLEAR = "\r\x1b[K"  # the line that the cursor is in

Format = Literal["text", "json"]

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Output:
    """Standard error, with a line below all others that changes in place; WriteLogger writes to it."""

    def __init__(
        self,
        stream: TextIO,
        budget: LogBudget,
        notice: Callable[[int], str],
        *,
        live: bool,
    ) -> None:
        """`notice` returns the line that says how many lines could not be written. `live`: a person watches,
        and may be shown a line that changes.
        """
        self.live = live
        self._stream: TextIO | LogWriter = stream
        self._budget = budget
        self._notice = notice
        self._status = ""

    def write(self, text: str) -> int:
        """Write whole lines in one piece."""
        with best_effort():
            self._stream.write(f"{CLEAR}{text}{self._status}" if self._status else text)
        return len(text)

    def flush(self) -> None:
        with best_effort():
            self._stream.flush()

    def show(self, status: str) -> None:
        """Draw a status as the last line of a terminal; "" removes it."""
        if self.live and (status or self._status):
            self._status = safe(status, cut=len(status))[: self._width() - 1]
            if isinstance(self._stream, LogWriter) and self._stream.behind:
                return  # somebody has paused the terminal, and would be shown all of them later
            with best_effort():
                self._stream.write(f"{CLEAR}{self._status}")
                self._stream.flush()

    @contextmanager
    def in_a_thread(self) -> Generator[None]:
        """A context in which nobody waits for a line to be written. At its end all of them are.

        If nobody reads them, the rest is left out. A stream that is not a file is written to as before.
        """
        stream = self._stream
        try:
            descriptor = stream.fileno()
        except OSError:
            yield
            return
        self.flush()
        writer = self._stream = LogWriter(descriptor, self._notice)
        try:
            yield
        finally:
            if writer.close():  # else whoever still logs would wait
                self._stream = stream

    async def tell_the_rest(self) -> None:
        """Say from time to time, until cancelled, how many lines were left out."""
        while True:
            await trio.sleep(REST_EVERY)
            for peer, lines in self._budget.rest().items():
                log.info("and more", of=peer, more=lines)

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns or CUT  # 0: it does not know
        except OSError:
            return CUT


def set_up(
    level: str,
    form: Format | None = None,
    lines: Rate = Limits().log_lines,  # noqa: B008 - frozen
    stream: TextIO | None = None,
) -> Output:
    """Log to standard error from now on, in that form; None: text on a terminal, and JSON anywhere else.

    One address may cause this many `lines`.
    """
    budget, errors = LogBudget(lines), stream or sys.stderr
    terminal = errors.isatty()
    text = terminal if form is None else form == "text"
    written: list[structlog.typing.Processor] = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _safe,
        structlog.dev.ConsoleRenderer(colors=terminal and "NO_COLOR" not in os.environ)
        if text
        else structlog.processors.JSONRenderer(),
    ]

    def notice(lines: int) -> str:
        said: Any = {
            "event": "lines of the log are missing, because they could not be written",
            "lines": lines,
        }
        for processor in written:
            said = processor(None, "warning", said)
        return f"{said}\n"

    output = Output(errors, budget, notice, live=terminal and text)
    structlog.configure(
        processors=[budget, *written],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.WriteLoggerFactory(output),  # pyright: ignore[reportArgumentType] - writes
        cache_logger_on_first_use=True,
    )
    return output


def keep_off_results() -> None:
    """For a command whose results go to standard output: what is logged goes to standard error, as text."""
    structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))


def announce(form: Format | None, sentence: str, output: Output | None = None, **values: str) -> None:
    """Tell the person who started the host a sentence that no log level hides; in JSON if the log is.

    It goes where the log goes: to `output`, or to standard error.
    """
    if form == "json":
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        sentence = json.dumps({**values, "event": sentence, "level": "info", "timestamp": at})
    with best_effort():
        to = output or sys.stderr
        to.write(f"{sentence}\n")
        to.flush()


def best_effort() -> suppress:
    """Go on even if standard error cannot be written: no match ends for want of somebody to tell.

    Its disk may be full, or whoever read it may have gone.
    """
    return suppress(OSError)


def _safe(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A processor: no value can move a cursor, forge a line or fill the disk; our tracebacks stay whole."""
    for key, value in event.items():
        if isinstance(value, str) and not (value.isprintable() and len(value) <= CUT):  # nearly all are
            event[key] = safe(value, cut=None if key == "exception" else CUT)
    return event
