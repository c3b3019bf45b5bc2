"""Durations as an organiser writes them: seconds, or "90s", "10m", "6h", "1d"."""

import re

from server.net.escaping import in_quotes

UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}  # "": a flag, or a form, is text


class BadDuration(ValueError):
    """A duration that cannot be read. The message is for the organiser."""


def seconds(written: float | str, key: str) -> float:
    """The duration that is set as `key`, in seconds; raises `BadDuration`."""
    if not isinstance(written, str):
        return float(written)
    found = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)([smhd]?)", written, re.ASCII)
    if found is None:
        raise BadDuration(f'{key}: expected seconds, or "90s", "10m", "6h" or "1d", not {in_quotes(written)}')
    return float(found[1]) * UNITS[found[2]]
