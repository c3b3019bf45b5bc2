"""Whoever waits for a secret hears of it at once, and costs nothing until then."""

import trio
import trio.testing
from trio.testing import MockClock

from server.peers.secrets import Secrets

WAITS = 0.25  # seconds


async def test_whoever_waits_goes_on_as_soon_as_one_of_its_secrets_is_told(
    autojump_clock: MockClock,
) -> None:
    secrets, done = Secrets(), dict[str, float]()

    async def wait(*leads: str) -> None:
        await secrets.heard_of(leads, WAITS)
        done["".join(leads)] = trio.current_time() - began

    began = trio.current_time()
    secrets.know("a", 1)
    async with trio.open_nursery() as nursery:
        for leads in ("ab", "bc", "cd", "d", "e"):
            nursery.start_soon(wait, *leads)
        await trio.sleep(0.125)
        secrets.know("c", 2)
        await trio.sleep(0.0625)
        secrets.know("d", 3)
    assert done == {"ab": 0.0, "bc": 0.125, "cd": 0.125, "d": 0.1875, "e": WAITS}
    assert secrets.whose("c") == 2


async def test_many_who_made_up_a_secret_wait_without_being_woken(autojump_clock: MockClock) -> None:
    """Catches looking again and again: 256 strangers who waited took a third of a core."""

    class Woken(trio.abc.Instrument):
        steps = 0

        def before_task_step(self, task: trio.lowlevel.Task) -> None:
            self.steps += task.name.endswith("heard_of")

    secrets, woken = Secrets(), Woken()
    async with trio.open_nursery() as nursery:
        for number in range(100):
            nursery.start_soon(secrets.heard_of, [f"made up {number}"], WAITS)
        await trio.testing.wait_all_tasks_blocked()
        trio.lowlevel.add_instrument(woken)
        for number in range(100):
            secrets.know(f"of somebody else {number}", 1)
            await trio.sleep(WAITS / 200)
        assert woken.steps == 0
    trio.lowlevel.remove_instrument(woken)
    assert woken.steps == 100, "each goes on once, when its time is up"


async def test_nothing_is_left_of_those_who_waited(autojump_clock: MockClock) -> None:
    """Catches a memory that strangers fill."""
    secrets = Secrets()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(secrets.heard_of, ["a", "b"], WAITS)
        nursery.start_soon(secrets.heard_of, ["b"], 10 * WAITS)
        await trio.sleep(2 * WAITS)
        nursery.cancel_scope.cancel()
    assert not secrets._awaited
