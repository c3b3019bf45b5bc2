"""Going on from what a crash has left, and what must be so then."""

from collections import Counter
from pathlib import Path
from shutil import copytree

from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tests.crashes.world import FILE, NAME, Contest, Disk, Outcome, Told, World
from tournament.events import Ended, Ending
from tournament.facts import Concluded, Drew, Kept
from tournament.folding import fold
from tournament.format import formats
from tournament.settling import CUT_SHORT


def every_disk(contest: Contest, folder: Path, seed: int) -> tuple[Outcome, list[Disk]]:
    """What is left at each step of a run; of steps that leave the same, with what was told by the last."""
    folder.mkdir()
    disks: list[Disk] = []
    writes = -1

    def watch(world: World, step: int) -> None:
        nonlocal writes
        if world.writes != writes:
            writes = world.writes
            disks.append(world.take(step, folder.with_name(f"{folder.name}-{step}")))
        disks[-1] = Disk(step, disks[-1].folder, tuple(world.told))

    return World(contest, folder).run(seed, watch), disks


def one_disk(contest: Contest, folder: Path, seed: int, step: int) -> Disk | None:
    """What is left of a process that was killed before that step; None if it had come to its end."""
    left: list[Disk] = []

    def watch(world: World, number: int) -> None:
        if number == step:
            left.append(world.take(step, folder.with_name(f"{folder.name}-{step}")))
            world.end()

    World(contest, folder).run(seed, watch)
    return left[0] if left else None


def gone_on(contest: Contest, disk: Disk, seed: int) -> Outcome:
    """From what a crash left to the end."""
    folder = disk.folder.with_name(f"{disk.folder.name}-to-the-end")
    copytree(disk.folder, folder)
    return World(contest, folder).run(seed)


def journal(folder: Path) -> list[Kept]:
    engine = Sqlite(folder / FILE)
    try:
        assert engine.check() == []
        return list(Ledger(engine).kept())
    finally:
        engine.close()


def check(
    contest: Contest, before: Outcome, told: tuple[Told, ...], left: list[Kept], after: Outcome
) -> None:
    """`before` is a run without a crash; a crash `left` that when so much was `told`; `after` came of it."""
    assert after.over, "who goes on comes to the end"
    assert list(after.kept[: len(left)]) == left, "what is kept never changes"
    what_was_in_play_goes_on_or_says_why_not(contest, left, after)
    nothing_told_is_lost(told + after.told, after.kept)
    ends = Counter(entry.fact.match for entry in after.kept if isinstance(entry.fact, Concluded))
    assert set(ends.values()) <= {1}, "doubled"
    if not formats()[contest.format].endless:
        assert after.rows == before.rows, "the final standings are those of an uninterrupted run"
        assert schedule(after) == schedule(before)
        assert results(after) == results(before)


def nothing_told_is_lost(told: tuple[Told, ...], kept: tuple[Kept, ...]) -> None:
    facts = [entry.fact for entry in kept]
    ended = {
        fact.match: (fact.winner, fact.ending, fact.why) for fact in facts if isinstance(fact, Concluded)
    }
    for each in told:
        if isinstance(each.said, Ended):
            said = each.said
            assert ended.get(each.match) == (said.winner, said.ending, said.why), "lost or changed"
        else:
            assert each.said in facts, "lost"


def what_was_in_play_goes_on_or_says_why_not(contest: Contest, left: list[Kept], after: Outcome) -> None:
    record = fold(left).get(NAME)
    ends = {entry.fact.match: entry.fact for entry in after.kept if isinstance(entry.fact, Concluded)}
    for match in record.dealt if record else ():
        end = ends.get(match)
        if end is None:
            assert formats()[contest.format].endless, "it goes on, as everything does"
            continue
        if match in record.keys:
            assert end.score is not None, "both bots have come back to it"
        else:
            assert (end.ending, end.why, end.score) == (Ending.VOID, CUT_SHORT, None)
        assert len(end.moves) == len(end.times)


def schedule(outcome: Outcome) -> list[object]:
    return sorted(
        (pairing.number, pairing.round, pairing.names)
        for entry in outcome.kept
        if isinstance(entry.fact, Drew)
        for pairing in entry.fact.pairings
    )


def results(outcome: Outcome) -> dict[int, object]:
    """Of each pairing what counted, with its moves; cut short matches count for nothing."""
    return {
        fact.pairing: (fact.players, fact.winner, fact.ending, fact.moves)
        for fact in (entry.fact for entry in outcome.kept)
        if isinstance(fact, Concluded) and fact.ending is not Ending.VOID
    }
