"""Where the token of a bot is kept: whoever has it is the bot, and may come back to its match."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def remembered(key: str, say: Callable[[str], None]) -> str:
    """The token of a name on a host: the same each time, and readable for nobody else."""
    home = os.path.expanduser("~").removeprefix("~") or "."  # in some containers there is none
    states = os.environ.get("XDG_STATE_HOME") or Path(home, ".local", "state")
    file = Path(states, "quintain-bot", key.replace("/", "_"))
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
        if not file.read_text():
            file.write_text(secrets.token_hex(16))
    except OSError as error:
        from protocol import Unwelcome  # not before: the protocol begins with this file

        raise Unwelcome(f"the token cannot be kept in {file}: {error.strerror}") from None
    say(f"the token is kept in {file}")
    return file.read_text().strip()
