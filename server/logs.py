"""Logging: one event a line on standard error, for people on a terminal and as JSON everywhere else."""

import logging
import sys
from typing import Any

import structlog

from server.net.escaping import CUT, safe

LEVELS = ("debug", "info", "warning", "error")


def set_up(level: str) -> None:
    terminal = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _safe,
            structlog.dev.ConsoleRenderer(colors=terminal)
            if terminal
            else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(getattr(logging, level.upper())),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )


def _safe(logger: Any, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """No value moves a terminal's cursor, forges a line or fills the disk; our own tracebacks stay whole."""
    return {
        key: safe(value, cut=None if key == "exception" else CUT) if isinstance(value, str) else value
        for key, value in event.items()
    }
