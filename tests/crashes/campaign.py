"""Crashes at random: of a contest drawn by a seed, again and again until it is over."""

from pathlib import Path
from random import Random

from tests.crashes.checks import check, gone_on, journal, one_disk
from tests.crashes.world import Contest, Told, World
from tournament.format import Terms

MOST = 6  # crashes of one contest: each goes on from what the one before has left


def drawn(seed: int) -> Contest:
    chance = Random(seed)
    format = chance.choice(
        ("round-robin", "double-round-robin", "swiss", "knockout", "gauntlet", "ladder", "open")
    )
    game = chance.choice(("tic-tac-toe", "tic-tac-toe", "connect-4"))
    rounds = 3 if format == "swiss" else None
    return Contest(game, format, chance.randint(3, 6), Terms(rounds, seed))


def crash(seed: int, folder: Path) -> int:
    """Hold one contest, and kill its host now and then; returns how often."""
    contest, chance = drawn(seed), Random(seed)
    (folder / "before").mkdir(parents=True)
    before = World(contest, folder / "before").run(seed)
    assert before.over, "it has to come to an end by itself"
    crashes, now = 0, folder / "0"
    now.mkdir()
    told: tuple[Told, ...] = ()
    for number in range(1, MOST + 1):
        disk = one_disk(contest, now, seed + number, chance.randrange(before.steps))
        if disk is None:
            break
        crashes += 1
        told += disk.told
        check(contest, before, told, journal(disk.folder), gone_on(contest, disk, seed - number))
        now = disk.folder
    return crashes
