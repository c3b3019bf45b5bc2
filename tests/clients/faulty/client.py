"""The Python client for Connect-4, for faults of what carries messages: scripts change it before it runs."""

import os
import sys
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[3] / "clients/python"))
os.environ["XDG_STATE_HOME"] = os.devnull  # it keeps no token

import quintain_bot


def choose(turn: dict[str, Any]) -> int:
    return next(column for column in range(7) if turn["state"][column * 6 + 5] == 0)


def main(scheme: str) -> None:
    quintain_bot.run(choose, game="connect-4", name="ann", url=f"{scheme}://{sys.argv[1]}")
