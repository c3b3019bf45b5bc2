"""A host may be killed before any step of any task. `python -m tests.crashes` has more of it."""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from server.store.journal import Engine
from tests.crashes.campaign import crash, drawn
from tests.crashes.checks import check, every_disk, gone_on, journal, nothing_told_is_lost
from tests.crashes.world import FAST, Contest, Disk, World
from tests.effort import IS_CAMPAIGN
from tournament.chain import START
from tournament.entries import Entry
from tournament.facts import Concluded

# The command has a thousand crashes, these seeds some sixteen: of two double round robins, one of Connect 4,
# and of a gauntlet, a Swiss, a ladder, open pairing and a knockout.
SEEDS = range(1, 41) if IS_CAMPAIGN else (1, 10, 13, 15, 19, 23, 25)


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir=FAST) as folder:
        yield Path(folder) / "run"


@pytest.mark.slow
@pytest.mark.parametrize("format", ["round-robin", pytest.param("knockout", marks=pytest.mark.campaign)])
def test_a_crash_before_any_step_loses_and_doubles_nothing(folder: Path, format: str) -> None:
    contest = Contest(format=format)
    before, disks = every_disk(contest, folder, seed=1)
    assert disks[-1].step == before.steps - 1, "every step was looked at"
    assert len(disks) > 20
    for disk in disks:
        check(contest, before, disk.told, journal(disk.folder), gone_on(contest, disk, seed=2))


@pytest.mark.slow
def test_any_tournament_comes_to_the_same_however_often_it_crashes(folder: Path) -> None:
    assert {drawn(seed).format for seed in range(1, 60)} > {"swiss", "ladder", "open", "gauntlet"}
    assert sum(crash(seed, folder / str(seed)) for seed in SEEDS) >= len(SEEDS)


class Hasty:
    """Says that all is safe, and writes it with what comes next."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._owed: list[Any] = []

    def write(self, rows: Any) -> list[bytes]:
        owed, self._owed = self._owed, [*rows]
        self._engine.write(owed)
        return [START for row in rows if isinstance(row, Entry)]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def test_a_store_that_says_too_soon_that_all_is_safe_would_be_found(folder: Path) -> None:
    contest, left = Contest(), list[Disk]()
    folder.mkdir()

    def watch(world: World, step: int) -> None:
        if world.told and isinstance(world.told[-1].said, Concluded):
            left.append(world.take(step, folder.with_name("left")))
            world.end()

    World(contest, folder, Hasty).run(1, watch)
    after = gone_on(contest, left[0], seed=2)
    with pytest.raises(AssertionError, match="lost"):
        nothing_told_is_lost(left[0].told, after.kept)
