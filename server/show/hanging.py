"""Noticing that another process hangs: it is there, and gives no sign of life any more."""

from collections.abc import Callable
from pathlib import Path

import trio

LOOK = 1.0  # seconds between two looks for signs of life


async def until_it_hangs(signs: Callable[[], object], seconds: float) -> None:
    """Wait until a process has given no sign of life for so long: `signs` returns something else after one.

    This counts looks, not seconds: a stall of this process is no fault of the other.
    """
    silent, latest = 0, signs()
    while silent < seconds / LOOK:
        await trio.sleep(LOOK)
        before, latest = latest, signs()
        silent = silent + 1 if latest == before else 0


def processor_time(process: int) -> float:
    """How much processor time a process has used, in the system's own unit; 0 if there is no such process."""
    try:
        found = Path(f"/proc/{process}/stat").read_text()
    except OSError:
        return 0.0
    user, system = found.rpartition(")")[2].split()[11:13]  # the name before that may be anything
    return float(user) + float(system)
