"""Exports to be verified: of tournaments that were held in simulated worlds, with all that befalls these."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import msgspec
import trio
from structlog.testing import capture_logs
from trio.testing import MockClock

from server.export.signing import Signer
from server.export.write import export
from tests.deterministic import take_turns_by
from tests.simulation.plan import draw
from tests.simulation.world import World
from tournament.entries import entry
from tournament.facts import Concluded, Kept
from tournament.folding import fold


@cache
def simulated(seed: int) -> tuple[Kept, ...]:
    """All facts of one world."""
    take_turns_by(seed)
    clock = MockClock(autojump_threshold=0)
    world = World(draw(seed), clock, False)
    with capture_logs():
        trio.run(world.run, clock=clock)
    return tuple(world.disk.kept())


def exported(
    kept: Iterable[Kept], facts: bool = True, *, everything: bool = True, signer: Signer | None = None
) -> list[dict[str, Any]]:
    """All tournaments, one after another: as `quintain export` writes them, or as the API does."""
    kept = list(kept)
    lines: list[Any] = []
    for name, record in fold(kept).items():
        own = [each for each in kept if each.tournament == name]
        matches = [each.fact for each in own if isinstance(each.fact, Concluded)]
        rows = [entry(number, name, each.when, each.fact) for number, each in enumerate(own, 1)]
        lines += export(record, matches, rows if facts else None, everything=everything, signer=signer)
    return msgspec.json.decode(msgspec.json.encode(lines))


def unchained(lines: list[Any]) -> list[Any]:
    """As exports were before there were chains."""
    return [
        {key: each for key, each in line.items() if line["type"] != "fact" or key not in ("head", "salt")}
        for line in lines
        if line["type"] != "head"
    ]


def text(lines: Iterable[Any]) -> list[bytes]:
    return [msgspec.json.encode(line) + b"\n" for line in lines]
