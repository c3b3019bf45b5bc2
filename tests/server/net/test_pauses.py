"""Many values, gone through bit by bit: all of them, in their order, and never too many at a time."""

import pytest
import trio

from server.net.pauses import WithPauses


@pytest.mark.parametrize("many", [0, 1, 3, 4, 6, 10])
async def test_all_values_come_in_their_order_and_others_get_their_turns_in_between(many: int) -> None:
    """Catches a value that is left out at a pause, and thousands that hold up everybody."""
    found: list[int] = []
    seen: list[int] = []  # how many had come at each turn of another task

    async def look() -> None:
        while True:
            seen.append(len(found))
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(look)
        async for value in WithPauses(range(many), 3):
            found += [value]
        seen.append(len(found))
        nursery.cancel_scope.cancel()
    assert found == [*range(many)]
    # trio runs tasks in any order: last in one round, and first in the next
    assert all(after - before <= 6 for before, after in zip([0, *seen], seen, strict=False))


async def test_values_are_those_of_the_beginning_whatever_happens_at_a_pause() -> None:
    values = dict.fromkeys(range(10))
    async for value in WithPauses(values, 2):
        del values[value]
        values[value + 100] = None
    assert [*values] == [*range(100, 110)]


async def test_a_loop_may_be_left_at_any_time() -> None:
    """Catches a warning about a generator that was not exhausted, whenever that is found."""
    async for _ in WithPauses(range(10), 1):
        break
