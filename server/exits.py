"""How a command ends: its exit codes, and the exceptions that carry one from where it fails."""

import os
import signal
from types import FrameType
from typing import TypeVar, cast

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


def code_of(number: int) -> int:
    """The exit code after that signal."""
    return INTERRUPTED if number == signal.SIGINT else DONE


def leave(number: int, frame: FrameType | None) -> None:
    """A handler of signals that ends the process at once."""
    os._exit(code_of(number))


Raised = TypeVar("Raised", bound=Exception)


def first_of(errors: ExceptionGroup[Raised]) -> Raised:
    """The first error within groups: nurseries wrap errors in these."""
    error = errors.exceptions[0]
    return first_of(cast("ExceptionGroup[Raised]", error)) if isinstance(error, ExceptionGroup) else error


class Failure(Exception):
    """A request that cannot be carried out. One line says why."""

    code = FAILED


class Unavailable(Failure):
    """The store can neither keep nor give anything just now, for a reason that may pass.

    So it is worth trying again. The message is for an organiser.
    """


class Misuse(Failure):
    """A request that makes no sense: wrong usage or configuration."""

    code = MISUSED


class ConfigError(Misuse):
    """The organiser's fault: one line, with the place."""


class Unusable(ConfigError):
    """What the store has kept is damaged, and stays so until somebody mends it.

    The message is for an organiser.
    """

    remedy = "what is kept is damaged: go back to a backup with `quintain restore`"
