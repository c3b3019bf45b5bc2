"""How facts come into the record of a tournament, once they are kept."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from tests.steps import steps_taken
from tournament.facts import AnyFact, Entered, Opened
from tournament.keeping import Keeper
from tournament.record import Record


class Slow:
    """A store that keeps what was asked for only when it is told to, the first calls first."""

    def __init__(self) -> None:
        self.asked: list[AnyFact] = []
        self._waiting: list[trio.Event] = []

    async def keep(self, tournament: str, when: float, facts: Sequence[AnyFact]) -> Sequence[str]:
        self.asked += facts
        self._waiting.append(trio.Event())
        await self._waiting[-1].wait()
        return ["receipt"] * len(facts)

    def commit(self, calls: int) -> None:
        for call in self._waiting[:calls]:
            call.set()
        del self._waiting[:calls]


def keep_all(entrants: int, at_once: int) -> None:
    """Ask for all, and keep so many with each commit."""
    store, added = Slow(), list[AnyFact]()
    record = Record("cup", Opened("tic-tac-toe", "round-robin"))
    keeper = Keeper(record, cast(Any, store), lambda: 1.0, added.append)

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            for number in range(entrants):
                nursery.start_soon(keeper.keep, Entered(f"bot {number}"))
            await wait_all_tasks_blocked()
            while keeper.waits:
                store.commit(at_once)
                await wait_all_tasks_blocked()

    trio.run(main)
    assert added == store.asked
    assert len(record.entrants) == entrants


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_facts_are_added_in_the_order_of_asking_whichever_task_resumes_first(at_once: int) -> None:
    keep_all(100, at_once)


def test_what_a_fact_costs_does_not_grow_with_those_that_wait_beside_it() -> None:
    """Catches a database that was slow for a while, and each of a thousand results looks at all others."""
    assert steps_taken(lambda: keep_all(600, 300)) < 5 * steps_taken(lambda: keep_all(150, 75))
