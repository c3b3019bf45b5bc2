"""A host in no hurry, for all checks that are not about clocks.

A game's own clock gives a bot as little as five seconds for a move. A machine
that is busy can take longer over it, and then a match is lost that the check
is about. There is no setting for the clocks of open tables, and so a host gets
them as it would from another one: by `quintain import`, in the format of
`docs/export.md`.
"""

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tests.hang import HANG
from tests.server.forked import Forked

LONG = {"bank": 100 * HANG, "gain": 0.0, "turn": None}  # seconds
LOTS = {"connect-4": True}  # decide who begins
SETTINGS = """
[limits]
call_pause_seconds = 0.0  # what holds a flood of calls back is tested where time is simulated
"""
GAMES = ("connect-4", "hexagon-dots", "quoridor", "santorini", "tic-tac-toe")


def unhurried(folder: Path, data: str) -> None:
    """Have the host that will be started here give its bots time, and lose none itself."""
    (folder / "quintain.toml").write_text(SETTINGS)
    command = Forked(("import", "-", "--data", data), folder, os.environ, tables(GAMES).encode())
    _, errors = command.communicate()
    assert command.wait() == 0, errors


def tables(games: Iterable[str]) -> str:
    """Their open tables, to be imported."""
    return "".join(json.dumps(line) + "\n" for game in games for line in _lines(game))


def _lines(game: str) -> Iterator[dict[str, Any]]:
    """The tournament that an open table is, the facts that it began with, and nobody yet."""
    name, of = f"open-{game}", {"game": game, "format": "open"}
    chosen = {"entrants": None, "terms": {"lots": LOTS.get(game, False)}, "options": {}, "pace": LONG}
    yield {"type": "tournament", "tournament": name, "state": "running", **of, **chosen}
    for fact in ({"type": "opened", **of, **chosen}, {"type": "turned", "state": "running"}):
        yield {"type": "fact", "tournament": name, "when": 0.0, "fact": fact}
    yield {"type": "standings", "tournament": name, "state": "running", **of, "rows": []}
