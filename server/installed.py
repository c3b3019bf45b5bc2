"""What an installed Quintain is to everybody else: the one top-level package `quintain`.

A wheel has this file as `quintain/__init__.py`, and beside it `games`, `tournament`, `server` and the client.
So no other project in an environment meets a top-level `server` of ours. Importing `quintain` lets the
process that does so import them by the names that they have in the repository. In a checkout, and in an
editable installation, they can be imported anyway.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent

if (HERE / "server/__init__.py").is_file() and str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def main() -> None:
    """The command `quintain`."""
    from server.__main__ import main as command  # found only now

    command()
