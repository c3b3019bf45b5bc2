"""A restore that is killed before any of its steps, in a process of its own: see `test_keeping.py`.

It is in a file of its own for that process, which imports no more than this.
"""

import os
import sys
from pathlib import Path

from server.config import settings
from server.store.restore import restored

STEPS = ("os.link", "os.rename", "os.remove", "os.mkdir")
KILLED = 9


def restored_and_killed(folder: Path, backup: Path, steps: int) -> None:
    """It is killed after so many steps; if it has no more of them, it comes to its end."""
    left = steps

    def step(event: str, _: tuple[object, ...]) -> None:
        nonlocal left
        if event in STEPS:
            left -= 1
            if left < 0:
                os._exit(KILLED)

    sys.addaudithook(step)
    restored(backup, settings(None, {}, {"data": str(folder)}), folder, "now", force=True)
