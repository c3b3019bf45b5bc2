"""Logging: one event per line on standard error, for people on a terminal and as JSON everywhere else.

On a terminal the last line may say how things are. It is taken away before each line of
the log and drawn again after it.
"""

import json
import logging
import os
import sys
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, Literal, TextIO

import structlog
import trio

from server.net.escaping import CUT, safe
from server.net.limits import Limits, Rate
from server.net.log_budget import LogBudget

REST_EVERY = 60.0  # seconds between two reports of what was left out of the log
CLEAR = "\r\x1b[K"  # the line that the cursor is in

Format = Literal["text", "json"]

log: structlog.typing.FilteringBoundLogger = structlog.get_logger()


class Output:
    """Standard error, with a line below all others that changes in place; PrintLogger prints to it."""

    def __init__(self, stream: TextIO, budget: LogBudget, *, live: bool) -> None:
        """`live`: a person watches, and may be shown a line that changes."""
        self.live = live
        self._stream = stream
        self._budget = budget
        self._status = ""
        self._begun = ""  # a line whose end has not come yet: it is written in one piece

    def write(self, text: str) -> int:
        self._begun += text
        if self._begun.endswith("\n"):
            line, self._begun = self._begun, ""
            with best_effort():
                self._stream.write(f"{CLEAR}{line}{self._status}" if self._status else line)
        return len(text)

    def flush(self) -> None:
        with best_effort():
            self._stream.flush()

    def show(self, status: str) -> None:
        """Draw a status as the last line of a terminal; "" removes it."""
        if self.live and (status or self._status):
            self._status = safe(status, cut=len(status))[: self._width() - 1]
            with best_effort():
                self._stream.write(f"{CLEAR}{self._status}")
                self._stream.flush()

    async def tell_the_rest(self) -> None:
        """Say from time to time, until cancelled, how many lines were left out."""
        while True:
            await trio.sleep(REST_EVERY)
            for peer, lines in self._budget.rest().items():
                log.info("and more", of=peer, more=lines)

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._stream.fileno()).columns
        except OSError:
            return CUT


def set_up(
    level: str,
    form: Format | None = None,
    lines: Rate = Limits().log_lines,  # noqa: B008 - frozen
    stream: TextIO | None = None,
) -> Output:
    """Log to standard error from now on, in that form; None: text on a terminal, and JSON anywhere else.

    One address may cause so many `lines`.
    """
    budget, errors = LogBudget(lines), stream or sys.stderr
    terminal = errors.isatty()
    text = terminal if form is None else form == "text"
    output = Output(errors, budget, live=terminal and text)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            budget,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _safe,
            structlog.dev.ConsoleRenderer(colors=terminal and "NO_COLOR" not in os.environ)
            if text
            else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(output),  # pyright: ignore[reportArgumentType] - writes
        cache_logger_on_first_use=True,
    )
    return output


def announce(form: Format | None, sentence: str, **values: str) -> None:
    """Tell the person who started the host a sentence that no log level hides; in JSON if the log is."""
    if form == "json":
        at = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        sentence = json.dumps({**values, "event": sentence, "level": "info", "timestamp": at})
    with best_effort():
        print(sentence, file=sys.stderr, flush=True)  # noqa: T201


def best_effort() -> suppress:
    """Go on if what is written to standard error cannot be: no match ends for want of somebody to tell.

    Its disk may be full, or whoever read it may have gone.
    """
    return suppress(OSError)


def _safe(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """A processor: no value can move a cursor, forge a line or fill the disk; our tracebacks stay whole."""
    return {
        key: safe(value, cut=None if key == "exception" else CUT) if isinstance(value, str) else value
        for key, value in event.items()
    }
