"""The simulation in processes of its own: what happens in a seed must not hang on the process."""

import os
import subprocess
import sys


def digests(*arguments: str) -> tuple[str, str]:
    """Of all that happens, from two processes that have their sets and dictionaries in different orders."""
    return _digest("1", arguments), _digest("2", arguments)


def _digest(hashing: str, arguments: tuple[str, ...]) -> str:
    return subprocess.run(
        [sys.executable, "-m", "tests.simulation", *arguments, "--digest"],
        env={**os.environ, "PYTHONHASHSEED": hashing},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[-1]
