"""Taking in those who come by themselves, everybody who waits for it in one commit.

Before an event a crowd comes at once. With a commit for each, the last of thousands would wait
for seconds, and so would whatever an organiser orders meanwhile.
"""

from collections.abc import Iterator
from itertools import chain, islice

import trio

from tournament.facts import AnyFact, Entered
from tournament.keeping import Keep
from tournament.record import Record
from tournament.refusals import expect_room, room

AT_A_TIME = 50  # entrants that are taken in before other tasks get their turn


class Arrival:
    """Somebody who waits to be taken in."""

    def __init__(self, facts: tuple[Entered, *tuple[AnyFact, ...]]) -> None:
        self.name = facts[0].name
        self.facts = facts
        self.waits = trio.CancelScope()  # cancelled when somebody else has taken it in


class Entering:
    def __init__(self, record: Record, deciding: trio.Lock, keep: Keep) -> None:
        """The lock is held by whoever decides about the tournament."""
        self._record = record
        self._deciding = deciding
        self._keep = keep
        self._coming: dict[str, Arrival] = {}  # by name, in the order in which they wait for the lock

    async def take_in(self, entered: Entered, *facts: AnyFact) -> None:
        """Keep these facts if it is not an entrant yet; raises `Refusal` where there is no room.

        Whoever has its turn takes in the next ones as well. These go on before anything else is decided.
        """
        coming = Arrival((entered, *facts))
        self._coming.setdefault(coming.name, coming)
        try:
            with coming.waits:
                async with self._deciding:
                    await self._take_in_with_others(coming)
        finally:
            if self._coming.get(coming.name) is coming:
                del self._coming[coming.name]

    async def _take_in_with_others(self, coming: Arrival) -> None:
        if coming.name in self._record.entrants:
            return  # another task has entered the same name
        expect_room(self._record, let_in=False)
        others = list(islice(self._others(coming), self._room() - 1))
        await self._keep(*chain.from_iterable(each.facts for each in (coming, *others)))
        for each in others:
            each.waits.cancel()
        if others:
            await trio.lowlevel.cancel_shielded_checkpoint()  # they go on, before anybody else has the lock

    def _others(self, coming: Arrival) -> Iterator[Arrival]:
        entrants = self._record.entrants
        return (each for name, each in self._coming.items() if name != coming.name and name not in entrants)

    def _room(self) -> int:
        """How many are taken in at once, of whom there is room for one."""
        return int(min(AT_A_TIME, room(self._record) - self._record.contestants))
