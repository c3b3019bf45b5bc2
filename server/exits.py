"""How a command ends: its exit codes, and the exceptions that carry one out of wherever it fails."""

DONE, FAILED, MISUSED, INTERRUPTED = 0, 1, 2, 130


class Failure(Exception):
    """What was asked for cannot be done. One line says why."""

    code = FAILED


class Misuse(Failure):
    """What was asked for makes no sense: wrong usage or configuration."""

    code = MISUSED


class ConfigError(Misuse):
    """The organiser's fault: one line, with the place."""
