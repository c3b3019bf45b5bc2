"""What a storm is like; everything in it that can be chosen follows from its seed."""

from collections.abc import Iterator
from random import Random

from msgspec import Struct

KINDS = ("alone", "shown", "workers", "spread", "hosts")
"""One process, one with another for its pages, one with two workers, one whose three workers lend each other
most matches, and two hosts on one database.
"""
STOP, KILL, TERM, KILL_A_CHILD, STOP_A_CHILD = "stop", "kill", "term", "kill a child", "stop a child"
FAULTS = {
    "alone": (STOP, KILL, TERM),
    "shown": (STOP, KILL, TERM, KILL_A_CHILD),
    "workers": (STOP, KILL, TERM, KILL_A_CHILD),
    "spread": (TERM, KILL_A_CHILD, STOP_A_CHILD, STOP_A_CHILD),
    "hosts": (STOP, KILL, TERM, KILL_A_CHILD),
}


class Plan(Struct, frozen=True):
    seed: int
    kind: str  # of the hosts
    faults: tuple[str, ...]
    orders: int  # that are answered between two faults
    organisers: int = 6
    visitors: int = 12  # bots of the house protocol
    strangers: int = 2  # of each of the other dialects

    @property
    def chance(self) -> Random:
        return Random(f"{self.seed} {self.kind}")


def plans(seeds: range, kinds: tuple[str, ...], faults: int, orders: int) -> Iterator[Plan]:
    for seed in seeds:
        for kind in kinds:
            chance = Random(f"{seed} {kind} faults")
            yield Plan(seed, kind, tuple(chance.choices(FAULTS[kind], k=faults)), orders)
