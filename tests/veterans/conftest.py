"""A host of its own for each test, with or without a league, and what is looked at when it has gone."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.server.served import Served

QUICK = "[limits]\ncall_pause_seconds = 0.0\n"  # between two calls of one bot: a second each would add up
LEAGUE = """
[[tournament]]
name = "league"
game = "{game}"
entrants = {entrants}
options = {{ {options} }}
pace = {{ turn = 60.0 }}
"""


@pytest.fixture
def hold(serve: Callable[..., Served], tmp_path: Path) -> Iterator[Callable[..., Served]]:
    """Starts a host; given a game and a number of entrants, it holds a league of that game for so many."""
    hosts: list[Served] = []

    def start(game: str = "", entrants: int = 0, **options: Any) -> Served:
        written = ", ".join(f"{name} = {json.dumps(value)}" for name, value in options.items())
        league = LEAGUE.format(game=game, entrants=entrants, options=written) if game else ""
        (tmp_path / "quintain.toml").write_text(QUICK + league)
        hosts.append(serve("--log-level", "error"))
        return hosts[-1]

    yield start
    for host in hosts:
        if host.process.poll() is None:
            host.process.kill()
            errors = host.process.communicate()[1]
            assert "rror" not in errors, errors
