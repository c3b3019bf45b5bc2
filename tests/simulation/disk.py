"""A store that takes its time, and loses in a crash what it had not finished.

What is asked for first is safe first; what is finished at the same instant is
reported in any order, as by a writer that commits in groups. A crash makes some
of what was under way safe, without anybody having been told.
"""

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

import trio

from tournament.entries import Entry
from tournament.facts import AnyFact, Concluded, Disqualified, Kept, Withdrew
from tournament.store import Jottings, Memory

GROUP = 1 / 256  # seconds between two commits of a group


class Crashed(Exception):
    """The host is no more: whoever waited for the store learns nothing."""


class Commit:
    def __init__(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> None:
        self.tournament = tournament
        self.when = when
        self.facts = facts
        self.power = trio.Event()  # set if it went
        self.receipts: Sequence[str] = ()


class Session:
    """The `Store` of one process of the host, which can write no more once it has crashed."""

    def __init__(self, disk: "Disk") -> None:
        self.crashed = False
        self.trouble = ""
        self._disk = disk

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        if self.crashed:
            raise Crashed
        with trio.CancelScope(shield=True):
            return await self._disk.keep(tournament, when, facts)

    def kept(self) -> Iterable[Kept]:
        return self._disk.kept()

    async def concluded(self, tournament: str, match: str) -> Concluded:
        return await self._disk.memory.concluded(tournament, match)

    async def receipt(self, tournament: str, match: str) -> str:
        return await self._disk.memory.receipt(tournament, match)

    async def entries(self, tournament: str, after: int = 0) -> Sequence[Entry]:
        return await self._disk.memory.entries(tournament, after)

    def jot(self, match: str, jottings: Jottings) -> None:
        if not self.crashed:
            self._disk.memory.jot(match, jottings)

    def jotted(self) -> Mapping[str, Jottings]:
        return self._disk.memory.jotted()

    def listen(self, listener: Callable[[], None]) -> None:
        """This disk is never in trouble."""

    async def run(self) -> None:
        await trio.sleep_forever()


class Disk:
    """What outlives a crash. `asked` hears of every fact before it is kept."""

    def __init__(
        self,
        chance: Random,
        latency: tuple[float, float] | None,
        asked: Callable[[str, Sequence[AnyFact]], None],
    ) -> None:
        self.busy = trio.Event()  # set while something is under way
        self.size = 0  # facts
        self.out: set[tuple[str, str]] = set()  # of which tournament who is, by the organiser's will
        self.memory = Memory()
        self._concluded: dict[tuple[str, str], Concluded] = {}
        self._chance = chance
        self._latency = latency
        self._asked = asked
        self._under_way: deque[Commit] = deque()
        self._done = 0.0  # when the last of what is under way will be safe

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        self._asked(tournament, facts)
        commit = Commit(tournament, when, facts)
        self._under_way.append(commit)
        if self._latency is not None:
            self.busy.set()
            takes = self._chance.uniform(*self._latency)
            self._done = max(self._done, (trio.current_time() + takes) // GROUP * GROUP + GROUP * (takes > 0))
            try:
                with trio.CancelScope(deadline=self._done):
                    await commit.power.wait()
            except trio.Cancelled:  # whoever asked has lost interest, which does not stop a disk
                await self._finish(commit)
                raise
        if commit.power.is_set():
            raise Crashed
        await self._finish(commit)
        return commit.receipts

    def kept(self) -> Iterable[Kept]:
        return self.memory.kept()

    def concluded(self, tournament: str, match: str) -> Concluded | None:
        return self._concluded.get((tournament, match))

    async def crash(self) -> None:
        under_way = list(self._under_way)
        if safe := under_way[: self._chance.randint(0, len(under_way))]:
            await self._finish(safe[-1])
        self._under_way.clear()
        for commit in under_way:
            commit.power.set()
        for match, (moves, times, asides) in self.memory.jotted().items():  # not all is written yet
            kept = max(0, len(moves) - Random(f"{match} {moves}").choice((0, 0, 1, 2)))
            self.memory.jot(match, Jottings(moves[:kept], times[:kept], asides))
        self.busy = trio.Event()

    async def _finish(self, last: Commit) -> None:
        """Make safe what was asked for up to this one; never waits."""
        while last in self._under_way:
            commit = self._under_way.popleft()
            commit.receipts = await self.memory.keep(commit.tournament, commit.when, commit.facts)
            self.size += len(commit.facts)
            for fact in commit.facts:
                match fact:
                    case Concluded(match=match):
                        self._concluded.setdefault((commit.tournament, match), fact)
                    case Withdrew(name=name) | Disqualified(name=name):
                        self.out.add((commit.tournament, name))
                    case _:
                        pass
        if not self._under_way:
            self.busy = trio.Event()
