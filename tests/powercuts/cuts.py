"""Cut the power at some operation of the disk, and see what is there when it comes back."""

from contextlib import suppress
from pathlib import Path
from random import Random

import apsw
import trio
from msgspec import Struct, structs
from trio.testing import MockClock

from server.store.ledger import Ledger
from server.store.sqlite import Sqlite
from tests.crashes.world import FILE, at_once
from tests.deterministic import take_turns_by
from tests.powercuts.disk import Connection, Disk, PowerCut, unanswered
from tests.server.store.jotting import played
from tests.server.store.test_laws import PLAYED
from tournament.facts import AnyFact, Concluded, Dealt

KEEPERS = 8  # who keep at once
ROUNDS = 60  # matches that each of them has to keep, if there is power
CHECKPOINT = 40  # pages after which the write-ahead log is written back: often, for a short life


class Cut(Struct, frozen=True):
    operations: int  # of the disk, until then
    safe: int  # facts that the store had said were safe
    kept: int  # facts that are there


def cut(seed: int, folder: Path, synchronous: str = "synchronous = FULL") -> Cut:
    """Keep matches until the power goes; raises AssertionError where one is gone that was said to be safe."""
    chance = Random(seed)
    last = int(3 * 10 ** chance.uniform(0, 3))  # some cuts come at the very beginning
    before, after = folder / "before", folder / "after"
    before.mkdir(parents=True)
    after.mkdir()
    disk = Disk(f"disk {seed}", lambda: disk.operations < last)
    safe: list[tuple[str, AnyFact]] = []
    connections: list[Connection] = []

    def connect(path: Path) -> Connection:
        connections.append(Connection(path, disk.name, synchronous, CHECKPOINT))
        return connections[-1]

    with unanswered():
        try:
            keep_matches(Sqlite(before / FILE, connect=connect), safe, seed)
        except* Exception:
            if not disk.off:
                raise
        disk.off = True
        disk.cut(after, chance)
        for connection in connections:
            with suppress(PowerCut, apsw.Error):  # it means to tidy up
                connection.close()
    engine = Sqlite(after / FILE)
    try:
        assert engine.check() == []
        kept = list(Ledger(engine).kept())
    finally:
        engine.close()
    there = {
        (entry.tournament, entry.fact.match): entry.fact
        for entry in kept
        if isinstance(entry.fact, Concluded)
    }
    for tournament, fact in safe:
        assert isinstance(fact, Concluded)
        assert there.get((tournament, fact.match)) == fact, f"{fact.match} was safe, and is gone"
    assert len({(entry.tournament, repr(entry.fact)) for entry in kept}) == len(kept), "doubled"
    return Cut(disk.operations, len(safe), len(kept))


def keep_matches(engine: Sqlite, safe: list[tuple[str, AnyFact]], seed: int) -> None:
    async def keep(ledger: Ledger, cup: str) -> None:
        for number in range(1, ROUNDS):
            match = f"{cup}-{number}"
            await ledger.keep(cup, 0.0, [Dealt(match, number)])
            lists = played(ledger, match)
            for _ in range(5):
                lists.play("NW")
                await trio.lowlevel.checkpoint()
            over = structs.replace(PLAYED, match=match, pairing=number)
            await ledger.keep(cup, 0.0, [over])
            safe.append((cup, over))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            ledger = Ledger(engine, at_once)
            nursery.start_soon(ledger.run)
            async with trio.open_nursery() as keepers:
                for number in range(KEEPERS):
                    keepers.start_soon(keep, ledger, f"cup-{number}")
            nursery.cancel_scope.cancel()

    take_turns_by(seed)
    trio.run(main, clock=MockClock(autojump_threshold=0))
