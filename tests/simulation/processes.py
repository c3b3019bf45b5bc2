"""The simulation in another process: what happens in a seed must not hang on the process."""

import os
import subprocess
import sys
from hashlib import sha256

from tests.simulation.__main__ import play


def digest_there(seeds: range, doors: bool = False) -> str:
    """Of all that happens, from a process that has its sets in another order than this one."""
    hashing = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    flags = ("--seeds", f"{seeds[0]}-{seeds[-1]}", *["--doors"] * doors)
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *flags, "--digest"],
        env={**os.environ, "PYTHONHASHSEED": hashing},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[-1]


def digest_here(seeds: range, doors: bool = False) -> str:
    """The same from this process."""
    return sha256(play(seeds, doors, tracing=True).digest.encode()).hexdigest()
