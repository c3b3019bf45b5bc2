"""An installed Quintain as others see it: the one top-level package `quintain`.

A wheel has this file as `quintain/__init__.py`, and beside it `games`, `tournament`, `server` and the client.
So no other project in an environment meets a top-level `server` of ours. A process that imports `quintain`
can then import them by the names that they have in the repository. In a checkout, and in an editable
installation, they can be imported anyway.
"""

import sys
from pathlib import Path

HERE = Path(__file__).parent

if (HERE / "server/__init__.py").is_file() and str(HERE) not in sys.path:
    sys.path.insert(0, str(HERE))


def main() -> None:
    """The command `quintain`."""
    from server import interrupted_early  # it can be found only now

    interrupted_early.leave_at_once()
    from server.__main__ import main as command

    command()
